"""Languages are drawn by their share of lines to a power."""

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.pretraining import batches as language_sampling
from isoglot.pretraining.batches import language_probabilities


def test_the_papers_exponent_by_hand() -> None:
    """900,000 and 100,000 lines: 0.9^0.7 = 0.92891 and 0.1^0.7 = 0.19953."""
    probabilities = language_probabilities({"en": 900_000, "fr": 100_000}, exponent=0.7)
    assert probabilities == pytest.approx({"en": 0.92891 / 1.12844, "fr": 0.19953 / 1.12844}, abs=1e-5)


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=6), st.floats(0, 1))
def test_the_formula(counts: list[int], exponent: float) -> None:
    num_lines = {str(place): count for place, count in enumerate(counts)}
    probabilities = language_probabilities(num_lines, exponent=exponent)
    assert list(probabilities) == list(num_lines)
    assert sum(probabilities.values()) == pytest.approx(1)
    for name, count in num_lines.items():
        assert probabilities[name] == pytest.approx(count**exponent / sum(n**exponent for n in counts))


def test_the_example_in_the_docstring() -> None:
    results = doctest.testmod(language_sampling)
    assert (results.attempted, results.failed) == (1, 0)
