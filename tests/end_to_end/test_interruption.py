"""A run that is stopped, however rudely, goes on to the same bytes as one that was not."""

import json
import re
import shlex
import signal
import subprocess
from pathlib import Path

import pytest
from commands import Workplace, isoglot, started, surprising
from killed_processes import artifact_files, descendants, is_running, until
from safetensors import safe_open
from study_texts import TINY_STUDY

TABLES = re.compile(r"^What the languages.*?(?=^Made|^Nothing)", flags=re.MULTILINE | re.DOTALL)


def in_training(store: Path) -> list[Path]:
    """Work folders of models in training that have a checkpoint and are not at their end."""
    found = store.glob("pretrained-encoder-*.partial/checkpoints/latest.safetensors")
    return [path.parents[1] for path in found if not (path.parents[1] / "log.jsonl").exists()]


def is_in_training(store: Path, process: subprocess.Popen[str]) -> bool:
    assert process.poll() is None, "it ended before it could be stopped"
    return in_training(store) != []


def updates_done(partial: Path) -> int:
    with safe_open(partial / "checkpoints" / "latest.safetensors", framework="np") as checkpoint:
        done = re.search(r'update\\*": (\d+)', checkpoint.metadata()["progression"])
    assert done is not None
    return int(done[1])


def workplace(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "tiny.toml").write_text(TINY_STUDY, encoding="utf-8")
    return folder


def killed_in_training(*words: str, folder: Path) -> list[int]:
    """Kill a run in the midst of a model; returns the processes that it had started."""
    with started(*words, folder=folder) as process:
        until(lambda: is_in_training(folder / "store", process))
        children = descendants(process.pid)
        process.kill()
    assert process.returncode == -signal.SIGKILL
    return children


def assert_same_as_uninterrupted(store: Path, finished: Workplace) -> None:
    ours, theirs = artifact_files(store), artifact_files(finished.store.root)
    assert {name: theirs[name] for name in ours} == ours
    assert sum(name.endswith("best/model.safetensors") for name in ours) == 4
    assert [path.name for path in store.iterdir() if path.suffix in (".partial", ".lease")] == []


def test_killed_in_mid_training(tmp_path: Path, finished: Workplace) -> None:
    # A name that rich would take for markup.
    folder = workplace(tmp_path / "[/odd] name")
    words, store = ("tiny.toml", "--conditions", "default"), folder / "store"
    # In one process, which is at one model when it is killed, and dies in the midst of it.
    killed_in_training("run", *words, "--workers", "1", folder=folder)
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


@pytest.mark.parametrize("ending", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.campaign)])
def test_ctrl_c_stops_cleanly_and_says_how_to_go_on(ending: signal.Signals, tmp_path: Path) -> None:
    folder, store = workplace(tmp_path / "stopped"), tmp_path / "stopped" / "my store"
    words = ("run", "tiny.toml", "--store", "my store", "--conditions", "default")
    with started(*words, folder=folder) as process:
        until(lambda: is_in_training(store, process))
        process.send_signal(ending)
        output, errors = process.communicate(timeout=300)
    assert (process.returncode, surprising(errors)) == (130, "")
    *_, last = output.splitlines()
    kept, _, command = last.partition(" Go on with: ")
    assert kept == "Stopped; all that was made is kept."
    assert shlex.split(command) == ["isoglot", *words]
    # The report was there from the beginning, and shows what was made.
    (report,) = store.glob("reports/tiny*")
    assert f"Report so far: {report / 'report.html'}" in output.splitlines()
    provenance = json.loads((report / "provenance.json").read_text())
    assert 0 < provenance["artifacts_done"] < provenance["artifacts"]
    assert in_training(store) != []
    assert list(store.glob("*.lease")) == []


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("conditions", "workers"), [("extra-anchors", "1"), ("default,no-anchors", "2")], ids=["switched words", "workers"]
)
def test_killed_with_its_workers_it_goes_on_to_the_same_bytes(conditions: str, workers: str, tmp_path: Path) -> None:
    """Words that were switched before are switched again, and no others."""
    words = ("run", "tiny.toml", "--conditions", conditions, "--seeds", "0")
    killed, whole = (workplace(tmp_path / name) for name in ("killed", "whole"))
    children = killed_in_training(*words, "--workers", workers, folder=killed)
    assert len(children) >= int(workers) - 1
    until(lambda: not any(map(is_running, children)))
    runs = [isoglot(*words, "--workers", number, folder=at) for at, number in ((killed, workers), (whole, "1"))]
    for run in runs:
        assert run.returncode == 0
        # A machine of one processor, or with little memory left, warns that two do not fit.
        assert re.fullmatch(r"(isoglot: --workers 2: there .* would do.*\n)?", run.stderr)
    ours, theirs = (artifact_files(folder / "store") for folder in (killed, whole))
    assert ours == theirs
    assert any(name.endswith("best/model.safetensors") for name in ours)
    assert any("switchable-text" in name for name in ours) is (conditions == "extra-anchors")
    first, second = (TABLES.findall(run.stdout) for run in runs)
    assert first == second != []
    assert list((killed / "store").glob("*.partial")) == []
