"""What two languages have in common in each vocabulary, as a table."""

from collections.abc import Sequence

from isoglot.measurements import Measurement
from isoglot.report.html.explanations import VOCABULARY
from isoglot.report.html.markup import joined, tag
from isoglot.report.html.number_table import number_table
from isoglot.report.html.section import Section
from isoglot.report.vocabulary import HEADINGS, vocabulary_tables


def vocabulary_section(measurements: Sequence[Measurement]) -> Section | None:
    tables = list(vocabulary_tables(measurements))
    if not tables:
        return None
    return Section(
        anchor="vocabulary",
        title="What do the vocabularies share?",
        short_title="Vocabularies",
        explanation=VOCABULARY,
        body=joined(
            joined(
                [
                    number_table(HEADINGS, table.lines, caption=table.title),
                    tag("p", _sentence(table.caption), class_="remark"),
                ]
            )
            for table in tables
        ),
    )


def _sentence(caption: str) -> str:
    return f"{caption[:1].upper()}{caption[1:]}. Where two numbers stand together, the source language's is the first."
