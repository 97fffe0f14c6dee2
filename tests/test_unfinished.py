"""Models in training that go from one machine to the next, in parts."""

import os
from itertools import chain
from pathlib import Path
from types import ModuleType

import pytest
import torch
from bench_scripts import bench_script
from study_texts import TINY_STUDY
from torch import nn

from isoglot.model.checkpoints import LATEST, PREVIOUS, write_checkpoint
from isoglot.model.work_files import CHECKPOINTS
from isoglot.pipeline.cells import EMERGENCE
from isoglot.pipeline.exhibits import cells
from isoglot.pipeline.stages.models import PretrainedEncoder
from isoglot.pretraining import loop
from isoglot.pretraining.train_state import TrainState
from isoglot.store import Store, inputs_first, run_plan
from isoglot.study.study_file import parse_study
from tests.pipeline.making import made
from tests.store.toy_stages import files_of

UPDATES, STOPPED_AFTER = 16, 10


@pytest.fixture(scope="module")
def unfinished() -> ModuleType:
    return bench_script("unfinished")


@pytest.fixture(scope="module")
def model() -> PretrainedEncoder:
    text = TINY_STUDY.replace("updates = 80", f"updates = {UPDATES}\nmoments = 4").replace("[0, 1]", "[0]")
    scored = [cell.stage for cell in cells(parse_study(text, origin="tiny.toml")) if cell.exhibit == EMERGENCE]
    return next(each for each in inputs_first(scored).values() if isinstance(each, PretrainedEncoder))


def brought_home(unfinished: ModuleType, folder: Path, *, to: Path, calls: int = 99) -> int:
    """The number of calls until a snapshot is whole."""
    to.mkdir(exist_ok=True)
    for call in range(calls):
        unfinished.leave([folder], to=to, waiting=to.parent / "waiting", most=2, bytes_of_a_part=40_000)
        if unfinished.whole_snapshots(to):
            return call + 1
    return calls


def work_folder(folder: Path, *, checkpoint: str, update: int) -> Path:
    """A model in training."""
    layer = nn.Linear(1, 1)
    state, optimizer = TrainState(update=update), torch.optim.SGD(layer.parameters())
    write_checkpoint(folder / CHECKPOINTS, model=layer, optimizer=optimizer, state=state)
    (folder / CHECKPOINTS / LATEST).rename(folder / CHECKPOINTS / checkpoint)
    (folder / "best").mkdir()
    (folder / "best/model.safetensors").write_bytes(f"best of {update}".encode())
    return folder


