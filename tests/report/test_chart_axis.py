"""Ticks: round, few, around all values."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.report.figures.chart_axis import MOST_STEPS, Axis, LogAxis


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([0, 1], ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        ([0, 100], ["0", "20", "40", "60", "80", "100"]),
        ([0, 0.6000000000000001], ["0.0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6"]),
        ([0, 13], ["0.0", "2.5", "5.0", "7.5", "10.0", "12.5", "15.0"]),
        ([-0.3, 1], ["-0.50", "-0.25", "0.00", "0.25", "0.50", "0.75", "1.00"]),
        ([0], ["0.0", "0.2"]),
        ([7, 7], ["6", "8"]),
    ],
)
def test_ticks(values: list[float], labels: list[str]) -> None:
    axis = Axis.around(values)
    assert [axis.label(tick) for tick in axis.ticks] == labels


@given(st.lists(st.floats(min_value=-1e6, max_value=1e6).map(lambda value: round(value, 4)), min_size=1))
def test_the_axis_has_room_for_all_and_is_not_much_longer(values: list[float]) -> None:
    axis = Axis.around(values)
    assert all(-1e-6 <= axis.share(value) <= 1 + 1e-6 for value in values)
    assert math.isclose(axis.share(axis.ticks[0]), 0, abs_tol=1e-9)
    assert math.isclose(axis.share(axis.ticks[-1]), 1)
    assert len(axis.ticks) <= MOST_STEPS + 2
    assert len({axis.label(tick) for tick in axis.ticks}) == len(axis.ticks)
    mantissa = axis.step / 10.0 ** math.floor(math.log10(axis.step) + 1e-9)
    assert min(abs(mantissa - round_one) for round_one in (1, 2, 2.5, 5)) < 1e-6


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([2.8, 23.0], ["2", "5", "10", "20", "50"]),
        ([5.0, 50.0], ["5", "10", "20", "50"]),
        ([7.0, 7.0], ["5", "10"]),
        ([3.0, 40_000.0], ["2", "10", "100", "1,000", "10,000", "50,000"]),
        ([0.02, 0.3], ["0.02", "0.05", "0.1", "0.2", "0.5"]),
    ],
)
def test_ticks_of_a_log_axis(values: list[float], labels: list[str]) -> None:
    axis = LogAxis.around(values)
    assert [axis.label(tick) for tick in axis.ticks] == labels


@given(st.lists(st.floats(min_value=1e-6, max_value=1e9), min_size=1))
def test_a_log_axis_has_room_for_every_value_and_equal_ratios_are_equally_far(values: list[float]) -> None:
    axis = LogAxis.around(values)
    assert all(-1e-6 <= axis.share(value) <= 1 + 1e-6 for value in values)
    first, last = axis.ticks[0], axis.ticks[-1]
    assert axis.share(math.sqrt(first * last)) == pytest.approx(0.5)
