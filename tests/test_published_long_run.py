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
LABELS = {
    "retrieval": "Sep Emb",
    "words": "words",
    "ner": "NER, first seed",
    "parsing": "parsing, first seed",
    "cka": "CKA, mean of layers",
}
"""By measure, the name that the page has for it."""
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
    by_rule, by_curve, by_nothing = {}, {}, {}
    for key, label in LABELS.items():
        row = grown()["sep-emb", "de", key]
        decimals, before = row.measure.decimals, fmean(row.finished)
        predicted, remark = row.at(tokens)
        assert predicted is not None
        assert predicted.low < found_in[key] < predicted.value
        values = [f"{value:.{decimals}f}" for value in (before, logistic(row, tokens))]
        cells = [*values, prediction_text(predicted, remark, decimals=decimals), f"{found_in[key]:.{decimals}f}"]
        assert f"| {label} | {' | '.join(cells)} |" in page
        by_rule[key], by_curve[key], by_nothing[key] = (
            value - found_in[key] for value in (predicted.value, logistic(row, tokens), before)
        )
    text = "by {retrieval:.1f} points of retrieval, {words:.1f} of words, {ner:.1f} of NER and {parsing:.1f} of parsing"
    assert text.format_map(by_rule) in page
    assert "too high by {retrieval:.1f} points of retrieval and {words:.1f} of words".format_map(by_curve) in page
    nearer = [key for key, off in by_rule.items() if abs(by_nothing[key]) < abs(off) and key != "cka"]
    assert nearer == ["retrieval", "parsing"]
    at_papers = [row.at(PAPER.tokens) for row in (longer["retrieval"], grown()["sep-emb", "de", "retrieval"])]
    assert [remark for _, remark in at_papers] == ["", "hardly known"]
    for each, _ in at_papers:
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
    words = longer["words"].by_seed[0]
    assert "Words go on: {:.1f}, {:.1f} and {:.1f}%.".format(*(words[times * budget] for times in (1, 2, 4))) in page
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
    said = "is {:.1f} at 2 G, {:.1f} at 4 G and {:.1f} at 6 G, where the rate has begun to fall. At the end, where the "
    said += "rate is 0, it is {:.1f}."
    assert said.format(*(in_english[times * quarter] for times in (1, 2, 3, 4))) in PAGE.read_text()


def test_it_says_what_a_map_finds(longer: dict[str, Growth]) -> None:
    mapped = best_after_a_map(of_control("control-growth")[1], "sep-emb", 0)
    share = longer["retrieval"].finished[0] / mapped
    assert f"After a map it finds {mapped:.1f}%** of" in PAGE.read_text()
    assert f"Without one it finds {share:.0%} of that; with 1 G tokens it was {33.0 / 42.8:.0%}" in PAGE.read_text()


def test_it_says_how_transfer_grows() -> None:
    page, (_, after) = PAGE.read_text(), of_control("control-growth")
    before = [*report_data("replication").measurements]
    order = ("nli", "ner", "parsing")
    cells = [f"{score(found, task):.1f}" for found in (before, after) for task in order]
    text = "are {} in NLI, {} in NER and {} in parsing; with 8 G it is {}, {} and {}."
    assert text.format(*cells) in page
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
