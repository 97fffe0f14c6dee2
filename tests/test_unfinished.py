"""Models in training that go from one machine to the next, in parts."""

from pathlib import Path
from types import ModuleType

import pytest
from bench_scripts import bench_script
from study_texts import TINY_STUDY

from isoglot.model.checkpoints import LATEST, PREVIOUS
from isoglot.model.work_files import CHECKPOINTS
from isoglot.pipeline.cells import EMERGENCE
from isoglot.pipeline.exhibits import cells
from isoglot.pipeline.stages.models import PretrainedEncoder
from isoglot.pretraining import loop
from isoglot.store import Store, inputs_first, run_plan
from isoglot.study.study_file import parse_study
from tests.pipeline.making import made

UPDATES, STOPPED_AFTER = 16, 10


@pytest.fixture(scope="module")
def unfinished() -> ModuleType:
    return bench_script("unfinished")


@pytest.fixture(scope="module")
def model() -> PretrainedEncoder:
    text = TINY_STUDY.replace("updates = 80", f"updates = {UPDATES}\nmoments = 4").replace("[0, 1]", "[0]")
    scored = [cell.stage for cell in cells(parse_study(text, origin="tiny.toml")) if cell.exhibit == EMERGENCE]
    return next(each for each in inputs_first(scored).values() if isinstance(each, PretrainedEncoder))


def files_in(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "record.json")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def parts_of(unfinished: ModuleType, folder: Path, *, to: Path, calls: int = 99) -> int:
    """The number of calls until a snapshot is whole."""
    to.mkdir(exist_ok=True)
    for call in range(calls):
        unfinished.leave([folder], to=to, waiting=to.parent / "waiting", most=2, bytes_of_a_part=40_000)
        if unfinished.whole_snapshot(to):
            return call + 1
    return calls


def test_training_goes_on_elsewhere_and_ends_as_it_would_have_here(
    unfinished: ModuleType, model: PretrainedEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    updates: list[int] = []
    advance = loop.Trainer.advance

    def counted(trainer: loop.Trainer) -> None:
        advance(trainer)
        updates.append(trainer.state.update)

    def stopped(trainer: loop.Trainer) -> None:
        if trainer.state.update == STOPPED_AFTER:
            trainer.writer.finish()
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

    assert parts_of(unfinished, work, to=tmp_path / "home") > 2
    parts = unfinished.whole_snapshot(tmp_path / "home")
    assert [int(part.name[-8:-6]) for part in parts] == [*range(1, len(parts) + 1)]
    monkeypatch.setattr(loop.Trainer, "advance", counted)
    there = made(*model.inputs.values(), folder=tmp_path / "there")
    # What the other machine has trained meanwhile gives way.
    (there.partial_folder(model) / "best").mkdir(parents=True)
    unfinished.put_into_place(parts, store=there.root)
    assert {*files_in(there.partial_folder(model))} == {*files_in(work)} - {
        f"{CHECKPOINTS}/{PREVIOUS}",
        f"{CHECKPOINTS}/{LATEST}.writing/{LATEST}",
    }
    made(model, folder=there.root)
    assert updates == [*range(STOPPED_AFTER + 1, UPDATES + 1)]
    whole = made(model, folder=tmp_path / "whole")
    assert files_in(there.folder(model)) == files_in(whole.folder(model))

    # A model that is finished there stays.
    before = files_in(there.folder(model))
    unfinished.put_into_place(parts, store=there.root)
    assert files_in(there.folder(model)) == before
    assert not there.partial_folder(model).exists()


def test_the_checkpoint_before_is_taken_while_one_is_put_into_place(unfinished: ModuleType, tmp_path: Path) -> None:
    work = tmp_path / "model.partial"
    (work / CHECKPOINTS).mkdir(parents=True)
    (work / CHECKPOINTS / PREVIOUS).write_bytes(b"the one before")
    (work / "best").mkdir()
    (work / "best/model.safetensors").write_bytes(b"best")
    parts_of(unfinished, work, to=tmp_path / "home")
    unfinished.put_into_place(unfinished.whole_snapshot(tmp_path / "home"), store=tmp_path / "there")
    assert files_in(tmp_path / "there/model.partial") == {
        f"{CHECKPOINTS}/{LATEST}": b"the one before",
        "best/model.safetensors": b"best",
    }


def test_nothing_comes_home_of_a_model_without_a_checkpoint(unfinished: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "model.partial/best").mkdir(parents=True)
    (tmp_path / "model.partial/best/model.safetensors").write_bytes(b"best")
    parts_of(unfinished, tmp_path / "model.partial", to=tmp_path / "home", calls=2)
    assert [*(tmp_path / "home").iterdir()] == []


def test_the_last_whole_snapshot_counts(unfinished: ModuleType, tmp_path: Path) -> None:
    names = ["100.01-of-02", "100.02-of-02", "200.01-of-01", "300.01-of-03", "300.03-of-03"]
    for name in names:
        (tmp_path / f"unfinished.{name}").touch()
    assert [part.name for part in unfinished.whole_snapshot(tmp_path)] == ["unfinished.200.01-of-01"]
    (tmp_path / "unfinished.200.01-of-01").unlink()
    assert [part.name[-12:] for part in unfinished.whole_snapshot(tmp_path)] == names[:2]
