"""Numbers and times as people read them."""

import pytest

from isoglot.report.quantities import duration, mean_and_range, short_number, size_in_bytes, time_spent


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
        (48 * 3600, "48 h 00 min"),
        (54 * 3600, "2.2 days"),
        (30.4 * 86400, "30 days"),
        (730 * 86400, "730 days"),
        (3.55 * 365 * 86400 + 86400, "3.6 years"),
        (28 * 365 * 86400, "28 years"),
    ],
)
def test_duration(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_scores_of_several_seeds() -> None:
    assert mean_and_range([83.14]) == "83.1"
    assert mean_and_range([79.4, 88.4, 81.5]) == "83.1 (79-88)"


@pytest.mark.parametrize(
    ("seconds", "work", "text"),
    [
        (41, 76, "41 s (76 s of work)"),
        (41, 40, "41 s"),
        (60, 20, "60 s (20 s of work)"),
        (0.2, 0.1, "0 s"),
        (7200, 36000, "2 h 00 min (10 h 00 min of work)"),
    ],
)
def test_the_work_of_several_processes_is_told_beside_the_clock(seconds: float, work: float, text: str) -> None:
    assert time_spent(seconds, work=work) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 kB"),
        (1499, "1 kB"),
        (999_000, "999 kB"),
        (1.24e6, "1.2 MB"),
        (60e6, "60 MB"),
        (1.5e9, "1.5 GB"),
        (2e13, "20 TB"),
    ],
)
def test_size_in_bytes(value: float, text: str) -> None:
    assert size_in_bytes(value) == text
