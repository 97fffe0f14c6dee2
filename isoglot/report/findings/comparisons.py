"""All comparisons of a study, and which conditions keep transfer alive.

Headline, claims and marks in Table 1 all ask here, so that they cannot contradict each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Self

from isoglot.pipeline.measurements import Measurement
from isoglot.report.findings.noise import Noise
from isoglot.report.findings.samples import Sample, mean_sample, paired
from isoglot.report.findings.transfer_scores import TaskScores
from isoglot.report.findings.trials import Gate, Refusal, Trial, by_group, retrieval_trials, task_trials
from isoglot.report.findings.verdicts import Margin, Verdict, is_above_floor, margin
from isoglot.study.conditions import DEFAULT, label_of

# Shares of Default's lead over its floor: transfer survives above the first, and dies below the second.
ALIVE, DEAD = 2 / 3, 1 / 3


class Outcome(StrEnum):
    """The fate of transfer under a condition."""

    SURVIVES = "survives"
    SUFFERS = "suffers"
    DIES = "dies"
    OPEN = "too close to call"
    NONE = "no verdict"


@dataclass(frozen=True, kw_only=True)
class Kept:
    """How much of another condition's lead is left, on the mean over the tasks of all trials whose gates are open."""

    verdict: Verdict = Verdict.NOT_TESTED
    ours: Sample = field(default=Sample.certain(0.0))
    theirs: Sample = field(default=Sample.certain(0.0))
    trials: tuple[Trial, ...]
    measured: tuple[Trial, ...]
    """All trials that both have, open or not."""
    exceptions: tuple[Trial, ...] = ()
    """Trials that clearly say the contrary."""
    margins: tuple[Margin, ...] = ()
    """The mean and the exceptions, each held against what is asked for."""

    @property
    def num_seeds(self) -> int:
        """The seeds that have all of both sides; 1 where none has, as the means then stand alone."""
        return min(len(self.ours.values), len(self.theirs.values))


@dataclass(frozen=True, kw_only=True)
class Standing:
    """The points of one condition above its floors, and what they are called."""

    condition: str
    outcome: Outcome
    by_group: Mapping[str, Sample]
    """The mean over targets in each task."""
    trials: tuple[Trial, ...]
    share: float | None
    """The part of Default's points in the same trials; None where these are no more than noise, or no gate is open."""

    @property
    def points(self) -> Sample:
        # Every task counts as much as any other, however many languages it has.
        return mean_sample(list(self.by_group.values()))


def _leaders(trial: Trial) -> list[str]:
    """The conditions of which one must have gained by pretraining: Default or, where that is not there, any."""
    return [DEFAULT.name] if DEFAULT.name in trial.leads else list(trial.leads)


