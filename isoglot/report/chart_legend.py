"""How the lines of a chart are told apart, and the legend below it that says which is which."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from isoglot.report.drawing import (
    GROUND,
    INK,
    LINES,
    MUTED,
    Colour,
    coloured,
    element,
    hover,
    level,
    number,
    shortened,
    shown_text,
    text_width,
)

LINE_HEIGHT = 20
SAMPLE, GAP, LABEL_SIZE = 34, 22, 13
MARKER = 5.0
DASHES = ("7 4", "2 4", "10 3 2 3")
# Corners around (0, 0): near circle, square, triangle, diamond, triangle, cross, bar.
MARKERS = (
    ((-1, 0), (-0.7, -0.7), (0, -1), (0.7, -0.7), (1, 0), (0.7, 0.7), (0, 1), (-0.7, 0.7)),
    ((-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)),
    ((0, -1.15), (1.1, 0.8), (-1.1, 0.8)),
    ((0, -1.3), (1.05, 0), (0, 1.3), (-1.05, 0)),
    ((0, 1.15), (1.1, -0.8), (-1.1, -0.8)),
    (
        *((-0.35, -1.1), (0.35, -1.1), (0.35, -0.35), (1.1, -0.35), (1.1, 0.35), (0.35, 0.35)),
        *((0.35, 1.1), (-0.35, 1.1), (-0.35, 0.35), (-1.1, 0.35), (-1.1, -0.35), (-0.35, -0.35)),
    ),
    ((-1.2, -0.5), (1.2, -0.5), (1.2, 0.5), (-1.2, 0.5)),
)


def line_colour(place: int) -> Colour:
    return LINES[place % len(LINES)]


def marker(place: int, *, x: float, y: float, said: str) -> str:
    """The mark of the line at this place; after the last colour they begin anew, hollow."""
    corners = " ".join(
        f"{number(x + MARKER * across)},{number(y + MARKER * down)}" for across, down in MARKERS[place % len(MARKERS)]
    )
    is_hollow = place >= len(LINES)
    inside = coloured(GROUND, element("polygon", points=corners, fill="currentColor")) if is_hollow else ""
    return inside + element(
        "polygon",
        hover(said),
        points=corners,
        fill="none" if is_hollow else "currentColor",
        stroke="currentColor",
        stroke_width=1.25,
        pointer_events="all",
    )


@dataclass(frozen=True, kw_only=True)
class Legend:
    """Entries one beside the other, in as many rows as they need; lines first, then dashed levels."""

    lines: Sequence[str]
    levels: Sequence[str]
    width: float

    @property
    def height(self) -> float:
        return LINE_HEIGHT * (max((row for _, row in self._places()), default=-1) + 1)

    def drawn(self, *, x: float, y: float) -> Iterator[str]:
        for place, (label, (across, row)) in enumerate(zip(self._labels(), self._places(), strict=True)):
            start, middle = x + across, y + LINE_HEIGHT * (row + 0.5)
            if place < len(self.lines):
                mark = marker(place, x=start + (SAMPLE - 8) / 2, y=middle, said=self.lines[place])
                yield coloured(line_colour(place), level(x=start, width=SAMPLE - 8, y=middle) + mark)
            else:
                dashes = DASHES[(place - len(self.lines)) % len(DASHES)]
                yield coloured(MUTED, level(x=start, width=SAMPLE - 8, y=middle, dashes=dashes))
            yield coloured(INK, shown_text(label, x=start + SAMPLE, y=middle + 4.5, size=LABEL_SIZE))

    def _labels(self) -> list[str]:
        room = self.width - SAMPLE
        return [shortened(label, width=room, size=LABEL_SIZE) for label in (*self.lines, *self.levels)]

    def _places(self) -> Iterator[tuple[float, int]]:
        """x and row of each entry; one that does not fit in a row begins the next."""
        x, row = 0.0, 0
        for label in self._labels():
            needed = SAMPLE + text_width(label, size=LABEL_SIZE)
            if x > 0 and x + needed > self.width:
                x, row = 0.0, row + 1
            yield x, row
            x += needed + GAP
