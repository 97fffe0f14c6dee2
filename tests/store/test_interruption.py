"""kill -9 at any moment leaves a finished artifact or a .partial folder, and the next run ends with the same bytes."""

import hashlib
import json
import re
import signal
import time
from pathlib import Path

import pytest

from isoglot.store import Store
from tests.killed_processes import until
from tests.store.toy_stages import Patient, Text, files_of, lives_through, python

NAMES = re.compile(r"store\.json(\.partial|\.lease)?|toy-[a-z]+-[0-9a-f]{16}(\.partial|\.lease)?")


def assert_sound(root: Path) -> None:
    """Nothing but what the store keeps, and every finished folder is what its record says."""
    for path in root.iterdir() if root.exists() else ():
        assert NAMES.fullmatch(path.name)
        if path.is_dir() and path.suffix != ".partial":
            listed = json.loads((path / "record.json").read_text())["files"]
            found = {
                name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
                for name, content in files_of(path).items()
            }
            assert found == listed


@pytest.mark.parametrize("step", [9, pytest.param(1, marks=pytest.mark.campaign)])
def test_killed_at_any_moment(tmp_path: Path, step: int) -> None:
    text, moment, lived = Text(), 0, False
    expected = {"lines/0.txt": b"tree 0\n", "lines/1.txt": b"tree 1\n"}
    while not lived:
        root = tmp_path / str(moment)
        lived = lives_through(text, root=root, moment=moment)
        assert_sound(root)
        store = Store(root)
        store.ensure(text)
        assert files_of(store.folder(text)) == expected
        assert_sound(root)
        moment += step
    print(f"{moment // step - 1} kills")
    assert moment > 20


ENSURE_PATIENT = "Store(Path(sys.argv[1])).ensure(Patient(end=Path(sys.argv[2])))"


def test_killed_in_make_goes_on_and_adds_up_the_seconds(root: Path, tmp_path: Path) -> None:
    stage, store = Patient(end=tmp_path / "end"), Store(root)
    partial = Store(root).partial_folder(stage)
    start = time.monotonic()
    process = python(ENSURE_PATIENT, arguments=[str(root), str(stage.end)])
    until(lambda: (partial / ".isoglot-seconds").exists() and (partial / ".isoglot-seconds").stat().st_size > 0)
    process.kill()
    process.communicate()
    before = float((partial / ".isoglot-seconds").read_text().split()[1])
    assert_sound(root)
    assert (partial / "checkpoint").read_text() == "1"
    assert store.is_interrupted(stage)

    stage.end.touch()
    assert store.ensure(stage)
    assert files_of(store.folder(stage)) == {"attempts.txt": b"2"}
    assert 1 <= before < store.record(stage).seconds < time.monotonic() - start
    assert not store.is_interrupted(stage)


def test_killed_between_record_and_rename_is_not_made_again(root: Path, tmp_path: Path) -> None:
    code = """
import os, signal
def reap(event, arguments):
    if event == "os.rename" and str(arguments[0]).endswith(".partial") and "toy" in str(arguments[0]):
        os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(reap)
Store(Path(sys.argv[1])).ensure(Text(log=Path(sys.argv[2])))
"""
    log = tmp_path / "log"
    process = python(code, arguments=[str(root), str(log)])
    process.communicate(timeout=300)
    assert process.returncode == -signal.SIGKILL
    text, store = Text(log=log), Store(root)
    partial = Store(root).partial_folder(text)
    assert (partial / "record.json").exists()
    assert not store.has(text)
    assert_sound(root)

    assert store.ensure(text)
    assert len(log.read_text().splitlines()) == 1
    store.verified_folder(text)
    assert sorted(path.name for path in root.iterdir()) == ["store.json", store.folder(text).name]


def test_files_changed_between_record_and_rename_are_made_again(root: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    text, store = Text(log=log), Store(root)
    store.ensure(text)
    partial = Store(root).partial_folder(text)
    store.folder(text).rename(partial)
    (partial / "lines" / "1.txt").write_text("TREE 1\n")
    assert store.ensure(text)
    assert len(log.read_text().splitlines()) == 2
    store.verified_folder(text)


def test_ctrl_c_keeps_the_work_and_frees_the_lease(store: Store) -> None:
    text = Text(lines=3)

    def interrupt(done: float, total: float, unit: str, note: str = "") -> None:  # noqa: ARG001
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.ensure(text, interrupt)
    partial = store.partial_folder(text)
    assert sorted(path.name for path in (partial / "lines").iterdir()) == ["0.txt", "1.txt"]
    assert float((partial / ".isoglot-seconds").read_text().split()[1]) > 0
    assert list(store.root.glob("*.lease")) == []
    assert store.ensure(text)
    assert_sound(store.root)


def test_two_processes_make_an_artifact_once(root: Path, tmp_path: Path) -> None:
    code = """
made = Store(Path(sys.argv[1])).ensure(Patient(end=Path(sys.argv[2])), waiting=lambda who: print(who, flush=True))
print(made)
"""
    end, arguments = tmp_path / "end", [str(root), str(tmp_path / "end")]
    partial = Store(root).partial_folder(Patient(end=end))
    first = python(code, arguments=arguments)
    until((partial / "checkpoint").exists)
    second = python(code, arguments=arguments)
    assert second.stdout is not None
    assert second.stdout.readline().endswith(f", process {first.pid}\n")
    end.touch()
    assert first.communicate(timeout=300)[0] == "True\n"
    assert second.communicate(timeout=300)[0] == "False\n"
    assert files_of(Store(root).folder(Patient(end=end))) == {"attempts.txt": b"1"}
    assert list(root.glob("*.lease")) == []
