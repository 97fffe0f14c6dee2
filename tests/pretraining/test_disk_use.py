"""Room on the disk predicted against files written."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.corpora.streams import TokenStream
from isoglot.corpora.vocabulary import MASK, PAD
from isoglot.model.checkpoints import write_checkpoint
from isoglot.model.cloze import write_model
from isoglot.pretraining.calibration import DiskUse
from isoglot.pretraining.loop import pretrain
from isoglot.pretraining.run import PretrainingRun
from isoglot.study.conditions import DEFAULT
from isoglot.study.scales import SCALES
from tests.pretraining.tiny_runs import CPU, EVERYTHING, tiny_run, trainer_of


def bytes_under(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def use_of(run: PretrainingRun, streams: dict[str, TokenStream]) -> DiskUse:
    return DiskUse(run=run, table_sizes={language: stream.table_size for language, stream in streams.items()})


@pytest.mark.parametrize("width", [16, 96])
def test_models_and_checkpoints(width: int, separate_streams: dict[str, TokenStream], tmp_path: Path) -> None:
    run = tiny_run(separate=EVERYTHING)
    run = replace(run, shape=replace(run.shape, width=width))
    trainer = trainer_of(run, separate_streams, folder=tmp_path / "run")
    for _ in range(6):  # of both languages
        trainer.advance()
    write_model(trainer.model, tmp_path / "model")
    write_checkpoint(
        tmp_path / "checkpoint",
        model=trainer.updates.weights,
        optimizer=trainer.updates.optimizer,
        progression=trainer.progression,
    )
    use = use_of(run, separate_streams)
    assert use.model_bytes == pytest.approx(bytes_under(tmp_path / "model"), rel=0.05)
    assert use.checkpoint_bytes == pytest.approx(bytes_under(tmp_path / "checkpoint"), rel=0.05)


def test_what_a_finished_run_leaves(streams: dict[str, TokenStream], folder: Path) -> None:
    run = tiny_run(updates=10)
    pretrain(run, streams, pad_id=PAD, mask_id=MASK, folder=folder, machine=CPU, report=lambda *_: None)
    use = use_of(run, streams)
    assert use.finished_bytes == pytest.approx(bytes_under(folder), rel=0.05)
    assert use.num_kept == 3
    assert use.passing_bytes == 2 * use.checkpoint_bytes + use.model_bytes


@given(st.integers(1, 3000))
def test_as_many_models_are_kept_as_the_run_says(updates: int) -> None:
    run = tiny_run(updates=updates, evaluations=1)
    kept = sum(run.kept_after(update) for update in range(1, updates + 1))
    assert DiskUse(run=run, table_sizes={"en": 30}).num_kept == kept


def test_the_papers_model_is_half_a_gigabyte_and_its_checkpoint_three_times_that() -> None:
    scale = SCALES["paper"]
    run = PretrainingRun.of(DEFAULT, scale=scale, languages=("en", "fr"), seed=0)
    use = DiskUse(run=run, table_sizes={"en": 80_000, "fr": 80_000})
    assert use.model_bytes == pytest.approx(0.474e9, rel=0.01)
    assert use.checkpoint_bytes == pytest.approx(3 * use.model_bytes, rel=0.01)
    assert use.num_kept == 18
