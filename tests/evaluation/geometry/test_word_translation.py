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


def test_a_translation_that_the_map_was_fitted_on_is_no_mistake() -> None:
    """Back from b0, a0 is right as well: the pair stands in the fit, as with a third of MUSE's target words."""
    source, target = rotated_pair(words=40, noise=0.0)
    found = word_translation(
        source, target, fit=same_row(range(30)), test=[*same_row(range(30, 35)), ("a35", "b0")], rounds=5
    )
    assert found.precision["p1_to_source"] == 100
    # From a35 only b0 is known, and what lies there is b35.
    assert found.precision["p1"] == pytest.approx(100 * 5 / 6)


def test_scores_are_those_of_muse_with_our_normalization() -> None:
    source, target = rotated_pair(words=60, noise=4.0)
    fit = [*same_row(range(25)), ("a0", "b1"), ("a0", "b1"), ("a3", "nowhere"), ("nobody", "b2")]
    test = [*same_row(range(25, 50)), ("a30", "b55"), ("a31", "b30"), ("a32", "nowhere"), ("nobody", "b40")]
    found = word_translation(source, target, fit=fit, test=test, rounds=5)
    # The pair that is there twice counts once.
    fit.remove(("a0", "b1"))
    turned = [(b, a) for a, b in test]
    expected = {}
    for name, csls in (("", True), ("_cosine", False)):
        for at in (1, 5, 10):
            expected[f"p{at}{name}"] = muse_precision(source, target, fit=fit, test=test, rounds=5, csls=csls, at=at)
            expected[f"p{at}{name}_to_source"] = muse_precision(
                target, source, fit=[(b, a) for a, b in fit], test=turned, rounds=5, csls=csls, at=at
            )
    assert found.precision == pytest.approx(expected)
    assert 0 < found.precision["p1"] < found.precision["p10"]
    by_way = {way: [found.precision[f"p{at}{way}"] for at in (1, 5, 10)] for way in ("", "_cosine", "_to_source")}
    assert by_way[""] not in (by_way["_cosine"], by_way["_to_source"])
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
