"""Table 1 on the page, in the paper's shape: groups, dashes, deltas, and a link from each number to its record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from statistics import fmean

from isoglot.pipeline.cells import BASELINES, TABLE_1
from isoglot.pipeline.measurements import Measurement
from isoglot.report.agreement import rank_sentences, rho_text
from isoglot.report.condition_words import DESCRIPTION, GROUPS, conditions_of, described
from isoglot.report.grid import DELTA
from isoglot.report.page.absences import NONE, Absences
from isoglot.report.page.explanations import RANKS
from isoglot.report.page.explanations import TABLE_1 as EXPLANATION
from isoglot.report.page.markup import Html, folded, joined, listed, tag
from isoglot.report.page.number_table import number_table, scrolling
from isoglot.report.page.section import Section
from isoglot.report.report_scores import ReportScores
from isoglot.report.table_1 import TRANSFER_HEADING, Table1, papers_delta, papers_score_of
from isoglot.report.transfer_notes import PARTIAL_MARK
from isoglot.report.transfer_scores import Model, TaskScores
from isoglot.study.conditions import PAPER_DEPTH, condition_named
from isoglot.study.study import Study

FEW_SEEDS = 3
"""That are shown one by one below their mean."""
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
        short_title="Table 1",
        explanation=EXPLANATION,
        body=joined(
            [
                *view.tables(label=table.title),
                listed(_notes(study, table, has_seeds=view.has_seeds, has_links=bool(links))),
                # Hidden together with the columns they speak of.
                listed(_notes_of_settings(study), class_=f"of-settings{view.crowd}"),
                *_ranks(table),
                *_below(table),
            ]
        ),
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


def _ranks(table: Table1) -> Iterator[Html]:
    if table.ranks:
        lines = [
            (each.title[:1].upper() + each.title[1:], rho_text(each), str(each.num_conditions), ", ".join(each.targets))
            for each in table.ranks
        ]
        yield tag("p", joined(rank_sentences(table.ranks), " "))
        yield folded(
            "How near the order of conditions comes to the paper's",
            tag("p", RANKS, class_="explanation"),
            number_table(("Task", "Spearman's rho", "Conditions", "Test languages"), lines),
            class_="on-paper",
        )


def _below(table: Table1) -> Iterator[Html]:
    if table.agreement:
        sentences = listed(line for line, _ in table.agreement)
        yield folded("Is the order of conditions that of the paper?", tag("p", TRANSFER_HEADING), sentences)
    for counts in table.counts:
        yield folded(counts.title, number_table(counts.headings, counts.lines, num_names=2))


def _digests(measurements: Sequence[Measurement]) -> dict[tuple[str, str, str, tuple[str, str], str, int | None], str]:
    """Of the artifact that holds a score: by task, condition, metric, pair, language and seed."""
    return {
        (each.task, each.condition, each.metric, each.languages, each.language, each.seed): each.stage
        for each in measurements
        if each.exhibit in (TABLE_1, BASELINES) and each.task is not None
    }


@dataclass(frozen=True, kw_only=True)
class _Table:
    study: Study
    tasks: tuple[TaskScores, ...]
    digests: Mapping[tuple[str, str, str, tuple[str, str], str, int | None], str]
    links: Links
    absences: Absences

    def tables(self, *, label: str) -> Iterator[Html]:
        """That of pretrained models if there are to be any, then the others', which may be two for each condition."""
        pretrained = list(self._groups())
        if pretrained:
            yield scrolling(self._table(pretrained, crowd=self.crowd), label=label)
        if self.has_published:
            yield tag("p", OF_PAPER, class_="published remark")
        # Tasks that have none of them get no columns.
        tasks = tuple(task for task in self.tasks if not all(model.is_pretrained for model in task.models))
        untrained = dict.fromkeys(model for task in tasks for model in task.models if not model.is_pretrained)
        if untrained:
            others = replace(self, tasks=tasks)
            # Beside the first table, which says what was done to each, it needs no settings.
            crowd = CROWDED if pretrained else others.crowd
            shown = scrolling(
                others._table([others._body("", list(untrained))], crowd=crowd),
                label=f"{label}, models that were never pretrained",
            )
            yield folded(NEVER_PRETRAINED, shown, class_="on-paper") if pretrained else shown

    def _table(self, bodies: Sequence[Html], *, crowd: str) -> Html:
        return tag("table", tag("thead", *self._head()), *bodies, class_=f"table-1{crowd}")

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

    def _head(self) -> Iterator[Html]:
        tasks = (
            tag("th", f"{task.title} in %", colspan=str(len(task.targets) + 2), scope="colgroup", class_="task")
            for task in self.tasks
        )
        yield tag(
            "tr",
            tag("th", DESCRIPTION[0], rowspan="2", scope="col"),
            *(tag("th", heading, rowspan="2", scope="col", class_="setting") for heading in DESCRIPTION[1:]),
            *tasks,
        )
        columns = ((*task.targets, DELTA, task.source) for task in self.tasks)
        yield tag(
            "tr",
            *(
                tag("th", heading, scope="col", class_=_column_class(place, len(headings)))
                for headings in columns
                for place, heading in enumerate(headings)
            ),
        )

    def _groups(self) -> Iterator[Html]:
        """The paper's."""
        for section, alike in groupby(conditions_of(self.study, TABLE_1), key=lambda condition: condition.section):
            title = f"{GROUPS[section]} (§{section})" if section in GROUPS else ""
            yield self._body(title, [Model(condition=condition.name) for condition in alike])

    def _body(self, title: str, models: Sequence[Model]) -> Html:
        num_columns = len(DESCRIPTION) + self._num_scores
        heading = tag("tr", tag("th", title, colspan=str(num_columns), scope="rowgroup"), class_="group")
        return tag("tbody", heading if title else Html(), *map(self._row, models))

    def _row(self, model: Model) -> Html:
        settings = described(condition_named(model.condition), scale=self.study.scale)
        of_default = described(condition_named("default"), scale=self.study.scale)
        is_default = model == Model(condition="default")
        shown = [
            AS_DEFAULT if setting == default and not is_default else setting
            for setting, default in zip(settings, of_default, strict=True)
        ]
        return tag(
            "tr",
            tag("th", model.label, scope="row"),
            *(tag("td", setting, class_="setting") for setting in shown),
            *(cell for task in self.tasks for cell in self._cells(task, model)),
        )

    def _cells(self, task: TaskScores, model: Model) -> Iterator[Html]:
        for place, pair in enumerate(task.pairs):
            values = task.values.get((model, pair, pair[1], task.task.metric), {})
            first = " first" if place == 0 else ""
            if not values:
                why = self._why(task, model, pair)
                yield tag("td", why, class_=f"absent{first}")
                continue
            lost = " lost" if task.is_lost(model, pair[1]) else ""
            published = papers_score_of(model, task=task.task.name, languages=pair)
            address = self._address(task, model, pair)
            content = [*_scores(values, address), *_published(published)]
            yield tag("td", *content, class_=f"score{lost}{first}")
        yield tag("td", *self._delta(task, model), class_="delta")
        own = task.of_source(model)
        yield tag("td", f"{fmean(own):.1f}" if own else NONE, class_="source")

    def _why(self, task: TaskScores, model: Model, pair: tuple[str, str]) -> str:
        exhibit = TABLE_1 if model.is_pretrained else BASELINES
        return self.absences.why(exhibit, model.condition, pair, task.task.name)

    def _address(self, task: TaskScores, model: Model, pair: tuple[str, str]) -> Callable[[int | None], str | None]:
        metric = task.task.metric + model.suffix

        def address(seed: int | None) -> str | None:
            digest = self.digests.get((task.task.name, model.condition, metric, pair, pair[1], seed), "")
            return self.links.get(digest)

        return address

    def _delta(self, task: TaskScores, model: Model) -> Iterator[Html]:
        delta = task.delta(model)
        shown = NONE if delta is None else f"{delta.points:+.1f}{PARTIAL_MARK if delta.is_partial else ''}"
        yield tag("span", shown, class_="mean")
        published = papers_delta(model, task=task.task.name, source=task.source, targets=task.targets)
        if published is not None:
            yield _of_paper(f"{published:+.1f}")


