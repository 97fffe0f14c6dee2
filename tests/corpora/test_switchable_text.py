"""Words know how they are spelled and what they may give way to."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.code_switching import SwitchableText, Translation
from isoglot.corpora.vocabulary import UNK, build_vocabulary
from isoglot.errors import IsoglotError
from isoglot.study.conditions import TableKind
from tests.corpora.switchable_texts import LETTERS, switchable_text, training_text, vocabulary_of

LINES = ["a bc a", "d"]
TRANSLATIONS = {"a": [("A", 1.0)], "bc": [("B", 3.0), ("CD", 2.0), ("A", 1.0)], "e": [("E", 1.0)]}


def spelled(text: SwitchableText, number: int) -> list[int]:
    end_T = text.token_end_T
    return text.token_S[end_T[number - 1] if number else 0 : end_T[number]].tolist()


def test_types_are_spelled_and_translated() -> None:
    text, ids = switchable_text(LINES, TRANSLATIONS), vocabulary_of(LINES, TRANSLATIONS).ids("x")
    assert text.type_N.tolist() == [1, 2, 1, 0, 3, 0]
    expected = [["a</w>"], ["b", "c</w>"], ["d</w>"], ["A</w>"], ["B</w>"], ["C", "D</w>"]]
    assert [spelled(text, number) for number in range(1, 7)] == [[ids[each] for each in word] for word in expected]
    assert len(text.token_end_T) == 7, "a word that the text does not have needs no translation"
    assert text.translation_end_W.tolist() == [0, 1, 4, 4]
    assert text.translation_K.tolist() == [4, 5, 6, 4]


def test_translations_are_drawn_by_their_weights() -> None:
    text = switchable_text(LINES, TRANSLATIONS)
    drawn_C = text.drawn_translations(np.full(6000, 2), np.random.default_rng(0))
    counts = [np.count_nonzero(drawn_C == number) for number in (5, 6, 4)]
    assert sum(counts) == 6000
    assert stats.chisquare(counts, [3000, 2000, 1000]).pvalue > 1e-4
    assert set(text.drawn_translations(np.full(100, 1), np.random.default_rng(0)).tolist()) == {4}


def test_a_draw_next_to_one_stays_with_its_word() -> None:
    """Sums of such weights are rounded."""

    class Highest(np.random.Generator):
        def random(self, size: int) -> np.ndarray:  # type: ignore[override]
            return np.full(size, np.nextafter(1, 0))

    text = switchable_text(LINES, {"a": [("A", 1e9)], "bc": [("B", 1e-9)], "d": [("D", 1.0)]})
    assert text.drawn_translations(np.array([1, 2, 3]), Highest(np.random.PCG64(0))).tolist() == [4, 5, 6]


def test_each_language_is_cut_by_its_own_bpe() -> None:
    joined = Bpe(merges=(("A", "B</w>"),))
    vocabulary = build_vocabulary(
        TableKind.UNION,
        counts={"x": LETTERS.subword_counts({"ab": 1}), "y": joined.subword_counts({"AB": 1})},
    )
    text = SwitchableText.of(
        training_text(["ab"]),
        language="x",
        translations={"ab": [Translation(language="y", word="AB")]},
        bpe={"x": LETTERS, "y": joined},
        vocabulary=vocabulary,
    )
    assert spelled(text, 2) == [vocabulary.ids("y")["AB</w>"]]


def test_a_translation_that_cannot_be_spelled_is_left_out() -> None:
    vocabulary = vocabulary_of(LINES, {"a": [("A", 1.0)]})
    unspeakable = Translation(language="y", word="AZ")
    settings = {"language": "x", "bpe": {"x": LETTERS, "y": LETTERS}, "vocabulary": vocabulary}
    both = [unspeakable, Translation(language="y", word="A")]
    text = SwitchableText.of(training_text(LINES), translations={"a": both, "d": [unspeakable]}, **settings)
    assert text.translation_end_W.tolist() == [0, 1, 1, 1]
    assert UNK not in text.token_S
    with pytest.raises(IsoglotError, match="translates no word of the text of 'x'"):
        SwitchableText.of(training_text(LINES), translations={"a": [unspeakable]}, **settings)


@pytest.mark.parametrize("weight", [0.0, -1.0, float("nan"), float("inf")])
def test_a_weight_that_is_none_is_refused(weight: float) -> None:
    with pytest.raises(IsoglotError, match=r"the translation 'A' of 'y' has the weight .*; give one above 0"):
        Translation(language="y", word="A", weight=weight)


def test_written_and_read_it_is_the_same(tmp_path: Path) -> None:
    text = switchable_text(LINES, TRANSLATIONS)
    text.write(tmp_path)
    found = SwitchableText.read(tmp_path)
    for field in fields(text):
        ours, theirs = getattr(text, field.name), getattr(found, field.name)
        assert ours.dtype == theirs.dtype
        assert np.array_equal(ours, theirs), field.name
    assert isinstance(found.type_N.base, np.memmap)


@pytest.mark.parametrize("damage", ["gone", "cut", "other"])
def test_a_damaged_folder_is_refused(tmp_path: Path, damage: str) -> None:
    switchable_text(LINES, TRANSLATIONS).write(tmp_path)
    path = tmp_path / "token_S.npy"
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-4] if damage == "cut" else b"no array")
    with pytest.raises(IsoglotError, match=rf"{tmp_path}: not a switchable text .*; delete it to make it anew"):
        SwitchableText.read(tmp_path)
