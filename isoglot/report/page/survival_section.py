"""The first section of a page: which conditions keep transfer alive, and which kill it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.cells import EMERGENCE, TABLE_1
from isoglot.pipeline.measurements import Measurement
from isoglot.report.condition_words import in_words
from isoglot.report.layer_scores import RETRIEVAL
from isoglot.report.page.section import Absences, Block, Custom, Listing, Place, Section, Text
from isoglot.report.published import SOURCE, TARGETS
from isoglot.report.report_scores import ReportScores
from isoglot.report.survival import ALIVE, DEAD, Outcome, Survival, Survivals, trial_title
from isoglot.report.verdicts import CLOSE_POINTS
from isoglot.study.conditions import DEFAULT, condition_named, known_condition
from isoglot.study.scales import Scale

HEADINGS = {
    Outcome.SURVIVES: ("●", "survives"),
    Outcome.SUFFERS: ("◐", "suffers"),
    Outcome.DIES: ("✕", "dies"),
}
"""A mark that needs no colour, and the word."""
LITTLE_POINTS = 20.0
"""Where Default has no more above its floor, a few points of noise are a large share."""
LEAST_WIDTH = 1.25
"""The share that a full bar stands for, at least: some conditions do better than Default."""
RULES = {
    Outcome.SURVIVES: f"at least {100 * ALIVE:.0f}% of Default's is left",
    Outcome.SUFFERS: f"{100 * DEAD:.0f} to {100 * ALIVE:.0f}% is left",
    Outcome.DIES: f"less than {100 * DEAD:.0f}% is left",
}


def survival_section(scores: ReportScores, *, scale: Scale, absences: Absences) -> Section | None:
    """None where Default, to which all others are compared, or all others are not measured yet."""
    found = scores.survivals
    if found is None:
        return None
    what = "transfer" if found.is_of_transfer else "cross-lingual structure"
    exhibit = TABLE_1 if found.is_of_transfer else EMERGENCE
    there, awaited = _there(scores.measurements, exhibit=exhibit), absences.awaited(exhibit)
    longest = max(max(each.share, *each.of_seeds, each.published or 0.0) for each in found.conditions)
    lacking = _lacking(found)

    def place(share: float) -> str:
        return f"{100 * max(share, 0.0) / max(LEAST_WIDTH, longest):.1f}%"

    def row(each: Survival) -> dict[str, Any]:
        return _row(each, scale=scale, lacking=lacking[each.condition], place=place)

    groups = []
    for outcome in Outcome:
        if alike := found.with_outcome(outcome):
            mark, word = HEADINGS[outcome]
            heading = {"outcome": outcome.value, "mark": mark, "title": f"{what.capitalize()} {word}"}
            groups.append({**heading, "rule": RULES[outcome], "rows": [row(each) for each in alike]})
    default = next(each for each in found.conditions if each.condition == DEFAULT.name)
    values = {"groups": groups, "default": row(default), "whole": place(1.0)}
    return Section(
        anchor="survival",
        words="" if found.is_of_transfer else "survival-of-retrieval",
        lead=Custom("headline.html", {"so_far": _so_far(there, awaited), "parts": list(_headline(found, what=what))}),
        blocks=[
            Custom("survival.html", values),
            Listing([*_notes(found), *_notes_of_absence(there, awaited)], "notes"),
            *_published_note(found),
        ],
        has_published=any(each.published is not None for each in found.conditions),
    )


def _so_far(there: Collection[Place], awaited: Collection[Place]) -> str:
    """ "So far, from 3 of 9 scores:", where the rest may change what follows."""
    if not awaited:
        return ""
    wanted = {*there, *awaited}
    return (
        f"So far, from {len(there)} of {len(wanted)} scores:"
        if len(there) < len(wanted)
        else "So far, not with all seeds:"
    )


def _there(measurements: Sequence[Measurement], *, exhibit: str) -> set[Place]:
    """Places with a score of one seed at least."""
    return {
        (exhibit, each.condition, each.languages, each.task)
        for each in measurements
        if (each.exhibit, each.variant) == (exhibit, None)
        and each.metric == (task_named(each.task).metric if each.task else RETRIEVAL)
    }


def _lacking(found: Survivals) -> Mapping[str, Sequence[str]]:
    """By condition, the tests that its share is without, while others' are not."""
    there = {(condition, trial.title) for trial in found.trials for condition in trial.by_condition}
    tests = dict.fromkeys(trial.title for trial in found.trials)
    return {
        each.condition: [test for test in tests if (each.condition, test) not in there] for each in found.conditions
    }