def test_training_goes_on_elsewhere_and_ends_as_it_would_have_here(
    unfinished: ModuleType, model: PretrainedEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    updates: list[int] = []
    advance = loop.Trainer.advance

    def counted(trainer: loop.Trainer) -> None:
        advance(trainer)
        updates.append(trainer.state.update)

    def stopped(trainer: loop.Trainer) -> None:
        # A checkpoint is left out while the one before is being written.
        trainer.writer.finish()
        if trainer.state.update == STOPPED_AFTER:
            raise OSError("the machine was taken away")
        advance(trainer)

    monkeypatch.setattr(loop, "SECONDS_BETWEEN_CHECKPOINTS", -1.0)
    monkeypatch.setattr(loop.Trainer, "advance", stopped)
    here = Store(tmp_path / "here")
    assert run_plan([model], here).failed
    work = here.partial_folder(model)
    # A draft that a kill has left.
    draft = work / CHECKPOINTS / f"{LATEST}.writing"
    draft.mkdir()
    (draft / LATEST).write_bytes(b"half")

    # A file that is being written.
    (work / "best/model.json.partial").write_bytes(b"{")

    assert brought_home(unfinished, work, to=tmp_path / "home") > 2
    (parts,) = unfinished.whole_snapshots(tmp_path / "home")
    assert [int(part.name[-10:-7]) for part in parts] == [*range(1, len(parts) + 1)]
    monkeypatch.setattr(loop.Trainer, "advance", counted)
    there = made(*model.inputs.values(), folder=tmp_path / "there")
    # What the other machine has begun meanwhile gives way.
    work_folder(there.partial_folder(model), checkpoint=LATEST, update=STOPPED_AFTER - 1)
    unfinished.put_into_place(parts, store=there.root)
    assert {*files_of(there.partial_folder(model))} == {*files_of(work)} - {
        "best/model.json.partial",
        f"{CHECKPOINTS}/{PREVIOUS}",
        f"{CHECKPOINTS}/{LATEST}.writing/{LATEST}",
    }
    made(model, folder=there.root)
    assert updates == [*range(STOPPED_AFTER + 1, UPDATES + 1)]
    whole = made(model, folder=tmp_path / "whole")
    assert files_of(there.folder(model)) == files_of(whole.folder(model))

    # A model that is finished there stays.
    before = files_of(there.folder(model))
    unfinished.put_into_place(parts, store=there.root)
    assert files_of(there.folder(model)) == before
    assert not there.partial_folder(model).exists()


def test_the_checkpoint_before_is_taken_while_one_is_put_into_place(unfinished: ModuleType, tmp_path: Path) -> None:
    work = work_folder(tmp_path / "model-00000000.partial", checkpoint=PREVIOUS, update=5)
    brought_home(unfinished, work, to=tmp_path / "home")
    (parts,) = unfinished.whole_snapshots(tmp_path / "home")
    unfinished.put_into_place(parts, store=tmp_path / "there")
    there = tmp_path / "there" / work.name
    assert unfinished.updates_of(there) == 5
    assert {*files_of(there)} == {f"{CHECKPOINTS}/{LATEST}", "best/model.safetensors"}


def test_nothing_comes_home_of_a_model_without_a_checkpoint(unfinished: ModuleType, tmp_path: Path) -> None:
    work = tmp_path / "model-00000000.partial"
    (work / "best").mkdir(parents=True)
    (work / "best/model.safetensors").write_bytes(b"best")
    brought_home(unfinished, work, to=tmp_path / "home", calls=2)
    assert [*(tmp_path / "home").iterdir()] == []


def test_training_that_is_further_on_stays(unfinished: ModuleType, tmp_path: Path) -> None:
    work = work_folder(tmp_path / "model-00000000.partial", checkpoint=LATEST, update=5)
    brought_home(unfinished, work, to=tmp_path / "home")
    (parts,) = unfinished.whole_snapshots(tmp_path / "home")
    for update, after in ((4, b"best of 5"), (6, b"best of 6")):
        store = tmp_path / f"store-{update}"
        here = work_folder(store / work.name, checkpoint=LATEST, update=update)
        unfinished.put_into_place(parts, store=store)
        assert (here / "best/model.safetensors").read_bytes() == after


def test_of_each_model_the_whole_snapshot_with_most_updates_counts(unfinished: ModuleType, tmp_path: Path) -> None:
    names = {
        "a": ["a.00000100.001-of-002", "a.00000100.002-of-002", "a.00000300.001-of-003", "a.00000300.003-of-003"],
        "b": ["b.00000200.001-of-001", "b.00000090.001-of-001"],
    }
    for name in chain(*names.values()):
        (tmp_path / f"unfinished.{name}").touch()
    found = [
        [part.name.removeprefix("unfinished.") for part in parts] for parts in unfinished.whole_snapshots(tmp_path)
    ]
    assert found == [names["a"][:2], names["b"][:1]]


def test_no_more_parts_leave_than_a_call_may_bring(unfinished: ModuleType, tmp_path: Path) -> None:
    work = work_folder(tmp_path / "model-00000000.partial", checkpoint=LATEST, update=5)
    (tmp_path / "home").mkdir()
    for most, left in ((-1, 0), (0, 0), (3, 3)):
        unfinished.leave([work], to=tmp_path / "home", waiting=tmp_path / "waiting", most=most, bytes_of_a_part=1000)
        assert len([*(tmp_path / "home").iterdir()]) == left


def test_nothing_begins_before_all_parts_are_there(
    unfinished: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stretch, carried = bench_script("stretch"), tmp_path / "unfinished"
    work = work_folder(tmp_path / "model-00000000.partial", checkpoint=LATEST, update=5)
    assert stretch.place_snapshots(carried, store=tmp_path / "store"), "where none was carried"
    carried.mkdir()
    unfinished.leave([work], to=carried, waiting=tmp_path / "waiting", most=1, bytes_of_a_part=1000)
    assert not stretch.place_snapshots(carried, store=tmp_path / "store")
    unfinished.leave([work], to=carried, waiting=tmp_path / "waiting", most=99, bytes_of_a_part=1000)
    stopped: list[int] = []
    monkeypatch.setattr(stretch, "stop", stopped.append)
    (tmp_path / "any.pid").write_text(str(os.getpid()))
    for _ in range(2):
        assert stretch.place_snapshots(carried, store=tmp_path / "store")
    assert stopped == [os.getpid()], "once"
    assert unfinished.updates_of(tmp_path / "store" / work.name) == 5
    # Another one may come to the same machine later.
    further = work_folder(tmp_path / "later" / work.name, checkpoint=LATEST, update=9)
    unfinished.leave([further], to=carried, waiting=tmp_path / "waiting", most=99, bytes_of_a_part=1000)
    assert stretch.place_snapshots(carried, store=tmp_path / "store")
    assert unfinished.updates_of(tmp_path / "store" / work.name) == 9
