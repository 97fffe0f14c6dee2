"""Learning curves: means and ranges of seeds, models of both languages before those of one, never too many points."""

from isoglot.report.figures.line_charts import line_picture
from isoglot.report.training_curves import MOST_POINTS, Curve, learning_curve_figures
from tests.report.svg_pictures import marks

PAIR = ("ela", "oru")


def curve(condition: str, languages: tuple[str, ...], language: str, *values: float, seed: int = 0) -> Curve:
    points = tuple((100 * place, value) for place, value in enumerate(values, start=1))
    return Curve(condition=condition, languages=languages, language=language, seed=seed, points=points)


def test_curves_of_both_and_of_one_language_stand_in_one_order() -> None:
    (figure,) = learning_curve_figures(
        [
            curve("monolingual", ("ela",), "ela", 8.0, 4.0),
            curve("default", PAIR, "ela", 20.0, 10.0),
            curve("default", PAIR, "oru", 30.0, 15.0),
            curve("default", PAIR, "ela", 40.0, 14.0, seed=1),
            curve("monolingual", ("oru",), "oru", 9.0, 5.0),
        ]
    )
    ela, oru = figure.charts
    assert ela.texts == [["Default", "30.0", "12.0"], ["Monolingual", "8.0", "4.0"]]
    assert oru.texts == [["Default", "30.0", "15.0"], ["Monolingual", "9.0", "5.0"]]
    assert next(iter(figure.seed_notes())).endswith("highest. Of one seed: Monolingual.")
    shown = marks(line_picture(figure))
    assert {"series": "Default", "x": 100, "y": 30.0, "low": 20.0, "high": 40.0} in shown
    assert {"series": "Monolingual", "x": 200, "y": 5.0, "low": 5.0, "high": 5.0} in shown


def test_long_curves_keep_their_ends_and_few_points_between() -> None:
    (figure,) = learning_curve_figures([curve("default", ("a", "b"), "a", *(float(1 + each) for each in range(500)))])
    (values,) = figure.charts[0].texts
    assert len(values) == 1 + MOST_POINTS
    assert (values[1], values[-1]) == ("1.0", "500.0")
    assert figure.charts[0].headings[-1] == "50k"


def test_a_second_model_of_a_language_is_explained_where_it_is_shown() -> None:
    curves = [curve("default", PAIR, "oru", 2.0), curve("sep-emb", ("ela", "ela-prime"), "ela-prime", 2.0)]
    plain, second = learning_curve_figures(curves)
    assert plain.notes == []
    assert second.notes[0].startswith("ela' is ela once more")
