"""A task's cell of Table 1: the mean of the two settings that are best on the source language's dev set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import ClassVar

from isoglot.errors import IsoglotError
from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.stages.fine_tuning import DEV, FineTuning
from isoglot.pipeline.stages.scores import Score, read_scores, write_scores
from isoglot.store import NOT_IDENTITY, Stage, Work

PLACES = ("best_setting", "second_best_setting")
"""The scores that say which settings were averaged, counted from 0."""
BEST_SETTINGS = len(PLACES)


@dataclass(frozen=True, kw_only=True)
class ZeroShotTransfer(Stage):
    """Scores on test sets, chosen without a look at any of them (section 3.2)."""

    kind: ClassVar[str] = "zero-shot-transfer"
    task: str
    runs: tuple[FineTuning, ...]
    """One for each setting of the grid."""
    label: str = field(metadata=NOT_IDENTITY)

    @property
    def title(self) -> str:
        return f"{task_named(self.task).title} transfer, {self.label}"

    @property
    def encoder(self) -> Stage:
        return self.runs[0].encoder

    def make(self, work: Work) -> None:
        of_runs = [read_scores(work.path(run)) for run in self.runs]
        chosen = best_settings([dev_score(scores, self.task) for scores in of_runs])
        if not chosen:
            raise IsoglotError(
                f"every setting of {task_named(self.task).title} diverged in its first epoch; lower the learning "
                "rates of the search under [change]"
            )
        scores = [
            Score(metric=same[0].metric, language=same[0].language, value=fmean(score.value for score in same))
            for same in zip(*(of_runs[number] for number in chosen), strict=True)
            if same[0].metric != "diverged"
        ]
        scores += [Score(metric=place, value=number) for place, number in zip(PLACES, chosen, strict=False)]
        diverged = sum(score.value for run in of_runs for score in run if score.metric == "diverged")
        scores.append(Score(metric="settings_diverged", value=diverged))
        write_scores(work.folder, [*scores, Score(metric="settings_tried", value=len(self.runs))])


def dev_score(scores: Sequence[Score], task: str) -> float | None:
    """By which settings are chosen; None for one that never came so far."""
    metric = DEV + task_named(task).metric
    return next((score.value for score in scores if score.metric == metric), None)


def best_settings(dev_scores: Sequence[float | None]) -> list[int]:
    """Places of the best two, the best first; of equals the earlier."""
    scored = {number: score for number, score in enumerate(dev_scores) if score is not None}
    return sorted(scored, key=lambda number: -scored[number])[:BEST_SETTINGS]
