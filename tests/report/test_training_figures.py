"""Training over updates: means and ranges of seeds, one colour for one kind of model, never too many points."""

from dataclasses import replace

import pytest

from isoglot.pipeline.cells import TRAINING
from isoglot.pipeline.measurements import Measurement
from isoglot.report.figures.training_figures import MOST_POINTS, learning_curve_figures, structure_figures
from isoglot.report.training_curves import Curve
from tests.report.made_up_measurements import measurement
from tests.report.svg_pictures import marks


def curve(condition: str, languages: tuple[str, ...], language: str, *values: float, seed: int = 0) -> Curve:
    points = tuple((100 * place, value) for place, value in enumerate(values, start=1))
    return Curve(condition=condition, languages=languages, language=language, seed=seed, points=points)


def moment(condition: str, value: float, *, update: int, layer: int, metric: str, seed: int = 0) -> Measurement:
    found = measurement(condition, value, metric=metric, exhibit=TRAINING, layer=layer, seed=seed)
    return replace(found, update=update)


def test_curves_of_both_and_of_one_language_stand_in_one_order() -> None:
    pair = ("ela", "oru")
    (figure,) = learning_curve_figures(
        [
            curve("monolingual", ("ela",), "ela", 8.0, 4.0),
            curve("default", pair, "ela", 20.0, 10.0),
            curve("default", pair, "oru", 30.0, 15.0),
            curve("default", pair, "ela", 40.0, 14.0, seed=1),
            curve("monolingual", ("oru",), "oru", 9.0, 5.0),
        ]
    )
    ela, oru = figure.charts
    assert [line.label for line in ela.series] == [line.label for line in oru.series] == ["Default", "Monolingual"]
    assert ela.series[0].values == [30.0, 12.0]
    assert ela.series[0].ranges == [(20.0, 40.0), (10.0, 14.0)]
    assert oru.series[0].ranges == [None, None]
    assert figure.has_several == {"Default": True, "Monolingual": False}
    shown = marks(figure.picture)
    assert {"series": "Default", "x": 100, "y": 30.0, "low": 20.0, "high": 40.0} in shown
    assert {"series": "Monolingual", "x": 200, "y": 5.0, "low": 5.0, "high": 5.0} in shown


def test_long_curves_keep_their_ends_and_few_points_between() -> None:
    (figure,) = learning_curve_figures([curve("default", ("a", "b"), "a", *(float(1 + each) for each in range(500)))])
    values = figure.charts[0].series[0].values
    assert len(values) == MOST_POINTS
    assert (values[0], values[-1]) == (1.0, 500.0)


def test_structure_is_the_best_layer_of_retrieval_and_the_mean_of_cka() -> None:
    found = [
        *(
            moment("default", value, update=10, layer=layer, metric="retrieval_p1")
            for layer, value in ((0, 5.0), (1, 9.0))
        ),
        *(
            moment("default", value, update=20, layer=layer, metric="retrieval_p1")
            for layer, value in ((0, 60.0), (1, 50.0))
        ),
        *(moment("default", value, update=20, layer=layer, metric="cka") for layer, value in ((0, 0.2), (1, 0.6))),
        replace(measurement("default", 0.5, metric="retrieval_p1_chance", exhibit=TRAINING), update=None),
    ]
    (figure,) = structure_figures(found)
    retrieval, cka = figure.charts
    assert retrieval.series[0].values == [9.0, 60.0]
    assert retrieval.references[0].value == 0.5
    assert cka.series[0].values == pytest.approx([0.4])
    assert figure.name == "training.ela-oru"


def test_what_is_of_no_moment_is_no_structure_over_training() -> None:
    assert list(structure_figures([measurement("default", 5.0, metric="retrieval_p1", layer=0)])) == []


def test_a_second_model_of_a_language_is_explained_where_it_is_shown() -> None:
    prime = ("ela", "ela-prime")
    curves = [curve("default", ("ela", "oru"), "oru", 2.0), curve("sep-emb", prime, "ela-prime", 2.0)]
    plain, second = learning_curve_figures(curves)
    assert plain.notes == ()
    assert second.notes[0].startswith("ela' is ela once more")


def test_cka_is_not_shown_without_saying_where_it_starts() -> None:
    retrieved = moment("default", 4.0, update=100, layer=0, metric="retrieval_p1")
    (figure,) = structure_figures([retrieved])
    assert figure.notes == ()
    (figure,) = structure_figures([retrieved, moment("default", 0.9, update=100, layer=0, metric="cka")])
    assert "CKA can be high before any training" in figure.notes[0]
