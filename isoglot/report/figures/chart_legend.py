"""How the lines of a chart are told apart, and the legend below it that says which is which."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count

from isoglot.report.figures.drawing import (
    GROUND,
    INK,
    LINES,
    MUTED,
    Colour,
    coloured,
    element,
    hover,
    level,
    published,
    shortened,
    shown_text,
    tenths,
    text_width,
)
from isoglot.study.conditions import label_of

LINE_HEIGHT = 20
SAMPLE, GAP, LABEL_SIZE = 34, 22, 13
DASHES = ("7 4", "2 4", "10 3 2 3")
NUM_STYLES = 3 * len(LINES)
"""Of one line each: every colour filled, hollow, and hollow with another mark."""
OTHER_MARK = 2
"""How far on in MARKERS that one is."""
# Around where the pen is: circle, square, triangle, diamond, triangle, cross, bar. Short, as pages have thousands.
MARKERS = (
    "m-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z",
    "m-4.2-4.2h8.4v8.4h-8.4z",
    "m0-5.8l5.5 9.8h-11z",
    "m0-6.5l5.2 6.5-5.2 6.5-5.2-6.5z",
    "m0 5.8l5.5-9.8h-11z",
    "m-1.7-5.5h3.4v3.8h3.8v3.4h-3.8v3.8h-3.4v-3.8h-3.8v-3.4h3.8z",
    "m-6-2.5h12v5h-12z",
)


FILLED = ("default", "no-anchors", "sep-emb", "monolingual", "sep-l1-3", "sep-emb-l1-6", "wiki-cc")
HOLLOW = ("default-anchors", "extra-anchors", None, None, "sep-l1-6", "sep-emb-l1-3")
PLACES = {label_of(name): place for place, name in enumerate((*FILLED, *HOLLOW)) if name is not None}
"""Of the paper's models, in every chart, whichever others are in it; those alike have one colour, filled and hollow."""


def places_of(labels: Sequence[str]) -> list[int]:
    """Where each line gets its colour and marker from.

    One of a model's several, as "Default, mapped", has its model's colour, filled, hollow or with another mark; others
    take what is free.
    """
    found = {line: PLACES[label] for line, label in enumerate(labels) if label in PLACES}
    others = [line for line in range(len(labels)) if line not in found]
    for line in sorted(others, key=lambda line: not _alike(labels[line])):
        taken = set(found.values())
        found[line] = next(place for place in chain(_alike(labels[line]), count()) if place not in taken)
    return [found[line] for line in range(len(labels))]


def _alike(label: str) -> tuple[int, ...]:
    """Places of the colour of the model that a label begins with."""
    own = PLACES.get(label.partition(",")[0])
    return () if own is None else (own, *range(own % len(LINES), NUM_STYLES, len(LINES)))


def line_colour(place: int) -> Colour:
    return LINES[place % len(LINES)]


def markers(place: int, points: Iterable[tuple[float, float, str]]) -> str:
    """Marks of the line at this place, and what each says on hover.

    After the last colour they begin anew, hollow, and after that with other marks.
    """
    shape = MARKERS[(place + OTHER_MARK * max(0, place // len(LINES) - 1)) % len(MARKERS)]
    marks = [(f"M{tenths(x)} {tenths(y)}{shape}", said) for x, y, said in points]
    if not marks:
        return ""
    is_hollow = place >= len(LINES)
    ground = element("path", d="".join(path for path, _ in marks), fill="currentColor")
    return (coloured(GROUND, ground) if is_hollow else "") + element(
        "g",
        "".join(element("path", hover(said) if said else "", d=path) for path, said in marks),
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
    published: frozenset[int] = frozenset()
    """Places of lines that are the paper's own."""

    @cached_property
    def styles(self) -> list[int]:
        """Of each line, the place that its colour and marker are taken from."""
        return places_of(self.lines)

    @property
    def height(self) -> float:
        return LINE_HEIGHT * (max((row for _, row in self._places()), default=-1) + 1)

    def drawn(self, *, x: float, y: float) -> Iterator[str]:
        for place, (label, (across, row)) in enumerate(zip(self._labels(), self._places(), strict=True)):
            start, middle = x + across, y + LINE_HEIGHT * (row + 0.5)
            entry = self._sample(place, x=start, y=middle)
            entry += coloured(INK, shown_text(label, x=start + SAMPLE, y=middle + 4.5, size=LABEL_SIZE))
            yield published(entry) if place in self.published else entry

    def _sample(self, place: int, *, x: float, y: float) -> str:
        if place < len(self.lines):
            mark = markers(self.styles[place], [(x + (SAMPLE - 8) / 2, y, "")])
            return coloured(line_colour(self.styles[place]), level(x=x, width=SAMPLE - 8, y=y) + mark)
        dashes = DASHES[(place - len(self.lines)) % len(DASHES)]
        return coloured(MUTED, level(x=x, width=SAMPLE - 8, y=y, dashes=dashes))

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
