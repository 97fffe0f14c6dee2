"""Sections of words and tables: claims, Table 1, conditions, vocabularies, differences, what is missing, provenance."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.cells import BASELINES, TABLE_1, VOCABULARY
from isoglot.pipeline.measurements import Measurement
from isoglot.report.difference import ABSENT, Changed, Kind, by_exhibit, circumstances_title, of_kind, plain_text
from isoglot.report.findings.rank_correlation import rank_sentences, rho_text
from isoglot.report.findings.transfer_scores import DEFAULT, Model, TaskScores
from isoglot.report.findings.verdicts import Verdict, tally
from isoglot.report.growth.predictions import PREDICTION_HEADINGS, Prediction, prediction_title
from isoglot.report.page.section import Absences, Section
from isoglot.report.provenance import Provenance
from isoglot.report.report_files import CURVES, MEASUREMENTS, PROVENANCE, STATE
from isoglot.report.report_scores import ReportScores
from isoglot.report.state import Log, State
from isoglot.report.tables.condition_words import (
    DESCRIPTION,
    GROUPS,
    OWN_SUBWORDS,
    condition_notes,
    conditions_of,
    described,
    in_words,
    shown_conditions,
)
from isoglot.report.tables.table_1 import POINTS, papers_delta, papers_score_of
from isoglot.report.tables.transfer_notes import PARTIAL_MARK, with_window
from isoglot.report.tables.vocabulary import CAPTION, HEADINGS, vocabulary_tables
from isoglot.study.conditions import condition_named
from isoglot.study.scales import Scale
from isoglot.study.study import Study
from isoglot.study.synthetic_languages import Synthetic

# Columns of scores, beyond which a sheet of paper has no room for settings, and for seeds; a screen for settings.
MANY, VERY_MANY = 6, 12
CROWDED = " many very-many"
Links = Mapping[str, str]
"""Addresses of records by the digest of their artifact."""
Addresses = Mapping[tuple[str, Model, tuple[str, str], int | None], str]
"""Addresses of records by task, model, pair and seed of a score."""


def page_head(study: Study, state: State) -> dict[str, Any]:
    """The top of the page: the study, the size of its models, and how far it is."""
    return {
        "study": study,
        "state": state,
        "trains_models": bool({*study.exhibits} - {VOCABULARY}),
        "of_fewer_seeds": [
            name for name in study.only if not all(study.keeps(name, "seeds", seed) for seed in study.seeds)
        ],
        "is_made_up": isinstance(study.text, Synthetic),
    }


def claims_section(scores: ReportScores) -> Section:
    """The paper's claims, and this study's verdict on each."""
    values = {
        "tally": tally(scores.claims),
        "remarks": scores.claim_remarks,
        "tested": [claim for claim in scores.claims if claim.verdict is not Verdict.NOT_TESTED],
        "untested": [claim for claim in scores.claims if claim.verdict is Verdict.NOT_TESTED],
    }
    return Section(anchor="claims", template="claims.html", values=values, has_published=True)


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


def conditions_section(study: Study) -> Section:
    """The settings of each model, where Table 1, whose left half has them, is not on the page."""
    conditions, scale = shown_conditions(study), study.scale
    lines = [
        (condition.label, in_words(condition, scale=scale), *described(condition, scale=scale))
        for condition in conditions
    ]
    values = {
        "headings": (DESCRIPTION[0], "In words", *DESCRIPTION[1:]),
        "lines": lines,
        "notes": [*condition_notes(conditions, scale=scale)],
    }
    return Section(anchor="conditions", template="conditions.html", values=values)


def vocabulary_section(measurements: Sequence[Measurement], *, scale: Scale) -> Section | None:
    """The subwords that two languages have in common in each vocabulary."""
    if not (tables := list(vocabulary_tables(measurements, scale=scale))):
        return None
    values = {"caption": CAPTION, "headings": HEADINGS, "tables": tables}
    return Section(anchor="vocabulary", template="vocabulary.html", values=values)


def difference_section(changed: Sequence[Changed], predicted: Sequence[Prediction], *, other: str) -> Section:
    """Predictions of another report, which the reader calls `other`; settings that differ, and numbers beyond noise."""
    settings, circumstances = (_changes(of_kind(changed, kind)) for kind in (Kind.SETTING, Kind.CIRCUMSTANCE))
    values = {
        "predictions": [each.cells() for each in predicted],
        "prediction_headings": PREDICTION_HEADINGS,
        "prediction_title": prediction_title(predicted) if predicted else "",
        "settings": settings,
        "circumstances": circumstances,
        "circumstances_title": circumstances_title(len(circumstances)),
        "exhibits": [(each.title(), _changes(each.clear)) for each in by_exhibit(changed)],
    }
    return Section(anchor="difference", template="difference.html", title=f"Compared with {other}", values=values)


def _changes(changed: Sequence[Changed]) -> list[tuple[str, ...]]:
    return [
        (each.name, each.a or ABSENT, each.b or ABSENT, "" if each.change is None else f"{each.change:+.3g}")
        for each in changed
    ]


def missing_section(state: State) -> Section | None:
    """Failed results, results without data, and those still to come."""
    lists = {"Failed": state.failures, "No data": state.no_data, "Pending": state.pending}
    if not any(lists.values()):
        return None
    return Section(anchor="missing", template="missing.html", values={"lists": lists})


def provenance_section(found: Provenance, *, logs: Sequence[Log], beside: Sequence[str]) -> Section:
    """`beside`: files that the page comes with, besides those that every page has."""
    settings = {".".join(path): value for path, value in _leaves(found.settings, ())}
    values = {
        "found": found,
        "files": (MEASUREMENTS, PROVENANCE, CURVES, STATE, *beside),
        "settings": settings,
        "logs": logs,
    }
    return Section(anchor="provenance", template="provenance.html", values=values)


def _leaves(value: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, dict):
        for key, member in value.items():
            yield from _leaves(member, (*path, key))
    # A list of plain values is one setting, a list of tables has one for each of their members.
    elif isinstance(value, list) and any(isinstance(member, dict) for member in value):
        for place, member in enumerate(value):
            yield from _leaves(member, (*path, str(place)))
    else:
        yield path, plain_text(value)
