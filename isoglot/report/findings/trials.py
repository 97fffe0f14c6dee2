"""Trials: each task in each target language by points above the floor, and the gates that a model must pass."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.cells import UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.pipeline.stages.training_log import UNLEARNED_FIX
from isoglot.report.findings.layer_scores import CENTRED_RETRIEVAL, rows
from isoglot.report.findings.samples import Sample, mean_sample
from isoglot.report.findings.transfer_scores import Floor, Model, TaskScores

# A task is learned in the source language from this part of the way from the floor to 100 on, or once it is solved.
LEARNED, SOLVED = 0.1, 90.0
RETRIEVAL_TITLE = "Retrieval (centred)"


class Gate(Enum):
    """Something without which a comparison says nothing: what is missing, and what to do."""

    BASELINE = (
        "models were not scored without pretraining",
        'add "baselines" to the exhibits of the study, for all its tasks',
    )
    WORDS = ("a model knows no more of a language than how frequent its words are", UNLEARNED_FIX)
    LEARNED = (
        "the task was not learned in the source language",
        "train longer, give more labelled examples, or see that change.task_norm is true",
    )
    LEAD = (
        "pretraining lifts Default above its floor by no more than noise",
        "pretrain longer, on more text, or with more seeds",
    )
    SEEDS = ("there is no seed in common with Default", "run all conditions with the same seeds")

    def __init__(self, missing: str, remedy: str) -> None:
        self.missing, self.remedy = missing, remedy


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """A gate that is shut."""

    gate: Gate
    condition: str
    detail: str = ""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One task in one target language, or retrieval: how far each condition comes above its floor."""

    languages: tuple[str, str]
    task: str | None
    leads: Mapping[str, Sample]
    """Points above the floor by condition; the noise of a measured floor is in their variance."""
    floors: Mapping[str, Floor]
    refusals: Mapping[str, Refusal]
    """Conditions that cannot be compared here, whatever the others do."""

    @property
    def group(self) -> str:
        return task_named(self.task).title if self.task else RETRIEVAL_TITLE

    @property
    def title(self) -> str:
        return f"{self.group} in {self.languages[1]}"


def by_group(trials: Sequence[Trial], condition: str) -> dict[str, Sample]:
    """The lead of a condition in each task, the mean over targets."""
    return {
        group: mean_sample([trial.leads[condition] for trial in trials if trial.group == group])
        for group in dict.fromkeys(trial.group for trial in trials)
    }


def task_trials(scores: TaskScores) -> Iterator[Trial]:
    for pair in scores.pairs:
        leads, floors, refusals = {}, {}, {}
        for name, sample in scores.transfer[pair[1]].items():
            model = Model(condition=name)
            floors[name] = floor = scores.floor(model, pair, pair[1])
            leads[name] = sample.above(floor.points, variance=floor.variance)
            if unlearned := scores.unlearned(model, pair):
                refusals[name] = Refusal(gate=Gate.WORDS, condition=name, detail=", ".join(unlearned))
            elif scores.untrained(model, pair, pair[1]) is None:
                refusals[name] = Refusal(gate=Gate.BASELINE, condition=name)
            elif why := _not_learned(scores, model, pair):
                refusals[name] = Refusal(gate=Gate.LEARNED, condition=name, detail=why)
        yield Trial(languages=pair, task=scores.task.name, leads=leads, floors=floors, refusals=refusals)


def _not_learned(scores: TaskScores, model: Model, pair: tuple[str, str]) -> str:
    """The lowest seed's score in the source language and what it takes; empty where every seed learned the task."""
    reached, floor = scores.by_seed(model, pair, pair[0]), scores.floor(model, pair, pair[0])
    if not reached:
        return f"without a score in {pair[0]}"
    lowest, needed = min(reached.values()), min(floor.points + LEARNED * (100 - floor.points), SOLVED)
    return "" if lowest >= needed else f"{lowest:.1f} in {pair[0]}, {needed:.1f} needed"


def retrieval_trials(measurements: Sequence[Measurement]) -> Iterator[Trial]:
    for panel, here in rows(measurements, metric=CENTRED_RETRIEVAL):
        yield Trial(
            languages=panel.languages,
            task=None,
            leads={row.condition: row.gains for row in here},
            floors={row.condition: Floor(kind=UNTRAINED, points=row.mean_untrained_best) for row in here},
            refusals={
                row.condition: Refusal(gate=Gate.WORDS, condition=row.condition, detail=", ".join(row.unlearned))
                for row in here
                if row.unlearned
            },
        )
