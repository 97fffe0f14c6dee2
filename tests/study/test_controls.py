"""A control differs from the study it is a control of in nothing but what it is about."""

from pathlib import Path

from isoglot.study.study import read_study

STUDIES = Path(__file__).parents[2] / "studies"


def test_the_control_for_a_laptop_has_the_budget_that_the_results_name() -> None:
    control = read_study(STUDIES / "control-capacity.toml")
    assert (control.scale.shape.layers, control.scale.shape.width) == (4, 64)
    assert round(control.scale.tokens / 1e6) == 41
