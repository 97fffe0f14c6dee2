"""Figures by layer: which rows they have, and what they say of the paper."""

from dataclasses import replace

import pytest

from isoglot.pipeline.measurements import Measurement
from isoglot.report.figures.layer_figures import layer_figures, layer_transfer_figures, word_figures
from isoglot.report.figures.layer_series import LayerFigure
from isoglot.study.searches import NewVectors
from tests.report.made_up_measurements import measured, measurement

EN_FR = ("en", "fr")


def of_figure_6(languages: tuple[str, str] = EN_FR) -> list[Measurement]:
    at = {"exhibit": "figure-6", "languages": languages}
    return [
        *measured("monolingual", [40.0, 60.0, 20.0], metric="aligned_retrieval_p1", **at),
        *measured("monolingual", [4.0, 3.0, 2.0], metric="aligned_retrieval_p1", variant="untrained", **at),
        *measured("default", [80.0, 70.0, 50.0], metric="aligned_retrieval_p1", **at),
        measurement("monolingual", 0.5, metric="aligned_retrieval_p1_chance", **at),
        measurement("monolingual", 10_000, metric="fitted_pairs", **at),
    ]


def of_figure_7(languages: tuple[str, str] = EN_FR, *, states: int = 3) -> list[Measurement]:
    at = {"exhibit": "figure-7", "languages": languages}
    return [
        *measured("default", [0.8, 0.9, 0.7][:states] + [0.7] * (states - 3), metric="cka", **at),
        *measured("monolingual", [0.5, 0.7, 0.3][:states] + [0.3] * (states - 3), metric="cka", **at),
        *measured("monolingual", [0.2] * states, metric="cka", variant="untrained", **at),
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


WORDS_AT = {"exhibit": "figure-4", "languages": ("en", "fr")}
SINGLE = {
    "contextual_asked": 1407,
    "embedding_asked": 419,
    "contextual_coverage": 87.0,
    "contextual_fitted_pairs": 10036,
    "embedding_coverage": 18.2,
    "embedding_fitted_pairs": 5560,
    "embedding_p1": 4.5,
    "embedding_p5": 15.0,
    "embedding_p10": 22.0,
    "embedding_p1_to_source": 4.1,
}
FASTTEXT = {
    "fasttext_of_contextual_words_p1": 33.6,
    "fasttext_of_contextual_words_p1_to_source": 19.4,
    "fasttext_of_embedding_words_p1": 46.3,
    "fasttext_of_embedding_words_p1_to_source": 32.2,
}


def of_figure_4(*, with_fasttext: bool) -> list[Measurement]:
    single = SINGLE | (FASTTEXT if with_fasttext else {})
    return [
        *measured("monolingual", [1.8, 7.2], metric="contextual_p1", **WORDS_AT),
        *measured("monolingual", [0.7, 3.5], metric="contextual_p1_to_source", **WORDS_AT),
        *(measurement("monolingual", value, metric=metric, **WORDS_AT) for metric, value in single.items()),
    ]


def test_words_are_told_with_their_coverage_and_beside_fasttext() -> None:
    (figure,) = word_figures(of_figure_4(with_fasttext=True))
    assert [(row.label, row.layers) for row in figure.rows] == [
        ("Monolingual, en to fr by CSLS", (1.8, 7.2)),
        ("Monolingual, fr to en by CSLS", (0.7, 3.5)),
    ]
    # A line of either direction is held against fastText's in the same.
    assert figure.references == (("fastText, en to fr", 33.6), ("fastText, fr to en", 19.4))
    averaged, rows = figure.notes
    assert "1,407 words asked, 87.0% of the test pairs covered, map fitted on 10,036; fastText on the same " in averaged
    assert "words 33.6, back 19.4 (its trainings differ)" in averaged
    assert "precision 4.5 at 1, 15.0 at 5, 22.0 at 10, back 4.1; 419 words asked, 18.2% of the test pairs" in rows


def test_without_a_baseline_nothing_is_said_of_it() -> None:
    (figure,) = word_figures(of_figure_4(with_fasttext=False))
    assert figure.references == ()
    assert not [note for note in figure.notes if "fastText" in note or "nan" in note]


def test_few_pairs_and_no_whole_words_are_told() -> None:
    few = [each for each in of_figure_4(with_fasttext=False) if not each.metric.startswith("embedding")]
    few += [
        measurement("monolingual", 20_000, metric="map_dimensions", **WORDS_AT),
        measurement("monolingual", 0.0, metric="embedding_coverage", **WORDS_AT),
    ]
    (figure,) = word_figures(few)
    assert figure.notes[1].endswith("one of the dictionaries has no entry whose words are one subword each.")
    assert figure.notes[2].startswith("The map has 20,000 dimensions and was fitted on 10,036 pairs: where no pair")


def test_words_that_are_not_measured_have_no_figure() -> None:
    assert list(word_figures([])) == []


def scored(
    condition: str, values: list[float], *, variant: str | None, language: str, exhibit: str
) -> list[Measurement]:
    found = measured(condition, values, metric="las", variant=variant, exhibit=exhibit, languages=("en", "fr"))
    return [replace(each, task="parsing", language=language) for each in found]


def of_tasks(exhibit: str) -> list[Measurement]:
    conditions = [("default", None), ("monolingual" if exhibit == "figure-5" else "default", "mapped")]
    found: list[Measurement] = []
    for start, (condition, variant) in enumerate(conditions):
        found += scored(condition, [10.0 + start, 20.0], variant=variant, language="fr", exhibit=exhibit)
        found += scored(condition, [70.0 + start, 80.0], variant=variant, language="en", exhibit=exhibit)
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
def test_tasks_have_the_targets_scores_and_the_sources_own(exhibit: str, rows: dict[str, tuple[float, ...]]) -> None:
    (figure,) = layer_transfer_figures(
        [*of_tasks("figure-5"), *of_tasks("figure-8")], exhibit=exhibit, new_vectors=NewVectors.ROTATED
    )
    assert {row.label: row.layers for row in figure.rows} == rows
    assert figure.name == f"{exhibit}.parsing.en-fr"
    assert figure.notes[0].endswith("mapped rotated.")
    assert figure.title.startswith(f"Figure {exhibit[-1]}: Parsing transfer")


def test_tasks_that_are_not_measured_have_no_figure() -> None:
    assert list(layer_transfer_figures(of_tasks("figure-5"), exhibit="figure-8", new_vectors=NewVectors.ROTATED)) == []
