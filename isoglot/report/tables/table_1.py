"""Table 1: conditions down, tasks and target languages across, with what it says of the paper's order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from isoglot.pipeline.cells import FROZEN, UNTRAINED
from isoglot.report.findings.comparisons import Comparisons
from isoglot.report.findings.published import TARGETS, TITLE_OF_TASK, papers_score, published_delta
from isoglot.report.findings.rank_correlation import RankCorrelation, rank_correlations, rank_sentences
from isoglot.report.findings.samples import ENOUGH_SEEDS
from isoglot.report.findings.transfer_scores import Model, TaskScores
from isoglot.report.quantities import mean_and_range
from isoglot.report.tables import grid
from isoglot.report.tables.condition_words import GROUPS
from isoglot.report.tables.grid import DELTA, MISSING, Grid, Lost, grid_of_columns, markdown_escaped, markdown_text
from isoglot.report.tables.transfer_notes import PARTIAL_MARK, notes
from isoglot.study.conditions import condition_named

POINTS = (
    "Points above the floor, and the floor: the highest of chance, the most frequent label and the same model untrained"
)
BASELINES_HEADING = "The same models without pretraining, learned as a whole / with a frozen encoder:"


@dataclass(frozen=True, kw_only=True)
class Table1:
    title: str
    models: tuple[Model, ...]
    tasks: tuple[TaskScores, ...]
    notes: tuple[str, ...]
    ranks: tuple[RankCorrelation, ...]
    leads: tuple[Grid, ...]
    """For each task, points above the floor and the floor."""
    lost: frozenset[tuple[str, str, str]]
    """Task, condition and target of every score that has the mark of a verdict: transfer dies there."""
    counts: tuple[Grid, ...]
    """For each task that has several metrics, all of them."""

    def is_lost(self, scores: TaskScores, model: Model, target: str) -> bool:
        return model.is_pretrained and (scores.task.name, model.condition, target) in self.lost


def table_1(tasks: Sequence[TaskScores], comparisons: Comparisons) -> Table1 | None:
    """None if nothing of it is measured yet."""
    if not tasks:
        return None
    models = dict.fromkeys(model for scores in tasks for model in scores.models)
    return Table1(
        title=f"Table 1: zero-shot transfer from {tasks[0].source}",
        models=tuple(sorted(models, key=lambda model: not model.is_pretrained)),
        tasks=tuple(tasks),
        notes=tuple(notes(tasks, comparisons)),
        # Scores of models that learned nothing have an order too, by chance.
        ranks=tuple(
            rank_correlations(
                [each for each in tasks if comparisons.shows_order(each.task.name)], noise=comparisons.noise
            )
        ),
        leads=tuple(_lead_grid(scores) for scores in tasks if any(model.is_pretrained for model in scores.models)),
        lost=frozenset(
            (trial.task, name, trial.languages[1])
            for trial in comparisons.trials
            for name in trial.leads
            # Fewer seeds give no marks: the notes name these scores.
            if trial.task and comparisons.dies_in(trial, name) and comparisons.num_seeds(trial, name) >= ENOUGH_SEEDS
        ),
        counts=tuple(counts for scores in tasks if (counts := _counts(scores)) is not None),
    )


def _lead_grid(scores: TaskScores) -> Grid:
    """A column of points above the floor and one of floors for each language, the source last."""
    models = [model for model in scores.models if model.is_pretrained]
    columns: list[tuple[str, Sequence[str]]] = [("Model", [model.label for model in models])]
    for language in (*scores.targets, scores.source):
        pairs = [pair for pair in scores.pairs if language in pair]
        leads, floors = [], []
        for model in models:
            # A source has a model for each pair.
            found = [
                (fmean(by_seed.values()), scores.floor(model, pair, language).points)
                for pair in pairs
                if (by_seed := scores.by_seed(model, pair, language))
            ]
            floor = fmean(floor for _, floor in found) if found else 0.0
            leads.append(f"{fmean(score for score, _ in found) - floor:+.1f}" if found else MISSING)
            floors.append(f"{floor:.1f}" if found else MISSING)
        columns += [(language, leads), ("floor", floors)]
    return grid_of_columns(scores.title, columns)


def task_grid(scores: TaskScores, table: Table1, models: Sequence[Model] | None = None) -> Grid:
    """One task: a column for each target, then Δ, then the source language's own score."""
    lines, models = [], table.models if models is None else models
    for model in models:
        reached = [
            Lost(text) if table.is_lost(scores, model, target) else text
            for target in scores.targets
            for text in [_text(scores.of_target(model, target))]
        ]
        delta = scores.delta(model)
        points = MISSING if delta is None else f"{delta.points:+.1f}{PARTIAL_MARK if delta.is_partial else ''}"
        lines.append((model.label, *reached, points, _text(scores.of_source(model))))
    headings = ("Model", *scores.targets, DELTA, scores.source)
    return Grid(scores.title, headings, lines, groups=[*map(_group, models)])


def csv_table(table: Table1) -> str:
    """Scores in percent, as plain numbers; a column that would be empty is left out."""
    columns = [
        ("Model", [model.label for model in table.models]),
        ("Condition", [model.condition for model in table.models]),
        *(column for scores in table.tasks for column in _csv_columns(scores, table.models) if any(column[1])),
    ]
    return grid.csv_text(grid_of_columns(table.title, columns))


