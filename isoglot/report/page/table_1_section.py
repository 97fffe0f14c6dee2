"""Table 1 on the page, in the paper's shape: groups, dashes, deltas, and a link from each number to its record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from statistics import fmean
from typing import Any

from isoglot.pipeline.cells import BASELINES, TABLE_1
from isoglot.pipeline.measurements import Measurement
from isoglot.report.agreement import rank_sentences, rho_text
from isoglot.report.condition_words import DESCRIPTION, GROUPS, conditions_of, described
from isoglot.report.grid import DELTA
from isoglot.report.page.section import (
    NONE,
    SECTION_WORDS,
    Absences,
    Block,
    Custom,
    Folded,
    Listing,
    Section,
    Table,
    Text,
)
from isoglot.report.report_scores import ReportScores
from isoglot.report.table_1 import TRANSFER_HEADING, Table1, papers_delta, papers_score_of
from isoglot.report.transfer_notes import PARTIAL_MARK
from isoglot.report.transfer_scores import Model, TaskScores
from isoglot.study.conditions import PAPER_DEPTH, condition_named
from isoglot.study.study import Study

FEW_SEEDS = 3
"""The most seeds that are shown one by one below their mean."""
OF_PAPER = "Below a score, in this colour: the paper's own."
MANY, VERY_MANY = 6, 12
"""Columns of scores, beyond which a sheet of paper has no room for settings, and for seeds; a screen for settings."""
CROWDED = " many very-many"
AS_DEFAULT = "-"
NEVER_PRETRAINED = "The same models without pretraining"
Links = Mapping[str, str]
"""Addresses of records by the digest of their artifact."""


def table_1_section(study: Study, scores: ReportScores, *, links: Links, absences: Absences) -> Section | None:
    """None where nothing of it is measured yet."""
    table = scores.table_1
    if table is None:
        return None
    view = _Table(
        study=study,
        tasks=scores.tasks,
        digests=_digests(scores.measurements),
        links=links,
        absences=absences,
    )
    return Section(
        anchor=TABLE_1,
        title=table.title,
        blocks=[
            *view.tables(label=table.title),
            Listing(list(_notes(study, table, has_seeds=view.has_seeds, has_links=bool(links)))),
            # Hidden together with the columns they speak of.
            Listing(list(_notes_of_settings(study)), f"of-settings{view.crowd}"),
            *_ranks(table),
            *_below(table),
        ],
        has_published=view.has_published,
    )


def _notes(study: Study, table: Table1, *, has_seeds: bool, has_links: bool) -> Iterator[str]:
    yield from table.notes
    seeds = " Small numbers are those of each seed." if has_seeds else ""
    leads = f" Each {'of them' if has_seeds else 'number'} leads to the record of its artifact." if has_links else ""
    alone = " A score without any is of one seed." if has_seeds else ""
    yield f"Struck through: no transfer.{seeds}{leads}{alone}"
    if study.scale.shape.layers != PAPER_DEPTH:
        yield (
            f"Models are named as in the paper, where they have {PAPER_DEPTH} layers; these have "
            f"{study.scale.shape.layers}."
        )


def _notes_of_settings(study: Study) -> Iterator[str]:
    yield 'A dash in the left half: "as Default".'
    if any(condition.separate.embeddings for condition in conditions_of(study, TABLE_1)):
        yield "0*: each language has embeddings of its own, so that no subword is in common."


def _ranks(table: Table1) -> Iterator[Block]:
    if table.ranks:
        lines = [
            (each.title[:1].upper() + each.title[1:], rho_text(each), str(each.num_conditions), ", ".join(each.targets))
            for each in table.ranks
        ]
        ranks = Table(headings=("Task", "Spearman's rho", "Conditions", "Test languages"), lines=lines)
        yield Text(" ".join(rank_sentences(table.ranks)))
        title = "How near the order of conditions comes to the paper's"
        yield Folded(title, [Text(SECTION_WORDS["ranks"]["explanation"], "explanation"), ranks], "on-paper")


def _below(table: Table1) -> Iterator[Block]:
    if table.agreement:
        sentences = Listing([line for line, _ in table.agreement])
        yield Folded("Is the order of conditions that of the paper?", [Text(TRANSFER_HEADING), sentences])
    for counts in table.counts:
        yield Folded(counts.title, [Table(headings=counts.headings, lines=counts.lines, num_names=2)])


ScoreKey = tuple[str, Model, str, tuple[str, str], str, int | None]
"""Task, model, metric, pair, language and seed of a score."""


def _digests(measurements: Sequence[Measurement]) -> dict[ScoreKey, str]:
    """The digest of the artifact that holds each score."""
    return {
        (
            each.task,
            Model(condition=each.condition, variant=each.variant),
            each.metric,
            each.languages,
            each.language,
            each.seed,
        ): each.stage
        for each in measurements
        if each.exhibit in (TABLE_1, BASELINES) and each.task is not None
    }


@dataclass(frozen=True, kw_only=True)
class _Table:
    study: Study
    tasks: tuple[TaskScores, ...]
    digests: Mapping[ScoreKey, str]
    links: Links
    absences: Absences

    def tables(self, *, label: str) -> Iterator[Block]:
        """Pretrained models if there are to be any, then the others, of which each condition may have two."""
        pretrained = list(self._groups())
        if pretrained:
            yield self._table(pretrained, crowd=self.crowd, label=label)
        if self.has_published:
            yield Text(OF_PAPER, "published remark")
        # Tasks that have none of them get no columns.
        tasks = tuple(task for task in self.tasks if not all(model.is_pretrained for model in task.models))
        untrained = dict.fromkeys(model for task in tasks for model in task.models if not model.is_pretrained)
        if untrained:
            others = replace(self, tasks=tasks)
            # Beside the first table, which says what was done to each, it needs no settings.
            crowd = CROWDED if pretrained else others.crowd
            label = f"{label}, models that were never pretrained"
            shown = others._table([("", list(untrained))], crowd=crowd, label=label)
            yield Folded(NEVER_PRETRAINED, [shown], "on-paper") if pretrained else shown

    def _table(self, groups: Sequence[tuple[str, Sequence[Model]]], *, crowd: str, label: str) -> Block:
        tasks = [
            {
                "title": f"{task.title} in %",
                "headings": (*task.targets, DELTA, task.source),
                "styles": ("first", *[""] * (len(task.targets) - 1), "delta", "source"),
            }
            for task in self.tasks
        ]
        values = {
            "label": label,
            "crowd": crowd,
            "description": DESCRIPTION,
            "tasks": tasks,
            "num_columns": len(DESCRIPTION) + self._num_scores,
            "groups": [{"title": title, "rows": [self._row(model) for model in models]} for title, models in groups],
        }
        return Custom("table_1.html", values)

    @property
    def crowd(self) -> str:
        """Classes that say how much has to be left out, on paper and beyond that on a screen."""
        if self._num_scores > VERY_MANY:
            return CROWDED
        return " many" if self._num_scores > MANY else ""

    @property
    def has_seeds(self) -> bool:
        """Whether any score is a mean over several."""
        return any(len(by_seed) > 1 for task in self.tasks for by_seed in task.values.values())

    @property
    def has_published(self) -> bool:
        """Whether the paper has any of these scores."""
        return any(
            papers_score_of(model, task=task.task.name, languages=pair) is not None
            for task in self.tasks
            for model in task.models
            for pair in task.pairs
        )

    @property
    def _num_scores(self) -> int:
        return sum(len(task.targets) + 2 for task in self.tasks)

    def _groups(self) -> Iterator[tuple[str, Sequence[Model]]]:
        """The paper's groups of conditions, each with its title."""
        for section, alike in groupby(conditions_of(self.study, TABLE_1), key=lambda condition: condition.section):
            title = f"{GROUPS[section]} (§{section})" if section in GROUPS else ""
            yield title, [Model(condition=condition.name) for condition in alike]

    def _row(self, model: Model) -> dict[str, Any]:
        settings = described(condition_named(model.condition, among=self.study.conditions), scale=self.study.scale)
        of_default = described(condition_named("default"), scale=self.study.scale)
        is_default = model == Model(condition="default")
        return {
            "label": model.label,
            "settings": [
                AS_DEFAULT if setting == default and not is_default else setting
                for setting, default in zip(settings, of_default, strict=True)
            ],
            "cells": [cell for task in self.tasks for cell in self._cells(task, model)],
        }

    def _cells(self, task: TaskScores, model: Model) -> Iterator[dict[str, Any]]:
        for place, pair in enumerate(task.pairs):
            values = task.values.get((model, pair, pair[1], task.task.metric), {})
            first = " first" if place == 0 else ""
            if values:
                lost = " lost" if task.is_lost(model, pair[1]) else ""
                yield {"style": f"score{lost}{first}", **self._score(task, model, pair, values)}
            else:
                exhibit = TABLE_1 if model.is_pretrained else BASELINES
                why = self.absences.why(exhibit, model.condition, pair, task.task.name)
                yield {"style": f"absent{first}", "mean": None, "text": why}
        delta = task.delta(model)
        shown = NONE if delta is None else f"{delta.points:+.1f}{PARTIAL_MARK if delta.is_partial else ''}"
        published = papers_delta(model, task=task.task.name, source=task.source, targets=task.targets)
        papers = "" if published is None else f"{published:+.1f}"
        yield {"style": "delta", "mean": {"text": shown, "address": None}, "seeds": (), "published": papers}
        own = task.of_source(model)
        yield {"style": "source", "mean": None, "text": f"{fmean(own):.1f}" if own else NONE}

    def _score(
        self, task: TaskScores, model: Model, pair: tuple[str, str], values: Mapping[int | None, float]
    ) -> dict[str, Any]:
        """The mean and each seed's score; many seeds are folded under their range."""
        seeds = []
        for seed, value in values.items():
            digest = self.digests.get((task.task.name, model, task.task.metric, pair, pair[1], seed), "")
            title = "record of the artifact" if seed is None else f"seed {seed}: record of its artifact"
            seeds.append({"text": f"{value:.1f}", "address": self.links.get(digest), "title": title})
        published = papers_score_of(model, task=task.task.name, languages=pair)
        low, high = min(values.values()), max(values.values())
        return {
            "mean": seeds[0] if len(seeds) == 1 else {"text": f"{fmean(values.values()):.1f}", "address": None},
            "seeds": seeds if len(seeds) > 1 else (),
            "range": f"{low:.1f} to {high:.1f}" if len(seeds) > FEW_SEEDS else "",
            "published": "" if published is None else f"{published:.1f}",
        }
