"""The exported tokenizer gives the ids that our own code gives, whatever the words and the kind of table."""

import lzma
from collections import Counter
from dataclasses import replace
from itertools import islice

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from real_data import DATA

from isoglot.corpora.bpe import Bpe, learn_bpe
from isoglot.corpora.sentences import encoded_sentences
from isoglot.corpora.vocabulary import END, MASK, PAD, SPECIALS, UNK, build_vocabulary
from isoglot.corpora.words import split_lines
from isoglot.model.interchange.tokenizer_files import symbols_made_twice
from isoglot.study.conditions import TableKind
from isoglot.study.languages import default_splitting
from tests.model.tiny_exports import TEXTS, WHITESPACE, check_same_ids, exported, learned

# No word has white space in it, nor half a character; everything else may come.
ODD = st.characters(exclude_categories=["Cs"]).filter(lambda letter: not letter.isspace())
# Words that repeat themselves, that spell out special symbols, and that have letters of several bytes or of no width.
FEW = st.sampled_from("aab</s>:é\u0301中🙂\u200b")
WORD = st.text(FEW, min_size=1, max_size=12) | st.text(ODD, min_size=1, max_size=5)
TEXT = st.lists(WORD, min_size=1, max_size=12)


@pytest.mark.parametrize("kind", TableKind)
@settings(max_examples=12)
@given(english=TEXT, french=TEXT, new=st.lists(TEXT, max_size=6), merges=st.integers(0, 40))
def test_ids_of_random_words_are_ours(
    kind: TableKind, english: list[str], french: list[str], new: list[list[str]], merges: int
) -> None:
    # One word in common, without which no anchors can be kept.
    texts = {"en": [*english, "a"], "fr": [*french, "a"]}
    bpe, vocabulary = learned(texts, kind=kind, merges=merges)
    # Text that spells out the mark at the end of words is the one thing that the library may cut otherwise.
    assume(not any(map(symbols_made_twice, bpe.values())))
    for language in texts:
        own, lines = bpe[language], [english, french, [*english, *french], [], *new]
        tokenizer = exported(language, bpe=own, vocabulary=vocabulary)
        check_same_ids(lines, language=language, bpe=own, vocabulary=vocabulary, tokenizer=tokenizer)


@pytest.mark.parametrize(
    ("merges", "twice"),
    [
        ([("a", "b"), ("b", "c"), ("ab", "c"), ("a", "bc")], ["abc"]),
        ([("ab", "a"), ("a", "b")], ["ab"]),
        ([("<", "/"), ("w", ">"), ("</", "w>"), ("x", "</w>")], ["x</w>"]),
        ([("a", "b"), ("a", "b"), ("ab", "ab")], []),
    ],
)
def test_merges_whose_order_could_matter_are_listed(merges: list[tuple[str, str]], twice: list[str]) -> None:
    assert symbols_made_twice(Bpe(merges=tuple(merges))) == twice


@pytest.mark.parametrize("kind", TableKind)
def test_other_languages_are_out_of_reach(kind: TableKind) -> None:
    bpe, vocabulary = learned(TEXTS, kind=kind, merges=12)
    tokenizer = exported("fr", bpe=bpe["fr"], vocabulary=vocabulary)
    reached = {id for ids in tokenizer([*TEXTS["en"], *TEXTS["fr"], *tokenizer.get_vocab()])["input_ids"] for id in ids}
    foreign = set(range(len(SPECIALS), vocabulary.size("fr"))) - set(vocabulary.ids("fr").values())
    assert bool(foreign) == (kind in (TableKind.PREFIXED, TableKind.PARTIAL))
    assert reached & foreign == set()


