"""What a map is tested on, it has not met."""

import pytest

from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.parallel_lines import HeldOutLines


def test_every_fifth_line_is_a_test() -> None:
    lines = HeldOutLines.of([f"a{row}" for row in range(23)], [f"b{row}" for row in range(23)], test_share=0.2)
    assert lines.tests == [4, 9, 14, 19]
    assert lines.fitted == [row for row in range(23) if row not in (4, 9, 14, 19)]
    assert lines.pairs == [(0, 0), (1, 1), (2, 2), (3, 3)]
    halves = HeldOutLines.of([f"a{row}" for row in range(8)], [f"b{row}" for row in range(8)], test_share=0.5)
    assert halves.tests == [1, 3, 5, 7]


def test_a_sentence_of_the_test_is_fitted_on_in_no_language() -> None:
    lines_a, lines_b = [f"a{row}" for row in range(20)], [f"b{row}" for row in range(20)]
    lines_a[0], lines_b[1] = lines_a[4], lines_b[9]
    lines = HeldOutLines.of(lines_a, lines_b, test_share=0.2)
    assert lines.tests == [4, 9, 14, 19]
    assert {0, 1}.isdisjoint(lines.fitted)
    assert len(lines.fitted) == 14


def test_two_lines_that_say_the_same_are_both_right() -> None:
    lines_a, lines_b = [f"a{row}" for row in range(20)], [f"b{row}" for row in range(20)]
    lines_b[14] = lines_b[4]
    assert HeldOutLines.of(lines_a, lines_b, test_share=0.2).pairs == [(0, 0), (0, 2), (1, 1), (2, 0), (2, 2), (3, 3)]


@pytest.mark.parametrize("share", [0.0, -0.2, 0.6, 1.0])
def test_shares_that_leave_nothing_are_refused(share: float) -> None:
    with pytest.raises(IsoglotError, match="test_share"):
        HeldOutLines.of(["a"] * 20, ["b"] * 20, test_share=share)


def test_too_few_lines_are_refused() -> None:
    with pytest.raises(IsoglotError, match=r"5 lines leave 1 to test and 4 others"):
        HeldOutLines.of(list("abcde"), list("abcde"), test_share=0.2)
    with pytest.raises(IsoglotError, match=r"50 lines leave 10 to test and 0 others"):
        HeldOutLines.of(["same"] * 50, [str(row) for row in range(50)], test_share=0.2)
