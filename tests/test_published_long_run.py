"""A page holds the run of 8 G tokens against what was predicted of it."""

from pathlib import Path
from statistics import fmean

import pytest
from published_records import DRAWN_BY_HAND, RESULTS, best_after_a_map, grown, of_control, report_data
from test_published_growth import logistic

from isoglot.pipeline.measurements import Measurement
from isoglot.report.figures.growth_figures import growth_figures, growth_picture
from isoglot.report.growth.predictions import are_comparable, predictions
from isoglot.report.growth.rows import Growth, growths
from isoglot.report.growth.trends import prediction_text
from isoglot.report.training_curves import learning_curves
from isoglot.store import Store
from isoglot.store.unpacking import unpack
from isoglot.study.scales import PAPER, Decay

PAGE = RESULTS / "replication/growth.md"
TASKS = {"ner": "f1", "parsing": "las", "nli": "accuracy"}


@pytest.fixture(scope="module")
def longer() -> dict[str, Growth]:
    """Sep Emb by measure."""
    study, found = of_control("control-growth")
    assert are_comparable(report_data("replication").study.scale, study.scale)
    return {each.measure.key: each for each in growths(found, scale=study.scale)}


def score(found: list[Measurement], task: str, *, language: str = "de") -> float:
    """The mean over seeds of Sep Emb with German."""
    return fmean(
        each.value
        for each in found
        if (each.exhibit, each.metric, each.language) == ("table-1", TASKS[task], language)
        and (each.condition, each.languages[1]) == ("sep-emb", "de")
    )


def test_it_has_each_score_beside_both_predictions(longer: dict[str, Growth]) -> None:
    page, tokens = PAGE.read_text(), longer["retrieval"].budget
    _, found = of_control("control-growth")
    found_in = {key: fmean(row.finished) for key, row in longer.items()} | {task: score(found, task) for task in TASKS}
    too_high = {}
    labels = {"retrieval": "Sep Emb", "words": "words", "ner": "NER, first seed", "parsing": "parsing, first seed"}
    for key, label in labels.items():
        row = grown()["sep-emb", "de", key]
        predicted, _ = row.at(tokens)
        assert predicted is not None
        assert predicted.low < found_in[key] < predicted.high
        too_high[key] = (predicted.value - found_in[key], logistic(row, tokens) - found_in[key])
        cells = [
            f"{fmean(row.finished):.1f}",
            f"{logistic(row, tokens):.1f}",
            prediction_text(*row.at(tokens), decimals=1),
        ]
        assert f"| {label} | {' | '.join(cells)} | {found_in[key]:.1f} |" in page
    of_rule = {key: f"{by:.1f}" for key, (by, _) in too_high.items()}
    text = "by {retrieval} points of retrieval, {words} of words, {ner} of NER and {parsing} of parsing"
    assert text.format_map(of_rule) in page
    of_curve = [f"{too_high[key][1]:.1f}" for key in ("retrieval", "words")]
    assert "too high by {} points of retrieval and {} of words".format(*of_curve) in page
    at_papers = [row.at(PAPER.tokens)[0] for row in (longer["retrieval"], grown()["sep-emb", "de", "retrieval"])]
    for each in at_papers:
        assert each is not None
        assert f"{each.value:.1f}% ({each.low:.1f} to {each.high:.1f})" in page


def test_it_tells_growth_from_the_end_of_the_learning_rate(longer: dict[str, Growth]) -> None:
    page, short = PAGE.read_text(), grown()["sep-emb", "de", "retrieval"]
    budget = short.budget
    for key in ("retrieval", "words", "cka"):
        of_both = (grown()["sep-emb", "de", key].by_seed[0], longer[key].by_seed[0])
        before, after = ({at: value for at, value in each.items() if at < budget} for each in of_both)
        assert len(before) == 7
        assert before == after
    retrieval = longer["retrieval"].by_seed[0]
    text = "Then it finds {:.1f}% of sentences at 1 G, {:.1f}% at 2 G and {:.1f}% at 4 G."
    assert text.format(*(retrieval[times * budget] for times in (1, 2, 4))) in page
    ends = {
        key: (longer[key].by_seed[0][budget], grown()["sep-emb", "de", key].by_seed[0][budget])
        for key in ("retrieval", "words")
    }
    text = "the first seed finds {:.1f}% with its rate whole and {:.1f}% at its end; of words it is {:.1f} and {:.1f}%"
    assert text.format(*ends["retrieval"], *ends["words"]) in page
    added = [after - before for before, after in ends.values()]
    assert "there the end adds {:.1f} and {:.1f} points".format(*added) in page


def test_it_says_how_perplexity_falls(tmp_path: Path) -> None:
    study, _ = of_control("control-growth")
    assert study.scale.optimization.decay is Decay.LINEAR_TAIL
    unpack(RESULTS / "replication/pieces/control-growth.tar.xz", Store(tmp_path))
    (in_english,) = (
        dict(each.points)
        for each in learning_curves(study, Store(tmp_path))
        if (each.condition, each.language) == ("sep-emb", "en")
    )
    quarter = study.scale.updates // 4
    said = (
        "it is {:.1f} at 2 G and {:.1f} at 4 G. In the last three tenths, where the rate goes to 0, it falls to {:.1f}."
    )
    assert said.format(*(in_english[times * quarter] for times in (1, 2, 4))) in PAGE.read_text()


def test_it_says_what_a_map_finds() -> None:
    assert (
        f"After a map it finds {best_after_a_map(of_control('control-growth')[1], 'sep-emb', 0):.1f}%"
        in PAGE.read_text()
    )


def test_it_says_how_transfer_grows() -> None:
    page, (_, after) = PAGE.read_text(), of_control("control-growth")
    before = [*report_data("replication").measurements]
    order = ("nli", "ner", "parsing")
    pairs = [f"{score(found, task):.1f}" for task in order for found in (before, after)]
    assert "Sep Emb from {} to {} in NLI, from {} to {} in NER and from {} to {} in parsing".format(*pairs) in page
    in_english = [f"{score(found, task, language='en'):.1f}" for task in order for found in (before, after)]
    assert "In English it is {} to {}, {} to {} and {} to {}.".format(*in_english) in page


def test_its_figure_is_drawn_from_the_pieces(longer: dict[str, Growth]) -> None:
    rows = [*longer.values()]
    found = predictions([*grown().values()], rows)
    figure, drawn = next(growth_figures(rows))
    picture = growth_picture(figure, drawn, predicted=found)
    assert Path(DRAWN_BY_HAND[0]).stem == f"control-{picture.file_stem}".replace(
        "control-growth.", "control-growth.", 1
    )
    assert (RESULTS / "replication" / DRAWN_BY_HAND[0]).read_text() == picture.svg()
