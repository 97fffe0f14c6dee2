"""Colours of cells: ever lighter, and ink that can be read on each."""

from itertools import pairwise

from isoglot.report.figures.colour_scale import CIVIDIS, ink_on, scale_colour
from tests.report.svg_pictures import brightness, contrast

SHARES = [place / 100 for place in range(101)]


def test_greater_is_lighter_so_that_grey_paper_tells_as_much() -> None:
    shades = [brightness(scale_colour(share)) for share in SHARES]
    assert all(low <= high for low, high in pairwise(shades))
    assert shades[-1] - shades[0] > 0.7


def test_the_ends() -> None:
    assert scale_colour(0.0) == scale_colour(-3.0) == CIVIDIS[0]
    assert scale_colour(1.0) == scale_colour(7.0) == CIVIDIS[-1]


def test_numbers_can_be_read_in_every_cell() -> None:
    assert all(contrast(scale_colour(share), ink_on(scale_colour(share))) >= 4.5 for share in SHARES)
    assert ink_on("#000000") == "#ffffff"
    assert ink_on("#ffffff") == "#000000"
