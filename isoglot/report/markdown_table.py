"""Table 1 for a README: Markdown, one table a task, with the paper's own numbers beside ours."""

from collections.abc import Iterator, Sequence

from isoglot.report.beside_paper import papers_delta, papers_score_of
from isoglot.report.markdown import markdown_escaped, markdown_row
from isoglot.report.rank_correlation import rank_sentences
from isoglot.report.table_1 import DELTA, MISSING, Table1, TaskColumns
from isoglot.report.transfer_scores import Model

PAPER = "paper"


def markdown_table(table: Table1) -> str:
    """A heading, a table for each task, and below them what must be said of their numbers."""
    parts = [f"## {markdown_escaped(table.title)}"]
    for task in table.tasks:
        parts += [f"### {markdown_escaped(task.title)}", "\n".join(_lines(task, table.models))]
    said = (*rank_sentences(table.ranks), *table.notes)
    parts.append("\n".join(f"- {markdown_escaped(each)}" for each in said))
    return "\n\n".join(parts) + "\n"


def _lines(task: TaskColumns, models: Sequence[Model]) -> Iterator[str]:
    columns = list(_columns(task, models))
    yield markdown_row([heading for heading, _ in columns])
    yield markdown_row(["---", *("---:" for _ in columns[1:])])
    for cells in zip(*(cells for _, cells in columns), strict=True):
        yield markdown_row(cells)


def _columns(task: TaskColumns, models: Sequence[Model]) -> Iterator[tuple[str, list[str]]]:
    """What the paper has nothing of gets no column."""
    yield "Model", [model.label for model in models]
    *targets, _, source = task.headings
    for place, heading in enumerate(task.headings):
        yield heading, [task.cells[model][place] for model in models]
        if heading == DELTA:
            papers = [papers_delta(model, task=task.name, source=source, targets=targets) for model in models]
            printed = ["" if each is None else f"{each:+.1f}" for each in papers]
        else:
            papers = [papers_score_of(model, task=task.name, languages=(source, heading)) for model in models]
            printed = ["" if each is None else f"{each:.1f}" for each in papers]
        if any(printed):
            yield PAPER, [each or MISSING for each in printed]
