"""Figure 4a: a bar for each direction and its fastText, and none where nothing was measured."""

from isoglot.report.figures.embedding_bars import embedding_bars
from tests.report.made_up_measurements import measurement
from tests.report.svg_pictures import hovers, parsed, texts
from tests.report.test_word_figures import measurements


def test_embeddings_stand_beside_fasttext_for_each_pair() -> None:
    at = {"exhibit": "figure-4", "languages": ("en", "zh")}
    found = [*measurements(with_fasttext=True), measurement("monolingual", 8.0, metric="embedding_p1", **at)]
    picture = embedding_bars([*found, measurement("monolingual", 9.0, metric="embedding_p1", seed=1, **at)])
    assert picture is not None
    for width in (800.0, 380.0):
        root = parsed(picture.draw(width))
        assert hovers(root)[1:] == [
            "Embeddings, en-fr: 4.5%",
            "fastText, en-fr: 46.3%",
            "Embeddings, back, en-fr: 4.1%",
            "fastText, back, en-fr: 32.2%",
            "Embeddings, en-zh: 8.5% (8.0% to 9.0%)",
        ]
        assert texts(root).count("none") == 3


def test_what_was_not_measured_has_no_row_and_no_picture() -> None:
    picture = embedding_bars(measurements(with_fasttext=False))
    assert picture is not None
    assert not [text for text in texts(parsed(picture.draw(800.0))) if "fastText" in text]
    assert embedding_bars([measurement("monolingual", 8.0, metric="contextual_p1", exhibit="figure-4")]) is None
