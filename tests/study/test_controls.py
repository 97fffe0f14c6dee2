"""A control differs from the study it is a control of in nothing but what it is about."""

from dataclasses import fields, replace
from pathlib import Path

import pytest

from isoglot.study.real_text import RealText
from isoglot.study.study import Study, read_study

STUDIES = Path(__file__).parents[2] / "studies"
REPLICATION = read_study(STUDIES / "replication.toml")


def differing(control: Study) -> set[str]:
    """Settings of scale and shape that are not the replication's."""
    scale, other = control.scale, REPLICATION.scale
    shape = {f"shape.{each.name}" for each in fields(scale.shape) if _differ(scale.shape, other.shape, each.name)}
    rest = replace(scale, shape=other.shape)
    return shape | {each.name for each in fields(rest) if _differ(rest, other, each.name)}


def _differ(one: object, other: object, name: str) -> bool:
    return bool(getattr(one, name) != getattr(other, name))


@pytest.mark.parametrize(
    ("name", "about"),
    [
        ("control-domain", set()),
        ("control-size", set()),
        ("control-tokens", {"updates"}),
        ("control-width", {"shape.width", "shape.feed_forward"}),
    ],
)
def test_a_control_changes_what_it_is_about(name: str, about: set[str]) -> None:
    control = read_study(STUDIES / f"{name}.toml")
    assert differing(control) == about
    assert isinstance(control.text, RealText)
    assert isinstance(REPLICATION.text, RealText)
    assert control.text.main.items() <= REPLICATION.text.main.items()
    shared = control.text.resources.keys() & REPLICATION.text.resources.keys()
    assert shared
    assert all(control.text.resources[key] == REPLICATION.text.resources[key] for key in shared)


def test_the_control_of_tokens_has_four_times_the_updates_and_that_of_width_half_of_it() -> None:
    assert read_study(STUDIES / "control-tokens.toml").scale.tokens == 4 * REPLICATION.scale.tokens
    assert 2 * read_study(STUDIES / "control-width.toml").scale.shape.width == REPLICATION.scale.shape.width


def test_the_control_for_a_laptop_has_the_budget_that_the_results_name() -> None:
    control = read_study(STUDIES / "control-capacity.toml")
    assert (control.scale.shape.layers, control.scale.shape.width) == (4, 64)
    assert round(control.scale.tokens / 1e6) == 41
