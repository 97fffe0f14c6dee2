"""Disks that are full, read-only or not there, as real ones where the system lets us mount a tiny one."""

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from isoglot.errors import IsoglotError
from isoglot.store import Stage, Store, Work
from tests.store.toy_stages import CHECKOUT, Text


@dataclass(frozen=True, kw_only=True)
class Failing(Stage):
    """Raises what writing to the real device raises."""

    kind = "toy-failing"
    path: str

    def make(self, work: Work) -> None:
        work.folder.joinpath("first.txt").write_text("kept")
        with open(self.path, "wb", buffering=0) as file:  # noqa: PTH123
            file.write(b"x")


@pytest.mark.campaign
def test_full_disk(tmp_path: Path) -> None:
    """On a file system of 512 KiB, in its own mount namespace."""
    mount = 'mount -t tmpfs -o size=512k none "$1"'
    tried = subprocess.run(["unshare", "-rm", "sh", "-c", mount, "sh", tmp_path], capture_output=True, check=False)
    if tried.returncode:
        pytest.skip("this system lets us mount no tmpfs, so there is no tiny disk to fill")
    code = """
import sys
from tests.store.toy_stages import *
def show(ensure, *stage):
    try: print(ensure(*stage))
    except IsoglotError as error: print(error)
@dataclass(frozen=True, kw_only=True)
class Large(Stage):
    kind = "large"
    resumes = ("large.bin",)
    how: str
    def make(self, work):
        path = work.folder / "large.bin"
        if path.exists(): path.unlink(); return path.write_bytes(b"x")
        try: path.write_bytes(bytes(1 << 20))
        except OSError:
            if self.how == "errno": raise
            raise RuntimeError("a library that hides the errno") from None
root = Path(sys.argv[1])
show(Store(root).ensure, Text())
for how in ("errno", "hidden"):
    show(Store(root).ensure, Large(how=how))
    show(Store(root).ensure, Large(how=how))
Store(root).verified_folder(Text())
filler = root / "filler"
try: filler.write_bytes(bytes(1 << 20))
except OSError: os.truncate(filler, filler.stat().st_size - 4096)  # room for the lease of a new store, and no more
show(Store(root / "new").ensure, Text())
filler.unlink()
show(Store(root / "new").ensure, Text())
"""
    shell = f'{mount} && exec "$2" -c "$3" "$1"'
    command = ["unshare", "-rm", "sh", "-c", shell, "sh", str(tmp_path), sys.executable, code]
    lines = subprocess.check_output(command, cwd=CHECKOUT, text=True, timeout=300).splitlines()
    full = re.compile(
        rf"no room left in the store {tmp_path}(/new)? \(No space left on device\): free some and run again"
    )
    assert [line if line == "True" else bool(full.match(line)) for line in lines] == ["True", *[True, "True"] * 3]


def test_a_store_of_someone_else() -> None:
    """Rights do not bind root, so root puts them off."""
    code = """
import os
if os.getuid() == 0: os.setuid(65534)
for root in sys.argv[1:]:
    try: Store(Path(root)).ensure(Text())
    except IsoglotError as error: print(error)
"""
    with tempfile.TemporaryDirectory() as folder:
        closed = Path(folder, "closed")
        closed.mkdir()
        Path(folder).chmod(0o755)
        closed.chmod(0o555)
        program = "import sys; sys.path.insert(0, sys.argv.pop(1)); from tests.store.toy_stages import *\n" + code
        roots = [str(closed), str(closed / "new" / "deep")]
        lines = subprocess.check_output([sys.executable, "-c", program, str(CHECKOUT), *roots], text=True).splitlines()
    assert [line.split(" (Permission denied): make it")[0] for line in lines] == [
        f"the store {root} cannot be used" for root in roots
    ]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_full_device(store: Store) -> None:
    with pytest.raises(IsoglotError, match="no room left in the store"):
        store.ensure(Failing(path="/dev/full"))
    assert store.is_interrupted(Failing(path="/dev/full"))


def test_disk_errors_of_a_stage_elsewhere_are_not_blamed_on_the_store(store: Store, tmp_path: Path) -> None:
    with pytest.raises(NotADirectoryError):
        store.ensure(Failing(path=os.fspath(Path(__file__) / "x")))
    with pytest.raises(FileNotFoundError):
        store.ensure(Failing(path=os.fspath(tmp_path / "no" / "x")))


def test_a_store_that_is_a_file(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.touch()
    link.symlink_to("nowhere")
    for root in (file, link):
        with pytest.raises(IsoglotError, match=f"the store {root} is a file: choose a folder with store="):
            Store(root)
    with pytest.raises(IsoglotError, match=rf"the store {file}/sub cannot be used \(Not a directory\)"):
        Store(file / "sub").ensure(Text())


def test_an_array_written_in_part_is_a_lack_of_room(tmp_path: Path) -> None:
    """Under a limit on the size of files, in a process of its own."""
    code = (
        "import resource, signal, sys; import numpy as np; from pathlib import Path\n"
        "from isoglot.files import clear_disk_errors\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "with clear_disk_errors(Path(sys.argv[1])), open(Path(sys.argv[1]) / 'a.bin', 'wb') as file:\n"
        "    np.zeros(100_000).tofile(file)\n"
    )
    answer = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True)
    assert f"IsoglotError: no room left in the store {tmp_path}" in answer.stderr
