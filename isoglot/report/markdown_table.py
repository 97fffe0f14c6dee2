"""Table 1 for a README: Markdown, one table a task, with the paper's own numbers beside ours."""

from collections.abc import Iterator, Sequence

from isoglot.pipeline.cells import FROZEN, UNTRAINED
from isoglot.report.beside_paper import papers_delta, papers_score_of
from isoglot.report.csv_table import Column
from isoglot.report.markdown import markdown_escaped, markdown_row
from isoglot.report.rank_correlation import rank_sentences
from isoglot.report.table_1 import DELTA, MISSING, Table1, TaskColumns
from isoglot.report.transfer_scores import Model
from isoglot.study.conditions import condition_named

PAPER = "paper"
NEVER_PRETRAINED = "The same models without pretraining, learned as a whole / with a frozen encoder:"


def markdown_table(table: Table1) -> str:
    """A heading, a table for each task, and below them what must be said of their numbers."""
    parts = [f"## {markdown_escaped(table.title)}"]
    for task in table.tasks:
        models = table.models_of([task])
        pretrained, others = ([each for each in models if each.is_pretrained is wanted] for wanted in (True, False))
        parts.append(f"### {markdown_escaped(task.title)}")
        if pretrained:
            parts.append("\n".join(_lines(_columns(task, pretrained))))
        if others:
            parts += [NEVER_PRETRAINED, "\n".join(_lines(_columns_of_baselines(task, others)))]
    said = (*rank_sentences(table.ranks), *table.notes)
    parts.append("\n".join(f"- {markdown_escaped(each)}" for each in said))
    return "\n\n".join(parts) + "\n"


def _lines(columns: Iterator[Column]) -> Iterator[str]:
    headings, cells = zip(*columns, strict=True)
    yield markdown_row(headings)
    yield markdown_row(["---", *("---:" for _ in headings[1:])])
    for row in zip(*cells, strict=True):
        yield markdown_row(row)


def _columns(task: TaskColumns, models: Sequence[Model]) -> Iterator[Column]:
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


def _columns_of_baselines(task: TaskColumns, models: Sequence[Model]) -> Iterator[Column]:
    """Both kinds of a condition in one cell, as there may be twenty of them."""
    labels = {model.condition: condition_named(model.condition).label for model in models}
    yield "Model", list(labels.values())
    for place, heading in enumerate(task.headings):
        if heading != DELTA:
            of_model = {model: task.cells[model][place] for model in models}
            yield heading, [" / ".join(of_model.get(each, MISSING) for each in _baselines(name)) for name in labels]


def _baselines(condition: str) -> list[Model]:
    return [Model(condition=condition, suffix=suffix) for suffix in (UNTRAINED, UNTRAINED + FROZEN)]
