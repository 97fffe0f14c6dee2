"""Pictures of one kind beside each other, so that pairs of languages can be compared; what all share is said once."""

from collections.abc import Sequence
from dataclasses import dataclass

from isoglot.report.figures.picture import Picture
from isoglot.report.page.figure import BESIDE, figure
from isoglot.report.page.markup import Html, joined, listed, tag


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A picture with all that is to be said of it."""

    picture: Picture
    numbers: Html | None = None
    notes: tuple[str, ...] = ()
    below: Html | None = None


def figures_beside(shown: Sequence[Shown]) -> Html:
    """One alone has the whole width."""
    of_all = tuple(note for note in shown[0].notes if len(shown) > 1 and all(note in each.notes for each in shown))
    drawn = [_drawn(each, without=of_all) for each in shown]
    if len(drawn) == 1:
        return drawn[0]
    return joined([tag("div", *(tag("div", each) for each in drawn), class_=BESIDE), listed(of_all, class_="notes")])


def _drawn(shown: Shown, *, without: Sequence[str]) -> Html:
    notes = tuple(note for note in shown.notes if note not in without)
    return joined([figure(shown.picture, numbers=shown.numbers, notes=notes), shown.below or Html()])
