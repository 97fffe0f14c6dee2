"""Figure 3 on the page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from isoglot.pipeline.cells import TABLE_1
from isoglot.pipeline.measurements import Measurement
from isoglot.report.figures.transfer_bars import transfer_picture
from isoglot.report.page.absences import Absences
from isoglot.report.page.explanations import FIGURE_3
from isoglot.report.page.figure import figure
from isoglot.report.page.section import Section
from isoglot.report.report_files import Asked


def figure_3_section(asked: Asked, measurements: Sequence[Measurement], *, absences: Absences) -> Section | None:
    """The scores of Table 1 as bars."""
    picture = transfer_picture(
        measurements,
        conditions=[condition.name for condition in asked.conditions_of(TABLE_1)],
        missing=partial(absences.why, TABLE_1),
    )
    if picture is None:
        return None
    return Section(
        anchor="figure-3",
        title="Figure 3: transfer under each condition",
        short_title="Figure 3",
        explanation=FIGURE_3,
        body=figure(picture, notes=("Colours are those of Table 1's groups; the numbers stand in Table 1.",)),
        pictures=(picture,),
        has_published=picture.has_published,
    )
