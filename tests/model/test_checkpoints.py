"""Files written off the training thread hold what was there at the call, and come in the order of the calls."""

from collections.abc import Callable
from pathlib import Path
from threading import Semaphore, Thread, Timer
from threading import enumerate as enumerate_threads
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from isoglot.errors import IsoglotError
from isoglot.model.checkpoints import BackgroundWriter, read_checkpoint, write_checkpoint
from isoglot.model.cloze import read_model, write_model
from isoglot.model.work_files import write_tensors
from isoglot.pretraining.train_state import TrainState
from tests.killed_processes import files_of, until
from tests.model.tiny_models import EVERYTHING, tiny_model
from tests.slow_disks import slow_disk


class AfterFailure(dict[str, Tensor]):
    """Tensors that take so long to copy that another file fails meanwhile."""

    def __init__(self, disk: Semaphore, writer: BackgroundWriter):
        super().__init__(filled(5))
        self.disk, self.writer = disk, writer

    def items(self) -> Any:
        self.disk.release(100)
        until(lambda: self.writer.is_free("model"))
        return super().items()


def filled(value: int) -> dict[str, Tensor]:
    return {"a": torch.full((1000,), value), "b": torch.full((3, 5), float(value))}


def value_of(path: Path) -> int:
    """The one value that the file holds."""
    (value,) = {value for tensor in load_file(path).values() for value in tensor.unique().tolist()}
    return int(value)


def test_the_bytes_are_those_of_a_file_written_at_once(tmp_path: Path) -> None:
    tensors = {
        "turned": torch.arange(6.0).reshape(2, 3).T,
        "number": torch.tensor(3),
        "nothing": torch.empty(0, 4),
        "odd": torch.ones(7, dtype=torch.bfloat16),
        "flags": torch.tensor([True, False, True]),
        "learned": nn.Parameter(torch.randn(4)),
    }
    write_tensors(tensors, tmp_path / "at once")
    with BackgroundWriter() as writer:
        writer(tensors, tmp_path / "later")
    assert (tmp_path / "later").read_bytes() == (tmp_path / "at once").read_bytes()


def test_files_come_in_the_order_of_the_calls(tmp_path: Path) -> None:
    with BackgroundWriter() as writer, slow_disk(tmp_path) as disk:
        for number in range(8):
            writer(filled(number), tmp_path / f"{number}")
        for number in range(8):
            disk.release()
            until(lambda: len(list(tmp_path.glob("?"))) > number)  # noqa: B023
            assert {path.name for path in tmp_path.glob("?")} == {str(each) for each in range(number + 1)}


def test_what_is_written_is_as_it_was_at_the_call(tmp_path: Path) -> None:
    model = tiny_model(separate=EVERYTHING)
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    progression = TrainState(update=1, positions={"en": 8})

    def learn() -> None:
        for parameter in model.parameters():
            parameter.grad = torch.randn_like(parameter)
        optimizer.step()
        progression.update += 1
        progression.positions["en"] += 8

    learn()
    at_once = tmp_path.with_name("at once")
    write_model(model, at_once)
    write_checkpoint(at_once, model=model, optimizer=optimizer, state=progression)
    with BackgroundWriter() as writer, slow_disk(tmp_path):
        write_model(model, tmp_path / "later", write=writer)
        write_checkpoint(tmp_path / "later", model=model, optimizer=optimizer, state=progression, write=writer)
        learn()
        assert not list(tmp_path.rglob("*.safetensors"))
    assert files_of(tmp_path / "later") == files_of(at_once)
    assert read_model(at_once).state_dict().keys() == model.state_dict().keys()
    assert read_checkpoint(at_once, model=model, optimizer=optimizer, fresh=TrainState()).positions == {"en": 16}


