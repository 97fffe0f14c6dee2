"""Figure 3 on the page."""

from __future__ import annotations

from functools import partial

from isoglot.pipeline.cells import TABLE_1
from isoglot.report.condition_words import conditions_of
from isoglot.report.figures.transfer_bars import transfer_picture
from isoglot.report.page.absences import Absences
from isoglot.report.page.explanations import FIGURE_3
from isoglot.report.page.figure import figure
from isoglot.report.page.section import Section
from isoglot.report.report_scores import ReportScores
from isoglot.study.study import Study


def figure_3_section(study: Study, scores: ReportScores, *, absences: Absences) -> Section | None:
    """The scores of Table 1 as bars."""
    picture = transfer_picture(
        scores.tasks,
        conditions=[condition.name for condition in conditions_of(study, TABLE_1)],
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
