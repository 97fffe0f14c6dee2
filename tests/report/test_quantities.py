"""Numbers and times as people read them."""

from isoglot.report.quantities import duration, listed, mean_and_range, short_number, size_in_bytes, time_spent

DAY = 86400


def test_numbers_are_short() -> None:
    expected = {0: "0", 999: "999", 1000: "1.0k", 81_234: "81k", 1_234_567: "1.2M", 82_000_000_000: "82G"}
    assert {value: short_number(value) for value in expected} == expected
    sizes = {0: "0 kB", 999_000: "999 kB", 1.24e6: "1.2 MB", 1.5e9: "1.5 GB", 2e13: "20 TB"}
    assert {value: size_in_bytes(value) for value in sizes} == sizes
    assert mean_and_range([83.14]) == "83.1"
    assert mean_and_range([79.4, 88.4, 81.5]) == "83.1 (79-88)"
    assert mean_and_range([0.794, 0.884, 0.815], is_share=True) == "0.83 (0.79-0.88)"


def test_durations_are_in_the_unit_that_can_be_read() -> None:
    expected = {
        **{0.3: "0 s", 119: "119 s", 120: "2 min", 7325: "2 h 02 min", 3 * 3600 - 1: "3 h 00 min"},
        **{2 * DAY: "48 h 00 min", 54 * 3600: "2.2 days", 730 * DAY: "730 days", 28 * 365 * DAY: "28 years"},
    }
    assert {seconds: duration(seconds) for seconds in expected} == expected


def test_the_work_of_several_processes_stands_beside_the_clock() -> None:
    assert time_spent(41, work=76) == "41 s (76 s of work)"
    assert time_spent(41, work=40) == "41 s"
    assert time_spent(0.2, work=0.4) == "0 s"
    assert time_spent(7200, work=36000) == "2 h 00 min (10 h 00 min of work)"


def test_the_last_of_a_list_comes_after_and() -> None:
    assert [listed(["fr", "ru", "zh"][:count]) for count in range(4)] == ["", "fr", "fr and ru", "fr, ru and zh"]
