"""The first section of a page: which conditions keep transfer alive, and which kill it."""

from collections.abc import Collection, Sequence

from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.cells import EMERGENCE, TABLE_1
from isoglot.pipeline.measurements import Measurement
from isoglot.report.condition_words import in_words
from isoglot.report.layer_scores import RETRIEVAL
from isoglot.report.page.section import Absences, Place, Section
from isoglot.report.published import SOURCE, TARGETS
from isoglot.report.report_scores import ReportScores
from isoglot.report.state import NO_DATA
from isoglot.report.survival import ALIVE, DEAD, Outcome, Survivals, trial_title
from isoglot.report.verdicts import CLOSE_POINTS
from isoglot.study.conditions import DEFAULT, condition_named, known_condition
from isoglot.study.scales import Scale

# They need no colour.
MARKS = {Outcome.SURVIVES: "●", Outcome.SUFFERS: "◐", Outcome.DIES: "✕"}
# Where Default has no more above its floor, a few points of noise are a large share.
LITTLE_POINTS = 20.0
# The share that a full bar stands for, at least: some conditions do better than Default.
LEAST_WIDTH = 1.25


def survival_section(scores: ReportScores, *, scale: Scale, absences: Absences) -> Section | None:
    """None where Default, to which all others are compared, or all others are not measured yet."""
    found = scores.survivals
    if found is None:
        return None
    exhibit = TABLE_1 if found.is_of_transfer else EMERGENCE
    there = _there(scores.measurements, exhibit=exhibit)
    # Places that a finished study without failures would fill; some of their seeds may be there.
    awaited = {place for place, reason in absences.items() if place[0] == exhibit and reason != NO_DATA}
    longest = max(max(each.share, *each.of_seeds, each.published or 0.0) for each in found.conditions)
    values = {
        "found": found,
        "what": "transfer" if found.is_of_transfer else "cross-lingual structure",
        "marks": MARKS,
        "groups": {outcome.value: alike for outcome in Outcome if (alike := found.with_outcome(outcome))},
        "default": next(each for each in found.conditions if each.condition == DEFAULT.name),
        "full": max(LEAST_WIDTH, longest),
        "alive": f"{100 * ALIVE:.0f}%",
        "dead": f"{100 * DEAD:.0f}",
        "words": {
            each.condition: in_words(condition_named(each.condition), scale=scale)
            for each in found.conditions
            if known_condition(each.condition)
        },
        "lacking": _lacking(found),
        "num_there": len(there),
        "num_wanted": len({*there, *awaited}),
        "is_awaited": bool(awaited),
        "of_one_seed": [each.condition for each in found.conditions if len(each.of_seeds) < 2],
        "rough": [trial for trial in found.trials if trial.to_lose < LITTLE_POINTS],
        # Default's scores without pretraining, where not every condition has one.
        "baselines": [
            trial
            for trial in found.trials
            if trial.untrained is not None and trial.untrained > trial.floors[DEFAULT.name] + CLOSE_POINTS
        ],
        "absent": _absent(there, awaited),
        "has_papers_pairs": all(
            trial.languages[0] == SOURCE and trial.languages[1] in TARGETS for trial in found.trials
        ),
    }
    return Section(
        anchor="survival",
        words="" if found.is_of_transfer else "survival-of-retrieval",
        template="survival.html",
        values=values,
        has_published=any(each.published is not None for each in found.conditions),
    )


def _there(measurements: Sequence[Measurement], *, exhibit: str) -> set[Place]:
    """Places with a score of one seed at least."""
    return {
        (exhibit, each.condition, each.languages, each.task)
        for each in measurements
        if (each.exhibit, each.variant) == (exhibit, None)
        and each.metric == (task_named(each.task).metric if each.task else RETRIEVAL)
    }


def _lacking(found: Survivals) -> dict[str, list[str]]:
    """By condition, the tests that its share is without, while others' are not."""
    there = {(condition, trial.title) for trial in found.trials for condition in trial.by_condition}
    tests = dict.fromkeys(trial.title for trial in found.trials)
    return {
        each.condition: [test for test in tests if (each.condition, test) not in there] for each in found.conditions
    }


def _absent(there: Collection[Place], awaited: Collection[Place]) -> dict[str, list[str]]:
    """By the reason why, tests that are in no condition's share so far."""
    measured = {(languages, task) for _, _, languages, task in there}
    of_default = {(languages, task) for _, condition, languages, task in there if condition == DEFAULT.name}
    to_come = {(languages, task) for _, _, languages, task in awaited}
    by_reason = {
        "Not there for any condition yet": to_come - measured,
        "Left out, as Default's own score is not there yet": (to_come & measured) - of_default,
    }
    return {why: sorted(trial_title(*test) for test in tests) for why, tests in by_reason.items() if tests}
