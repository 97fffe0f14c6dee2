"""A run that was interrupted ends with the same bytes as one that was not, and a checkpoint is whole or an error."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from isoglot.corpora.code_switching import SwitchableText
from isoglot.corpora.streams import TokenStream
from isoglot.errors import IsoglotError
from isoglot.model.checkpoints import LATEST, PREVIOUS, read_checkpoint, write_checkpoint
from isoglot.model.work_files import CHECKPOINTS, SUMS_NAME
from isoglot.pretraining import loop
from isoglot.pretraining.loop import Trainer
from isoglot.pretraining.run import BEST, INTERMEDIATE
from isoglot.pretraining.train_state import TrainState
from isoglot.study.separate import Separate
from tests.killed_processes import Nursed, files_of, nursed
from tests.pretraining.tiny_runs import CPU, EVERYTHING, pretrained, switchable_texts, tiny_run, trainer_of


def assert_same_state(ours: Trainer, theirs: Trainer) -> None:
    for name, tensor in theirs.model.state_dict().items():
        assert ours.model.state_dict()[name].equal(tensor), name
    flat = zip(ours.updates.weights.named_parameters(), theirs.updates.weights.parameters(), strict=True)
    for (name, mine), other in flat:
        moments, expected = ours.updates.optimizer.state.get(mine, {}), theirs.updates.optimizer.state.get(other, {})
        assert moments.keys() == expected.keys() <= {"step", "exp_avg", "exp_avg_sq"}
        assert mine.equal(other), name
        for moment, tensor in expected.items():
            assert moments[moment].equal(tensor), (name, moment)
    ours.take_records()
    theirs.take_records()
    assert ours.updates.guard.state() == theirs.updates.guard.state()
    assert ours.state.losses == theirs.state.losses
    assert ours.state.log == theirs.state.log
    assert ours.state.best_perplexity == theirs.state.best_perplexity
    assert ours.state.positions == theirs.state.positions


@pytest.mark.parametrize(
    ("changes", "switchable"),
    [
        pytest.param({}, {}, id="shared"),
        pytest.param({"separate": EVERYTHING, "dropout": 0.2}, {}, id="separate, dropout"),
        pytest.param({"separate": Separate(output_bias=True)}, {}, id="own bias"),
        pytest.param({"moments": 3}, {}, id="moments in half precision"),
        pytest.param({"dropout": 0.2}, switchable_texts(), id="extra anchors, dropout"),
    ],
)
def test_going_on_from_any_checkpoint_changes_nothing(
    changes: dict[str, Any],
    switchable: Mapping[str, SwitchableText],
    streams: dict[str, TokenStream],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = tiny_run(**changes)
    whole = trainer_of(run, streams, folder=tmp_path / "whole", switchable=switchable)
    monkeypatch.setattr(loop, "SECONDS_BETWEEN_CHECKPOINTS", 0.0)  # one after each update
    parts = trainer_of(run, streams, folder=tmp_path / "parts", switchable=switchable)
    for update in range(1, run.updates + 1):
        whole.advance()
        with parts:
            parts.advance()
        parts = trainer_of(run, streams, folder=tmp_path / "parts", switchable=switchable)
        assert parts.state.update == update
        assert_same_state(parts, whole)
        torch.rand(update)  # what else is drawn in the process must not matter
    whole.writer.finish()
    assert [row["update"] for row in whole.state.log] == [4, 8]
    assert files_of(tmp_path / "parts" / BEST) == files_of(tmp_path / "whole" / BEST)
    assert files_of(tmp_path / "parts" / INTERMEDIATE) == files_of(tmp_path / "whole" / INTERMEDIATE)


def test_more_memory_than_before_changes_nothing(streams: dict[str, TokenStream], tmp_path: Path) -> None:
    """With dropout, other pieces of a batch would draw other masks."""
    run = tiny_run(dropout=0.2)
    whole = trainer_of(run, streams, folder=tmp_path / "whole", micro_batch=3)
    stopped = trainer_of(run, streams, folder=tmp_path / "stopped", micro_batch=3)
    with whole, stopped:
        for _ in range(4):
            whole.advance()
            stopped.advance()
    again = trainer_of(run, streams, folder=tmp_path / "stopped", micro_batch=8)
    for _ in range(2):
        whole.advance()
        again.advance()
    assert_same_state(again, whole)
    smaller = trainer_of(run, streams, folder=tmp_path / "stopped", micro_batch=2)
    assert smaller.micro_batch == 2


def test_a_finished_run_is_left_as_it_is(streams: dict[str, TokenStream], folder: Path) -> None:
    records = pretrained(tiny_run(updates=40), streams, folder=folder)
    files = files_of(folder)
    assert [record.update for record in records] == list(range(1, 41))
    (folder / CHECKPOINTS).mkdir()  # killed while it was being removed
    (folder / CHECKPOINTS / "latest.safetensors").write_bytes(b"some of it")
    assert pretrained(tiny_run(updates=40), streams, folder=folder) == []
    assert files_of(folder) == files


@pytest.fixture
def trainer(streams: dict[str, TokenStream], folder: Path) -> Trainer:
    """A trainer that may not have read one of its languages yet."""
    trainer = trainer_of(tiny_run(separate=EVERYTHING), streams, folder=folder)
    for _ in range(3):
        trainer.advance()
    return trainer


def write(trainer: Trainer, folder: Path, state: TrainState) -> None:
    write_checkpoint(folder, model=trainer.updates.weights, optimizer=trainer.updates.optimizer, state=state)


def read(trainer: Trainer, folder: Path) -> TrainState:
    updates = trainer.updates
    return read_checkpoint(folder, model=updates.weights, optimizer=updates.optimizer, fresh=TrainState())


def flip_in(path: Path, share: float) -> None:
    content = bytearray(path.read_bytes())
    content[int(share * len(content))] ^= 4
    path.write_bytes(content)


@pytest.mark.parametrize("share", [0.0, 0.03, 0.5, 0.999])
def test_a_damaged_checkpoint_gives_way_to_the_one_before_and_that_to_a_new_start(
    share: float, trainer: Trainer, streams: dict[str, TokenStream], tmp_path: Path
) -> None:
    folder = tmp_path / "c"
    write(trainer, folder, trainer.state)
    trainer.advance()
    write(trainer, folder, trainer.state)
    fresh = trainer_of(tiny_run(separate=EVERYTHING), streams, folder=tmp_path / "none")
    untouched = {name: tensor.clone() for name, tensor in fresh.model.state_dict().items()}
    flip_in(folder / LATEST, share)
    with pytest.warns(UserWarning, match=r"latest\.safetensors cannot be used .*: .* from the checkpoint before"):
        assert read(fresh, folder).update == 3
    assert [path.name for path in folder.iterdir()] == [PREVIOUS]
    again = trainer_of(tiny_run(separate=EVERYTHING), streams, folder=tmp_path / "none")
    flip_in(folder / PREVIOUS, share)
    with pytest.warns(UserWarning, match=r"previous\.safetensors cannot be used .*: training goes on from the start"):
        assert read(again, folder) == TrainState()
    assert all(tensor.equal(untouched[name]) for name, tensor in again.model.state_dict().items())
    assert not again.updates.optimizer.state


@pytest.mark.parametrize("name", [f"{BEST}/model.safetensors", f"{INTERMEDIATE}/00000002/model.safetensors", SUMS_NAME])
@pytest.mark.parametrize("is_done", [False, True])
def test_models_damaged_between_two_attempts_are_made_again(
    name: str, is_done: bool, streams: dict[str, TokenStream], tmp_path: Path
) -> None:
    run = tiny_run(updates=8, evaluations=2)
    pretrained(run, streams, folder=tmp_path / "whole")
    folder = tmp_path / "damaged"
    if is_done:
        pretrained(run, streams, folder=folder)
    else:
        with trainer_of(run, streams, folder=folder) as trainer:
            for _ in range(5):
                trainer.advance()
    (folder / INTERMEDIATE / "00000003").mkdir()
    (folder / INTERMEDIATE / "00000003" / "model.safetensors").write_bytes(b"planted")
    flip_in(folder / name, 0.6)
    with pytest.warns(UserWarning, match="not as it was written"):
        pretrained(run, streams, folder=folder)
    assert artifact_of(folder) == artifact_of(tmp_path / "whole")


def test_models_damaged_in_one_attempt_are_named_when_it_ends(streams: dict[str, TokenStream], folder: Path) -> None:
    run = tiny_run(updates=8, evaluations=2)

    def strike(records: object) -> None:  # noqa: ARG001
        flip_in(folder / INTERMEDIATE / "00000001" / "model.safetensors", 0.6)

    with pytest.raises(IsoglotError, match=r"00000001/model\.safetensors was changed after it was written: run again"):
        loop.pretrain(run, streams, folder=folder, machine=CPU, report=strike)


def artifact_of(folder: Path) -> dict[str, bytes]:
    """The files that the store would keep, less their sums, which two attempts may have added in another order."""
    return {name: content for name, content in files_of(folder).items() if name != SUMS_NAME}


def check_killed_at_each_moment(nursery: Nursed, *, times: int) -> None:
    place, fates = nursery
    whole = artifact_of(place / "short")
    assert {"log.jsonl", "best/model.safetensors", "intermediate/00000001/model.json"} < whole.keys()
    for state in ("begun", "trained"):
        assert fates["at_each"].count([-9, state]) >= times
    for moment in range(len(fates["at_each"]) - 1):
        assert artifact_of(place / f"at-each-{moment}") == whole, moment


def test_killed_at_a_few_moments(tmp_path: Path) -> None:
    check_killed_at_each_moment(nursed("tests.pretraining.nursery", tmp_path, few=True), times=1)


@pytest.mark.campaign
def test_killed_at_random_and_at_each_thing_it_asks_of_the_system(tmp_path: Path) -> None:
    place, fates = nursed("tests.pretraining.nursery", tmp_path)
    assert fates["at_random"].count([-9, "trained"]) >= 2
    assert artifact_of(place / "at-random") == artifact_of(place / "long")
    assert fates["at_each"].count([-9, "finished"]) >= 2
    check_killed_at_each_moment((place, fates), times=2)
