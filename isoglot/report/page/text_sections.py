"""Sections of words and tables: claims, conditions, vocabularies, differences, missing numbers and provenance."""

from collections.abc import Iterator, Sequence
from typing import Any

from isoglot.pipeline.cells import VOCABULARY
from isoglot.pipeline.measurements import Measurement
from isoglot.report.difference import ABSENT, Changed, Kind, by_exhibit, circumstances_title, of_kind, plain_text
from isoglot.report.findings.verdicts import Verdict, tally
from isoglot.report.growth.predictions import PREDICTION_HEADINGS, Prediction, prediction_title
from isoglot.report.page.section import Section
from isoglot.report.provenance import Provenance
from isoglot.report.report_scores import ReportScores
from isoglot.report.state import Log, State
from isoglot.report.tables.condition_words import DESCRIPTION, condition_notes, described, in_words, shown_conditions
from isoglot.report.tables.vocabulary import CAPTION, HEADINGS, vocabulary_tables
from isoglot.study.scales import Scale
from isoglot.study.study import Study, Synthetic

FILES = ("measurements.jsonl", "provenance.json", "curves.jsonl", "state.json")


def page_head(study: Study, state: State) -> dict[str, Any]:
    """The top of the page: the study, the size of its models, and how far it is."""
    return {
        "study": study,
        "state": state,
        "trains_models": bool({*study.exhibits} - {VOCABULARY}),
        "of_fewer_seeds": [
            name for name, only in study.only.items() if not all(only.keeps("seeds", seed) for seed in study.seeds)
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
    values = {"found": found, "files": (*FILES, *beside), "settings": settings, "logs": logs}
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
