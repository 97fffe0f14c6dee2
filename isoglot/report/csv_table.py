"""Table 1 for spreadsheets: a row for each model, plain numbers, and the paper's own beside them."""

import csv
import io
from collections.abc import Iterator, Sequence
from statistics import fmean

from isoglot.report.beside_paper import papers_delta, papers_score_of
from isoglot.report.table_1 import DELTA, Table1, TaskColumns
from isoglot.report.transfer_scores import Model

Column = tuple[str, list[str]]


def csv_table(table: Table1) -> str:
    """Scores are in percent; a column that would be empty is left out."""
    columns: list[Column] = [
        ("Model", [model.label for model in table.models]),
        ("Condition", [model.condition for model in table.models]),
    ]
    for task in table.tasks:
        columns += [column for column in _csv_columns(task, table.models) if any(column[1])]
    headings, cells = zip(*columns, strict=True)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(headings)
    writer.writerows(zip(*cells, strict=True))
    return text.getvalue()


def _csv_columns(task: TaskColumns, models: Sequence[Model]) -> Iterator[Column]:
    *targets, _, source = task.headings
    for language in (*targets, source):
        values = [task.values[model, language] for model in models]
        title = f"{task.title} {language}"
        yield title, [f"{fmean(each):.2f}" if each else "" for each in values]
        several = [each if len(each) > 1 else () for each in values]
        yield f"{title} lowest", [f"{min(each):.2f}" if each else "" for each in several]
        yield f"{title} highest", [f"{max(each):.2f}" if each else "" for each in several]
        yield f"{title} seeds", [str(len(each)) if any(several) else "" for each in values]
        printed = [papers_score_of(model, task=task.name, languages=(source, language)) for model in models]
        yield f"{title} paper", ["" if each is None else f"{each:.1f}" for each in printed]
    deltas = [task.deltas[model] for model in models]
    yield f"{task.title} {DELTA}", ["" if each is None else f"{each.points:.2f}" for each in deltas]
    yield f"{task.title} {DELTA} over some targets only", ["yes" if each and each.is_partial else "" for each in deltas]
    papers_deltas = [papers_delta(model, task=task.name, source=source, targets=targets) for model in models]
    yield f"{task.title} {DELTA} paper", ["" if each is None else f"{each:.2f}" for each in papers_deltas]
