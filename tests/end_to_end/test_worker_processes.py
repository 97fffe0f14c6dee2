"""A study that several processes make at once, and that is stopped in the middle, is the study that one makes."""

import re
from pathlib import Path

from commands import isoglot, started
from killed_processes import descendants, is_running
from study_texts import TINY_STUDY

from tests.end_to_end.artifact_files import artifact_files
from tests.end_to_end.test_interruption import in_training, until
from tests.store.test_interruption import until as soon


def test_killed_with_its_workers_and_run_again(tmp_path: Path) -> None:
    for name in ("alone", "together"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "tiny.toml").write_text(TINY_STUDY, encoding="utf-8")
    words = ("run", "tiny.toml", "--conditions", "default,no-anchors", "--seeds", "0")
    with started(*words, "--workers", "2", folder=tmp_path / "together") as process:
        until(lambda: in_training(tmp_path / "together" / "store"), process=process)
        workers = descendants(process.pid)
        process.kill()
    assert len(workers) >= 2
    soon(lambda: not any(map(is_running, workers)))

    runs = {
        name: isoglot(*words, "--workers", number, folder=tmp_path / name)
        for name, number in (("alone", "1"), ("together", "2"))
    }
    assert [run.returncode for run in runs.values()] == [0, 0]
    # A machine of one processor, or with little memory left, is said to be no place for two.
    assert all(re.fullmatch(r"(isoglot: --workers 2: there .* would do.*\n)?", run.stderr) for run in runs.values())
    alone, together = (artifact_files(tmp_path / name / "store") for name in runs)
    assert alone == together
    assert sum(name.endswith("best/model.safetensors") for name in alone) >= 2
    tables = [
        re.search(r"^What the languages.*?(?=^Made)", run.stdout, re.MULTILINE | re.DOTALL) for run in runs.values()
    ]
    assert tables[0] is not None
    assert tables[1] is not None
    assert tables[0][0] == tables[1][0]
    assert list((tmp_path / "together" / "store").glob("*.partial")) == []
