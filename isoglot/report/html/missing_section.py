"""What could not be shown: what failed, what lacks its data, and what is still to come."""

from collections.abc import Iterator, Sequence

from isoglot.cells import Cell
from isoglot.report.html.explanations import MISSING
from isoglot.report.html.markup import Html, folded, joined, listed, tag
from isoglot.report.html.section import Section

MOST_LINES = 12
"""That are shown unfolded."""


def missing_section(*, failures: Sequence[str], lacking: Sequence[str], pending: Sequence[Cell]) -> Section | None:
    titles = list(dict.fromkeys(cell.stage.title for cell in pending))
    parts = [*_part("Failed", failures), *_part("No data", lacking), *_part("Pending", titles)]
    if not parts:
        return None
    return Section(
        anchor="missing", title="What is missing", short_title="Missing", explanation=MISSING, body=joined(parts)
    )


def _part(title: str, lines: Sequence[str]) -> Iterator[Html]:
    if lines:
        yield tag("h3", f"{title} ({len(lines)})")
        yield listed(lines) if len(lines) <= MOST_LINES else folded("Show all", listed(lines))
