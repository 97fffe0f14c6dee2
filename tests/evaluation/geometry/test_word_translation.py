"""Translation of words by a map, against MUSE's rules written as loops."""

import numpy as np
import pytest
import torch
from scipy.linalg import orthogonal_procrustes

from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.vectors import iterative_normalization
from isoglot.evaluation.geometry.word_translation import WordPair, WordSpace, word_translation

WIDTH = 8


def space(name: str, vector_WD: np.ndarray) -> WordSpace:
    return WordSpace(words=[f"{name}{row}" for row in range(len(vector_WD))], vector_WD=torch.from_numpy(vector_WD))


def rotated_pair(*, words: int, noise: float, seed: int = 0) -> tuple[WordSpace, WordSpace]:
    """Word i of the target is word i of the source, turned and blurred."""
    random = np.random.default_rng(seed)
    source_WD = random.normal(size=(words, WIDTH))
    turn_DD, _ = np.linalg.qr(random.normal(size=(WIDTH, WIDTH)))
    target_WD = 3 * source_WD @ turn_DD + noise * random.normal(size=source_WD.shape)
    return space("a", source_WD), space("b", target_WD)


def same_row(rows: range) -> list[WordPair]:
    return [(f"a{row}", f"b{row}") for row in rows]


def muse_precision(
    source: WordSpace, target: WordSpace, *, fit: list[WordPair], test: list[WordPair], rounds: int, csls: bool, at: int
) -> float:
    """As MUSE's get_word_translation_accuracy: the mean over the source words of pairs that both sides have."""
    source_WD, target_WD = (iterative_normalization(side.vector_WD, rounds).numpy() for side in (source, target))
    rows, columns = list(source.words), list(target.words)
    known = [(rows.index(a), columns.index(b)) for a, b in fit if a in rows and b in columns]
    turn_DD, _ = orthogonal_procrustes(source_WD[[row for row, _ in known]], target_WD[[column for _, column in known]])
    cosine_WW = source_WD @ turn_DD @ target_WD.T
    crowding_W1 = np.sort(cosine_WW, axis=1)[:, -10:].mean(1, keepdims=True)
    crowding_1W = np.sort(cosine_WW, axis=0)[-10:].mean(0, keepdims=True)
    best_WW = np.argsort(-(2 * cosine_WW - csls * (crowding_W1 + crowding_1W)), axis=1)[:, :at]
    asked = {rows.index(a) for a, b in test if a in rows and b in columns}
    right = [any((rows[row], columns[column]) in test for column in best_WW[row]) for row in asked]
    return 100 * sum(right) / len(right)


def test_no_pair_that_the_map_was_fitted_on_is_asked_for() -> None:
    """Random vectors score at chance, though a third of the test's target words are in the fit as well."""
    random = np.random.default_rng(0)
    source, target = (space(name, random.normal(size=(400, 64))) for name in "ab")
    test = [(f"a{300 + row}", f"b{row if row % 3 == 0 else 300 + row}") for row in range(100)]
    found = word_translation(source, target, fit=same_row(range(70)), test=test, rounds=5)
    fitted = word_translation(source, target, fit=same_row(range(70)), test=same_row(range(70)), rounds=5)
    assert found.precision["p1"] <= 3
    assert fitted.precision["p1"] > 50
    assert {*found.precision} == {f"p{at}{way}" for way in ("", "_cosine") for at in (1, 5, 10)}


def test_scores_are_those_of_muse_with_our_normalization() -> None:
    source, target = rotated_pair(words=60, noise=4.0)
    fit = [*same_row(range(25)), ("a0", "b1"), ("a0", "b1"), ("a3", "nowhere"), ("nobody", "b2")]
    test = [*same_row(range(25, 50)), ("a30", "b55"), ("a31", "b30"), ("a32", "nowhere"), ("nobody", "b40")]
    found = word_translation(source, target, fit=fit, test=test, rounds=5)
    # The pair that is there twice counts once.
    fit.remove(("a0", "b1"))
    expected = {}
    for name, csls in (("", True), ("_cosine", False)):
        for at in (1, 5, 10):
            expected[f"p{at}{name}"] = muse_precision(source, target, fit=fit, test=test, rounds=5, csls=csls, at=at)
    assert found.precision == pytest.approx(expected)
    assert 0 < found.precision["p1"] < found.precision["p10"]
    by_way = [[found.precision[f"p{at}{way}"] for at in (1, 5, 10)] for way in ("", "_cosine")]
    assert by_way[0] != by_way[1]
    assert found.coverage == {
        "asked": 25,
        "fitted_pairs": 26,
        "coverage": pytest.approx(100 * 27 / 29),
        "coverage_of_source_words": pytest.approx(100 * 25 / 26),
        "coverage_of_target_words": pytest.approx(100 * 26 / 27),
    }


@pytest.mark.parametrize(
    ("fit", "test", "complaint"),
    [
        ([("b0", "a0")], same_row(range(9)), r"to fit the map on.*\(1 entries\); is it of these languages"),
        (same_row(range(9)), [("A0", "b0"), ("x", "b1")], r"to score it by.*\(2 entries\)"),
    ],
)
def test_a_dictionary_without_known_words_is_refused(fit: list[WordPair], test: list[WordPair], complaint: str) -> None:
    source, target = rotated_pair(words=20, noise=0.0)
    with pytest.raises(IsoglotError, match=complaint):
        word_translation(source, target, fit=fit, test=test, rounds=5)