def test_special_symbols() -> None:
    bpe, vocabulary = learned(TEXTS, kind=TableKind.UNION, merges=12)
    tokenizer = exported("fr", bpe=bpe["fr"], vocabulary=vocabulary)
    assert tokenizer.model_max_length == 77
    special = [tokenizer.pad_token_id, tokenizer.unk_token_id, tokenizer.mask_token_id, tokenizer.eos_token_id]
    assert special == [PAD, UNK, MASK, END]
    le, la = (vocabulary.encode("fr", next(bpe["fr"].segment_all([word]))) for word in ("le", "la"))
    assert tokenizer("le <special1>la")["input_ids"] == [END, *le, MASK, *la, END]
    pair = tokenizer("le", "la", return_token_type_ids=True)
    assert pair["input_ids"] == [END, *le, END, *la, END]
    assert set(pair["token_type_ids"]) == {0}
    padded = tokenizer(["le", "le la"], padding=True)
    assert padded["input_ids"][0][-1] == PAD
    assert padded["attention_mask"][0][-1] == 0
    assert tokenizer.decode(tokenizer("le thème")["input_ids"], skip_special_tokens=True) == "le thème"
    assert tokenizer("le thème").word_ids()[0] is None


def test_a_special_symbol_that_is_also_a_subword_keeps_out_of_its_way() -> None:
    bpe = Bpe(merges=(("<", "/"), ("</", "s"), ("</s", ">"), ("</s>", "a</w>")))
    vocabulary = build_vocabulary(TableKind.JOINT, counts={"fr": Counter(["</s>", "</s>a</w>", "b</w>"])})
    tokenizer = exported("fr", bpe=bpe, vocabulary=vocabulary)
    assert tokenizer.eos_token == "</s >"
    lines = [["</s>b", "</s>a"], ["b", "</s>"]]
    check_same_ids(lines, language="fr", bpe=bpe, vocabulary=vocabulary, tokenizer=tokenizer)


def test_white_space_is_that_of_our_splitter() -> None:
    bpe, vocabulary = learned(TEXTS, kind=TableKind.UNION, merges=12)
    tokenizer = exported("fr", bpe=bpe["fr"], vocabulary=vocabulary)
    spaces = "".join(map(chr, filter(lambda code: chr(code).isspace(), range(0x110000))))
    assert len(spaces) > 20
    for text in (
        f"{spaces}le{spaces}la{spaces}",
        *(f"le{space}la" for space in spaces),
        *map("le{}la".format, "\u200b\ufeff\u180e"),
    ):
        (sentence,) = encoded_sentences([text.split()], language="fr", bpe=bpe["fr"], vocabulary=vocabulary)
        assert tokenizer(text)["input_ids"] == list(sentence.ids), ascii(text)


def test_lower_case_where_the_text_was_in_lower_case() -> None:
    bpe, vocabulary = learned(TEXTS, kind=TableKind.UNION, merges=12)
    lowercase = replace(WHITESPACE, lowercase=True)
    ids = [
        exported("fr", bpe=bpe["fr"], vocabulary=vocabulary, splitting=splitting)(text)["input_ids"]
        for splitting, text in ((lowercase, "LE Thème"), (WHITESPACE, "le thème"), (WHITESPACE, "LE Thème"))
    ]
    assert ids[0] == ids[1] != ids[2]


@pytest.mark.real_data
@pytest.mark.skipif(not DATA.is_dir(), reason=f"no data folder {DATA}")
@pytest.mark.parametrize("code", ["en", "zh"])
def test_ids_of_real_text_are_ours(code: str) -> None:
    with lzma.open(DATA / f"text/wiki.{code}.txt.xz", "rt", encoding="utf-8") as file:
        lines = split_lines([line.rstrip("\n") for line in islice(file, 25_000)], default_splitting(code))
    counts = Counter(word for line in lines[5000:] for word in line)
    bpe = learn_bpe(counts, merges=12_000)
    vocabulary = build_vocabulary(TableKind.JOINT, counts={code: bpe.subword_counts(counts)})
    tokenizer = exported(code, bpe=bpe, vocabulary=vocabulary)
    assert symbols_made_twice(bpe) == []
    check_same_ids(lines[:5000], language=code, bpe=bpe, vocabulary=vocabulary, tokenizer=tokenizer)
    extra = [id for ids in tokenizer([" ".join(line) for line in lines[:5000]])["input_ids"] for id in ids]
    assert any(id >= vocabulary.size(code) for id in extra), "the hard case was not met"
