"""A longer run held against what the trends of a shorter one predicted of it."""

import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from isoglot.pipeline.cells import GROWTH
from isoglot.pipeline.measurements import Measurement
from isoglot.report.figures.growth_figures import growth_figures, growth_picture
from isoglot.report.growth.predictions import (
    Prediction,
    are_comparable,
    growth_csv,
    held_back,
    held_back_text,
    prediction_sentences,
    predictions,
)
from isoglot.report.growth.rows import growths
from isoglot.report.report_files import read_report
from isoglot.report.writing import Other, write_report
from isoglot.store import Store
from isoglot.study.scales import PAPER, Decay, Scale
from tests.report.html_pages import parsed_page
from tests.report.made_up_measurements import measured, measurement
from tests.report.svg_pictures import marks
from tests.report.test_growth import SCALE as SHORT
from tests.report.test_growth import STUDY, named, straight, structure

LONG = replace(SHORT, updates=8 * SHORT.updates, moments=11)
STEP = 4
"""A finished model scores as if it had read so many times as much, where the learning rate ends at 0."""


def retrieval(condition: str, scale: Scale, *, seed: int = 0, later: float = 0.0) -> Iterator[Measurement]:
    """The planted line at a run's moments with a bit of noise; `later` is added beyond the end of the short run."""
    fields = {"exhibit": GROWTH, "languages": ("en", "de"), "seed": seed}
    yield measurement(condition, 0.1, metric="retrieval_p1_chance", **fields)
    for halvings in range(scale.moments or 1):
        update = scale.updates >> halvings
        score = straight(update) + (later if update > SHORT.updates else 0.3 * (-1) ** halvings)
        yield from measured(condition, [0.0, score], update=update, **fields)


def with_tail(scale: Scale) -> Scale:
    return replace(scale, optimization=replace(scale.optimization, decay=Decay.LINEAR_TAIL))


def held(*longer: Measurement, shorter: tuple[Measurement, ...] | None = None) -> list[Prediction]:
    before = (*retrieval("default", SHORT), *retrieval("sep-emb", SHORT)) if shorter is None else shorter
    return predictions(growths(before, scale=SHORT), growths(longer, scale=LONG))


def test_a_run_that_goes_on_as_it_began_is_as_predicted() -> None:
    (each,) = held(*retrieval("default", LONG))
    assert each.interval is not None
    assert each.interval.value == pytest.approx(straight(LONG.updates), abs=1.0)
    assert 1.0 < each.interval.high - each.interval.low < 10.0
    assert each.num_inside == 1
    assert each.cells()[1:] == ("30.3", each.interval.text(1), "42.0", "1 of 1")


def test_each_seed_is_inside_its_interval_or_not() -> None:
    (each,) = held(*retrieval("default", LONG), *retrieval("default", LONG, seed=1, later=20.0))
    assert each.longer.finished == pytest.approx([straight(LONG.updates), straight(LONG.updates) + 20])
    assert each.num_inside == 1
    assert each.cells()[3:] == ("52.0 (42.0 to 62.0)", "1 of 2")
    assert prediction_sentences([each])[0] == (
        "Predicted at 1.0G tokens for 8.1G by one seed: 1 of 2 scores lie inside the 90% interval of their prediction:"
    )


def test_the_longer_run_has_no_say_in_its_prediction() -> None:
    (one,), (other,) = (held(*retrieval("default", LONG, later=later)) for later in (0.0, 40.0))
    assert one.interval == other.interval


def test_finished_models_are_held_against_predictions_of_finished_models() -> None:
    def annealed(scale: Scale) -> list[Measurement]:
        return [
            replace(each, value=straight(STEP * scale.updates)) if each.update == scale.updates and each.layer else each
            for each in retrieval("default", scale)
        ]

    short, long = with_tail(SHORT), with_tail(LONG)
    before, after = annealed(SHORT), annealed(LONG)
    (each,) = predictions(growths(before, scale=short), growths(after, scale=long))
    assert each.interval is not None
    assert each.interval.value == pytest.approx(straight(STEP * LONG.updates), abs=1.5)
    assert each.num_inside == 1
    # Neither a run half done nor the trend of one says anything.
    half = [each for each in after if each.update != LONG.updates]
    assert predictions(growths(before, scale=short), growths(half, scale=long)) == []
    begun = [each for each in before if each.update != SHORT.updates]
    assert predictions(growths(begun, scale=short), growths(after, scale=long)) == []


def test_predictions_can_be_written_down_before_a_longer_run() -> None:
    found = growths([*structure("default", grown=straight), *named("no-anchors")], scale=SHORT)
    lines = list(csv.DictReader(growth_csv(found).splitlines()))
    assert {(each["condition"], each["measure"]) for each in lines} == {
        *(("default", "retrieval"), ("default", "cka"), ("no-anchors", "ner"))
    }
    of_retrieval = [each for each in lines if each["measure"] == "retrieval"]
    assert [int(each["tokens"]) for each in of_retrieval] == [
        *(SHORT.tokens * 2**doublings for doublings in range(1, 7)),
        PAPER.tokens,
    ]
    for each in of_retrieval:
        assert float(each["low"]) <= float(each["predicted"]) <= float(each["high"])
        assert each["per_doubling"] == "4.0"
    flat = next(each for each in lines if each["measure"] == "cka")
    assert (flat["predicted"], flat["remark"]) == ("", "no growth beyond noise")
    assert [each["paper"] != "" for each in lines if each["measure"] == "ner"] == [False] * 6 + [True]


