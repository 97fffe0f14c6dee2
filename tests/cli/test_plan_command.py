"""`isoglot plan` and `isoglot run` say what models will cost before any is begun."""

import re
from pathlib import Path

import pytest
from commands import Workplace, answered
from study_texts import TINY_STUDY

from isoglot.machine import PROCESSES_VARIABLE
from isoglot.pretraining.footprint import MICRO_BATCH_VARIABLE


def test_a_plan_with_a_calibration_tells_time_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(TINY_STUDY, encoding="utf-8")
    answer = answered("plan", "tiny.toml", "--conditions", "default", "--calibrate", folder=tmp_path)
    assert (answer.returncode, answer.stderr) == (0, "")
    lines = answer.stdout.splitlines()
    assert lines[0] == "timing 1 size of model here ..."
    assert re.search(
        r"^ pretraining, default, ela-oru, seed 1 +to do +10k tokens +\d+ s *$", answer.stdout, re.MULTILINE
    )
    block = lines[lines.index("2 models: default") :]
    assert re.fullmatch(r"  time here  \d+ s each \(\d\S* tokens/s\)", block[6])
    assert re.fullmatch(r"about \d+ s of pretraining here, one after the other", block[8])
    assert re.search(r"about \d+ s one after the other, \d+ s of it guessed for two CPU cores", block[9])
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.toml"]


def test_a_run_tells_the_cost_of_models_it_will_make_and_of_no_others(finished: Workplace) -> None:
    assert re.search(r"^  6 models of 16k to \d+k parameters, 10k tokens each: ", finished.first_output, re.MULTILINE)
    again = answered("run", "tiny.toml", folder=finished.folder)
    assert "tokens each" not in again.stdout
    assert "subwords" not in answered("plan", "tiny.toml", folder=finished.folder).stdout


def test_a_plan_for_the_paper_needs_no_large_machine(tmp_path: Path) -> None:
    top, _, rest = TINY_STUDY.replace('scale = "demo"', 'scale = "paper"').partition("[change]")
    change = "[change]\ndev_lines = 20\ntest_lines = 20\n\n"
    (tmp_path / "large.toml").write_text(top + change + rest[rest.index("[synthetic]") :], encoding="utf-8")
    answer = answered("plan", "large.toml", folder=tmp_path)
    assert (answer.returncode, answer.stderr) == (0, "")
    lines = answer.stdout.splitlines()
    _, size, training, at_once, *_ = lines[lines.index("4 models: default, no-anchors") :]
    assert size == "  size       about 80k subwords, 119M parameters"
    assert training == "  training   82G tokens each in 417k updates"
    assert re.fullmatch(r"  at once    \d+ of 768 windows", at_once)


@pytest.mark.parametrize("variable", [MICRO_BATCH_VARIABLE, PROCESSES_VARIABLE])
def test_a_mistake_in_the_environment_is_told_before_anything_else(variable: str, tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(TINY_STUDY, encoding="utf-8")
    answer = answered("plan", "tiny.toml", folder=tmp_path, **{variable: "abc"})
    assert (answer.returncode, answer.stdout) == (1, "")
    assert answer.stderr.startswith(f"isoglot: {variable}='abc' is no number of ")
