"""Figures for people: which rows they have, and what they say of the paper."""

import pytest

from isoglot.pipeline.measurements import Measurement
from isoglot.report.figures.layer_figures import layer_figures
from isoglot.report.figures.layer_series import LayerFigure
from isoglot.study.searches import NewVectors
from tests.report.made_up_measurements import measured, measurement

EN_FR = ("en", "fr")


def of_figure_6(languages: tuple[str, str] = EN_FR) -> list[Measurement]:
    at = {"exhibit": "figure-6", "languages": languages}
    return [
        *measured("monolingual", [40.0, 60.0, 20.0], metric="aligned_retrieval_p1", **at),
        *measured("monolingual", [4.0, 3.0, 2.0], metric="aligned_retrieval_p1_untrained", **at),
        *measured("default", [80.0, 70.0, 50.0], metric="aligned_retrieval_p1", **at),
        measurement("monolingual", 0.5, metric="aligned_retrieval_p1_chance", **at),
        measurement("monolingual", 10_000, metric="fitted_pairs", **at),
    ]


def of_figure_7(languages: tuple[str, str] = EN_FR, *, states: int = 3) -> list[Measurement]:
    at = {"exhibit": "figure-7", "languages": languages}
    return [
        *measured("default", [0.8, 0.9, 0.7][:states] + [0.7] * (states - 3), metric="cka", **at),
        *measured("monolingual", [0.5, 0.7, 0.3][:states] + [0.3] * (states - 3), metric="cka", **at),
        *measured("monolingual", [0.2] * states, metric="cka_untrained", **at),
        *measured("monolingual", [0.6] * states, metric="svcca", **at),
    ]


def only(measurements: list[Measurement]) -> LayerFigure:
    (figure,) = layer_figures(measurements, new_vectors=NewVectors.CENTRED)
    return figure


def test_rows_are_models_of_both_then_of_one_each_then_untrained() -> None:
    figure = only(of_figure_6())
    assert [row.label for row in figure.rows] == ["Default", "Monolingual", "Monolingual, fr untrained"]
    assert [figure.summary_text(row) for row in figure.rows] == ["80.0", "60.0", "4.0"]
    assert figure.references == (("chance", 0.5),)
    assert "10,000 other sentences; these are mapped centred." in figure.notes[0]


def test_similarity_is_summed_up_by_its_mean_over_layers() -> None:
    figure = only(of_figure_7())
    assert [figure.summary_text(row) for row in figure.rows] == ["0.80", "0.50", "0.20"]
    assert figure.notes == (
        "Mean SVCCA over layers, how far the main directions of both agree, whatever way they are turned: "
        "Monolingual 0.60.",
    )


def test_sentences_that_were_cut_are_told() -> None:
    at = {"metric": "sentences_cut", "exhibit": "figure-7", "languages": EN_FR}
    whole, cut = measurement("default", 0.0, **at), measurement("monolingual", 2.34, **at)
    assert only([*of_figure_7(), whole]).notes[0].startswith("Mean SVCCA")
    assert only([*of_figure_7(), whole, cut]).notes[0] == "Sentences cut at the end of a window: fr 2.3%."
    more = measurement("default", 1.0, **at)
    assert only([*of_figure_7(), more, cut]).notes[0].endswith("fr 1.0% (Default); fr 2.3% (Monolingual).")


def test_the_papers_rows_stand_beside_ours_where_models_are_as_deep() -> None:
    assert not [row for row in only(of_figure_7()).rows if row.label.startswith("paper")]
    ours = only(of_figure_7(states=9))
    published = [row for row in ours.rows if row.label.startswith("paper")]
    assert [(row.label, ours.summary_text(row)) for row in published] == [
        ("paper: bilingual", "0.69"),
        ("paper: monolingual", "0.58"),
        ("paper: untrained", "0.45"),
    ]
    assert not [row for row in only(of_figure_7(("ela", "oru"), states=9)).rows if row.label.startswith("paper")]


def test_similarity_is_correlated_with_retrieval_of_the_same_models() -> None:
    _, figure = layer_figures([*of_figure_6(), *of_figure_7()], new_vectors=NewVectors.CENTRED)
    # Of one language each, CKA is 0.1 + retrieval / 100; of both, worked by hand.
    assert figure.notes[0].endswith("Default 0.65; Monolingual 1.00; Monolingual, fr untrained undefined.")


def test_a_language_and_its_second_model_are_shown_as_the_paper_writes_them() -> None:
    assert only(of_figure_7(("en", "en-prime"))).title == "Figure 7: CKA similarity of parallel sentences (en-en')"


@pytest.mark.parametrize("several", [True, False])
def test_several_seeds_have_a_range(several: bool) -> None:
    more = measured("default", [60.0, 50.0, 40.0], metric="aligned_retrieval_p1", exhibit="figure-6", seed=1)
    more = [each for each in more if several]
    figure = only([*of_figure_6(("ela", "oru")), *more])
    assert figure.summary_text(figure.rows[0]) == ("70.0 (60.0-80.0)" if several else "80.0")