def test_runs_as_long_as_the_papers_or_longer_predict_nothing_of_it() -> None:
    found = [
        replace(each, update=each.update and PAPER.updates * each.update // SHORT.updates)
        for each in structure("default")
    ]
    for scale in (PAPER, replace(PAPER, batch=2 * PAPER.batch)):
        as_long = growths(found, scale=scale)
        figure, drawn = next(growth_figures(as_long))
        assert {row["part"] for row in marks(growth_picture(figure, drawn)) if "part" in row} == {"point"}
        assert as_long[0].at(PAPER.tokens) == (None, "read already")
        lines = list(csv.DictReader(growth_csv(as_long).splitlines()))
        assert {(int(each["tokens"]), each["predicted"]) for each in lines} == {(PAPER.tokens, "")}


def test_the_last_moment_of_a_run_is_foretold_by_those_before() -> None:
    """Moments after the learning rate began to fall are neither foretold nor known."""
    leap = [replace(each, value=90.0) if each.update == LONG.updates else each for each in retrieval("default", LONG)]
    off = [
        replace(each, value=each.value + 30) if each.layer and each.update == LONG.updates >> 1 else each
        for each in leap
    ]
    rows, others = (growths(found, scale=with_tail(LONG)) for found in (leap, off))
    (each,) = held_back(rows)
    assert each.shorter.tokens[-1] == each.shorter.budget == LONG.tokens >> 2
    assert each.longer.finished == pytest.approx([straight(LONG.updates >> 1)], abs=0.4)
    said = "Tested on this run: the moments up to 2.0G tokens predict those at 4.0G, and {} scores lie inside "
    said += "their 90% interval."
    assert held_back_text(rows) == said.format("1 of 1")
    behind = growths([*retrieval("sep-emb", SHORT)], scale=LONG)
    assert held_back_text([*others, *behind]) == said.format("0 of 1")
    (two,) = held_back(rows, moments=2)
    assert two.shorter.budget == LONG.tokens >> 3
    assert held_back_text([]) == ""


def test_runs_that_differ_in_more_than_their_length_are_not_compared() -> None:
    assert are_comparable(SHORT, LONG)
    assert are_comparable(SHORT, replace(LONG, moments=None, evaluations=1))
    assert not are_comparable(LONG, SHORT)
    assert not are_comparable(SHORT, SHORT)
    assert not are_comparable(SHORT, replace(LONG, mask_rate=0.4))
    assert not are_comparable(SHORT, replace(LONG, shape=replace(LONG.shape, width=2 * LONG.shape.width)))


def test_rows_of_one_run_alone_have_no_prediction() -> None:
    assert held(*retrieval("no-anchors", LONG)) == []
    assert prediction_sentences([]) == []


def test_a_row_that_cannot_be_predicted_says_why_and_counts_for_nothing() -> None:
    flat = tuple(replace(each, value=0.1) for each in retrieval("sep-emb", SHORT))
    found = held(
        *retrieval("sep-emb", LONG), *retrieval("default", LONG), shorter=(*flat, *retrieval("default", SHORT))
    )
    cells = {each.longer.condition: each.cells() for each in found}
    assert cells["sep-emb"][1:3] == ("0.1", "- (at its floor)")
    assert cells["sep-emb"][4] == "-"
    assert "1 of 1 scores" in prediction_sentences(found)[0]
    alone = [each for each in found if each.interval is None]
    assert prediction_sentences(alone)[0] == "Nothing could be predicted at 1.0G tokens for 8.1G:"


def test_a_panel_shows_what_the_shorter_run_predicted_of_its_row() -> None:
    longer = growths([*retrieval("default", LONG), *retrieval("no-anchors", LONG)], scale=LONG)
    found = predictions(growths(retrieval("default", SHORT), scale=SHORT), longer)
    ((figure, rows),) = growth_figures(longer)
    first, second = growth_picture(figure, rows, predicted=found).charts
    grey = [row for row in first["data"]["values"] if row["part"] == "predicted"]
    assert (grey[0]["x"], grey[-1]["x"]) == (SHORT.tokens, LONG.tokens)
    assert found[0].interval is not None
    assert tuple(grey[-1][key] for key in ("y", "low", "high")) == pytest.approx(found[0].interval, abs=1e-3)
    assert {row["part"] for row in second["data"]["values"]} == {"point", "trend"}
    assert "what the shorter run predicted" in growth_picture(figure, rows, predicted=found).legend
    assert {row["part"] for row in marks(growth_picture(figure, rows))} == {"point", "trend"}


def test_the_page_has_predictions_where_the_other_report_is_of_a_shorter_run(tmp_path: Path) -> None:
    def written(name: str, scale: Scale, against: Other | None = None) -> Path:
        study, store = replace(STUDY, name=name, scale=scale), Store(tmp_path / name)
        return write_report(study, [*retrieval("default", scale)], store=store, against=against).page

    def headings(page: Path) -> list[str]:
        return [each.text for each in parsed_page(page.read_text(encoding="utf-8")).by_id("difference").find_all("h3")]

    short = written("short", SHORT)
    shorter = Other(name="short", content=read_report(short.parent))
    long = written("long", LONG, shorter)
    assert headings(long)[0].startswith("Predicted at 1.0G tokens for 8.1G by one seed: 1 of 1 scores lie inside")
    assert "shorter run predicted" in (long.parent / "figures/growth.retrieval.en-de.svg").read_text(encoding="utf-8")
    longer = Other(name="long", content=read_report(long.parent))
    assert not any("Predicted" in each for each in headings(written("short", SHORT, longer)))
    wider = replace(LONG, shape=replace(LONG.shape, width=2 * LONG.shape.width))
    assert not any("Predicted" in each for each in headings(written("long", wider, shorter)))
    # Numbers alone have no scale to count tokens by.
    bare = Other(name="bare", content=replace(shorter.content, provenance={}))
    assert not any("Predicted" in each for each in headings(written("long", LONG, bare)))
