"""The first thing a reader sees: which conditions keep transfer alive, and which kill it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.cells import EMERGENCE, TABLE_1
from isoglot.pipeline.measurements import Measurement
from isoglot.report.condition_words import in_words
from isoglot.report.layer_scores import RETRIEVAL
from isoglot.report.page.absences import Absences, Place
from isoglot.report.page.explanations import RETRIEVAL_SURVIVAL, SURVIVAL
from isoglot.report.page.markup import Html, joined, listed, tag
from isoglot.report.page.section import Section
from isoglot.report.published import SOURCE, TARGETS
from isoglot.report.report_scores import ReportScores
from isoglot.report.survival import ALIVE, DEAD, Outcome, Survival, Survivals, trial_title
from isoglot.report.verdicts import CLOSE_POINTS
from isoglot.study.conditions import DEFAULT, condition_named
from isoglot.study.scales import Scale

HEADINGS = {
    Outcome.SURVIVES: ("●", "survives"),
    Outcome.SUFFERS: ("◐", "suffers"),
    Outcome.DIES: ("✕", "dies"),
}
"""A mark that tells without colour, and the word."""
LITTLE_POINTS = 20.0
"""Above nothing: where Default has no more, a few points of noise are a large share."""
LEAST_WIDTH = 1.25
"""Of all bars, in shares of Default: some conditions do better than it."""
Lacking = Mapping[str, Sequence[str]]
"""By condition, tests that its share is without, while others' are not."""


@dataclass(frozen=True, kw_only=True)
class _Look:
    """What all rows have in common."""

    scale: Scale
    lacking: Lacking
    widest: float
    """The share that a bar of full width stands for."""

    @classmethod
    def of(cls, found: Survivals, *, scale: Scale) -> _Look:
        longest = max(max(each.share, *each.of_seeds, each.published or 0.0) for each in found.conditions)
        return cls(scale=scale, lacking=_lacking(found), widest=max(LEAST_WIDTH, longest))

    def place(self, share: float) -> str:
        return f"{100 * max(share, 0.0) / self.widest:.1f}%"


def survival_section(scores: ReportScores, *, scale: Scale, absences: Absences) -> Section | None:
    """None where Default, to which all others are compared, or all others are not measured yet."""
    found, measurements = scores.survivals, scores.measurements
    if found is None:
        return None
    what = "transfer" if found.is_of_transfer else "cross-lingual structure"
    look = _Look.of(found, scale=scale)
    exhibit = TABLE_1 if found.is_of_transfer else EMERGENCE
    there, awaited = _there(measurements, exhibit=exhibit), absences.awaited(exhibit)
    groups = [
        _group(outcome, found.with_outcome(outcome), what=what, look=look)
        for outcome in Outcome
        if found.with_outcome(outcome)
    ]
    default = next(each for each in found.conditions if each.condition == DEFAULT.name)
    return Section(
        anchor="survival",
        title=f"What keeps {what} alive?",
        short_title="In short",
        explanation=SURVIVAL if found.is_of_transfer else RETRIEVAL_SURVIVAL,
        lead=tag("p", *_so_far(there, awaited), *_headline(found, what=what), class_="headline"),
        body=joined(
            [
                tag("div", *groups, _group_of_default(default, look), class_="survival"),
                listed([*_notes(found), *_notes_of_absence(there, awaited)], class_="notes"),
                *_published_note(found),
            ]
        ),
        has_published=any(each.published is not None for each in found.conditions),
    )


def _so_far(there: Collection[Place], awaited: Collection[Place]) -> Iterator[Html]:
    """ "So far, from 3 of 9 scores: ", where the rest may change what follows."""
    if awaited:
        wanted = {*there, *awaited}
        told = f"from {len(there)} of {len(wanted)} scores" if len(there) < len(wanted) else "not with all seeds"
        yield tag("span", f"So far, {told}: ", class_="so-far")


def _there(measurements: Sequence[Measurement], *, exhibit: str) -> set[Place]:
    """Where there is a score that a share may rest on, of one seed at least."""
    return {
        (exhibit, each.condition, each.languages, each.task)
        for each in measurements
        if each.exhibit == exhibit and each.metric == (task_named(each.task).metric if each.task else RETRIEVAL)
    }


def _lacking(found: Survivals) -> Lacking:
    there = {(condition, trial.title) for trial in found.trials for condition in trial.by_condition}
    tests = dict.fromkeys(trial.title for trial in found.trials)
    return {
        each.condition: [test for test in tests if (each.condition, test) not in there] for each in found.conditions
    }


def _notes_of_absence(there: Collection[Place], awaited: Collection[Place]) -> Iterator[str]:
    """Of tests that are in nobody's share so far."""
    measured = {(languages, task) for _, _, languages, task in there}
    of_default = {(languages, task) for _, condition, languages, task in there if condition == DEFAULT.name}
    to_come = {(languages, task) for _, _, languages, task in awaited}
    for tests, why in (
        (to_come - measured, "Not there for any condition yet"),
        ((to_come & measured) - of_default, "Left out, as Default's own score is not there yet"),
    ):
        if tests:
            yield f"{why}: {', '.join(sorted(trial_title(*test) for test in tests))}."


