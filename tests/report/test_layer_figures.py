"""Figures by layer: which lines they have, and what they say of the paper."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.pipeline.measurements import Measurement
from isoglot.report.figures.layer_figures import layer_figures, layer_transfer_figures, word_figures
from isoglot.report.figures.line_charts import LineChart, LineFigure
from isoglot.report.findings.layer_scores import Line, panels, pearson
from isoglot.study.searches import NewVectors
from tests.report.made_up_measurements import measured, measurement

EN_FR = ("en", "fr")
RETRIEVAL = "aligned_retrieval_p1"
NUMBERS = st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=2, max_size=12)


@given(NUMBERS)
def test_pearson_is_numpys(pairs: list[tuple[int, int]]) -> None:
    x, y = ([float(value) for value in column] for column in zip(*pairs, strict=True))
    if len(pairs) < 3 or len(set(x)) == 1 or len(set(y)) == 1:
        assert pearson(x, y) is None
    else:
        assert pearson(x, y) == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-9)


def test_a_line_gathers_layers_of_every_seed() -> None:
    here, of_task, elsewhere = panels(
        [
            *measured("default", [1.0, 3.0], seed=0),
            *measured("default", [5.0, 4.0], seed=1),
            *measured("sep-emb", [8.0, 8.0], seed=0),
            *measured("default", [7.0, 7.0], seed=0, languages=("ela", "tam")),
            *measured("default", [6.0, 6.0], seed=0, metric="other"),
            *(replace(each, task="ner") for each in measured("default", [9.0, 9.0], seed=2)),
        ],
        "emergence",
    )
    assert (of_task.task, elsewhere.languages) == ("ner", ("ela", "tam"))
    (found,) = here.lines((name, ("retrieval_p1", name, None)) for name in ("default", "no-anchors"))
    assert found == Line(label="default", by_seed=({0: 1.0, 1: 3.0}, {0: 5.0, 1: 4.0}))
    assert (found.layers, found.best, found.means) == ((3.0, 3.5), [3.0, 5.0], [2.0, 4.5])


def test_layers_that_are_wanting_keep_their_places() -> None:
    line = Line(label="Default", by_seed=({0: 1.0, 2: 3.0}, {2: 5.0, 4: 7.0}))
    assert line.layers == (1.0, None, 4.0, None, 7.0)
    assert (line.best, line.means) == ([3.0, 7.0], [2.0, 6.0])
    whole = Line.of("Whole", [1.0, 2.0, 4.0, 0.0, 3.0, 9.0])
    chart = LineChart(title="x", series=[line, whole], y_title="%", decimals=1, columns={"best": ["a", "b"]})
    assert chart.headings == ["L0", "L1", "L2", "L3", "L4", "L5", "best"]
    assert chart.texts == [
        ["Default", "1.0", "-", "4.0", "-", "7.0", "-", "a"],
        ["Whole", "1.0", "2.0", "4.0", "0.0", "3.0", "9.0", "b"],
    ]
    # By the layers that both have: 1, 4, 7 and 1, 4, 3.
    assert pearson(line.layers, whole.layers) == pytest.approx(np.corrcoef([1, 4, 7], [1, 4, 3])[0, 1])


def of_figure_6(languages: tuple[str, str] = EN_FR) -> list[Measurement]:
    at = {"exhibit": "figure-6", "languages": languages}
    return [
        *measured("monolingual", [40.0, 60.0, 20.0], metric=RETRIEVAL, **at),
        *measured("monolingual", [4.0, 3.0, 2.0], metric=RETRIEVAL, variant="untrained", **at),
        *measured("default", [80.0, 70.0, 50.0], metric=RETRIEVAL, **at),
        *measured("default", [5.0, 6.0, 4.0], metric=RETRIEVAL, variant="untrained", **at),
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


def only(measurements: list[Measurement]) -> LineFigure:
    (figure,) = layer_figures(measurements, new_vectors=NewVectors.CENTRED)
    return figure


def summed_up(figure: LineFigure) -> dict[str, str]:
    return {texts[0]: texts[-1] for texts in figure.charts[0].texts}


def test_lines_are_models_of_both_then_of_one_each_then_untrained() -> None:
    figure = only(of_figure_6())
    best = {"Default": "80.0", "Monolingual": "60.0", "Default, untrained": "6.0", "Monolingual, fr untrained": "4.0"}
    assert list(summed_up(figure).items()) == list(best.items())
    assert figure.charts[0].references == {"chance": 0.5}
    (note,) = figure.notes
    assert "10,000 other sentences; these are mapped centred." in note
    more = measured("default", [60.0, 50.0, 40.0], metric="aligned_retrieval_p1", exhibit="figure-6", seed=1)
    several = only([*of_figure_6(("ela", "oru")), *more])
    assert summed_up(several)["Default"] == "70.0 (60-80)"
    assert several.notes[-1].startswith("Means over seeds; best is each seed's own")


def test_the_same_models_stand_beside_it_without_a_map() -> None:
    at = {"metric": "retrieval_p1", "languages": EN_FR}
    without_map = [
        *measured("default", [30.0, 20.0, 10.0], seed=0, **at),
        *measured("default", [9.0, 9.0, 9.0], seed=1, **at),
        *measured("default", [2.0, 1.0, 1.0], seed=0, variant="untrained", **at),
        *measured("sep-emb", [8.0, 8.0, 8.0], seed=0, **at),
    ]
    mapped, as_they_are = only([*of_figure_6(), *without_map]).charts
    assert (mapped.title, as_they_are.title) == ("After a map", "Without a map")
    # Neither a seed nor a condition that has no map.
    assert [line.layers for line in as_they_are.series] == [(30.0, 20.0, 10.0), (2.0, 1.0, 1.0)]
    assert as_they_are.references == mapped.references == {"chance": 0.5}
    assert {mapped.caption, as_they_are.caption} == {
        f"Precision at 1 (%) {kind}, by layer" for kind in ("after a map", "without a map")
    }


def test_similarity_is_summed_up_by_its_mean_over_layers() -> None:
    figure = only(of_figure_7(("en", "en-prime")))
    assert figure.title == "Figure 7: CKA similarity of parallel sentences (en-en')"
    assert list(summed_up(figure).values()) == ["0.80", "0.50", "0.20"]
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


def test_the_papers_lines_stand_beside_ours_where_models_are_as_deep() -> None:
    papers = {"paper: bilingual": "0.69", "paper: monolingual": "0.58", "paper: untrained": "0.45"}
    figure = only(of_figure_7(states=9))
    assert papers.items() <= summed_up(figure).items()
    assert figure.charts[0].published == [3, 4, 5]
    for ours in (of_figure_7(), of_figure_7(("ela", "oru"), states=9)):
        assert not only(ours).charts[0].published


def test_similarity_is_correlated_with_retrieval_of_the_same_models() -> None:
    _, figure = layer_figures([*of_figure_6(), *of_figure_7()], new_vectors=NewVectors.CENTRED)
    # Of one language each, CKA is 0.1 + retrieval / 100; of both, worked by hand.
    assert figure.notes[0].endswith("Default 0.65; Monolingual 1.00; Monolingual, fr untrained undefined.")


WORDS_AT = {"exhibit": "figure-4", "languages": ("en", "fr")}
SINGLE = {
    **{"contextual_asked": 1407, "contextual_coverage": 87.0, "contextual_fitted_pairs": 10036},
    **{"embedding_asked": 419, "embedding_coverage": 18.2, "embedding_fitted_pairs": 5560},
    **{"embedding_p1": 4.5, "embedding_p5": 15.0, "embedding_p10": 22.0},
}
FASTTEXT = {"fasttext_of_contextual_words_p1": 33.6, "fasttext_of_embedding_words_p1": 46.3}


def of_figure_4(*, with_fasttext: bool) -> list[Measurement]:
    single = SINGLE | (FASTTEXT if with_fasttext else {})
    return [
        *measured("monolingual", [1.8, 7.2], metric="contextual_p1", **WORDS_AT),
        *measured("monolingual", [0.7, 3.5], metric="contextual_p1_cosine", **WORDS_AT),
        *(measurement("monolingual", value, metric=metric, **WORDS_AT) for metric, value in single.items()),
    ]


def test_words_are_told_with_their_coverage_and_beside_fasttext() -> None:
    (figure,) = word_figures(of_figure_4(with_fasttext=True))
    (chart,) = figure.charts
    assert [(line.label, line.layers) for line in chart.series] == [
        ("Monolingual, en to fr by CSLS", (1.8, 7.2)),
        ("Monolingual, en to fr by cosine", (0.7, 3.5)),
    ]
    assert chart.references == {"fastText, en to fr": 33.6}
    averaged, rows = figure.notes
    assert "1,407 words asked, 87.0% of the test pairs covered, map fitted on 10,036; fastText on the same " in averaged
    assert "words 33.6 (its trainings differ)" in averaged
    assert "precision 4.5 at 1, 15.0 at 5, 22.0 at 10; 419 words asked, 18.2% of the test pairs" in rows
    (figure,) = word_figures(of_figure_4(with_fasttext=False))
    assert figure.charts[0].references == {}
    assert not [note for note in figure.notes if "fastText" in note]
    assert list(word_figures([])) == []


def test_few_pairs_and_no_whole_words_are_told() -> None:
    few = [each for each in of_figure_4(with_fasttext=False) if not each.metric.startswith("embedding")]
    few += [
        measurement("monolingual", 20_000, metric="map_dimensions", **WORDS_AT),
        measurement("monolingual", 0.0, metric="embedding_coverage", **WORDS_AT),
    ]
    (figure,) = word_figures(few)
    assert figure.notes[1].endswith("one of the dictionaries has no entry whose words are one subword each.")
    assert figure.notes[2].startswith("The map has 20,000 dimensions and was fitted on 10,036 pairs: where no pair")


def of_tasks(exhibit: str) -> list[Measurement]:
    mapped = [("monolingual", "mapped"), ("monolingual", "untrained")]
    conditions = [("default", None), *(mapped if exhibit == "figure-5" else [("default", "mapped")])]
    return [
        replace(each, task="parsing", language=language)
        for start, (condition, variant) in enumerate(conditions)
        for language, values in (("fr", [10.0 + start, 20.0]), ("en", [70.0 + start, 80.0]))
        for each in measured(condition, values, metric="las", variant=variant, exhibit=exhibit, languages=EN_FR)
    ]


OF_DEFAULT = {"Default, both languages in one model": (10.0, 20.0), "Default, en itself": (70.0, 80.0)}


@pytest.mark.parametrize(
    ("exhibit", "others"),
    [
        (
            "figure-5",
            {
                "Monolingual, mapped": (11.0, 20.0),
                "Monolingual, en itself": (71.0, 80.0),
                "Monolingual, fr untrained, mapped": (12.0, 20.0),
            },
        ),
        ("figure-8", {"Default, mapped as well": (11.0, 20.0)}),
    ],
)
def test_tasks_have_the_targets_scores_and_the_sources_own(exhibit: str, others: dict[str, tuple[float, ...]]) -> None:
    found = [*of_tasks("figure-5"), *of_tasks("figure-8")]
    (figure,) = layer_transfer_figures(found, exhibit=exhibit, new_vectors=NewVectors.ROTATED)
    assert {line.label: line.layers for line in figure.charts[0].series} == OF_DEFAULT | others
    assert figure.name == f"{exhibit}.parsing.en-fr"
    assert figure.notes[0].endswith("mapped rotated.")
    assert figure.title.startswith(f"Figure {exhibit[-1]}: Parsing transfer")
    elsewhere = [each for each in found if each.exhibit != exhibit]
    assert list(layer_transfer_figures(elsewhere, exhibit=exhibit, new_vectors=NewVectors.ROTATED)) == []
