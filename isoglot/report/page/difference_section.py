"""What differs from another report: settings, and numbers by more than seeds do."""

from collections.abc import Iterator, Sequence

from isoglot.report.difference import (
    ABSENT,
    NO_NUMBER,
    NO_SETTING,
    Changed,
    Kind,
    by_exhibit,
    circumstances_title,
    of_kind,
)
from isoglot.report.page.explanations import DIFFERENCE
from isoglot.report.page.markup import Html, folded, joined, tag
from isoglot.report.page.number_table import text_table
from isoglot.report.page.section import Section


def difference_section(changed: Sequence[Changed], *, other: str) -> Section:
    """`other` is what the reader calls the other report."""
    return Section(
        anchor="difference",
        title=f"Compared with {other}",
        short_title="Compared",
        explanation=DIFFERENCE,
        body=joined([*_settings(changed), *_numbers(changed)]),
    )


def _settings(changed: Sequence[Changed]) -> Iterator[Html]:
    settings, circumstances = (of_kind(changed, kind) for kind in (Kind.SETTING, Kind.CIRCUMSTANCE))
    if settings:
        yield tag("h3", f"Settings that differ ({len(settings)})")
        yield _table("Setting", settings)
    else:
        yield tag("p", NO_SETTING)
    if circumstances:
        yield folded(circumstances_title(len(circumstances)), _table("Circumstance", circumstances))


def _numbers(changed: Sequence[Changed]) -> Iterator[Html]:
    """Of each exhibit those that clearly differ; all others are counted alone."""
    exhibits = by_exhibit(changed)
    if not exhibits:
        yield tag("p", NO_NUMBER)
    for each in exhibits:
        yield folded(each.title(), _table("Number", each.clear)) if each.clear else tag("p", f"{each.title()}.")


def _table(heading: str, changed: Sequence[Changed]) -> Html:
    lines = [
        (each.name, each.a or ABSENT, each.b or ABSENT, "" if each.change is None else f"{each.change:+.3g}")
        for each in changed
    ]
    return text_table((heading, "There", "Here", "Change"), lines)