def _headline(found: Survivals, *, what: str) -> Iterator[str]:
    """ "Transfer survives under No anchors. It dies under Sep Emb + L1-6.\""""
    subject = what.capitalize()
    for outcome in Outcome:
        if alike := found.with_outcome(outcome):
            labels = [tag("strong", condition_named(each.condition).label) for each in alike]
            mark, word = HEADINGS[outcome]
            named = joined([joined(labels[:-1], ", "), labels[-1]], " and ") if labels[1:] else labels[0]
            yield tag("span", f"{subject} ", tag("em", f"{word} {mark}"), " under ", named, ". ", class_=outcome.value)
            subject = "It"


def _group(outcome: Outcome, alike: Sequence[Survival], *, what: str, look: _Look) -> Html:
    mark, word = HEADINGS[outcome]
    rule = {
        Outcome.SURVIVES: f"at least {100 * ALIVE:.0f}% of Default's is left",
        Outcome.SUFFERS: f"{100 * DEAD:.0f} to {100 * ALIVE:.0f}% is left",
        Outcome.DIES: f"less than {100 * DEAD:.0f}% is left",
    }[outcome]
    heading = tag(
        "h3", tag("span", mark, class_="mark", aria_hidden="true"), f" {what.capitalize()} {word}", tag("small", rule)
    )
    rows = (_row(each, look) for each in alike)
    return tag("div", heading, *rows, class_=f"outcome {outcome.value}")


def _group_of_default(default: Survival, look: _Look) -> Html:
    zero, whole = tag("span", "0%", style="left:0"), tag("span", "Default: 100%", style=f"left:{look.place(1.0)}")
    axis = tag("div", tag("div"), tag("div", zero, whole, class_="scale"), class_="condition", aria_hidden="true")
    row = _row(default, look)
    return tag("div", tag("h3", "Compared with"), row, axis, class_="outcome default")


def _row(each: Survival, look: _Look) -> Html:
    condition = condition_named(each.condition)
    return tag(
        "div",
        tag("div", tag("b", condition.label), tag("span", in_words(condition, scale=look.scale)), class_="who"),
        tag("div", *_bar(each, look), class_="bar", role="img", aria_label=_said(each), data_said=_said(each)),
        tag("div", tag("b", _percent(each.share)), *_details(each, look.lacking[each.condition]), class_="figures"),
        class_="condition",
    )


def _bar(each: Survival, look: _Look) -> Iterator[Html]:
    yield tag("i", class_="left", style=f"width:{look.place(each.share)}")
    if len(each.of_seeds) > 1:
        low, high = min(each.of_seeds), max(each.of_seeds)
        yield tag("i", class_="range", style=f"left:{look.place(low)};right:calc(100% - {look.place(high)})")
    yield tag("i", class_="whole", style=f"left:{look.place(1.0)}")
    if each.published is not None:
        yield tag("i", class_="published diamond", style=f"left:{look.place(each.published)}")


def _percent(share: float) -> str:
    """ "85%", and never "-0%"."""
    return f"{round(100 * share)}%"


def _details(each: Survival, lacking: Sequence[str]) -> Iterator[Html]:
    by_group = joined((f"{group} {_percent(share)}" for group, share in each.by_group.items()), " · ")
    yield tag("span", by_group)
    if lacking:
        yield tag("span", f"without {', '.join(lacking)}", class_="lacking")
    if each.seeds_disagree:
        low, high = min(each.of_seeds), max(each.of_seeds)
        yield tag("span", f"seeds disagree: {_percent(low)} to {_percent(high)}", class_="disagree")
    if each.published is not None:
        yield tag("span", f"the paper {_percent(each.published)}", class_="published")


def _said(each: Survival) -> str:
    told = f"{condition_named(each.condition).label}: {_percent(each.share)} of Default's is left"
    if len(each.of_seeds) > 1:
        told += f"; by seed {', '.join(map(_percent, each.of_seeds))}"
    return told


def _published_note(found: Survivals) -> Iterator[Html]:
    if any(each.published is not None for each in found.conditions):
        pairs = {trial.languages for trial in found.trials}
        over = (
            ""
            if all(source == SOURCE and target in TARGETS for source, target in pairs)
            else ", the mean over its three languages where it lacks ours"
        )
        yield tag(
            "p", f"◇ The paper's own scores of the same tasks, by the same measure{over}.", class_="published remark"
        )


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
        told = "One seed" if not spread else f"One seed of {', '.join(map(_label, with_one))}"
        yield f"{told}: another could put a condition into another group. Give several with --seeds."
    if rough := [trial for trial in found.trials if trial.to_lose < LITTLE_POINTS]:
        told = ", ".join(f"{trial.title} ({trial.to_lose:.1f} points)" for trial in rough)
        yield f"Default itself has little to lose, so that shares are rough: {told}."
    if found.undecided:
        yield f"Left out, as Default itself transfers next to nothing there: {', '.join(found.undecided)}."


def _note_of_baselines(found: Survivals) -> Iterator[str]:
    """Of what Default has without pretraining, and others may have not."""
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