def _notes_of_absence(there: Collection[Place], awaited: Collection[Place]) -> Iterator[str]:
    """Tests that are in no condition's share so far."""
    measured = {(languages, task) for _, _, languages, task in there}
    of_default = {(languages, task) for _, condition, languages, task in there if condition == DEFAULT.name}
    to_come = {(languages, task) for _, _, languages, task in awaited}
    for tests, why in (
        (to_come - measured, "Not there for any condition yet"),
        ((to_come & measured) - of_default, "Left out, as Default's own score is not there yet"),
    ):
        if tests:
            yield f"{why}: {', '.join(sorted(trial_title(*test) for test in tests))}."


def _headline(found: Survivals, *, what: str) -> Iterator[dict[str, Any]]:
    """ "Transfer survives under No anchors. It dies under Sep Emb + L1-6.\""""
    subject = what.capitalize()
    for outcome in Outcome:
        if alike := found.with_outcome(outcome):
            mark, word = HEADINGS[outcome]
            labels = [_label(each) for each in alike]
            yield {"outcome": outcome.value, "subject": subject, "word": word, "mark": mark, "labels": labels}
            subject = "It"


def _row(each: Survival, *, scale: Scale, lacking: Sequence[str], place: Callable[[float], str]) -> dict[str, Any]:
    low, high = min(each.of_seeds), max(each.of_seeds)
    details = [(" · ".join(f"{group} {_percent(share)}" for group, share in each.by_group.items()), "")]
    if lacking:
        details.append((f"without {', '.join(lacking)}", "lacking"))
    if each.seeds_disagree:
        details.append((f"seeds disagree: {_percent(low)} to {_percent(high)}", "disagree"))
    if each.published is not None:
        details.append((f"the paper {_percent(each.published)}", "published"))
    has_seeds = len(each.of_seeds) > 1
    by_seed = f"; by seed {', '.join(map(_percent, each.of_seeds))}" if has_seeds else ""
    return {
        "label": _label(each),
        "words": in_words(condition_named(each.condition), scale=scale) if known_condition(each.condition) else "",
        "summary": f"{_label(each)}: {_percent(each.share)} of Default's is left{by_seed}",
        "width": place(each.share),
        "range": (place(low), place(high)) if has_seeds else None,
        "published": None if each.published is None else place(each.published),
        "share": _percent(each.share),
        "details": details,
    }


def _percent(share: float) -> str:
    """ "85%", and never "-0%"."""
    return f"{round(100 * share)}%"


def _published_note(found: Survivals) -> Iterator[Block]:
    if any(each.published is not None for each in found.conditions):
        pairs = {trial.languages for trial in found.trials}
        over = (
            ""
            if all(source == SOURCE and target in TARGETS for source, target in pairs)
            else ", the mean over its three languages where it lacks ours"
        )
        yield Text(f"◇ The paper's own scores of the same tasks, by the same measure{over}.", "published remark")


def _notes(found: Survivals) -> Iterator[str]:
    with_one = [each for each in found.conditions if len(each.of_seeds) < 2]
    spread = (
        "" if len(with_one) == len(found.conditions) else " The thin line goes from the lowest seed to the highest."
    )
    if found.is_of_transfer:
        yield (
            "Share: how far a score lies above chance, or above the same model without pretraining where that was "
            "measured of every condition and is more, as a share of Default's; the mean over tasks, whose own shares "
            f"stand beside the bar.{spread}"
        )
        yield from _note_of_baselines(found)
    else:
        yield f"Share: what training gains in retrieval at the best layer, as a share of what Default gains.{spread}"
    if with_one:
        shown = "One seed" if not spread else f"One seed of {', '.join(map(_label, with_one))}"
        yield f"{shown}: another could put a condition into another group. Give several with --seeds."
    if rough := [trial for trial in found.trials if trial.to_lose < LITTLE_POINTS]:
        shown = ", ".join(f"{trial.title} ({trial.to_lose:.1f} points)" for trial in rough)
        yield f"Default itself has little to lose, so that shares are rough: {shown}."
    if found.undecided:
        yield f"Left out, as Default itself transfers next to nothing there: {', '.join(found.undecided)}."


def _note_of_baselines(found: Survivals) -> Iterator[str]:
    """Default's scores without pretraining, where not every condition has one."""
    baselines = [
        f"{trial.title} ({trial.untrained:.1f} of {trial.default:.1f})"
        for trial in found.trials
        if trial.untrained is not None and trial.untrained > trial.floors[DEFAULT.name] + CLOSE_POINTS
    ]
    if baselines:
        yield (
            "Not taken off, as it was not measured of every condition: what Default reaches without pretraining, "
            f"{', '.join(baselines)}."
        )


def _label(each: Survival) -> str:
    return condition_named(each.condition).label
