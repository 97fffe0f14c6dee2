"""Figures 5 and 8: the target's scores by a map and without, and the source's own."""

from dataclasses import replace

import pytest

from isoglot.pipeline.measurements import Measurement
from isoglot.report.figures.layer_transfer_figures import layer_transfer_figures
from isoglot.study.searches import NewVectors
from tests.report.made_up_measurements import measured


def scored(condition: str, values: list[float], *, metric: str, language: str, exhibit: str) -> list[Measurement]:
    found = measured(condition, values, metric=metric, exhibit=exhibit, languages=("en", "fr"))
    return [replace(each, task="parsing", language=language) for each in found]


def measurements(exhibit: str) -> list[Measurement]:
    conditions = [("default", ""), ("monolingual" if exhibit == "figure-5" else "default", "_mapped")]
    found: list[Measurement] = []
    for start, (condition, suffix) in enumerate(conditions):
        found += scored(condition, [10.0 + start, 20.0], metric=f"las{suffix}", language="fr", exhibit=exhibit)
        found += scored(condition, [70.0 + start, 80.0], metric=f"las{suffix}", language="en", exhibit=exhibit)
    return found


@pytest.mark.parametrize(
    ("exhibit", "rows"),
    [
        (
            "figure-5",
            {
                "Monolingual, mapped": (11.0, 20.0),
                "Default, both languages in one model": (10.0, 20.0),
                "Monolingual, en itself": (71.0, 80.0),
                "Default, en itself": (70.0, 80.0),
            },
        ),
        (
            "figure-8",
            {
                "Default, both languages in one model": (10.0, 20.0),
                "Default, mapped as well": (11.0, 20.0),
                "Default, en itself": (70.0, 80.0),
            },
        ),
    ],
)
def test_rows(exhibit: str, rows: dict[str, tuple[float, ...]]) -> None:
    (figure,) = layer_transfer_figures(
        [*measurements("figure-5"), *measurements("figure-8")], exhibit=exhibit, new_vectors=NewVectors.ROTATED
    )
    assert {row.label: row.layers for row in figure.rows} == rows
    assert figure.name == f"{exhibit}.parsing.en-fr"
    assert figure.notes[0].endswith("mapped rotated.")
    assert figure.title.startswith(f"Figure {exhibit[-1]}: Parsing transfer")


def test_what_is_not_measured_has_no_figure() -> None:
    assert (
        list(layer_transfer_figures(measurements("figure-5"), exhibit="figure-8", new_vectors=NewVectors.ROTATED)) == []
    )
