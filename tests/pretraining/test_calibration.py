"""A calibration is as fast as the run it stands for, and leaves nothing behind."""

import tempfile
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from isoglot.machine import GUESSED_OPERATIONS_PER_SECOND
from isoglot.pretraining import calibration
from isoglot.pretraining.calibration import tokens_per_second
from isoglot.pretraining.loop import Trainer
from isoglot.pretraining.run import PretrainingRun
from isoglot.study.conditions import DEFAULT
from isoglot.study.scales import PAPER
from tests.pretraining.tiny_runs import CPU


@pytest.mark.parametrize(("guess", "is_cut", "seconds"), [(1e6, True, 0.0), (1e12, False, 0.2)])
def test_the_speed_is_that_of_its_updates(
    guess: float, is_cut: bool, seconds: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch that would take minutes on a slow machine is cut, to less than one window for each draw of a language."""
    run = PretrainingRun.of(DEFAULT, scale=PAPER, languages=("en", "fr"), seed=0)
    shape = replace(run.shape, layers=1, width=48, feed_forward=96)
    run = replace(run, shape=shape, window=64, batch=8, language_draws=2)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setitem(GUESSED_OPERATIONS_PER_SECOND, "cpu", guess)
    # The clock of this process does not go on while others use the processor.
    monkeypatch.setattr(calibration, "perf_counter", process_time)
    monkeypatch.setattr(calibration, "SECONDS", seconds)
    made: list[Trainer] = []

    def noted(*arguments: Any, **options: Any) -> Trainer:
        made.append(Trainer(*arguments, **options))
        return made[0]

    monkeypatch.setattr(calibration, "Trainer", noted)
    speed = tokens_per_second(run, table_sizes={"en": 900}, machine=CPU, micro_batch=8)
    assert list(tmp_path.glob("isoglot*")) == []
    (trainer,) = made
    assert (trainer.run.batch, trainer.run.language_draws) == ((1, 1) if is_cut else (8, 2))
    assert trainer.batches.update >= calibration.WARM_UP + calibration.FEWEST
    assert trainer.state.log == []
    start = process_time()
    for update in range(100, 105):
        trainer.updates(update, next(trainer.batches))
    measured = 5 * trainer.run.batch * run.window / (process_time() - start)
    assert measured / 4 < speed < measured * 4