def _scores(values: Mapping[int | None, float], address: Callable[[int | None], str | None]) -> Iterator[Html]:
    """The mean, and below it each seed's, or where these are many their range with the seeds folded away."""
    if len(values) == 1:
        ((seed, value),) = values.items()
        yield tag("span", _linked(f"{value:.1f}", address(seed), seed), class_="mean")
        return
    yield tag("span", f"{fmean(values.values()):.1f}", class_="mean")
    seeds = joined((_linked(f"{value:.1f}", address(seed), seed) for seed, value in values.items()), " ")
    if len(values) <= FEW_SEEDS:
        yield tag("span", seeds, class_="seeds")
    else:
        low, high = min(values.values()), max(values.values())
        yield folded(f"{low:.1f} to {high:.1f}", tag("span", seeds, class_="seeds"), class_="seeds")


def _linked(shown: str, address: str | None, seed: int | None) -> Html:
    title = "record of the artifact" if seed is None else f"seed {seed}: record of its artifact"
    return joined([shown]) if address is None else tag("a", shown, href=address, title=title)


def _published(score: float | None) -> Iterator[Html]:
    if score is not None:
        yield _of_paper(f"{score:.1f}")


def _of_paper(shown: str) -> Html:
    """The word is left to listeners where a table has little room; a note says it to readers."""
    return tag("span", tag("span", "paper ", class_="of-paper"), shown, class_="published")


def _column_class(place: int, num_columns: int) -> str:
    if place == num_columns - 1:
        return "source"
    return "delta" if place == num_columns - 2 else "first" if place == 0 else ""
