"""Numbers and times as people read them."""

import pytest

from isoglot.report.quantities import duration, mean_and_range, short_number


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1.0k"),
        (1234, "1.2k"),
        (81_234, "81k"),
        (1_234_567, "1.2M"),
        (118_863_360, "119M"),
        (82_000_000_000, "82G"),
    ],
)
def test_short_number(value: float, text: str) -> None:
    assert short_number(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.3, "0 s"),
        (119, "119 s"),
        (120, "2 min"),
        (3725, "62 min"),
        (7325, "2 h 02 min"),
        (3 * 3600 - 1, "3 h 00 min"),
        (30 * 3600 + 60, "30 h 01 min"),
    ],
)
def test_duration(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_scores_of_several_seeds() -> None:
    assert mean_and_range([83.14]) == "83.1"
    assert mean_and_range([79.4, 88.4, 81.5]) == "83.1 (79-88)"