@dataclass(frozen=True, kw_only=True)
class Comparisons:
    """The trials of a study, and the noise of their scores."""

    trials: tuple[Trial, ...]
    noise: Noise

    @classmethod
    def of(cls, trials: Sequence[Trial]) -> Self:
        noise = Noise.of_leads((trial.task, name, lead) for trial in trials for name, lead in trial.leads.items())
        return cls(trials=tuple(trials), noise=noise).with_noise(noise)

    @classmethod
    def of_tasks(cls, tasks: Sequence[TaskScores]) -> Self:
        return cls.of([trial for scores in tasks for trial in task_trials(scores)])

    @classmethod
    def of_retrieval(cls, measurements: Sequence[Measurement]) -> Self:
        return cls.of(list(retrieval_trials(measurements)))

    def with_noise(self, noise: Noise) -> Self:
        """The same with another noise of each task and condition."""
        return replace(
            self,
            noise=noise,
            trials=tuple(
                replace(
                    trial,
                    leads={name: lead.with_noise(noise.points(trial.task, name)) for name, lead in trial.leads.items()},
                )
                for trial in self.trials
            ),
        )

    @property
    def without_gates(self) -> Self:
        """The same where nothing is known but scores of targets, as of the paper's own table."""
        return replace(self, trials=tuple(replace(trial, refusals={}) for trial in self.trials))

    @property
    def is_of_transfer(self) -> bool:
        return all(trial.task is not None for trial in self.trials)

    @cached_property
    def conditions(self) -> tuple[str, ...]:
        """All that are compared with Default, and Default; empty where there is nothing to compare."""
        compared = [trial for trial in self.trials if DEFAULT.name in trial.leads]
        names = tuple(dict.fromkeys(name for trial in compared for name in trial.leads))
        return names if len(names) > 1 else ()

    def refusal(self, trial: Trial, *conditions: str) -> Refusal | None:
        """The first gate that keeps these conditions from being compared in a trial; None where all are open."""
        known = [name for name in (DEFAULT.name, *conditions) if name in trial.leads]
        for name in dict.fromkeys(known):
            if name in trial.refusals:
                return trial.refusals[name]
        leaders = _leaders(trial)
        if not any(is_above_floor(trial.leads[name]) for name in leaders):
            lead, floor = trial.leads[leaders[0]], trial.floors[leaders[0]]
            return Refusal(gate=Gate.LEAD, condition=leaders[0], detail=f"{lead.mean:+.1f} points, {floor.words}")
        if not set.intersection(*({*trial.leads[name].by_seed} for name in known)):
            return Refusal(gate=Gate.SEEDS, condition=conditions[0])
        return None

    def shows_order(self, task: str) -> bool:
        """Whether the scores of a task can have an order: Default learned it, and gained by pretraining, in a target.

        Where floors are not known, nothing speaks against it.
        """
        trials = (trial for trial in self.trials if trial.task == task)
        refusals = [self.refusal(trial, name) for trial in trials for name in _leaders(trial)]
        return any(refusal is None or refusal.gate is Gate.BASELINE for refusal in refusals)

    def kept(
        self,
        condition: str,
        share: float,
        *,
        of: str = DEFAULT.name,
        trials: Sequence[Trial] = (),
        is_loss: bool = False,
    ) -> Kept:
        """Whether a condition keeps at least this share of another's lead: on the mean, and in no trial less.

        A loss asks the contrary: whether less is left on the mean, and in no trial more.
        """
        measured = [trial for trial in trials or self.trials if {condition, of} <= trial.leads.keys()]
        open_trials = tuple(trial for trial in measured if self.refusal(trial, condition, of) is None)
        if not open_trials:
            return Kept(trials=(), measured=tuple(measured))

        def margin_of(ours: Sample, theirs: Sample, where: str) -> Margin:
            sides = (theirs * share, ours) if is_loss else (ours, theirs * share)
            return margin(*sides, text=f"{label_of(condition)} against {share:.0%} of {label_of(of)}, {where}")

        means = (mean_sample(list(by_group(open_trials, name).values())) for name in (condition, of))
        a, b = paired(*means)
        on_mean = margin_of(a, b, "mean")
        verdict = on_mean.verdict
        in_trials = [(each, margin_of(each.leads[condition], each.leads[of], each.title)) for each in open_trials]
        contrary = [(trial, found) for trial, found in in_trials if found.verdict is Verdict.DISAGREES]
        if contrary:
            verdict = Verdict.DISAGREES
        # Where most trials have a gate that is shut, a few others bear nothing out.
        if verdict is Verdict.AGREES and 2 * len(open_trials) < len(measured):
            verdict = Verdict.NOT_TESTED
        return Kept(
            verdict=verdict,
            ours=a,
            theirs=b,
            trials=open_trials,
            measured=tuple(measured),
            exceptions=tuple(trial for trial, _ in contrary),
            margins=(on_mean, *(found for _, found in contrary)),
        )

    def dies_in(self, trial: Trial, condition: str) -> bool:
        """Whether clearly less than DEAD of Default's lead is left in one trial."""
        return self.kept(condition, DEAD, trials=[trial], is_loss=True).verdict is Verdict.AGREES

    def num_seeds(self, trial: Trial, condition: str) -> int:
        """The seeds that a condition and Default have in common."""
        return len(trial.leads[condition].by_seed.keys() & trial.leads[DEFAULT.name].by_seed.keys())

    @cached_property
    def outcomes(self) -> Mapping[str, Outcome]:
        """For each condition but Default."""
        return {name: self._outcome(name) for name in self.conditions if name != DEFAULT.name}

    def _outcome(self, condition: str) -> Outcome:
        if self.kept(condition, DEAD, is_loss=True).verdict is Verdict.AGREES:
            return Outcome.DIES
        return {
            Verdict.AGREES: Outcome.SURVIVES,
            Verdict.DISAGREES: Outcome.SUFFERS,
            Verdict.TOO_CLOSE: Outcome.OPEN,
            Verdict.NOT_TESTED: Outcome.NONE,
        }[self.kept(condition, ALIVE).verdict]

    @cached_property
    def least_seeds(self) -> int:
        """The fewest seeds that any outcome stands on."""
        decided = [name for name, outcome in self.outcomes.items() if outcome is not Outcome.NONE]
        return min((self.kept(name, ALIVE).num_seeds for name in decided), default=0)

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        """One for each condition, over the trials whose gates are open or, where none is, over all."""
        return tuple(self._standing(name) for name in self.conditions)

    def _standing(self, condition: str) -> Standing:
        compared = [trial for trial in self.trials if {condition, DEFAULT.name} <= trial.leads.keys()]
        open_trials = [trial for trial in compared if self.refusal(trial, condition) is None]
        trials = open_trials or compared
        ours, defaults = (by_group(trials, name) for name in (condition, DEFAULT.name))
        a, b = paired(*(mean_sample(list(side.values())) for side in (ours, defaults)))
        return Standing(
            condition=condition,
            outcome=self.outcomes.get(condition, Outcome.NONE),
            by_group=ours,
            trials=tuple(trials),
            share=a.mean / b.mean if open_trials and is_above_floor(b) else None,
        )

    def with_outcome(self, outcome: Outcome) -> list[Standing]:
        """Most points first; Default, to which they are compared, is none of them."""
        found = [each for each in self.standings if self.outcomes.get(each.condition) is outcome]
        return sorted(found, key=lambda each: -each.points.mean)

    @cached_property
    def refusals(self) -> Mapping[Gate, Sequence[tuple[Trial, Refusal]]]:
        """Every gate that is shut, each once."""
        found: dict[Gate, dict[tuple[int, str], tuple[Trial, Refusal]]] = {}
        for place, trial in enumerate(self.trials):
            for name in trial.leads:
                if refusal := trial.refusals.get(name) or self.refusal(trial, name):
                    found.setdefault(refusal.gate, {})[place, refusal.condition] = (trial, refusal)
        return {gate: list(found[gate].values()) for gate in Gate if gate in found}
