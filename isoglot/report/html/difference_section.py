"""What differs from another report: settings, and numbers by more than seeds do."""

from collections.abc import Iterator, Sequence

from isoglot.report.difference import ABSENT, Changed, Kind
from isoglot.report.html.explanations import DIFFERENCE
from isoglot.report.html.markup import Html, folded, joined, tag
from isoglot.report.html.number_table import text_table
from isoglot.report.html.section import Section


def difference_section(changed: Sequence[Changed], *, other: str) -> Section:
    """`other` is what the reader calls the other report."""
    settings = [each for each in changed if each.kind is Kind.SETTING]
    numbers = [each for each in changed if each.kind is Kind.NUMBER]
    return Section(
        anchor="difference",
        title=f"Compared with {other}",
        short_title="Compared",
        explanation=DIFFERENCE,
        body=joined([*_settings(settings), *_numbers(numbers)]),
    )


def _settings(changed: Sequence[Changed]) -> Iterator[Html]:
    if changed:
        yield tag("h3", f"Settings that differ ({len(changed)})")
        yield _table("Setting", changed)
    else:
        yield tag("p", "No setting differs.")


def _numbers(changed: Sequence[Changed]) -> Iterator[Html]:
    """Of each exhibit those that clearly differ, the largest change first; all others are counted alone."""
    if not changed:
        yield tag("p", "No number differs.")
    for exhibit in dict.fromkeys(each.group for each in changed):
        here = [each for each in changed if each.group == exhibit]
        both = [each for each in here if each.change is not None]
        clear = sorted((each for each in both if each.is_clear), key=lambda each: -abs(each.change or 0.0))
        title = f"{exhibit}: {len(both)} numbers of both differ, {len(clear)} by more than noise"
        if others := len(here) - len(both):
            title += f"; {others} are in one report alone"
        yield folded(title, _table("Number", clear)) if clear else tag("p", f"{title}.")


def _table(heading: str, changed: Sequence[Changed]) -> Html:
    lines = [
        (each.name, each.a or ABSENT, each.b or ABSENT, "" if each.change is None else f"{each.change:+.3g}")
        for each in changed
    ]
    return text_table((heading, "There", "Here", "Change"), lines)
