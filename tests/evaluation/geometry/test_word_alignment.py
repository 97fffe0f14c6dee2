"""fast_align's model against plain loops, and closed forms against sums."""

import math
from collections import defaultdict
from collections.abc import Sequence
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import digamma

from isoglot.corpora.synthetic import draw_meanings, realise
from isoglot.evaluation.geometry import alignment_model, word_alignment
from isoglot.evaluation.geometry.alignment_model import NumberedWords, diagonal_sums, distances
from isoglot.evaluation.geometry.word_alignment import SentencePair, aligned, directed_links, fitted
from isoglot.study.synthetic_languages import SyntheticLanguage, WordOrder, World

NULL = None
PAIRS = st.lists(st.tuples(*[st.lists(st.sampled_from("abcdefg"), max_size=5)] * 2), min_size=1, max_size=6)

Table = dict[tuple[str | None, str], float]


class SlowAlign:
    """Dyer, Chahuneau and Smith (2013) by loops over sentences, target words and source words."""

    def __init__(self, pairs: Sequence[SentencePair], *, iterations: int) -> None:
        self.pairs = [(list(source), list(target)) for source, target in pairs if source and target]
        self.tension = 4.0
        self.table: Table = defaultdict(lambda: 1.0)
        for iteration in range(iterations - 1):
            self.learn(tension_too=iteration > 0)

    def diagonal(self, j: int, n: int, m: int) -> list[float]:
        weights = [math.exp(-self.tension * abs(j / n - i / m)) for i in range(1, m + 1)]
        return [weight / sum(weights) for weight in weights]

    def likelihoods(self, source: list[str], target: list[str], j: int) -> list[float]:
        """The likelihood of null, then of every source word."""
        priors = [0.08, *(0.92 * p for p in self.diagonal(j, len(target), len(source)))]
        return [prior * self.table[word, target[j - 1]] for prior, word in zip(priors, [NULL, *source], strict=True)]

    def learn(self, *, tension_too: bool) -> None:
        counts: Table = defaultdict(float)
        observed = 0.0
        for source, target in self.pairs:
            for j in range(1, len(target) + 1):
                likelihoods = self.likelihoods(source, target, j)
                for i, (word, likelihood) in enumerate(zip([NULL, *source], likelihoods, strict=True)):
                    posterior = likelihood / sum(likelihoods)
                    counts[word, target[j - 1]] += posterior
                    if word is not NULL:
                        observed += posterior * abs((j - 1) / len(target) - i / len(source))
        for _ in range(8 if tension_too else 0):
            num_words = sum(len(target) for _, target in self.pairs)
            self.tension += 20 * (self.expected_distance() - observed) / max(num_words, 1)
            self.tension = min(max(self.tension, 0.1), 14)
        totals: dict[str | None, float] = defaultdict(float)
        for (word, _), count in counts.items():
            totals[word] += count + 0.01
        self.table = {
            (word, other): math.exp(digamma(count + 0.01) - digamma(totals[word]))
            for (word, other), count in counts.items()
        }

    def expected_distance(self) -> float:
        return sum(
            probability * abs(j / len(target) - i / len(source))
            for source, target in self.pairs
            for j in range(1, len(target) + 1)
            for i, probability in enumerate(self.diagonal(j, len(target), len(source)), start=1)
        )


def numbered(pairs: Sequence[SentencePair]) -> tuple[NumberedWords, NumberedWords]:
    source, target = (NumberedWords([pair[side] for pair in pairs]) for side in (0, 1))
    return source, target


def pairs_in_order(pairs: Sequence[SentencePair]) -> list[tuple[str | None, str]]:
    """Words that occur together: by source word with null first, then by target word, each as they are first met."""
    sources, targets = (list(dict.fromkeys(chain(*(pair[side] for pair in pairs)))) for side in (0, 1))
    met = {(word, other) for source, target in pairs if source and target for word in source for other in target}
    met |= {(NULL, other) for source, target in pairs if source and target for other in target}
    return [(word, other) for word in (NULL, *sources) for other in targets if (word, other) in met]


