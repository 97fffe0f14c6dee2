"""Rows of growth from measurements: tokens, floors and the paper's scores; what is predicted, drawn and refused."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import exp, log2
from pathlib import Path
from statistics import fmean

import pytest
from study_texts import TINY_STUDY

from isoglot.pipeline.cells import GROWTH, GROWTH_TASKS, UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.report.figures.growth_figures import growth_figures, growth_picture
from isoglot.report.findings.published import FIGURE_7_CKA, TABLE_1_SCORES
from isoglot.report.growth.rows import Growth, growths, times_behind
from isoglot.report.report_files import read_report
from isoglot.report.writing import rewrite_report, write_report
from isoglot.store import Store
from isoglot.study.conditions import TABLE_1
from isoglot.study.scales import PAPER, Decay, Scale
from isoglot.study.study_file import parse_study
from tests.report.html_pages import parsed_page
from tests.report.made_up_measurements import measured, measurement
from tests.report.svg_pictures import marks, parsed, texts

STUDY = parse_study(TINY_STUDY, origin="tiny.toml")
# A billion tokens, at whose moments the paper's 82 billion are not too far away.
SCALE = replace(
    STUDY.scale,
    **{"batch": 512, "window": 64, "updates": 30_720, "moments": 8},
    optimization=replace(STUDY.scale.optimization, decay=Decay.INVERSE_SQUARE_ROOT),
)
UPDATES = [SCALE.updates >> halvings for halvings in range(7, -1, -1)]
PAIR = ("en", "de")
TIMES = "\N{MULTIPLICATION SIGN}"


def planted(update: int, *, slope: float = 0.4, top: float = -1.5, floor: float = 0.1) -> float:
    """A share of 18% after the run, whose odds grow by the slope with every doubling."""
    return floor + (100 - floor) / (1 + exp(-(top + slope * log2(update / SCALE.updates))))


def straight(update: int, *, rate: float = 4.0, top: float = 30.0) -> float:
    """As many points with every doubling."""
    return top + rate * log2(update / SCALE.updates)


def structure(
    condition: str, *, seed: int = 0, grown: Callable[..., float] = planted, **curve: float
) -> Iterator[Measurement]:
    """Retrieval whose best layer follows a planted curve, and CKA that goes nowhere."""
    fields = {"exhibit": GROWTH, "languages": PAIR, "seed": seed}
    yield measurement(condition, 0.1, metric="retrieval_p1_chance", **fields)
    for place, update in enumerate(UPDATES):
        yield from measured(condition, [0.0, grown(update, **curve), 0.2], update=update, **fields)
        yield from measured(condition, [0.9 - 0.1 * (place % 2), 0.7], metric="cka", update=update, **fields)


def named(condition: str, *, seed: int = 0, target: str = "de") -> Iterator[Measurement]:
    """NER from an untrained floor of 30 on, beside scores of the source that are no growth of transfer."""
    blank = measurement(
        condition, 30.0, languages=("en", target), exhibit=GROWTH_TASKS, task="ner", metric="f1", seed=seed
    )
    yield replace(blank, variant=UNTRAINED)
    for update in UPDATES:
        yield replace(blank, update=update, value=planted(update, floor=30.0))
        yield replace(blank, update=update, value=80.0 + update / SCALE.updates, language="en")


def rows(*found: Measurement, scale: Scale = SCALE) -> list[Growth]:
    return growths(found, scale=scale)


def test_a_row_is_the_best_layer_by_tokens_above_chance() -> None:
    retrieval, cka = rows(*structure("default"), *structure("default", seed=1, top=-1.0))
    assert (retrieval.measure.key, cka.measure.key) == ("retrieval", "cka")
    assert retrieval.tokens == [update * 512 * 64 for update in UPDATES]
    assert retrieval.line.at(retrieval.tokens[-1]) == pytest.approx([planted(30_720), planted(30_720, top=-1.0)])
    assert (retrieval.floor, retrieval.floor_name, retrieval.annealed) == (0.1, "chance", frozenset())
    assert cka.line.at(cka.tokens[0]) == pytest.approx([0.8, 0.8])
    assert (cka.floor, cka.floor_name) == (0.0, "")
    assert cka.at(PAPER.tokens) == (None, "no growth beyond noise")


@pytest.mark.parametrize(
    ("doublings", "said"), [(0, "1"), (3, "8"), (4.5, "23"), (-2, "0.25"), (8, "over 128"), (-8, "under 0.0078")]
)
def test_a_row_says_how_many_times_the_tokens_of_another_it_needs(doublings: float, said: str) -> None:
    late = structure("sep-emb", top=-1.5 - 0.4 * doublings)
    default, other = (row for row in rows(*structure("default"), *late) if row.measure.key == "retrieval")
    assert times_behind(other, default).replace(TIMES, "") == said


def test_rows_are_timed_by_the_seeds_that_both_have() -> None:
    """A second seed of Default, far later than the first, does not bring the other row nearer."""
    found = (
        *structure("default"),
        *structure("default", seed=1, top=-1.5 - 0.4 * 4),
        *structure("sep-emb", top=-1.5 - 0.4 * 3),
    )
    default, other = (row for row in rows(*found) if row.measure.key == "retrieval")
    assert times_behind(other, default) == f"{TIMES}8"
    # Two seeds of one row have none in common, and are held against each other.
    first, second = (default.of_seeds({seed}) for seed in (0, 1))
    assert times_behind(second, first) == f"{TIMES}16"


def test_a_seed_that_lacks_moments_is_timed_against_nothing() -> None:
    """With it the other row would seem to be ahead."""
    some = [each for each in structure("sep-emb", seed=1, top=-1.5 - 0.4) if (each.update or 0) > UPDATES[5]]
    found = (*structure("default"), *structure("default", seed=1), *structure("sep-emb", top=-1.5 - 0.4), *some)
    default, other = (row for row in rows(*found) if row.measure.key == "retrieval")
    assert times_behind(other, default) == f"{TIMES}2"


def test_nothing_goes_on_from_moments_that_lie_far_back() -> None:
    """The fine-tuning of two moments is still to come."""
    tail = replace(SCALE, optimization=replace(SCALE.optimization, decay=Decay.LINEAR_TAIL))
    (row,) = rows(*(each for each in named("default") if each.update not in UPDATES[5:7]), scale=tail)
    assert row.finished
    assert row.at(4 * SCALE.tokens) == (None, "moments missing")


def test_the_end_of_the_learning_rate_is_no_head_start() -> None:
    """A row that is behind leaps at the last moment, which comes after that end."""
    tail = replace(SCALE, optimization=replace(SCALE.optimization, decay=Decay.LINEAR_TAIL))
    late = [
        replace(each, value=90.0) if each.update == SCALE.updates and each.metric == "retrieval_p1" else each
        for each in structure("sep-emb", top=-2.3)
    ]
    default, other = (row for row in rows(*structure("default"), *late, scale=tail) if row.measure.key == "retrieval")
    assert times_behind(other, default) == f"{TIMES}4"


def test_a_finished_model_and_not_one_in_training_is_where_predictions_begin() -> None:
    """A second seed of another row, which is half done, changes nothing."""
    half = [each for each in structure("default", seed=1, grown=straight) if (each.update or 0) <= SCALE.updates // 2]
    (one, _), (both, _) = (
        rows(*structure("default", grown=straight)),
        rows(*structure("default", grown=straight), *half),
    )
    assert both.at(4 * SCALE.tokens) == one.at(4 * SCALE.tokens)


def test_a_row_that_does_not_grow_is_later_with_every_moment() -> None:
    """It had its highest score by chance at its second moment, as Default had."""
    still = [
        replace(each, value=planted(UPDATES[1]) if each.update == UPDATES[1] else planted(UPDATES[0]))
        if each.metric == "retrieval_p1"
        else each
        for each in structure("sep-emb")
    ]
    default, other = (row for row in rows(*structure("default"), *still) if row.measure.key == "retrieval")
    assert other.at(PAPER.tokens) == (None, "no growth beyond noise")
    assert times_behind(other, default) == f"{TIMES}{UPDATES[-1] // UPDATES[1]}"


def test_noise_is_not_behind_noise() -> None:
    default, other = (row for row in rows(*structure("default"), *structure("sep-emb")) if row.measure.key == "cka")
    assert times_behind(other, default) == "", "planted to go nowhere"


def test_rows_with_other_moments_are_not_compared() -> None:
    half = [each for each in structure("sep-emb") if each.update != UPDATES[0]]
    default, other = (row for row in rows(*structure("default"), *half) if row.measure.key == "retrieval")
    assert times_behind(other, default) == ""


def test_the_trend_is_carried_to_the_papers_tokens() -> None:
    retrieval, _ = rows(*structure("default", grown=straight))
    predicted, remark = retrieval.at(PAPER.tokens)
    assert predicted == pytest.approx([straight(round(SCALE.updates * PAPER.tokens / SCALE.tokens))] * 3, abs=0.01)
    assert remark == ""


def test_nothing_is_predicted_outside_of_what_a_score_can_be() -> None:
    steep, _ = rows(*structure("default", grown=straight, rate=11.0, top=80.0))
    assert steep.at(4 * SCALE.tokens) == ((100.0, 100.0, 100.0), "")
    uneven = (*structure("default", grown=straight), *structure("default", seed=1, grown=straight, rate=8.0, top=60.0))
    vague, _ = rows(*uneven)
    predicted, remark = vague.at(PAPER.tokens)
    assert predicted is not None
    assert (predicted.low, remark) == (0.0, "hardly known")


def test_transfer_grows_from_the_untrained_model_and_stands_beside_the_papers_row() -> None:
    (of_others,), (own,) = rows(*named("no-anchors")), rows(*named("no-anchors", target="fr"))
    assert (own.floor, own.floor_name) == (30.0, "untrained")
    assert own.line.at(own.tokens[0]) == pytest.approx([planted(UPDATES[0], floor=30.0)])
    # It cannot be transferred better than it was learned, unless it is.
    assert own.ceiling == 81.0
    predicted, remark = own.at(PAPER.tokens)
    assert predicted is not None
    assert remark == ""
    assert planted(SCALE.updates, floor=30.0) < predicted.value < predicted.high <= 81.0
    (odd,) = rows(*(replace(each, value=20.0) if each.language == "en" else each for each in named("no-anchors")))
    assert odd.ceiling == 100.0
    printed = TABLE_1_SCORES["no-anchors"]["NER"]
    assert (own.paper, own.has_own_paper) == (printed[0], True)
    assert (of_others.paper, of_others.has_own_paper) == (pytest.approx(fmean(printed)), False)
    _, default = rows(*structure("default"))
    assert default.paper == pytest.approx(fmean(FIGURE_7_CKA[PAIR]["bilingual"]))
    assert [each.paper for each in rows(*structure("no-anchors"))] == [None, None]


def test_the_end_of_the_learning_rate_is_a_step_and_not_growth() -> None:
    tail = replace(SCALE, optimization=replace(SCALE.optimization, decay=Decay.LINEAR_TAIL))
    # The last model scores as if it had read eight times as much.
    found = [
        replace(each, value=straight(8 * each.update)) if each.update == SCALE.updates and each.layer == 1 else each
        for each in structure("default", grown=straight)
        if each.metric != "cka"
    ]
    (row,), (naive,) = rows(*found, scale=tail), rows(*found)
    assert row.annealed == {SCALE.tokens}
    predicted, _ = row.at(4 * SCALE.tokens)
    assert predicted == pytest.approx([straight(32 * SCALE.updates)] * 3)
    rates = [trend.rate for trend, _ in (row.trend_and_reason, naive.trend_and_reason) if trend]
    assert rates == pytest.approx([4.0, (4.0 + 4 * 4.0) / 2])


def test_what_lies_further_away_than_the_moments_span_is_not_predicted() -> None:
    (row, _) = rows(*structure("default"), scale=replace(SCALE, batch=8))
    assert row.at(PAPER.tokens) == (None, "too far")
    assert row.at(2 * row.tokens[-1])[0] is not None
    (figure, drawn), _ = growth_figures([row, *rows(*structure("default"))[1:]])
    assert not growth_picture(figure, drawn).has_published
    assert figure.charts[0].texts[0][-1] == "- (too far)"


def test_the_best_model_of_a_run_is_its_finished_one_if_it_comes_in_its_second_half() -> None:
    late = [replace(each, update=each.update and min(each.update, SCALE.updates - 60)) for each in structure("default")]
    (row, _), (at_end, _) = rows(*late), rows(*structure("default"))
    assert row.finished == at_end.finished != []
    (unfinished, _) = rows(*(each for each in late if each.update != SCALE.updates - 60))
    assert unfinished.finished == []
    assert unfinished.at(PAPER.tokens) == (None, "no finished model")
    # Nor is it a moment beside that of another seed, whose last update was its best.
    (both, _), (as_late, _) = (
        rows(*each, *structure("default", seed=1, top=-1.0)) for each in (late, [*structure("default")])
    )
    assert both == as_late


def test_a_task_that_was_not_learned_is_no_ceiling() -> None:
    found = [replace(each, value=each.value if each.variant else 20.0 + each.value / 10) for each in named("default")]
    (row,) = rows(*found)
    assert (row.floor, row.ceiling) == (30.0, 100.0)
    assert row.at(PAPER.tokens) == (None, "at its floor")


def test_a_figure_has_a_panel_for_each_of_ten_rows_and_draws_no_trend_that_means_nothing() -> None:
    found = [each for place, row in enumerate(TABLE_1) for each in structure(row.name, top=-place / 2)]
    (figure, picture), (_, similar) = [
        (each, growth_picture(each, drawn)) for each, drawn in growth_figures(rows(*found))
    ]
    assert figure.name == "growth.retrieval.en-de"
    assert len(picture.charts) == len(TABLE_1)
    assert [line[0] for line in figure.charts[0].texts] == [row.label for row in TABLE_1]
    assert texts(parsed(picture.svg())).count("Default") == 1
    trends = [row for row in marks(picture) if row["part"] == "trend"]
    assert {min(row["x"] for row in trends), max(row["x"] for row in trends)} == {SCALE.tokens, PAPER.tokens}
    assert all(row["low"] <= row["y"] <= row["high"] for row in trends)
    # CKA does not grow: nothing goes on from its moments, while the paper's mark stands where it belongs.
    assert {row["part"] for row in marks(similar) if "part" in row} == {"point"}
    assert similar.has_published
    assert "diamond: the paper, at 82G tokens" in similar.legend


@pytest.mark.parametrize("top", [-2.0, 2.0])
def test_no_number_of_the_square_root_axis_is_left_out_at_any_height(top: float) -> None:
    figure, drawn = next(growth_figures(rows(*structure("default", top=top))))
    picture = growth_picture(figure, drawn)
    (highest,) = {layer["encoding"]["y"]["scale"]["domain"][1] for layer in picture.charts[0]["layer"][1:2]}
    shown = [str(number) for number in (1, 10, 40, 100) if number <= highest]
    assert [text for text in texts(parsed(picture.svg())) if text in ("1", "10", "40", "100")] == shown
    assert len(shown) == (4 if top > 0 else 3)


def test_the_page_shows_growth_and_is_made_again_from_its_files(tmp_path: Path) -> None:
    study = replace(STUDY, scale=SCALE)
    found = [*structure("default"), *structure("no-anchors"), *named("default")]
    page = write_report(study, found, store=Store(tmp_path)).page
    section = parsed_page(page.read_text(encoding="utf-8")).by_id("growth")
    assert len(section.find_all("figure")) == 3
    headings = [each.text for each in section.find_all("table")[0].find_all("th")]
    assert headings[0] == "Tokens"
    assert "at 82G" in headings
    again = rewrite_report(page.parent, to=tmp_path / "again").page
    assert again.read_bytes() == page.read_bytes()
    assert (again.parent / "growth.csv").read_bytes() == (page.parent / "growth.csv").read_bytes()
    assert list(read_report(again.parent).measurements) == found
