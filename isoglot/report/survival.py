"""How much of Default's transfer each condition leaves alive: the whole study in one number a condition."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from operator import itemgetter
from statistics import fmean

from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.measurements import Measurement
from isoglot.report.layer_scores import RETRIEVAL, rows
from isoglot.report.published import SOURCE, TABLE_1_SCORES, TARGETS, TITLE_OF_TASK
from isoglot.report.transfer_scores import Model, TaskScores
from isoglot.report.verdicts import CLOSE_POINTS, common_seeds
from isoglot.study.conditions import DEFAULT

ALIVE, DEAD = 2 / 3, 1 / 3
"""Shares of Default's transfer: from the first on it survives, below the second it dies."""
RETRIEVAL_TITLE = "Retrieval"


class Outcome(StrEnum):
    """The effect of a condition on transfer."""

    SURVIVES = "survives"
    SUFFERS = "suffers"
    DIES = "dies"

    @classmethod
    def of(cls, share: float) -> Outcome:
        if share >= ALIVE:
            return cls.SURVIVES
        return cls.DIES if share < DEAD else cls.SUFFERS


def trial_title(languages: tuple[str, str], task: str | None) -> str:
    """For people: "NER in fr"."""
    return f"{task_named(task).title if task else RETRIEVAL_TITLE} in {languages[1]}"


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One task in one target language, or retrieval."""

    group: str
    """Title of the task; trials of one group count as one."""
    languages: tuple[str, str]
    task: str | None
    floors: Mapping[str, float]
    """The score of each condition without pretraining, if that is known of all; else chance."""
    default: float
    untrained: float | None = None
    """The score of Default without pretraining, if that is known."""
    by_condition: Mapping[str, Mapping[int | None, float]]
    """Scores by condition and seed."""

    @property
    def title(self) -> str:
        return trial_title(self.languages, self.task)

    @property
    def to_lose(self) -> float:
        """The points that pretraining gives Default."""
        return self.default - self.floors[DEFAULT.name]

    def share(self, condition: str, score: float) -> float:
        return (score - self.floors[condition]) / self.to_lose


@dataclass(frozen=True, kw_only=True)
class Survival:
    """One condition."""

    condition: str
    by_group: Mapping[str, float]
    """The share of Default's transfer in each task, over targets and seeds: 1 is Default's mean, 0 is nothing."""
    of_seeds: tuple[float, ...]
    """The share with each seed that has all of the condition's scores: those of different tests are not comparable."""
    published: float | None
    """The same share of the paper's own scores."""

    @property
    def share(self) -> float:
        """Every task counts as much as any other, however many languages it has."""
        return fmean(self.by_group.values())

    @property
    def outcome(self) -> Outcome:
        return Outcome.of(self.share)

    @property
    def seeds_disagree(self) -> bool:
        return len({Outcome.of(share) for share in self.of_seeds}) > 1


@dataclass(frozen=True, kw_only=True)
class Survivals:
    """All conditions, by the same trials."""

    trials: tuple[Trial, ...]
    conditions: tuple[Survival, ...]
    """As they came; Default, which is 1 by itself, among them."""
    undecided: tuple[str, ...]
    """Tests in which Default itself has no transfer that could be lost."""

    @property
    def is_of_transfer(self) -> bool:
        """Or else of retrieval."""
        return all(trial.task is not None for trial in self.trials)

    def with_outcome(self, outcome: Outcome) -> list[Survival]:
        """Most alive first; Default, to which they are compared, is none of them."""
        found = [each for each in self.conditions if each.outcome is outcome and each.condition != DEFAULT.name]
        return sorted(found, key=lambda each: -each.share)


def survivals(measurements: Sequence[Measurement], tasks: Sequence[TaskScores]) -> Survivals | None:
    """Shares of transfer, or of retrieval where no task was learned; None without Default or without others."""
    found = _transfer_trials(tasks) or _retrieval_trials(measurements)
    trials = [trial for trial in found if trial.to_lose > CLOSE_POINTS]
    undecided = [trial.title for trial in found if trial not in trials]
    conditions = dict.fromkeys(name for trial in trials for name in trial.by_condition)
    if len(conditions) < 2:
        return None
    return Survivals(
        trials=tuple(trials),
        conditions=tuple(_survival(name, trials) for name in conditions),
        undecided=tuple(undecided),
    )


def _survival(condition: str, trials: Sequence[Trial]) -> Survival:
    here = [trial for trial in trials if condition in trial.by_condition]
    scores = [trial.by_condition[condition] for trial in here]

    def by_group(score: Callable[[Mapping[int | None, float]], float]) -> dict[str, float]:
        shares: dict[str, list[float]] = {}
        for trial, by_seed in zip(here, scores, strict=True):
            shares.setdefault(trial.group, []).append(trial.share(condition, score(by_seed)))
        return {group: fmean(of_group) for group, of_group in shares.items()}

    return Survival(
        condition=condition,
        by_group=by_group(lambda by_seed: fmean(by_seed.values())),
        of_seeds=tuple(fmean(by_group(itemgetter(seed)).values()) for seed in common_seeds(scores)),
        published=_published_share(condition, here),
    )


def _transfer_trials(tasks: Sequence[TaskScores]) -> list[Trial]:
    default = Model(condition=DEFAULT.name)
    trials = []
    for scores in tasks:
        for pair in scores.pairs:
            by_condition = {
                model.condition: values
                for model in scores.models
                if model.is_pretrained and (values := scores.values.get((model, pair, pair[1], scores.task.metric), {}))
            }
            if DEFAULT.name in by_condition:
                trials.append(
                    Trial(
                        group=scores.task.title,
                        languages=pair,
                        task=scores.task.name,
                        floors=scores.floors(by_condition, pair[1]),
                        default=fmean(scores.of_target(default, pair[1])),
                        untrained=scores.untrained(default, pair[1]),
                        by_condition=by_condition,
                    )
                )
    return trials


def _retrieval_trials(measurements: Sequence[Measurement]) -> list[Trial]:
    """Trials by the points that training gains."""
    found = rows(measurements, metric=RETRIEVAL)
    trials = []
    for languages in dict.fromkeys(row.languages for row in found):
        gains = {row.condition: row.gains for row in found if row.languages == languages}
        if DEFAULT.name in gains:
            trials.append(
                Trial(
                    group=RETRIEVAL_TITLE,
                    languages=languages,
                    task=None,
                    floors=dict.fromkeys(gains, 0.0),
                    default=fmean(gains[DEFAULT.name]),
                    by_condition={name: dict(enumerate(values)) for name, values in gains.items()},
                )
            )
    return trials


def _published_share(condition: str, trials: Sequence[Trial]) -> float | None:
    """The share of the paper's scores in the same tasks and pairs; for other pairs, the mean over the paper's."""
    if condition not in TABLE_1_SCORES:
        return None
    by_group: dict[str, list[float]] = {}
    for trial in trials:
        if trial.task in TITLE_OF_TASK:
            ours, default = (TABLE_1_SCORES[name][TITLE_OF_TASK[trial.task]] for name in (condition, DEFAULT.name))
            floor = task_named(trial.task).chance or 0.0
            source, target = trial.languages
            places = [TARGETS.index(target)] if source == SOURCE and target in TARGETS else range(len(TARGETS))
            shares = [(ours[place] - floor) / (default[place] - floor) for place in places]
            by_group.setdefault(trial.group, []).append(fmean(shares))
    return fmean(fmean(shares) for shares in by_group.values()) if by_group else None