@given(pairs=PAIRS, iterations=st.integers(1, 6))
def test_against_plain_loops(pairs: list[SentencePair], iterations: int) -> None:
    slow = SlowAlign(pairs, iterations=iterations)
    fast = fitted(*numbered(pairs), iterations=iterations)
    assert fast.tension == pytest.approx(slow.tension, rel=1e-9)
    expected = [slow.table[each] for each in pairs_in_order(pairs)]
    np.testing.assert_allclose(fast.probability_P, expected, rtol=1e-9)
    if iterations != word_alignment.ITERATIONS:
        return
    for (source, target), found in zip(pairs, directed_links(*numbered(pairs)), strict=True):
        partner = {j: i + 1 for i, j in found} if source else {}
        for j in range(len(target) if source else 0):
            likelihoods = slow.likelihoods(list(source), list(target), j + 1)
            best = next(i for i, each in enumerate(likelihoods) if each > max(likelihoods) * (1 - 1e-9))
            assert partner.get(j, 0) == best
        assert source or not found


@pytest.mark.parametrize(
    ("pairs", "iterations", "least", "most"),
    [
        ([("abcde", "abcde"), ("bcd", "cbd"), ("ace", "eca")], 3, 0.2, 1),
        ([("abcdefghijklmnopqrstuvwxyz",) * 2] * 2, 8, 14, 14),
        ([("abcdefg", "gfedcba")] * 3 + [("a", "a"), ("b", "b"), ("f", "f"), ("g", "g")], 20, 0.1, 0.1),
    ],
)
def test_tension_takes_its_eight_steps_between_its_bounds(
    pairs: list[SentencePair], iterations: int, least: float, most: float
) -> None:
    tension = fitted(*numbered(pairs), iterations=iterations).tension
    assert tension == pytest.approx(SlowAlign(pairs, iterations=iterations).tension, rel=1e-9)
    assert least <= tension <= most


def test_sentences_without_words_have_no_links_and_change_nothing() -> None:
    pairs: list[SentencePair] = [(["a", "b"], ["x", "y"]), (["b"], ["y"])]
    empty: list[SentencePair] = [([], ["x"]), (["a"], []), ([], [])]
    assert aligned([empty[0], pairs[0], *empty[1:], pairs[1]]) == [[], [(0, 0), (1, 1)], [], [], [(0, 0)]]
    assert aligned(empty) == [[], [], []]
    assert aligned([]) == []


def test_small_blocks_give_the_same_as_large_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    world, meanings = World(), draw_meanings(World(), count=200, seed=0)
    languages = SyntheticLanguage(name="ela"), SyntheticLanguage(name="oru", order=WordOrder.SOV)
    sides = [NumberedWords([line.split() for line in realise(meanings, each, world=world)]) for each in languages]
    large = fitted(*sides)
    monkeypatch.setattr(alignment_model, "MOST_CELLS", 100)
    small = fitted(*sides)
    np.testing.assert_allclose(small.probability_P, large.probability_P, rtol=1e-9)
    np.testing.assert_array_equal(small.best_source_W, large.best_source_W)


SIZES = st.integers(1, 120)
TENSIONS = st.floats(0.1, 14)


def brute_force(j: int, n: int, m: int, tension: float) -> tuple[float, float]:
    """The normaliser and the mean distance of target place j, by summing over all m source places."""
    weights = [(np.exp(-tension * abs(j / n - i / m)), abs(j / n - i / m)) for i in range(1, m + 1)]
    normaliser = sum(weight for weight, _ in weights)
    return normaliser, sum(weight * distance for weight, distance in weights) / normaliser


@given(n=SIZES, m=SIZES, tension=TENSIONS)
def test_closed_forms_are_the_sums(n: int, m: int, tension: float) -> None:
    some = np.unique([1, (n + 1) // 2, n])
    normaliser_R, distance_R = diagonal_sums(some, np.array(n), np.array(m), tension=tension)
    expected = np.array([brute_force(j, n, m, tension) for j in some])
    np.testing.assert_allclose(normaliser_R, expected[:, 0], rtol=1e-12)
    np.testing.assert_allclose(distance_R, expected[:, 1], rtol=0, atol=1e-10)


def test_places_as_far_on_either_side_are_exactly_as_likely_and_observed_ones_count_from_nothing() -> None:
    for n in (1, 2, 7, 30):
        distance_NM = distances(n, n)
        assert (distance_NM == distance_NM.T).all()
        assert (distance_NM == distance_NM[::-1, ::-1]).all()
    assert distances(2, 2, first_target=0).tolist() == [[0.5, 1.0], [0.0, 0.5]]
    assert distances(1, 4)[0].tolist() == pytest.approx([0.75, 0.5, 0.25, 0.0])
