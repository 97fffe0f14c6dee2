from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.corpora.vocabulary import END, MASK, PAD, SPECIALS, UNK, Vocabulary, build_vocabulary, kept_types
from isoglot.errors import IsoglotError
from isoglot.study.conditions import AnchorOrder, KeptAnchors, TableKind
from tests.corpora.table_kinds import Kind, kinds, orders, some_anchors

# Subwords that look like special symbols or like another language's prefix are where ids could be mixed up.
known = st.sampled_from([*SPECIALS[:6], "en:a", "fr:a", "fr:", ":", "a", "b</w>"])
subwords = known | st.text("ab:é", min_size=1, max_size=3)
counts_of_one = st.dictionaries(subwords, st.integers(1, 9), min_size=1, max_size=12).map(Counter)
counts_of_all = st.fixed_dictionaries({"en": counts_of_one, "fr": counts_of_one, "e": counts_of_one})


def text_tokens(vocabulary: Vocabulary, language: str) -> tuple[str, ...]:
    return vocabulary.tables[language][len(SPECIALS) :]


def used_ids(vocabulary: Vocabulary, language: str, counts: dict[str, Counter[str]]) -> set[int]:
    return set(vocabulary.encode(language, counts[language]))


def of_kind(kind: Kind, counts: dict[str, Counter[str]]) -> Vocabulary:
    return build_vocabulary(kind[0], counts=counts, kept=kind[1])


def embedded_alike(vocabulary: Vocabulary, counts: dict[str, Counter[str]]) -> set[frozenset[tuple[str, str]]]:
    """Subwords with their languages, those of one id together."""
    alike: dict[int, set[tuple[str, str]]] = {}
    for language, count in counts.items():
        for subword in count:
            alike.setdefault(vocabulary.encode(language, [subword])[0], set()).add((language, subword))
    return {frozenset(together) for together in alike.values()}


def test_special_symbols_stand_where_xlm_has_them() -> None:
    assert (SPECIALS[END], SPECIALS[PAD], SPECIALS[UNK], SPECIALS[MASK]) == ("</s>", "<pad>", "<unk>", "<special1>")
    assert (END, PAD, UNK, MASK, len(SPECIALS)) == (1, 2, 3, 5, 14)


def test_tokens_are_ordered_by_count_and_then_by_spelling() -> None:
    counts = {"en": Counter(b=2, d=1, a=1), "fr": Counter(a=2, c=1)}
    assert text_tokens(build_vocabulary(TableKind.UNION, counts=counts), "en") == ("a", "b", "c", "d")
    assert text_tokens(build_vocabulary(TableKind.SEPARATE, counts=counts), "fr") == ("a", "c")
    prefixed = build_vocabulary(TableKind.PREFIXED, counts=counts)
    assert text_tokens(prefixed, "fr") == ("en:b", "fr:a", "en:a", "en:d", "fr:c")


@given(kinds, counts_of_all)
def test_every_counted_subword_has_an_id_of_its_own_that_is_no_special_symbol(
    kind: Kind, counts: dict[str, Counter[str]]
) -> None:
    vocabulary = of_kind(kind, counts)
    for language, count in counts.items():
        ids = vocabulary.encode(language, count)
        assert len(set(ids)) == len(count)
        assert all(len(SPECIALS) <= id < vocabulary.size(language) for id in ids)


@given(st.sampled_from([TableKind.UNION, TableKind.JOINT]), counts_of_all)
def test_union_and_joint_tables_share_exactly_the_identical_strings(
    kind: TableKind, counts: dict[str, Counter[str]]
) -> None:
    vocabulary = build_vocabulary(kind, counts=counts)
    assert len(set(vocabulary.tables.values())) == 1
    french = used_ids(vocabulary, "fr", counts)
    for subword in counts["en"]:
        assert (subword in counts["fr"]) == (vocabulary.encode("en", [subword])[0] in french)
    assert vocabulary.size("fr") == len(SPECIALS) + len(set().union(*counts.values()))


@given(counts_of_all)
def test_separate_tables_hold_their_own_language_alone_without_gaps(counts: dict[str, Counter[str]]) -> None:
    vocabulary = build_vocabulary(TableKind.SEPARATE, counts=counts)
    for language, count in counts.items():
        assert used_ids(vocabulary, language, counts) == set(range(len(SPECIALS), vocabulary.size(language)))
        assert vocabulary.size(language) == len(SPECIALS) + len(count)


