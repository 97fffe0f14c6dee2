"""Table 1 for people: conditions down, tasks and target languages across, in the terminal and on the page alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from isoglot.pipeline.measurements import Measurement
from isoglot.report.agreement import Contender, RankCorrelation, agreement_lines, rank_correlations, transfer_agreements
from isoglot.report.published import TARGETS, TITLE_OF_TASK, papers_score, published_delta
from isoglot.report.quantities import mean_and_range
from isoglot.report.transfer_notes import PARTIAL_MARK, notes
from isoglot.report.transfer_scores import Delta, Model, TaskScores, transfer_noise, transfer_scores
from isoglot.report.verdicts import Noise, Verdict


def papers_score_of(model: Model, *, task: str, languages: tuple[str, str]) -> float | None:
    """None beside what the paper has no score of."""
    return papers_score(model.condition, task=task, languages=languages) if model.is_pretrained else None


def papers_delta(model: Model, *, task: str, source: str, targets: Sequence[str]) -> float | None:
    """Over the paper's three targets, and so only beside a study of all of them."""
    printed = [papers_score_of(model, task=task, languages=(source, target)) for target in targets]
    if None in printed or len(printed) < len(TARGETS):
        return None
    return published_delta(model.condition, task=TITLE_OF_TASK[task])


MISSING = "-"
DELTA = "Δ"
TRANSFER_HEADING = "Transfer, where the paper's Table 1 has two conditions more than 3 points apart in that task:"


@dataclass(frozen=True, kw_only=True)
class TaskColumns:
    """One task: a column for each target, then Δ, then the source language's own score."""

    name: str
    title: str
    headings: tuple[str, ...]
    cells: Mapping[Model, tuple[str, ...]]
    values: Mapping[tuple[Model, str], tuple[float, ...]]
    """What stands in the cells of languages: one number for each seed, or none."""
    deltas: Mapping[Model, Delta | None]
    lost: frozenset[tuple[Model, str]]
    """Models and targets between which nothing is transferred."""

    def has(self, model: Model) -> bool:
        """Whether it has any score."""
        return any(values for (of_model, _), values in self.values.items() if of_model == model)


@dataclass(frozen=True, kw_only=True)
class CountTable:
    """All ways to count the scores of one task, a row for each model and language."""

    title: str
    headings: tuple[str, ...]
    lines: list[tuple[str, ...]]


@dataclass(frozen=True, kw_only=True)
class Table1:
    title: str
    models: tuple[Model, ...]
    """Those that were pretrained first."""
    tasks: tuple[TaskColumns, ...]
    notes: tuple[str, ...]
    agreement: tuple[tuple[str, Verdict], ...]
    """Sentences about the paper's order of conditions."""
    ranks: tuple[RankCorrelation, ...]
    """How near the order of all conditions comes to the paper's."""
    counts: tuple[CountTable, ...]

    def models_of(self, tasks: Sequence[TaskColumns]) -> list[Model]:
        """All that were pretrained, be their scores pending, and of the others those that have any in these tasks."""
        return [model for model in self.models if model.is_pretrained or any(task.has(model) for task in tasks)]


def table_1(measurements: Sequence[Measurement]) -> Table1 | None:
    """None if nothing of it is measured yet."""
    tasks = list(transfer_scores(measurements))
    if not tasks:
        return None
    noise = transfer_noise(tasks)
    models = dict.fromkeys(model for scores in tasks for model in scores.models)
    return Table1(
        title=f"Table 1: zero-shot transfer from {tasks[0].source}",
        models=tuple(sorted(models, key=lambda model: not model.is_pretrained)),
        tasks=tuple(_columns(scores, models=list(models)) for scores in tasks),
        notes=tuple(notes(tasks)),
        agreement=tuple(line for scores in tasks for line in _agreement(scores, noise=noise)),
        ranks=tuple(rank_correlations(tasks)),
        counts=tuple(counts for scores in tasks if (counts := _counts(scores)) is not None),
    )


def _columns(scores: TaskScores, *, models: Sequence[Model]) -> TaskColumns:
    return TaskColumns(
        name=scores.task.name,
        title=scores.title,
        headings=(*scores.targets, DELTA, scores.source),
        cells={
            model: (
                *(_cell(scores.of_target(model, target)) for target in scores.targets),
                _delta(scores, model),
                _cell(scores.of_source(model)),
            )
            for model in models
        },
        values={
            (model, language): scores.of_language(model, language)
            for model in models
            for language in (*scores.targets, scores.source)
        },
        deltas={model: scores.delta(model) for model in models},
        lost=frozenset(
            (model, target) for model in models for target in scores.targets if scores.is_lost(model, target)
        ),
    )


def _cell(values: Sequence[float]) -> str:
    return mean_and_range(values) if values else MISSING


def _delta(scores: TaskScores, model: Model) -> str:
    delta = scores.delta(model)
    if delta is None:
        return MISSING
    return f"{delta.points:+.1f}{PARTIAL_MARK if delta.is_partial else ''}"


def _counts(scores: TaskScores) -> CountTable | None:
    known = {metric for *_, metric in scores.values}
    titles = scores.task.metric_titles
    metrics = [metric for metric in titles if metric in known]
    if len(metrics) < 2:
        return None
    return CountTable(
        title=f"{scores.task.title}, all ways to count",
        headings=("Model", "Language", *(titles[metric] for metric in metrics)),
        lines=[
            (
                model.label,
                language,
                *(_cell(scores.of_language(model, language, metric=metric)) for metric in metrics),
            )
            for model in scores.models
            for language in (*scores.targets, scores.source)
        ],
    )


def _agreement(scores: TaskScores, *, noise: Noise) -> Iterator[tuple[str, Verdict]]:
    """Of each pair of languages."""
    pretrained = [model for model in scores.models if model.is_pretrained]
    for pair in scores.pairs:
        contenders = [
            Contender(condition=model.condition, values=values)
            for model in pretrained
            if (values := scores.of_target(model, pair[1]))
        ]
        found = transfer_agreements(contenders, task=scores.task.name, languages=pair, noise=noise)
        where = f"{scores.task.title}, {'-'.join(pair)}"
        yield from ((f"{where}: {line}", verdict) for line, verdict in agreement_lines(found))
