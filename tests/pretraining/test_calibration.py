"""A calibration is as fast as the run it stands for, and leaves nothing behind."""

import tempfile
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from isoglot.machine import GUESSED_OPERATIONS_PER_SECOND
from isoglot.pipeline.stages.models import guessed_training_seconds
from isoglot.pretraining import calibration
from isoglot.pretraining.calibration import tokens_per_second
from isoglot.pretraining.loop import Trainer
from isoglot.pretraining.run import PretrainingRun
from isoglot.study.conditions import DEFAULT
from isoglot.study.scales import DEMO, PAPER
from tests.pretraining.test_footprint import trainer_of
from tests.pretraining.tiny_runs import CPU

DEMO_RUN = PretrainingRun.of(DEFAULT, scale=DEMO, languages=("en", "fr"), seed=0)


@pytest.fixture(autouse=True)
def _clock_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which does not go on while others use the processor, as they may during one of two measurements."""
    monkeypatch.setattr(calibration, "perf_counter", process_time)
    monkeypatch.setattr(calibration, "SECONDS", 0.5)


def test_it_tells_the_speed_of_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    sizes = {"en": 900, "fr": 900}
    told = tokens_per_second(DEMO_RUN, table_sizes=sizes, machine=CPU, micro_batch=64)
    assert list(scratch.glob("isoglot*")) == []
    # Without its evaluations.
    run = replace(DEMO_RUN, updates=1 << 20, evaluations=1)
    trainer = trainer_of(run, table_sizes=sizes, folder=tmp_path, machine=CPU, micro_batch=64)
    for _ in range(20):
        trainer.advance()
    start = process_time()
    for _ in range(60):
        trainer.advance()
    found = 60 * run.batch * run.window / (process_time() - start)
    # Others may slow the processor down during one of the two.
    assert found / 2 < told < found * 2


def test_an_update_that_would_take_minutes_is_timed_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    run = PretrainingRun.of(DEFAULT, scale=PAPER, languages=("en", "fr"), seed=0)
    narrow = replace(run.shape, layers=1, width=48, feed_forward=96)
    # So slow a machine that two windows of this model would be a long update.
    monkeypatch.setitem(GUESSED_OPERATIONS_PER_SECOND, "cpu", 5e8)
    assert guessed_training_seconds(updates=0, operations=5e8) == 1, "plans guess by the same number"
    made: list[Trainer] = []

    def noted(*arguments: Any, **options: Any) -> Trainer:
        made.append(Trainer(*arguments, **options))
        return made[0]

    monkeypatch.setattr(calibration, "Trainer", noted)
    told = tokens_per_second(replace(run, shape=narrow), table_sizes={"en": 900}, machine=CPU, micro_batch=96)
    (trainer,) = made
    assert 1 <= trainer.run.batch < 96
    assert trainer.run.language_draws <= trainer.run.batch
    assert trainer.state.update >= calibration.WARM_UP + calibration.FEWEST
    assert trainer.state.log == []
    assert not any(trainer.run.kept_after(update) for update in range(100))
    start = process_time()
    for _ in range(5):
        trainer.advance()
    found = 5 * trainer.run.batch * run.window / (process_time() - start)
    assert found / 4 < told < found * 4
