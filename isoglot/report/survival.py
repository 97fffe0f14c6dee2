"""How much of Default's transfer each condition leaves alive: the whole study in one number a condition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean

from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.measurements import Measurement
from isoglot.report.layer_scores import RETRIEVAL, rows
from isoglot.report.published import SOURCE, TABLE_1_SCORES, TARGETS, TITLE_OF_TASK
from isoglot.report.transfer_scores import Model, TaskScores
from isoglot.report.verdicts import CLOSE_POINTS, Sample, mean_sample
from isoglot.study.conditions import DEFAULT

# Shares of Default's transfer: from the first on it survives, below the second it dies.
ALIVE, DEAD = 2 / 3, 1 / 3
RETRIEVAL_TITLE = "Retrieval"


class Outcome(StrEnum):
    SURVIVES = "survives"
    SUFFERS = "suffers"
    DIES = "dies"

    @classmethod
    def of(cls, share: float) -> Outcome:
        if share >= ALIVE:
            return cls.SURVIVES
        return cls.DIES if share < DEAD else cls.SUFFERS


def trial_title(languages: tuple[str, str], task: str | None) -> str:
    return f"{_group(task)} in {languages[1]}"


def _group(task: str | None) -> str:
    return task_named(task).title if task else RETRIEVAL_TITLE


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One task in one target language, or retrieval."""

    languages: tuple[str, str]
    task: str | None
    floors: Mapping[str, float]
    """The score of each condition without pretraining, if that is known of all; else chance."""
    untrained: float | None = None
    """The score of Default without pretraining, if that is known."""
    by_condition: Mapping[str, Sample]

    @property
    def title(self) -> str:
        return trial_title(self.languages, self.task)

    @property
    def default(self) -> float:
        return self.by_condition[DEFAULT.name].mean

    @property
    def to_lose(self) -> float:
        """The points that pretraining gives Default."""
        return self.default - self.floors[DEFAULT.name]

    def share(self, condition: str) -> Sample:
        return (self.by_condition[condition] - Sample.certain(self.floors[condition])) * (1 / self.to_lose)


@dataclass(frozen=True, kw_only=True)
class Survival:
    condition: str
    by_group: Mapping[str, float]
    """The share of Default's transfer in each task, over targets and seeds: 1 is Default's mean, 0 is nothing."""
    of_seeds: tuple[float, ...]
    """The share with each seed that has all of the condition's scores, or the share itself where none has."""
    published: float | None
    """The same share of the paper's own scores."""

    @property
    def share(self) -> float:
        return fmean(self.by_group.values())

    @property
    def outcome(self) -> Outcome:
        return Outcome.of(self.share)

    @property
    def seeds_disagree(self) -> bool:
        return len({Outcome.of(share) for share in self.of_seeds}) > 1


@dataclass(frozen=True, kw_only=True)
class Survivals:
    trials: tuple[Trial, ...]
    conditions: tuple[Survival, ...]
    """As they came; Default, which is 1 by itself, among them."""
    undecided: tuple[str, ...]
    """Tests in which Default itself has no transfer that could be lost."""

    @property
    def is_of_transfer(self) -> bool:
        return all(trial.task is not None for trial in self.trials)

    def with_outcome(self, outcome: Outcome) -> list[Survival]:
        """Most alive first; Default, to which they are compared, is none of them."""
        found = [each for each in self.conditions if each.outcome is outcome and each.condition != DEFAULT.name]
        return sorted(found, key=lambda each: -each.share)


def survivals(measurements: Sequence[Measurement], tasks: Sequence[TaskScores]) -> Survivals | None:
    """Shares of transfer, or of retrieval where no task was learned; None without Default or without others."""
    found: list[Trial] = []
    for of_trials in (_transfer_trials(tasks), _retrieval_trials(measurements)):
        found = found or [trial for trial in of_trials if DEFAULT.name in trial.by_condition]
    trials = tuple(trial for trial in found if trial.to_lose > CLOSE_POINTS)
    conditions = dict.fromkeys(name for trial in trials for name in trial.by_condition)
    if len(conditions) < 2:
        return None
    return Survivals(
        trials=trials,
        conditions=tuple(_survival(name, trials) for name in conditions),
        undecided=tuple(trial.title for trial in found if trial not in trials),
    )


def _survival(condition: str, trials: Sequence[Trial]) -> Survival:
    shares: dict[str, list[Sample]] = {}
    published: dict[str, list[float]] = {}
    for trial in trials:
        if condition in trial.by_condition:
            shares.setdefault(_group(trial.task), []).append(trial.share(condition))
            if trial.task in TITLE_OF_TASK and condition in TABLE_1_SCORES:
                published.setdefault(trial.task, []).append(_published_share(condition, trial.task, trial.languages))
    # Every task counts as much as any other, however many languages it has.
    by_group = {group: mean_sample(of_group) for group, of_group in shares.items()}
    return Survival(
        condition=condition,
        by_group={group: share.mean for group, share in by_group.items()},
        of_seeds=mean_sample(list(by_group.values())).values,
        published=fmean(map(fmean, published.values())) if published else None,
    )


def _published_share(condition: str, task: str, languages: tuple[str, str]) -> float:
    """The share of the paper's scores in the same task and pair; for other pairs, the mean over the paper's."""
    ours, default = (TABLE_1_SCORES[name][TITLE_OF_TASK[task]] for name in (condition, DEFAULT.name))
    floor = task_named(task).chance or 0.0
    shares = {
        (SOURCE, target): (score - floor) / (of_default - floor)
        for target, score, of_default in zip(TARGETS, ours, default, strict=True)
    }
    return shares.get(languages, fmean(shares.values()))


def _transfer_trials(tasks: Sequence[TaskScores]) -> Iterator[Trial]:
    for scores in tasks:
        for target, by_condition in scores.transfer.items():
            yield Trial(
                languages=(scores.source, target),
                task=scores.task.name,
                floors=scores.floors(by_condition, target),
                untrained=scores.untrained(Model(condition=DEFAULT.name), target),
                by_condition=by_condition,
            )


def _retrieval_trials(measurements: Sequence[Measurement]) -> Iterator[Trial]:
    # By what training gains: shared words alone give an untrained model something.
    found = rows(measurements, metric=RETRIEVAL)
    for languages in dict.fromkeys(row.languages for row in found):
        gains = {row.condition: Sample.of(dict(enumerate(row.gains))) for row in found if row.languages == languages}
        yield Trial(languages=languages, task=None, floors=dict.fromkeys(gains, 0.0), by_condition=gains)
