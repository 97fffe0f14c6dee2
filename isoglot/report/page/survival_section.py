"""The first section of a page: which conditions keep transfer alive, and which kill it."""

from collections.abc import Collection, Sequence
from math import ceil, isfinite

from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.cells import EMERGENCE, TABLE_1
from isoglot.pipeline.measurements import Measurement
from isoglot.report.findings.comparisons import ALIVE, DEAD, Comparisons, Outcome, Standing
from isoglot.report.findings.headline import (
    budget,
    headline_sentences,
    noise_sentence,
    refusal_sentences,
    shares_beside_paper,
)
from isoglot.report.findings.layer_scores import CENTRED, CENTRED_RETRIEVAL
from isoglot.report.findings.published import SOURCE, TARGETS
from isoglot.report.findings.trials import LEARNED, RETRIEVAL_TITLE, SOLVED
from isoglot.report.findings.verdicts import these_runs
from isoglot.report.page.section import Absences, Place, Section
from isoglot.report.report_scores import ReportScores
from isoglot.report.state import NO_DATA
from isoglot.report.tables.condition_words import in_words
from isoglot.study.conditions import DEFAULT, shown_condition
from isoglot.study.scales import Scale

# They need no colour.
MARKS = {Outcome.SURVIVES: "●", Outcome.SUFFERS: "◐", Outcome.DIES: "✕"}
RULES = {
    Outcome.SURVIVES: f"clearly more than {ALIVE:.0%} of Default's points is left on the mean, in no test clearly less",
    Outcome.SUFFERS: f"clearly less than {ALIVE:.0%} is left on the mean or in a test",
    Outcome.DIES: f"clearly less than {DEAD:.0%} is left on the mean, in no test clearly more",
    Outcome.OPEN: "seeds disagree, or the difference is within noise",
    Outcome.NONE: "what is missing stands below",
}
# Points to which the end of the axis is rounded up.
AXIS_STEP = 10


def survival_section(scores: ReportScores, *, scale: Scale, absences: Absences) -> Section | None:
    """None where Default, to which all others are compared, or all others are not measured yet."""
    found = scores.comparisons
    if not found.conditions:
        return None
    exhibit = TABLE_1 if found.is_of_transfer else EMERGENCE
    there = _there(scores.measurements, exhibit=exhibit)
    # Places that a finished study without failures would fill; some of their seeds may be there.
    awaited = {place for place, reason in absences.items() if place[0] == exhibit and reason != NO_DATA}
    by_name = {each.condition: each for each in found.standings}
    highest = max(max(each.points.mean, *each.points.values) for each in found.standings)
    beside_paper = {name: shares for name, each in by_name.items() if (shares := shares_beside_paper(each))}
    values = {
        "found": found,
        "headline": list(headline_sentences(found)),
        "budget": budget(scale),
        "what": "transfer" if found.is_of_transfer else "cross-lingual structure",
        "marks": MARKS,
        "rules": RULES,
        # The bars of outcomes that stand on few seeds have no colours.
        "is_sure": not these_runs(found.least_seeds),
        "groups": {outcome.value: alike for outcome in Outcome if (alike := found.with_outcome(outcome))},
        "default": by_name[DEFAULT.name],
        "full": AXIS_STEP * max(1, ceil(highest / AXIS_STEP)) if isfinite(highest) else 100,
        "words": {name: in_words(each, scale=scale) for name in by_name if (each := shown_condition(name))},
        "lacking": {name: _lacking(found, each) for name, each in by_name.items()},
        "num_there": len(there),
        "num_wanted": len({*there, *awaited}),
        "is_awaited": bool(awaited),
        "gates": (f"{LEARNED:.0%}", f"{SOLVED:.0f}"),
        "noise_sentence": noise_sentence(found),
        "has_spread": any(len(each.points.values) > 1 for each in found.standings),
        "centred": CENTRED,
        "refusals": list(refusal_sentences(found)),
        "absent": _absent(there, awaited),
        "beside_paper": beside_paper,
        "has_papers_pairs": all(
            trial.languages[0] == SOURCE and trial.languages[1] in TARGETS for trial in found.trials
        ),
    }
    return Section(
        anchor="survival",
        words="" if found.is_of_transfer else "survival-of-retrieval",
        template="survival.html",
        values=values,
        has_published=bool(beside_paper),
    )


def _there(measurements: Sequence[Measurement], *, exhibit: str) -> set[Place]:
    """Places with a score of one seed at least."""
    return {
        (exhibit, each.condition, each.languages, each.task)
        for each in measurements
        if (each.exhibit, each.variant) == (exhibit, None)
        and each.metric == (task_named(each.task).metric if each.task else CENTRED_RETRIEVAL)
    }


def _lacking(found: Comparisons, standing: Standing) -> list[str]:
    """The tests that the points of a condition are without, while Default's are not."""
    of_default = next(each for each in found.standings if each.condition == DEFAULT.name)
    return [trial.title for trial in of_default.trials if trial not in standing.trials]


def _absent(there: Collection[Place], awaited: Collection[Place]) -> dict[str, list[str]]:
    """By the reason why, tests that are in no condition's share so far."""
    measured = {(languages, task) for _, _, languages, task in there}
    of_default = {(languages, task) for _, condition, languages, task in there if condition == DEFAULT.name}
    to_come = {(languages, task) for _, _, languages, task in awaited}
    by_reason = {
        "Not there for any condition yet": to_come - measured,
        "Left out, as Default's own score is not there yet": (to_come & measured) - of_default,
    }
    return {why: sorted(_title(*test) for test in tests) for why, tests in by_reason.items() if tests}


def _title(languages: tuple[str, str], task: str | None) -> str:
    return f"{task_named(task).title if task else RETRIEVAL_TITLE} in {languages[1]}"
