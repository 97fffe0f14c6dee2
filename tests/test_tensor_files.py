"""A kill in the middle of a file leaves nothing that stays."""

import resource
import signal
import stat
from pathlib import Path

import pytest
import torch
from killed_processes import exit_code_of
from safetensors.torch import load_file

from isoglot.files import write_tensors

LARGE = {"large": torch.zeros(1_000_000)}


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    tensors = {"turned": torch.arange(6.0).reshape(2, 3).T, "learned": torch.nn.Parameter(torch.ones(2).bfloat16())}
    write_tensors(tensors, tmp_path / "new" / "file")
    read = load_file(tmp_path / "new" / "file")
    assert read.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert read[name].dtype == tensor.dtype
        assert read[name].equal(tensor)


def test_others_may_read_what_the_user_lets_them_read(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"")
    write_tensors({"a": torch.ones(1)}, tmp_path / "file")
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)


@pytest.fixture
def begun(tmp_path: Path) -> list[Path]:
    """What a process left that was killed while it replaced a file: by the kernel, when that would grow too large."""
    path = tmp_path / "file"
    write_tensors({"old": torch.ones(1)}, path)

    def write_too_much() -> None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, 2_000_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        write_tensors(LARGE, path)

    assert exit_code_of(write_too_much) == -signal.SIGXFSZ
    return [entry for entry in tmp_path.rglob("*") if entry.is_file() and entry != path]


def test_the_old_file_stays_whole_until_the_new_one_is(tmp_path: Path, begun: list[Path]) -> None:
    assert begun
    assert load_file(tmp_path / "file").keys() == {"old"}


def test_the_next_writing_removes_what_a_kill_left(tmp_path: Path, begun: list[Path]) -> None:
    assert begun
    write_tensors({"new": torch.ones(1)}, tmp_path / "file")
    assert [entry.name for entry in tmp_path.rglob("*")] == ["file"]
    assert load_file(tmp_path / "file").keys() == {"new"}
