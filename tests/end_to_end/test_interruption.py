"""A run that is stopped, however rudely, goes on to the very bytes of one that was not."""

import re
import shlex
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from commands import Workplace, isoglot, started
from safetensors import safe_open
from study_texts import TINY_STUDY

from tests.end_to_end.artifact_files import artifact_files


def in_training(store: Path) -> list[Path]:
    """Work folders of models in training that have a checkpoint and are not at their end."""
    found = store.glob("pretrained-encoder-*.partial/checkpoints/latest.safetensors")
    return [path.parents[1] for path in found if not (path.parents[1] / "log.jsonl").exists()]


def until(happens: Callable[[], object], *, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 300
    while not happens():
        assert process.poll() is None, "it ended before it could be stopped"
        assert time.monotonic() < deadline
        time.sleep(0.002)


def updates_done(partial: Path) -> int:
    with safe_open(partial / "checkpoints" / "latest.safetensors", framework="np") as checkpoint:
        done = re.search(r'"update": (\d+)', checkpoint.metadata()["progression"])
    assert done is not None
    return int(done[1])


def assert_same_as_uninterrupted(store: Path, finished: Workplace) -> None:
    ours, theirs = artifact_files(store), artifact_files(finished.store.root)
    assert {name: theirs[name] for name in ours} == ours
    assert sum(name.endswith("best/model.safetensors") for name in ours) == 4
    assert [path.name for path in store.iterdir() if path.suffix in (".partial", ".lease")] == []


def test_killed_in_mid_training(tmp_path: Path, finished: Workplace) -> None:
    # A name that rich would take for markup.
    folder = tmp_path / "[/odd] name"
    folder.mkdir(parents=True)
    (folder / "tiny.toml").write_text(TINY_STUDY, encoding="utf-8")
    words, store = ("tiny.toml", "--conditions", "default"), folder / "store"
    # In one process, which so is at one model when it is killed, and dies in the midst of it.
    with started("run", *words, "--workers", "1", folder=folder) as process:
        until(lambda: in_training(store), process=process)
        process.kill()
    assert process.returncode == -signal.SIGKILL
    (partial,) = in_training(store)
    done = updates_done(partial)
    assert 0 < done < 80

    plan = isoglot("plan", *words, folder=folder).stdout
    assert re.search(rf"pretraining, default, ela-oru, seed \d +interrupted, {done / 80:.0%} done +10k tokens", plan)
    again = isoglot("run", *words, folder=folder)
    assert (again.returncode, again.stderr) == (0, "")
    assert_same_as_uninterrupted(store, finished)

    (report,) = store.glob("reports/tiny*/report.html")
    assert f"Report: {report}\n" in again.stdout


def test_extra_anchors_killed_in_mid_training(tmp_path: Path) -> None:
    """Words that were changed before are changed again, and no others."""
    for name in ("whole", "killed"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "tiny.toml").write_text(TINY_STUDY, encoding="utf-8")
    words = ("run", "tiny.toml", "--conditions", "extra-anchors", "--seeds", "0")
    with started(*words, "--workers", "1", folder=tmp_path / "killed") as process:
        until(lambda: in_training(tmp_path / "killed" / "store"), process=process)
        process.kill()
    for name in ("whole", "killed"):
        run = isoglot(*words, folder=tmp_path / name)
        assert (run.returncode, run.stderr) == (0, "")
        assert re.search(r"^ Extra anchors( +[0-9.]+){6}", run.stdout, flags=re.MULTILINE)
    ours, theirs = (artifact_files(tmp_path / name / "store") for name in ("killed", "whole"))
    assert ours == theirs
    assert sum("switchable-text" in name and name.endswith("type_N.npy") for name in ours) == 2


@dataclass(frozen=True, kw_only=True)
class Stopped:
    """What Ctrl-C in mid-training leaves."""

    folder: Path
    words: tuple[str, ...]
    code: int
    output: str
    errors: str

    @property
    def store(self) -> Path:
        return self.folder / "my store"


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Stopped:
    folder = tmp_path_factory.mktemp("stopped")
    (folder / "tiny.toml").write_text(TINY_STUDY, encoding="utf-8")
    words = ("run", "tiny.toml", "--store", "my store", "--conditions", "default")
    with started(*words, folder=folder) as process:
        until(lambda: in_training(folder / "my store"), process=process)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=300)
    return Stopped(folder=folder, words=words, code=process.returncode, output=output, errors=errors)


def test_ctrl_c_stops_cleanly_and_says_how_to_go_on(stopped: Stopped) -> None:
    assert (stopped.code, stopped.errors) == (130, "")
    *_, last = stopped.output.splitlines()
    kept, _, command = last.partition(" Go on with: ")
    assert kept == "Stopped; all that was made is kept."
    assert shlex.split(command) == ["isoglot", *stopped.words]
    assert in_training(stopped.store) != []
    assert list(stopped.store.glob("*.lease")) == []


def test_two_processes_at_once_make_everything_once(stopped: Stopped, finished: Workplace, tmp_path: Path) -> None:
    folder, words = tmp_path / "twice", (*stopped.words, "--workers", "1")
    shutil.copytree(stopped.folder, folder)
    with started(*words, folder=folder) as first, started(*words, folder=folder) as second:
        outputs = [process.communicate(timeout=600) for process in (first, second)]
    assert (first.returncode, second.returncode) == (0, 0)
    assert [errors for _, errors in outputs] == ["", ""]
    assert_same_as_uninterrupted(folder / "my store", finished)

    text = "".join(output for output, _ in outputs)
    assert re.search(rf"being made by .*, process ({first.pid}|{second.pid}); waiting for it", text)
    left = max(int(number) for number in re.findall(r"artifacts done, (\d+) to make", text))
    assert left > 4
    made = Counter(re.findall(r"^  (.*): [0-9.]+ s\b", text, flags=re.MULTILINE))
    assert set(made.values()) == {1}
    assert made.total() == left
    tables = re.findall(r"^What the languages.*?(?=^Made|^Nothing)", text, flags=re.MULTILINE | re.DOTALL)
    assert len(tables) == 2
    assert tables[0] == tables[1]
