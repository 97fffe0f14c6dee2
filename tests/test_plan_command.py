"""`isoglot plan` and `isoglot run` say what models will cost before any is begun."""

import re
from pathlib import Path

from commands import Workplace, isoglot
from study_texts import TINY_STUDY


def test_a_plan_with_a_calibration_tells_time_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(TINY_STUDY, encoding="utf-8")
    answer = isoglot("plan", "tiny.toml", "--conditions", "default", "--calibrate", folder=tmp_path)
    assert (answer.returncode, answer.stderr) == (0, "")
    lines = answer.stdout.splitlines()
    header = next(line for line in lines if line.startswith(" Models "))
    assert header.rstrip().endswith("Time here")
    assert re.search(r" 2 +default +about 334 .* \d+ s \(\d.* tokens/s\)", lines[lines.index(header) + 1])
    assert re.search(r"2 models: .* about \d+ s of pretraining here", answer.stdout)
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.toml"]


def test_a_run_tells_the_cost_of_models_it_will_make_and_of_no_others(finished: Workplace) -> None:
    assert re.search(r"^  6 models of 16k to \d+k parameters, 10k tokens each: ", finished.first_output, re.MULTILINE)
    again = isoglot("run", "tiny.toml", folder=finished.folder)
    assert "tokens each" not in again.stdout
    assert "Models" not in isoglot("plan", "tiny.toml", folder=finished.folder).stdout


def test_a_plan_for_the_paper_needs_no_large_machine(tmp_path: Path) -> None:
    top, _, rest = TINY_STUDY.replace('scale = "demo"', 'scale = "paper"').partition("[change]")
    change = "[change]\ndev_lines = 20\ntest_lines = 20\n\n"
    (tmp_path / "large.toml").write_text(top + change + rest[rest.index("[synthetic]") :], encoding="utf-8")
    answer = isoglot("plan", "large.toml", folder=tmp_path)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert re.search(r" 4 +default, no-anchors +about 80k +119M +82G +417k +\d+ of 768 windows", answer.stdout)
