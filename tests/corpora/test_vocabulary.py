"""Ids of subwords in every kind of table, and how many of them languages share."""

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from isoglot.corpora.vocabulary import (
    END,
    MASK,
    PAD,
    SPECIALS,
    UNK,
    Vocabulary,
    anchor_statistics,
    build_vocabulary,
    kept_types,
)
from isoglot.study.conditions import AnchorOrder, KeptAnchors, TableKind

FREQUENT, RANDOM = AnchorOrder
Counts = dict[str, Counter[str]]
Kind = tuple[TableKind, KeptAnchors | None]

orders = st.sampled_from(AnchorOrder)
some_anchors = st.builds(KeptAnchors, share=st.floats(0.01, 1), order=orders, seed=st.integers(0, 3))
whole_kinds = st.sampled_from([kind for kind in TableKind if kind is not TableKind.PARTIAL])
kinds = st.tuples(whole_kinds, st.none()) | st.tuples(st.just(TableKind.PARTIAL), some_anchors)

# Subwords that look like special symbols or like another language's prefix are where ids could be mixed up.
known = st.sampled_from([*SPECIALS[:6], "en:a", "fr:a", "fr:", ":", "a", "b</w>"])
subwords = known | st.text("ab:é", min_size=1, max_size=3)
counts_of_one = st.dictionaries(subwords, st.integers(1, 9), min_size=1, max_size=12).map(Counter)
counts_of_three = st.fixed_dictionaries({"en": counts_of_one, "fr": counts_of_one, "e": counts_of_one})
counts_of_two = st.fixed_dictionaries({"en": counts_of_one, "fr": counts_of_one})
shares = st.floats(0.001, 1)


def of_kind(kind: Kind, counts: Counts) -> Vocabulary:
    return build_vocabulary(kind[0], counts=counts, kept=kind[1])


def shared_by(kind: Kind, counts: Counts) -> set[str]:
    """The subwords that a kind of table has languages share, if two of them have the subword."""
    if kind[1]:
        return set(kept_types(counts, kept=kind[1]))
    return set().union(*counts.values()) if kind[0] in (TableKind.UNION, TableKind.JOINT) else set()


def test_special_symbols_stand_where_xlm_has_them() -> None:
    assert (SPECIALS[END], SPECIALS[PAD], SPECIALS[UNK], SPECIALS[MASK]) == ("</s>", "<pad>", "<unk>", "<special1>")
    assert (END, PAD, UNK, MASK, len(SPECIALS)) == (1, 2, 3, 5, 14)


def test_tokens_are_ordered_by_count_and_then_by_spelling() -> None:
    counts = {"en": Counter(b=2, d=1, a=1), "fr": Counter(a=2, c=1)}
    for kind, language, tokens in (
        (TableKind.UNION, "en", ("a", "b", "c", "d")),
        (TableKind.SEPARATE, "fr", ("a", "c")),
        (TableKind.PREFIXED, "fr", ("en:b", "fr:a", "en:a", "en:d", "fr:c")),
    ):
        assert build_vocabulary(kind, counts=counts).tables[language] == SPECIALS + tokens


@given(kinds, counts_of_three)
def test_languages_embed_alike_exactly_what_the_kind_of_table_has_them_share(kind: Kind, counts: Counts) -> None:
    vocabulary, shared = of_kind(kind, counts), shared_by(kind, counts)
    rows: dict[tuple[str, int], set[tuple[str, str]]] = {}
    expected: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for language, count in counts.items():
        table = language if kind[0] is TableKind.SEPARATE else "one"
        for subword, id in zip(count, vocabulary.encode(language, count), strict=True):
            rows.setdefault((table, id), set()).add((language, subword))
            expected.setdefault(("all" if subword in shared else language, subword), set()).add((language, subword))
    assert sorted(map(sorted, rows.values())) == sorted(map(sorted, expected.values()))
    # Without gaps, and none is a special symbol's.
    for language in counts:
        ids = {id for table, id in rows if table in ("one", language)}
        assert ids == set(range(len(SPECIALS), vocabulary.size(language)))
        assert {*vocabulary.encode(language, SPECIALS)} <= {UNK, *ids}, "spelled like a special symbol"


def test_a_kept_type_is_known_to_a_language_that_lacks_it() -> None:
    counts = {"de": Counter("c"), "en": Counter("a"), "fr": Counter("a")}
    vocabulary = build_vocabulary(TableKind.PARTIAL, counts=counts, kept=KeptAnchors(share=1, order=RANDOM))
    assert vocabulary.encode("de", "ac") == [*vocabulary.encode("en", "a"), len(SPECIALS) + 1]
    assert vocabulary.encode("en", "c") == [UNK]


@given(kinds, counts_of_three)
def test_written_vocabularies_are_read_again(
    tmp_path_factory: pytest.TempPathFactory, kind: Kind, counts: Counts
) -> None:
    path = tmp_path_factory.mktemp("vocabulary") / "vocabulary.json"
    vocabulary = of_kind(kind, counts)
    vocabulary.write(path)
    assert Vocabulary.read(path) == vocabulary


