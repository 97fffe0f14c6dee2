"""What was done to each model, where Table 1, whose left half says so, is not on the page."""

from isoglot.report.condition_words import in_words
from isoglot.report.page.explanations import CONDITIONS
from isoglot.report.page.number_table import text_table
from isoglot.report.page.section import Section
from isoglot.report.report_files import Asked
from isoglot.report.tables import DESCRIPTION, described


def conditions_section(asked: Asked) -> Section:
    lines = [
        (
            condition.label,
            in_words(condition, scale=asked.scale),
            *described(condition, scale=asked.scale),
        )
        for condition in asked.shown_conditions
    ]
    return Section(
        anchor="conditions",
        title="What was done to each model?",
        short_title="Conditions",
        explanation=CONDITIONS,
        body=text_table((DESCRIPTION[0], "In words", *DESCRIPTION[1:]), lines),
    )
