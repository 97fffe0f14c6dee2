"""Files that a kill cannot leave in pieces, and locks that bind one process at a time."""

import resource
import signal
import subprocess
import sys
import threading
from pathlib import Path

import torch
from killed_processes import exit_code_of
from safetensors.torch import load_file

from isoglot.files import lease
from isoglot.model.work_files import write_tensors
from tests.store.toy_stages import python


def test_tensors_are_read_as_they_were_written(tmp_path: Path) -> None:
    tensors = {"turned": torch.arange(6.0).reshape(2, 3).T, "learned": torch.nn.Parameter(torch.ones(2).bfloat16())}
    write_tensors(tensors, tmp_path / "new" / "file")
    read = load_file(tmp_path / "new" / "file")
    assert read.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert read[name].dtype == tensor.dtype
        assert read[name].equal(tensor)
    (tmp_path / "plain").touch()
    modes = [path.stat().st_mode for path in (tmp_path / "plain", tmp_path / "new" / "file")]
    assert modes[0] == modes[1], "others may read it as well"


def test_a_kill_leaves_the_old_file_whole_and_the_next_call_removes_the_rest(tmp_path: Path) -> None:
    """The kernel kills a process that writes more than it may."""
    path = tmp_path / "file"
    write_tensors({"old": torch.ones(1)}, path)

    def write_too_much() -> None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, 2_000_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        write_tensors({"large": torch.zeros(1_000_000)}, path)

    assert exit_code_of(write_too_much) == -signal.SIGXFSZ
    assert len([entry for entry in tmp_path.rglob("*") if entry.is_file()]) > 1
    assert load_file(path).keys() == {"old"}
    write_tensors({"new": torch.ones(1)}, path)
    assert [entry.name for entry in tmp_path.rglob("*")] == ["file"]
    assert load_file(path).keys() == {"new"}


def test_holders_never_overlap(tmp_path: Path) -> None:
    """Threads open the file apart, so the kernel treats them like processes."""
    holders, most, turns = 0, 0, 0

    def hold() -> None:
        nonlocal holders, most, turns
        for _ in range(50):
            with lease(tmp_path / "a.lease", waiting=lambda _: None):
                holders += 1
                most = max(most, holders)
                turns += 1
                (tmp_path / "file").write_text("lets the others run")
                holders -= 1

    threads = [threading.Thread(target=hold) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, turns) == (1, 200)
    assert not (tmp_path / "a.lease").exists()


def test_the_file_of_a_dead_holder_does_not_bind(tmp_path: Path) -> None:
    path = tmp_path / "a.lease"
    path.write_text("elsewhere, process 1 with a longer name than ours " * 3)
    waited: list[str] = []
    with lease(path, waiting=waited.append):
        assert "elsewhere" not in path.read_text()
    assert waited == []


def test_a_lease_is_not_left_with_forked_children(tmp_path: Path) -> None:
    code = """
import os, signal, threading, time
from isoglot.files import lease
path, waits = Path(sys.argv[1]), threading.Event()
def wait():
    with lease(path, waiting=lambda holder: waits.set()): pass
with lease(path, waiting=print):
    child = os.fork()
    if child == 0:
        time.sleep(600)
        os._exit(0)
    thread = threading.Thread(target=wait)
    thread.start()
    waits.wait()
thread.join(60)
print("kept" if thread.is_alive() else "free")
os.kill(child, signal.SIGKILL)
"""
    output, errors = python(code, arguments=[str(tmp_path / "a.lease")]).communicate(timeout=300)
    assert output == "free\n", errors


def test_a_full_disk_leaves_no_file(tmp_path: Path) -> None:
    code = """
import errno, resource
from isoglot.files import lease
resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
try:
    with lease(Path(sys.argv[1]), waiting=print): pass
except OSError as error: print(error.errno == errno.EFBIG, Path(sys.argv[1]).exists())
"""
    output, errors = python(code, arguments=[str(tmp_path / "a.lease")]).communicate(timeout=300)
    assert output == "True False\n", errors


def test_a_script_without_a_main_guard_gets_a_clear_error(tmp_path: Path) -> None:
    script = """
import multiprocessing, sys
from pathlib import Path
from isoglot.files import lease

with lease(Path(sys.argv[1]), waiting=print):
    child = multiprocessing.get_context("spawn").Process(target=print)
    child.start()
    child.join()
    print("exit", child.exitcode)
"""
    (tmp_path / "script.py").write_text(script)
    command = [sys.executable, str(tmp_path / "script.py"), str(tmp_path / "a.lease")]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert 'put what it does under if __name__ == "__main__":' in answer.stderr
    assert "exit 1" in answer.stdout