def test_memory_is_not_used_again_before_its_file_is_written(tmp_path: Path) -> None:
    with BackgroundWriter() as writer, slow_disk(tmp_path) as disk:
        assert writer.is_free("a")
        writer(filled(1), tmp_path / "1" / "a")
        assert not writer.is_free("a")
        assert writer.is_free("b")
        writer(filled(2), tmp_path / "2" / "b")
        third = Thread(target=writer, args=(filled(3), tmp_path / "3" / "a"))
        third.start()
        third.join(0.2)
        assert third.is_alive(), "it did not wait"
        disk.release()
        third.join()
        assert not writer.is_free("a")
        disk.release(2)
        writer.finish()
        assert writer.is_free("a")
        assert [value_of(tmp_path / name) for name in ("1/a", "2/b", "3/a")] == [1, 2, 3]


def test_files_of_many_sizes_in_one_memory_are_not_mixed_up(tmp_path: Path) -> None:
    random = torch.Generator().manual_seed(0)
    with BackgroundWriter() as writer:
        for number in range(60):
            sizes = torch.randint(0, 20_000, (5,), generator=random).tolist()
            tensors = {f"{place}": torch.full((size + 1,), float(number)) for place, size in enumerate(sizes)}
            writer(tensors, tmp_path / f"{number}" / ("checkpoint" if number % 3 else "model"))
    assert [value_of(path) for number in range(60) for path in (tmp_path / f"{number}").iterdir()] == list(range(60))


def test_an_error_is_raised_at_the_next_call_and_nothing_is_written_after_it(tmp_path: Path) -> None:
    """A checkpoint without its best model would be believed."""
    (tmp_path / "file").touch()
    unwritable = tmp_path / "file" / "model"

    def write_all() -> None:
        with BackgroundWriter() as writer, slow_disk(tmp_path) as disk:
            writer(filled(1), unwritable)
            writer(filled(2), tmp_path / "2")
            calls: list[Callable[[], None]] = [
                lambda: writer(AfterFailure(disk, writer), tmp_path / "3"),
                lambda: writer(filled(4), tmp_path / "new" / "model"),
                writer.finish,
            ]
            for call in calls:
                with pytest.raises(IsoglotError, match="could not be written"):
                    call()

    with pytest.raises(IsoglotError, match=f"{unwritable} could not be written .*run again"):
        write_all()
    assert {path.name for path in tmp_path.iterdir()} == {"file"}


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_after_an_error_the_file_being_written_is_finished_and_the_others_are_not_begun(
    error: type[BaseException], tmp_path: Path
) -> None:
    threads = set(enumerate_threads())

    def write_some() -> None:
        with slow_disk(tmp_path) as disk, BackgroundWriter() as writer:
            for number in range(3):
                writer(filled(number), tmp_path / f"{number}")
            Timer(0.2, disk.release, (100,)).start()
            raise error

    with pytest.raises(error):
        write_some()
    until(lambda: set(enumerate_threads()) <= threads)
    assert {path.name for path in tmp_path.iterdir()} == {"0"}
    assert value_of(tmp_path / "0") == 0


@pytest.mark.gpu
def test_on_a_gpu_weights_that_a_graph_changes_at_once_are_written_as_they_were(tmp_path: Path) -> None:
    """And a graph can be recorded while the thread is at work."""
    weight = torch.zeros(1 << 24, device="cuda")

    def recorded(change: float) -> torch.cuda.CUDAGraph:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            weight.add_(change)
        return graph

    weight.add_(0)
    graph = recorded(1)
    with BackgroundWriter() as writer, slow_disk(tmp_path) as disk:
        for number in range(6):
            for _ in range(10):
                graph.replay()
            writer({"weight": weight, "step": torch.tensor(10 * (number + 1.0))}, tmp_path / f"{number}" / "model")
            disk.release()
            back = recorded(-20)
            for _ in range(20):
                graph.replay()
            back.replay()
        writer.finish()
    assert [value_of(tmp_path / f"{number}" / "model") for number in range(6)] == [10, 20, 30, 40, 50, 60]
