"""A checkpoint is whole or it does not count."""

from pathlib import Path

import pytest

from isoglot.corpora.streams import TokenStream
from isoglot.errors import IsoglotError
from isoglot.model.checkpoints import LATEST, read_checkpoint, write_checkpoint
from isoglot.pretraining.loop import Trainer, TrainState
from tests.pretraining.tiny_runs import EVERYTHING, tiny_run, trainer_of


@pytest.fixture
def trainer(streams: dict[str, TokenStream], folder: Path) -> Trainer:
    """Of a model one of whose languages may not have had its turn."""
    trainer = trainer_of(tiny_run(separate=EVERYTHING), streams, folder=folder)
    for _ in range(3):
        trainer.advance()
    return trainer


def write(trainer: Trainer, folder: Path, progression: TrainState) -> None:
    write_checkpoint(
        folder, model=trainer.updates.weights, optimizer=trainer.updates.optimizer, progression=progression
    )


def read(trainer: Trainer, folder: Path) -> TrainState:
    updates = trainer.updates
    return read_checkpoint(folder, model=updates.weights, optimizer=updates.optimizer, fresh=TrainState())


def weights_of(trainer: Trainer) -> dict[str, list[float]]:
    return {name: tensor.flatten().tolist() for name, tensor in trainer.model.state_dict().items()}


def fresh_trainer(streams: dict[str, TokenStream], tmp_path: Path) -> Trainer:
    return trainer_of(tiny_run(separate=EVERYTHING), streams, folder=tmp_path / "none")


def test_progression_comes_back_as_it_was(trainer: Trainer, tmp_path: Path) -> None:
    progression = TrainState(
        update=17,
        positions={"en": 80, "fr": 56},
        best_perplexity=1 / 3,
        losses={"fr": [0.1 + 0.2, 3]},
        log=[{"update": 8, "loss": {"en": 2.5}, "perplexity": {"en": 1e-300}}],
    )
    write(trainer, tmp_path / "c", progression)
    assert read(trainer, tmp_path / "c") == progression
    write(trainer, tmp_path / "c", TrainState())
    assert read(trainer, tmp_path / "c") == TrainState()


def test_moments_come_back_to_their_own_parameters(
    trainer: Trainer, streams: dict[str, TokenStream], tmp_path: Path
) -> None:
    write(trainer, tmp_path / "c", trainer.progression)
    fresh = fresh_trainer(streams, tmp_path)
    read(fresh, tmp_path / "c")
    assert weights_of(fresh) == weights_of(trainer)
    restored = {
        name: fresh.updates.optimizer.state.get(parameter)
        for name, parameter in fresh.updates.weights.named_parameters()
    }
    assert any(restored.values())
    for name, parameter in trainer.updates.weights.named_parameters():
        expected = trainer.updates.optimizer.state.get(parameter)
        assert (restored[name] is None) == (expected is None), name
        if expected is not None:
            assert expected.keys() == restored[name].keys() == {"step", "exp_avg", "exp_avg_sq"}
            assert all(restored[name][moment].equal(tensor) for moment, tensor in expected.items()), name


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 0.999])
def test_a_damaged_checkpoint_is_named_and_kept(
    share: float, trainer: Trainer, streams: dict[str, TokenStream], tmp_path: Path
) -> None:
    write(trainer, tmp_path / "c", trainer.progression)
    content = (tmp_path / "c" / LATEST).read_bytes()
    (tmp_path / "c" / LATEST).write_bytes(content[: int(share * len(content))])
    fresh = fresh_trainer(streams, tmp_path)
    before = weights_of(fresh)
    with pytest.raises(IsoglotError, match=r"latest\.safetensors: cannot be read .*; delete it to train from"):
        read(fresh, tmp_path / "c")
    assert weights_of(fresh) == before
    assert not fresh.updates.optimizer.state


def test_a_checkpoint_left_half_written_does_not_hide_the_one_before(
    trainer: Trainer, streams: dict[str, TokenStream], tmp_path: Path
) -> None:
    write(trainer, tmp_path / "c", TrainState(update=3))
    scratch = tmp_path / "c" / (LATEST + ".writing")
    scratch.mkdir()
    (scratch / ".tmp9oKhSh").write_bytes(b"half")
    fresh = fresh_trainer(streams, tmp_path)
    assert read(fresh, tmp_path / "c").update == 3
    write(trainer, tmp_path / "c", TrainState(update=4))
    assert [path.name for path in (tmp_path / "c").iterdir()] == [LATEST]


def test_where_there_is_no_checkpoint_a_run_starts_at_the_beginning(trainer: Trainer, tmp_path: Path) -> None:
    assert read(trainer, tmp_path / "no") == TrainState()
