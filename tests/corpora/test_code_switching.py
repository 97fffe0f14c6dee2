"""Windows show the text with the right share of its words changed into translations, and nothing else."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.corpora import code_switching
from isoglot.corpora.bpe import Bpe
from isoglot.corpora.code_switching import SwitchableText, SwitchedWindows, Translation
from isoglot.corpora.numbered_text import Split
from isoglot.corpora.vocabulary import END, UNK, Vocabulary, build_vocabulary
from isoglot.errors import IsoglotError
from isoglot.study.conditions import TableKind
from tests.oracles import switched_windows_by_loops, text_of

LETTERS = Bpe(merges=())
Weighted = Mapping[str, Sequence[tuple[str, float]]]


def vocabulary_of(lines: Sequence[str], translations: Weighted) -> Vocabulary:
    targets = [word for known in translations.values() for word, _ in known]
    counts = {"x": Counter(" ".join(lines).split()), "y": Counter(targets)}
    subwords = {language: LETTERS.subword_counts(words) for language, words in counts.items()}
    return build_vocabulary(TableKind.JOINT, counts=subwords)


def switchable_text(
    lines: Sequence[str], translations: Weighted, *, bpe: Bpe = LETTERS, vocabulary: Vocabulary | None = None
) -> SwitchableText:
    """The translations are cut by a BPE of their own."""
    return SwitchableText.of(
        text_of({Split.TRAIN: [line.split() for line in lines]}),
        language="x",
        translations={
            word: [Translation(language="y", word=target, weight=weight) for target, weight in known]
            for word, known in translations.items()
        },
        bpe={"x": LETTERS, "y": bpe},
        vocabulary=vocabulary or vocabulary_of(lines, translations),
    )


SHORT_LINES = ["a bc a", "d"]
TRANSLATIONS = {"a": [("A", 1.0)], "bc": [("B", 3.0), ("CD", 2.0), ("A", 1.0)], "e": [("E", 1.0)]}


def spelled(text: SwitchableText, number: int) -> list[int]:
    end_T = text.token_end_T
    return text.token_S[end_T[number - 1] if number else 0 : end_T[number]].tolist()


def test_types_are_spelled_and_translated() -> None:
    text, ids = switchable_text(SHORT_LINES, TRANSLATIONS), vocabulary_of(SHORT_LINES, TRANSLATIONS).ids("x")
    assert text.type_N.tolist() == [1, 2, 1, 0, 3, 0]
    expected = [["a</w>"], ["b", "c</w>"], ["d</w>"], ["A</w>"], ["B</w>"], ["C", "D</w>"]]
    assert [spelled(text, number) for number in range(1, 7)] == [[ids[each] for each in word] for word in expected]
    assert len(text.token_end_T) == 7, "a word that the text does not have needs no translation"
    assert text.translation_end_W.tolist() == [0, 1, 4, 4]
    assert text.translation_K.tolist() == [4, 5, 6, 4]


def test_a_draw_next_to_one_stays_with_its_word() -> None:
    """Sums of such weights are rounded."""

    class Highest(np.random.Generator):
        def random(self, size: int) -> np.ndarray:  # type: ignore[override]
            return np.full(size, np.nextafter(1, 0))

    text = switchable_text(SHORT_LINES, {"a": [("A", 1e9)], "bc": [("B", 1e-9)], "d": [("D", 1.0)]})
    assert text.drawn_translations(np.array([1, 2, 3]), Highest(np.random.PCG64(0))).tolist() == [4, 5, 6]


def test_each_language_is_cut_by_its_own_bpe() -> None:
    joined = Bpe(merges=(("A", "B</w>"),))
    counts = {"x": LETTERS.subword_counts({"ab": 1}), "y": joined.subword_counts({"AB": 1})}
    vocabulary = build_vocabulary(TableKind.UNION, counts=counts)
    text = switchable_text(["ab"], {"ab": [("AB", 1.0)]}, bpe=joined, vocabulary=vocabulary)
    assert spelled(text, 2) == [vocabulary.ids("y")["AB</w>"]]


def test_a_translation_that_cannot_be_spelled_is_left_out() -> None:
    vocabulary = vocabulary_of(SHORT_LINES, {"a": [("A", 1.0)]})
    unspeakable = ("AZ", 1.0)
    known = {"a": [unspeakable, ("A", 1.0)], "d": [unspeakable]}
    text = switchable_text(SHORT_LINES, known, vocabulary=vocabulary)
    assert text.translation_end_W.tolist() == [0, 1, 1, 1]
    assert UNK not in text.token_S
    with pytest.raises(IsoglotError, match="translates no word of the text of 'x'"):
        switchable_text(SHORT_LINES, {"a": [unspeakable]}, vocabulary=vocabulary)


def test_written_and_read_it_is_the_same(tmp_path: Path) -> None:
    text = switchable_text(SHORT_LINES, TRANSLATIONS)
    text.write(tmp_path)
    found = SwitchableText.read(tmp_path)
    for field in fields(text):
        ours, theirs = getattr(text, field.name), getattr(found, field.name)
        assert ours.dtype == theirs.dtype
        assert np.array_equal(ours, theirs), field.name
    assert isinstance(found.type_N.base, np.memmap)


# Words of one to four tokens in both languages; "ab" and "ea" stand in no dictionary.
OWN = ("a", "b", "ab", "cd", "dc", "abc", "bde", "eabc", "ea")
DICTIONARY: Weighted = {
    "a": [("A", 1.0)],
    "b": [("BCDE", 1.0), ("C", 3.0)],
    "cd": [("CD", 0.5), ("A", 0.25), ("EDC", 4.0)],
    "dc": [("EEEE", 1.0)],
    "abc": [("B", 1.0)],
    "bde": [("DA", 2.0), ("AD", 2.0)],
    "eabc": [("E", 1.0)],
}
LINES = st.lists(st.lists(st.sampled_from(OWN), min_size=1, max_size=7).map(" ".join), min_size=1, max_size=8)


def seen_dictionary(lines: Sequence[str]) -> Weighted:
    """At least one word must be translated."""
    words = " ".join(lines).split()
    return {words[0]: [("A", 1.0)]} if DICTIONARY.keys().isdisjoint(words) else DICTIONARY


@given(LINES, st.integers(1, 9), st.integers(0, 12), st.integers(0, 9), st.integers(0, 2**31))
def test_windows_are_those_of_plain_loops(lines: list[str], length: int, position: int, count: int, seed: int) -> None:
    dictionary = seen_dictionary(lines)
    text = [word for line in lines for word in (*line.split(), "")]
    ids = vocabulary_of(lines, dictionary)
    targets = [target for known in dictionary.values() for target, _ in known]
    words = [word for word in (*text, *targets) if word]
    subwords = zip(words, LETTERS.segment_all(words), strict=True)
    spelled = {word: ids.encode("x", of_word) for word, of_word in subwords} | {"": [END]}
    if length > sum(len(spelled[word]) for word in text):
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(code_switching, "PLACES_AT_ONCE", 5)
        windows = SwitchedWindows(switchable_text(lines, dictionary), length=length, seed=seed, name="x")
    taken = windows.take(position, count)
    assert taken.dtype == np.int64
    assert taken.shape == (count, length)
    places = {"length": length, "seed": seed, "name": "x", "position": position, "count": count}
    assert taken.tolist() == switched_windows_by_loops(text, spelled=spelled, translations=dictionary, **places)


def test_a_text_shorter_than_a_window_is_refused() -> None:
    text = switchable_text(["ab c"], {"c": [("C", 1.0)]})
    assert SwitchedWindows(text, length=4, seed=0, name="fr").take(0, 1).shape == (1, 4)
    with pytest.raises(IsoglotError, match="'fr' has 4 tokens, less than one window of 5"):
        SwitchedWindows(text, length=5, seed=0, name="fr")