@given(some_anchors, counts_of_all)
def test_partial_tables_share_exactly_the_kept_types(kept: KeptAnchors, counts: dict[str, Counter[str]]) -> None:
    vocabulary = build_vocabulary(TableKind.PARTIAL, counts=counts, kept=kept)
    anchors = kept_types(counts, kept=kept)
    assert len(set(vocabulary.tables.values())) == 1
    for a, b in [("en", "fr"), ("e", "en"), ("e", "fr")]:
        shared = used_ids(vocabulary, a, counts) & used_ids(vocabulary, b, counts)
        assert shared == set(vocabulary.encode(a, anchors & counts[a].keys() & counts[b].keys()))
    assert vocabulary.size("en") == len(SPECIALS) + len(embedded_alike(vocabulary, counts))


@given(orders, counts_of_all)
def test_kept_anchors_lead_from_none_to_all(order: AnchorOrder, counts: dict[str, Counter[str]]) -> None:
    none, all_of_them = (
        build_vocabulary(TableKind.PARTIAL, counts=counts, kept=KeptAnchors(share=share, order=order))
        for share in (1e-9, 1.0)
    )
    prefixed, union = (build_vocabulary(kind, counts=counts) for kind in (TableKind.PREFIXED, TableKind.UNION))
    assert none.tables == prefixed.tables
    assert embedded_alike(all_of_them, counts) == embedded_alike(union, counts)
    assert all_of_them.size("en") == union.size("en")


def test_a_kept_type_is_known_to_a_language_that_lacks_it() -> None:
    counts = {"de": Counter("c"), "en": Counter("a"), "fr": Counter("a")}
    all_of_them = KeptAnchors(share=1, order=AnchorOrder.RANDOM)
    vocabulary = build_vocabulary(TableKind.PARTIAL, counts=counts, kept=all_of_them)
    assert vocabulary.encode("de", "ac") == [*vocabulary.encode("en", "a"), len(SPECIALS) + 1]
    assert vocabulary.encode("en", "c") == [UNK]


def test_kept_anchors_belong_to_partial_tables_alone() -> None:
    kept = KeptAnchors(share=0.5, order=AnchorOrder.FREQUENT)
    for kind, given_kept in ((TableKind.PARTIAL, None), (TableKind.UNION, kept)):
        with pytest.raises(IsoglotError, match=f"{kind.value!r} .* one needs the other"):
            build_vocabulary(kind, counts={"en": Counter("a")}, kept=given_kept)


@given(kinds, counts_of_all)
def test_written_vocabularies_are_read_again(
    tmp_path_factory: pytest.TempPathFactory, kind: Kind, counts: dict[str, Counter[str]]
) -> None:
    path = tmp_path_factory.mktemp("vocabulary") / "vocabulary.json"
    vocabulary = of_kind(kind, counts)
    vocabulary.write(path)
    assert Vocabulary.read(path) == vocabulary


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        '{"kind": "union", "languages": ["en"]}',
        '{"kind": "onion", "languages": ["en"], "tables": [[]]}',
        '{"kind": "union", "languages": ["en"], "tables": [["a"]]}',
        '{"kind": "union", "languages": [], "tables": []}',
    ],
)
def test_a_spoilt_vocabulary_file_is_refused_by_name(tmp_path: Path, content: str) -> None:
    path = tmp_path / "vocabulary.json"
    path.write_text(content)
    with pytest.raises(IsoglotError, match=r"vocabulary\.json: not a vocabulary"):
        Vocabulary.read(path)


@pytest.mark.parametrize(
    ("kind", "tables", "complaint"),
    [
        (TableKind.JOINT, {"en": (*SPECIALS, "a"), "fr": SPECIALS}, "one table"),
        (TableKind.SEPARATE, {"en": (*SPECIALS, "a", "a")}, "twice"),
        (TableKind.PREFIXED, {"en": (*SPECIALS, "fr:a")}, "no prefix of en"),
        (TableKind.PREFIXED, {"en": (*SPECIALS, ":a")}, "no prefix of en"),
        (TableKind.PREFIXED, {"en:x": SPECIALS}, "en:x"),
        (TableKind.PARTIAL, {"": SPECIALS}, "''"),
        (TableKind.PARTIAL, {"en": (*SPECIALS, "a")}, "no prefix of en"),
        (TableKind.PARTIAL, {"en": (*SPECIALS, ":a:", "en:b", "en:a:")}, "'a:' is one that languages share and also"),
    ],
)
def test_impossible_tables_are_refused(kind: TableKind, tables: dict[str, tuple[str, ...]], complaint: str) -> None:
    with pytest.raises(IsoglotError, match=complaint):
        Vocabulary(kind=kind, tables=tables)


def test_an_unknown_language_is_named_with_those_there_are() -> None:
    vocabulary = build_vocabulary(TableKind.JOINT, counts={"en": Counter("a"), "fr": Counter("b")})
    with pytest.raises(IsoglotError, match=r"'de'.*en, fr"):
        vocabulary.encode("de", ["a"])
