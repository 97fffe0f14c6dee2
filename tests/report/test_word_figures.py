"""Figure 4: coverage stands beside precision, and fastText where there is any."""

from isoglot.pipeline.measurements import Measurement
from isoglot.report.figures.word_figures import word_figures
from tests.report.made_up_measurements import measured, measurement

AT = {"exhibit": "figure-4", "languages": ("en", "fr")}
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


def measurements(*, with_fasttext: bool) -> list[Measurement]:
    single = SINGLE | (FASTTEXT if with_fasttext else {})
    return [
        *measured("monolingual", [1.8, 7.2], metric="contextual_p1", **AT),
        *measured("monolingual", [0.7, 3.5], metric="contextual_p1_to_source", **AT),
        *(measurement("monolingual", value, metric=metric, **AT) for metric, value in single.items()),
    ]


def test_words_are_told_with_their_coverage_and_beside_fasttext() -> None:
    (figure,) = word_figures(measurements(with_fasttext=True))
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
    (figure,) = word_figures(measurements(with_fasttext=False))
    assert figure.references == ()
    assert not [note for note in figure.notes if "fastText" in note or "nan" in note]


def test_few_pairs_and_no_whole_words_are_told() -> None:
    few = [each for each in measurements(with_fasttext=False) if not each.metric.startswith("embedding")]
    few += [
        measurement("monolingual", 20_000, metric="map_dimensions", **AT),
        measurement("monolingual", 0.0, metric="embedding_coverage", **AT),
    ]
    (figure,) = word_figures(few)
    assert figure.notes[1].endswith("one of the dictionaries has no entry whose words are one subword each.")
    assert figure.notes[2].startswith("The map has 20,000 dimensions and was fitted on 10,036 pairs: where no pair")


def test_what_is_not_measured_has_no_figure() -> None:
    assert list(word_figures([])) == []
