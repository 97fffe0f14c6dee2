"""What two languages have in common in each vocabulary, as a table."""

from collections.abc import Iterator, Sequence

from isoglot.pipeline.measurements import Measurement
from isoglot.report.grid import Grid
from isoglot.report.page.explanations import VOCABULARY
from isoglot.report.page.markup import Html, joined, tag
from isoglot.report.page.number_table import number_table
from isoglot.report.page.section import Section
from isoglot.report.vocabulary import CAPTION, HEADINGS, vocabulary_tables


def vocabulary_section(measurements: Sequence[Measurement]) -> Section | None:
    tables = list(vocabulary_tables(measurements))
    if not tables:
        return None
    return Section(
        anchor="vocabulary",
        title="What do the vocabularies share?",
        short_title="Vocabularies",
        explanation=VOCABULARY,
        body=joined([tag("p", COLUMNS, class_="remark"), *(part for table in tables for part in _parts(table))]),
    )


def _parts(table: Grid) -> Iterator[Html]:
    yield number_table(HEADINGS, table.lines, caption=table.title)
    if table.notes:
        yield tag("p", _sentence("; ".join(table.notes)), class_="remark")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


COLUMNS = f"{_sentence(CAPTION)} Where two numbers stand together, the source language's is the first."
