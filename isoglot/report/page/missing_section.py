"""What could not be shown: what failed, what lacks its data, and what is still to come."""

from collections.abc import Iterator, Sequence

from isoglot.report.page.explanations import MISSING
from isoglot.report.page.markup import Html, folded, joined, listed, tag
from isoglot.report.page.section import Section
from isoglot.report.state import State

MOST_LINES = 12
"""That are shown unfolded."""


def missing_section(state: State) -> Section | None:
    parts = [*_part("Failed", state.failures), *_part("No data", state.no_data), *_part("Pending", state.pending)]
    if not parts:
        return None
    return Section(
        anchor="missing", title="What is missing", short_title="Missing", explanation=MISSING, body=joined(parts)
    )


def _part(title: str, lines: Sequence[str]) -> Iterator[Html]:
    if lines:
        yield tag("h3", f"{title} ({len(lines)})")
        yield listed(lines) if len(lines) <= MOST_LINES else folded("Show all", listed(lines))