few_counts = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 9), min_size=1).map(Counter)
few_counts_of_three = st.fixed_dictionaries({"en": few_counts, "fr": few_counts, "de": few_counts})


def shared_types(counts: Counts) -> set[str]:
    return {subword for a, b in combinations(counts.values(), 2) for subword in a.keys() & b.keys()}


@given(few_counts_of_three, orders, shares, shares)
def test_a_larger_share_holds_a_smaller_one(counts: Counts, order: AnchorOrder, one: float, other: float) -> None:
    least, most = sorted((one, other))
    few, many = (kept_types(counts, kept=KeptAnchors(share=share, order=order)) for share in (least, most))
    assert few <= many <= shared_types(counts)
    assert len(many) == round(most * len(shared_types(counts)))


@given(few_counts_of_three, shares)
def test_no_other_types_would_leave_more_of_the_running_tokens_shared(counts: Counts, share: float) -> None:
    def rate(types: Iterable[str]) -> Fraction | int:
        """The share of running tokens, summed over languages."""
        return sum(Fraction(count[subword], count.total()) for subword in types for count in counts.values())

    kept = kept_types(counts, kept=KeptAnchors(share=share, order=FREQUENT))
    best = max(rate(types) for types in combinations(sorted(shared_types(counts)), len(kept)))
    assert rate(kept) == best


def test_a_larger_text_weighs_no_more_and_ties_go_by_spelling() -> None:
    counts = {"en": Counter(a=100, b=200, c=700), "fr": Counter(a=4, b=3, c=2, d=1)}
    # 0.1 + 0.4, 0.2 + 0.3 and 0.7 + 0.2
    for share, kept in ((1 / 3, "c"), (2 / 3, "ac"), (1, "abc")):
        assert kept_types(counts, kept=KeptAnchors(share=share, order=FREQUENT)) == set(kept)


def test_at_random_every_type_is_kept_as_often_whatever_its_frequency() -> None:
    subwords = "abcdefghij"
    counts = {"en": Counter({subword: 4**i for i, subword in enumerate(subwords)}), "fr": Counter(subwords)}
    drawn = [kept_types(counts, kept=KeptAnchors(share=0.3, order=RANDOM, seed=seed)) for seed in range(400)]
    # The same for ever: artifacts were made with them.
    assert ["".join(sorted(types)) for types in drawn[:2]] == ["afh", "bfi"]
    assert {len(kept) for kept in drawn} == {3}
    kept_times = Counter(subword for kept in drawn for subword in kept)
    # Binomial with mean 120 and standard deviation 9.2.
    assert all(120 - 37 < kept_times[subword] < 120 + 37 for subword in subwords)
    # Two types come together as often as chance has it: 400 * 3/10 * 2/9, about 27 with a deviation of 5.
    assert all(5 < sum({a, b} <= kept for kept in drawn) < 50 for a, b in combinations(subwords, 2))


def running_text(vocabulary: Vocabulary, language: str, counts: Counter[str]) -> list[object]:
    """Every running token as something that is equal in two languages just if they embed it by the same vector."""
    owner = language if vocabulary.kind is TableKind.SEPARATE else "all"
    return [(owner, id) if id != UNK else UNK for id in vocabulary.encode(language, counts.elements())]


# So many that sums of shares depend on their order.
MANY = {"en": Counter({str(i): i * i + 1 for i in range(40)}), "fr": Counter({str(i): 3 * i + 2 for i in range(40)})}


@given(kinds, counts_of_two, counts_of_two)
@example((TableKind.UNION, None), MANY, MANY)
def test_statistics_of_any_text_are_those_of_counting_token_by_token(kind: Kind, train: Counts, counts: Counts) -> None:
    vocabulary = of_kind(kind, train)
    statistics = anchor_statistics(vocabulary, counts=counts)
    text = {language: running_text(vocabulary, language, counts[language]) for language in counts}
    shared = set(text["en"]) & set(text["fr"]) - {UNK}
    assert statistics.shared_types == len(shared)
    for language, tokens in text.items():
        expected = sum(token in shared for token in tokens) / len(tokens)
        assert statistics.shared_token_rate[language] == pytest.approx(expected)
    # Not a bit depends on the order of counting.
    backwards = {language: Counter(dict(reversed(count.items()))) for language, count in counts.items()}
    assert anchor_statistics(vocabulary, counts=backwards) == statistics


@given(kinds, counts_of_two)
def test_similarity_agrees_with_scipy(kind: Kind, counts: Counts) -> None:
    statistics = anchor_statistics(of_kind(kind, counts), counts=counts)
    shared = shared_by(kind, counts)
    labelled = [
        {("" if token in shared else language, token): number for token, number in counts[language].items()}
        for language in counts
    ]
    labels = sorted(labelled[0].keys() | labelled[1].keys())
    p, q = (np.array([of_language.get(label, 0) for label in labels]) for of_language in labelled)
    # The square of a distance that is rounded to about 1e-8 where the languages are alike.
    assert statistics.similarity == pytest.approx(1 - jensenshannon(p, q, base=2) ** 2, abs=1e-9)
