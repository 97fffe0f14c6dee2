"""Table 1 on the page, in the paper's shape: groups, dashes, deltas, and a link from each number to its record."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.cells import BASELINES, TABLE_1
from isoglot.pipeline.measurements import Measurement
from isoglot.report.findings.rank_correlation import rank_sentences, rho_text
from isoglot.report.findings.transfer_scores import DEFAULT, Model, TaskScores
from isoglot.report.page.section import Absences, Section
from isoglot.report.report_scores import ReportScores
from isoglot.report.tables.condition_words import (
    DESCRIPTION,
    GROUPS,
    OWN_SUBWORDS,
    condition_notes,
    conditions_of,
    described,
)
from isoglot.report.tables.table_1 import POINTS, papers_delta, papers_score_of
from isoglot.report.tables.transfer_notes import PARTIAL_MARK, with_window
from isoglot.study.conditions import condition_named
from isoglot.study.study import Study

# Columns of scores, beyond which a sheet of paper has no room for settings, and for seeds; a screen for settings.
MANY, VERY_MANY = 6, 12
CROWDED = " many very-many"
Links = Mapping[str, str]
"""Addresses of records by the digest of their artifact."""
Addresses = Mapping[tuple[str, Model, tuple[str, str], int | None], str]
"""Addresses of records by task, model, pair and seed of a score."""


def table_1_section(study: Study, scores: ReportScores, *, links: Links, absences: Absences) -> Section | None:
    """None where nothing of it is measured yet."""
    table, tasks = scores.table_1, scores.tasks
    if table is None:
        return None
    conditions = conditions_of(study, TABLE_1)
    groups = [
        {
            "title": f"{GROUPS[section]} (§{section})" if section in GROUPS else "",
            "rows": [_row(study, Model(condition=condition.name)) for condition in alike],
        }
        for section, alike in groupby(conditions, key=lambda condition: condition.section)
    ]
    # Tasks that have none of them get no columns.
    of_untrained = [task for task in tasks if not all(model.is_pretrained for model in task.models)]
    untrained = dict.fromkeys(model for task in of_untrained for model in task.models if not model.is_pretrained)
    has_published = any(
        papers_score_of(model, task=task.task.name, languages=pair) is not None
        for task in tasks
        for model in task.models
        for pair in task.pairs
    )
    values = {
        "table": table,
        "notes": with_window(table.notes, window=study.scale.window),
        "points": POINTS,
        "description": DESCRIPTION,
        "crowd": _crowd(tasks),
        "tasks": tasks,
        "groups": groups,
        "tasks_of_untrained": of_untrained,
        "untrained": [_row(study, model) for model in untrained],
        # Beside the first table, which says what was done to each, they need no settings.
        "crowd_of_untrained": CROWDED if groups else _crowd(of_untrained),
        "addresses": _addresses(scores.measurements, links),
        "absences": absences,
        "papers_score": papers_score_of,
        "papers_delta": papers_delta,
        "partial_mark": PARTIAL_MARK,
        "has_seeds": any(len(by_seed) > 1 for task in tasks for by_seed in task.values.values()),
        "has_links": bool(links),
        "condition_notes": [*condition_notes(conditions, scale=study.scale)],
        "own_subwords": OWN_SUBWORDS,
        "rank_sentences": list(rank_sentences(table.ranks)),
        "rho_text": rho_text,
    }
    return Section(
        anchor=TABLE_1, template="table_1.html", title=table.title, values=values, has_published=has_published
    )


def _crowd(tasks: Iterable[TaskScores]) -> str:
    """Classes that say how much has to be left out, on paper and beyond that on a screen."""
    num_scores = sum(len(task.targets) + 2 for task in tasks)
    if num_scores > VERY_MANY:
        return CROWDED
    return " many" if num_scores > MANY else ""


def _row(study: Study, model: Model) -> dict[str, Any]:
    """The left half of a row: what was done to the model."""
    settings = described(condition_named(model.condition, among=study.conditions), scale=study.scale)
    of_default = described(condition_named(DEFAULT.condition), scale=study.scale)
    shown = [
        "-" if setting == default and model != DEFAULT else setting
        for setting, default in zip(settings, of_default, strict=True)
    ]
    return {"model": model, "settings": shown}


def _addresses(measurements: Sequence[Measurement], links: Links) -> Addresses:
    # An artifact holds many scores; the table shows one metric of the target language.
    return {
        (each.task, Model(condition=each.condition, variant=each.variant), each.languages, each.seed): links[each.stage]
        for each in measurements
        if each.exhibit in (TABLE_1, BASELINES) and each.task is not None and each.stage in links
        if (each.language, each.metric) == (each.languages[1], task_named(each.task).metric)
    }
