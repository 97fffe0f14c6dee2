"""What was done to each model, where Table 1, whose left half says so, is not on the page."""

from isoglot.report.condition_words import DESCRIPTION, described, in_words, shown_conditions
from isoglot.report.page.explanations import CONDITIONS
from isoglot.report.page.number_table import text_table
from isoglot.report.page.section import Section
from isoglot.study.study import Study


def conditions_section(study: Study) -> Section:
    lines = [
        (
            condition.label,
            in_words(condition, scale=study.scale),
            *described(condition, scale=study.scale),
        )
        for condition in shown_conditions(study)
    ]
    return Section(
        anchor="conditions",
        title="What was done to each model?",
        short_title="Conditions",
        explanation=CONDITIONS,
        body=text_table((DESCRIPTION[0], "In words", *DESCRIPTION[1:]), lines),
    )
