"""Damage on the disk is noticed where it would be used, and its message names the repair."""

import re
import shutil
from pathlib import Path

from commands import Workplace, answered

from tests.killed_processes import artifact_files


def cut_short(folder: Path) -> None:
    """The state in which a kill leaves an artifact before its record is written."""
    partial = folder.rename(folder.with_name(folder.name + ".partial"))
    (partial / "record.json").unlink()
    for path in partial.glob("*.txt"):
        path.write_bytes(path.read_bytes()[:100])


def test_damaged_weights_half_written_artifacts_and_a_damaged_score(finished: Workplace, tmp_path: Path) -> None:
    shutil.copytree(finished.folder, tmp_path / "copy")
    folder, store = tmp_path / "copy", tmp_path / "copy" / "store"
    for score in store.glob("emergence-*"):
        shutil.rmtree(score)
    # Trained, but not recorded; and text cut off in the middle.
    damaged, unrecorded, *_ = sorted(store.glob("pretrained-encoder-*"))
    cut_short(unrecorded)
    cut_short(next(iter(store.glob("parallel-text-*"))))
    weights = damaged / "best" / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-5] ^= 1
    weights.write_bytes(content)

    answer = answered("run", "tiny.toml", folder=folder)
    assert answer.returncode == 1
    repair = f"{weights} is corrupted (its sha256 has changed): delete the folder {damaged} and run again to remake it"
    assert repair in answer.stderr
    assert "Traceback" not in answer.stderr
    # The training that was not recorded has no sums of its files, and is done again.
    assert f"{unrecorded.name}.partial/best/model.json is not as it was written" in answer.stderr
    assert "isoglot: 1 failed, 0 skipped because of that:\n  retrieval, " in answer.stderr
    # All the rest was made: what was half written, and the scores of the other models.
    assert re.search(r"^Made 13 artifacts in .*, reused 47\.$", answer.stdout, flags=re.MULTILINE)
    assert repair in answer.stdout

    shutil.rmtree(damaged)
    again = answered("run", "tiny.toml", folder=folder)
    assert (again.returncode, again.stderr) == (0, "")
    assert re.search(r"^Made 2 artifacts in .*, reused 59\.$", again.stdout, flags=re.MULTILINE)
    assert artifact_files(store) == artifact_files(finished.store.root)

    scores = sorted(store.glob("emergence-*/scores.json"))[0]
    scores.write_text(scores.read_text()[:-20])
    shown = answered("results", "tiny.toml", "--json", folder=folder)
    assert shown.returncode == 1
    assert f"delete the folder {scores.parent} and run again" in shown.stderr
    assert "Traceback" not in shown.stderr