def latex_table(table: Table1) -> str:
    # LaTeX numbers its tables itself.
    title = table.title.removeprefix("Table 1: ")
    grids = {scores.task.name: task_grid(scores, table) for scores in table.tasks}
    has_lost = any(isinstance(text, Lost) for each in grids.values() for line in each.lines for text in line)
    return grid.latex_text(
        grids,
        title=title[:1].upper() + title[1:],
        notes=(*table.notes, *(["In italics: transfer dies."] if has_lost else [])),
        label="tab:transfer",
    )


def markdown_table(table: Table1) -> str:
    """A heading, a table for each task, and below them the notes on their numbers."""
    parts = [f"## {markdown_escaped(table.title)}"]
    pretrained = [model for model in table.models if model.is_pretrained]
    leads = {grid.title: grid for grid in table.leads}
    for scores in table.tasks:
        parts.append(f"### {markdown_escaped(scores.title)}")
        if pretrained:
            parts.append(markdown_text(_beside_paper(scores, table, pretrained)))
        if scores.title in leads:
            parts += [f"{POINTS}:", markdown_text(leads[scores.title])]
        if any(not model.is_pretrained for model in scores.models):
            parts += [BASELINES_HEADING, markdown_text(_baselines(scores))]
    sentences = (*rank_sentences(table.ranks), *table.notes)
    parts.append("\n".join(f"- {markdown_escaped(each)}" for each in sentences))
    return "\n\n".join(parts) + "\n"


def papers_score_of(model: Model, *, task: str, languages: tuple[str, str]) -> float | None:
    return papers_score(model.condition, task=task, languages=languages) if model.is_pretrained else None


def papers_delta(model: Model, *, task: str, source: str, targets: Sequence[str]) -> float | None:
    # The mean over the paper's three targets, and so only beside a study of all of them.
    printed = [papers_score_of(model, task=task, languages=(source, target)) for target in targets]
    if None in printed or len(printed) < len(TARGETS):
        return None
    return published_delta(model.condition, task=TITLE_OF_TASK[task])


def _csv_columns(scores: TaskScores, models: Sequence[Model]) -> Iterator[tuple[str, Sequence[str]]]:
    for language in (*scores.targets, scores.source):
        values = [scores.of_language(model, language) for model in models]
        title = f"{scores.title} {language}"
        yield title, [f"{fmean(each):.2f}" if each else "" for each in values]
        # A study of one seed gets no columns about seeds: they stay empty, and are left out.
        several = [each if len(each) > 1 else () for each in values]
        yield f"{title} lowest", [f"{min(each):.2f}" if each else "" for each in several]
        yield f"{title} highest", [f"{max(each):.2f}" if each else "" for each in several]
        yield f"{title} seeds", [str(len(each)) if any(several) else "" for each in values]
        yield f"{title} paper", _papers_column(scores, models, language, form=".1f")
    title = f"{scores.title} {DELTA}"
    deltas = [scores.delta(model) for model in models]
    yield title, ["" if each is None else f"{each.points:.2f}" for each in deltas]
    yield f"{title} over some targets only", ["yes" if each and each.is_partial else "" for each in deltas]
    yield f"{title} paper", _papers_column(scores, models, DELTA, form=".2f")


def _papers_column(scores: TaskScores, models: Sequence[Model], heading: str, *, form: str) -> list[str]:
    """The paper's numbers under one of our headings; empty texts where it has none."""
    task, source = scores.task.name, scores.source
    if heading == DELTA:
        printed = [papers_delta(model, task=task, source=source, targets=scores.targets) for model in models]
    else:
        printed = [papers_score_of(model, task=task, languages=(source, heading)) for model in models]
    return ["" if each is None else f"{each:{form}}" for each in printed]


def _beside_paper(scores: TaskScores, table: Table1, models: Sequence[Model]) -> Grid:
    """The paper's numbers to the right of ours, where it has any."""
    ours = task_grid(scores, table, models)
    columns: list[tuple[str, Sequence[str]]] = []
    for heading, texts in zip(ours.headings, zip(*ours.lines, strict=True), strict=True):
        columns.append((heading, texts))
        printed = _papers_column(scores, models, heading, form="+.1f" if heading == DELTA else ".1f")
        if any(printed):
            columns.append(("paper", [each or MISSING for each in printed]))
    return grid_of_columns(ours.title, columns)


def _baselines(scores: TaskScores) -> Grid:
    # Both kinds of a condition stand in one cell, as there may be twenty of them.
    languages = (*scores.targets, scores.source)
    lines = []
    for condition in dict.fromkeys(model.condition for model in scores.models if not model.is_pretrained):
        kinds = [Model(condition=condition, variant=variant) for variant in (UNTRAINED, FROZEN)]
        cells = (" / ".join(_text(scores.of_language(model, each)) for model in kinds) for each in languages)
        lines.append((condition_named(condition).label, *cells))
    return Grid(scores.title, ("Model", *languages), lines)


def _counts(scores: TaskScores) -> Grid | None:
    known = {metric for *_, metric in scores.values}
    titles = {metric: title for metric, title in scores.task.metric_titles.items() if metric in known}
    if len(titles) < 2:
        return None
    lines = [
        (model.label, language, *(_text(scores.of_language(model, language, metric=metric)) for metric in titles))
        for model in scores.models
        for language in (*scores.targets, scores.source)
    ]
    return Grid(f"{scores.task.title}, all ways to count", ("Model", "Language", *titles.values()), lines)


def _group(model: Model) -> str:
    """The paper's groups of rows: "Anchor points (§4.2)", and none for Default."""
    if not model.is_pretrained:
        return grid.NEVER_PRETRAINED
    section = condition_named(model.condition).section
    return f"{GROUPS[section]} (§{section})" if section in GROUPS else ""


def _text(values: Sequence[float]) -> str:
    return mean_and_range(values) if values else MISSING
