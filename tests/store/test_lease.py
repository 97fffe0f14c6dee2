import subprocess
import sys
import threading
from pathlib import Path

from isoglot.files import lease
from tests.store.toy_stages import python


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
import subprocess
import sys
import threading
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
import resource
from isoglot.files import lease
resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
try:
    with lease(Path(sys.argv[1]), waiting=print): pass
except OSError as error: print(error.errno == errno.EFBIG, Path(sys.argv[1]).exists())
"""
    arguments = [str(tmp_path / "a.lease")]
    output, errors = python("import errno, sys\n" + code, arguments=arguments).communicate(timeout=300)
    assert output == "True False\n", errors


SCRIPT = """
import multiprocessing, sys
from pathlib import Path
from isoglot.files import lease

with lease(Path(sys.argv[1]), waiting=print):
    child = multiprocessing.get_context("spawn").Process(target=print)
    child.start()
    child.join()
    print("exit", child.exitcode)
"""


def test_a_script_that_its_workers_run_again_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, str(tmp_path / "script.py"), str(tmp_path / "a.lease")]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert 'put what it does under if __name__ == "__main__":' in answer.stderr
    assert "exit 1" in answer.stdout
