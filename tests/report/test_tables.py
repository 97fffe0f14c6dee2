"""The tables in the terminal hold the numbers, at every depth and for every study however far it is."""

import io
from dataclasses import replace
from statistics import fmean

import pytest
from rich.console import Console

from isoglot.pipeline.cells import UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.report.findings.layer_scores import rows
from isoglot.report.report_scores import ReportScores
from isoglot.report.tables.condition_words import described, in_words
from isoglot.report.tables.terminal import results
from isoglot.study.conditions import CONDITIONS, TABLE_1, condition_named
from isoglot.study.scales import DEMO, PAPER, Scale, Start
from isoglot.study.separate import Separate
from tests.report.made_up_measurements import measured, measurement


def shown(found: list[Measurement], *, width: int = 200, scale: Scale = DEMO) -> str:
    console = Console(file=io.StringIO(), width=width, soft_wrap=True)
    console.print(results(ReportScores(found), scale=scale))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def row_after(title: str, label: str, text: str) -> list[str]:
    """The cells of a row, by its label and the beginning of its table's title."""
    after = text[text.index(title) :].splitlines()
    return next(line for line in after if line.strip().startswith(label + " ")).removeprefix(f" {label}").split()


FOUND = [
    *measured("default", [10.04, 20.0, 80.0]),
    *measured("default", [1.0, 5.0, 3.0], variant=UNTRAINED),
    *measured("sep-emb-l1-6", [11.0, 12.0, 9.5]),
    *measured("sep-emb-l1-6", [1.0, 2.0, 3.0], variant=UNTRAINED),
    *measured("default", [7.0, 8.0, 9.0], metric="word_translation_p1"),
    *measured("default", [4.0, 5.0, 6.0], metric="word_translation_p1", variant=UNTRAINED),
    measurement("default", 0.2, metric="retrieval_p1_chance"),
    measurement("default", 5.0, metric="word_translation_p1_chance"),
    measurement("default", 0.07, metric="word_translation_coverage"),
]


def test_numbers_stand_in_their_places() -> None:
    text = shown(FOUND)
    assert row_after("Parallel", "Default", text) == ["10.0", "20.0", "80.0", "80.0", "5.0"]
    assert row_after("Parallel", "Sep Emb + L1-6", text) == ["11.0", "12.0", "9.5", "12.0", "3.0"]
    assert row_after("Word", "Default", text) == ["7.0", "8.0", "9.0", "9.0", "6.0"]
    assert "Chance is 0.2%, one of 500.\n" in text
    assert "Chance is 5.0%, one of 20. So few say little of a model." in text
    assert "0.07% of the dictionary's pairs are met" in text


def test_means_over_seeds_stand_with_the_range_of_the_best() -> None:
    found = [
        each
        for seed, (first, last) in enumerate(((10.0, 20.0), (30.0, 50.0)))
        for each in (
            *measured("default", [first, last], seed=seed),
            *measured("default", [first, last + 1], metric="retrieval_p1_uncentred", seed=seed),
            *measured("default", [first, last + 2], variant=UNTRAINED, seed=seed),
        )
    ]
    cells = ["20.0", "35.0", "35.0", "(20-50)", "36.0", "(21-51)", "37.0"]
    assert row_after("Parallel", "Default", shown(found)) == cells


def test_retrieval_says_that_it_is_centred_and_shows_what_it_is_raw() -> None:
    raw = measured("default", [2.0, 22.8, 7.0], metric="retrieval_p1_uncentred")
    assert "raw" not in row_after("Parallel", "Model", shown(FOUND))
    text = shown([*(each for each in FOUND if each.condition == "default"), *raw])
    assert "precision at 1 (%) by layer, centred" in text
    assert row_after("Parallel", "Default", text) == ["10.0", "20.0", "80.0", "80.0", "22.8", "5.0"]
    assert "Centred: each language's mean vector is subtracted first" in text


def test_no_number_is_cut_off_in_a_narrow_window() -> None:
    deep = [100.0 - layer for layer in range(13)]
    text = shown([*measured("default", deep), *measured("default", [0.5] * 13, variant=UNTRAINED)], width=60)
    assert "…" not in text
    assert row_after("Parallel", "Default", text)[:13] == [f"{score:.1f}" for score in deep]


@pytest.mark.parametrize("found", [[], measured("default", [1.0], variant=UNTRAINED), measured("default", [1.0])])
def test_a_study_hardly_begun_has_its_tables_too(found: list[Measurement]) -> None:
    text = shown(found)
    assert "Parallel" not in text
    assert ("Default" in text) is bool(found)


def test_moments_of_training_stand_in_a_table_of_their_own() -> None:
    moments = [
        replace(each, exhibit="growth", update=update)
        for update, by_layer in ((1, [2.0, 4.5, 3.0]), (700, [50.0, 30.0, 61.25]))
        for each in measured("default", by_layer)
    ]
    text = shown([*FOUND, *moments])
    title = "Sentences that find their translation, best layer (ela-oru)"
    assert row_after(title, "Model", text)[:2] == ["1.0k", "717k"]
    assert row_after(title, "Default", text)[:2] == ["4.5", "61.2"]
    assert "precision at 1 (%); columns are tokens" in text
    # The scores of chosen models are what they were without them.
    assert row_after("Parallel", "Default", text) == row_after("Parallel", "Default", shown(FOUND))


def test_a_row_is_over_layers_and_the_seeds_that_have_both_scores() -> None:
    found = [
        *measured("default", [10, 20, 60], seed=0),
        *measured("default", [30, 50, 40], seed=1),
        *measured("default", [99, 99, 99], seed=2),
        *measured("default", [1, 2, 3], variant=UNTRAINED, seed=0),
        *measured("default", [6, 5, 4], variant=UNTRAINED, seed=1),
        *measured("default", [98, 98, 98], variant=UNTRAINED, seed=3),
        *measured("sep-emb", [50, 60], seed=0),
        *measured("no-anchors", [1, 2], variant=UNTRAINED, seed=0),
    ]
    ((panel, (row,)),) = rows(found, metric="retrieval_p1")
    assert (row.condition, panel.languages) == ("default", ("ela", "oru"))
    assert (row.best, row.untrained_best) == ({0: 60, 1: 50}, {0: 3, 1: 6})
    assert (fmean(row.best.values()), row.mean_untrained_best) == (55, 4.5)
    assert list(rows(found[::-1], metric="retrieval_p1")) == [(panel, [row])]
    assert not list(rows([], metric="retrieval_p1"))


def test_conditions_are_described_in_the_words_of_table_1_and_in_words_of_their_own() -> None:
    columns = {condition.name: described(condition, scale=PAPER) for condition in TABLE_1}
    assert columns["default"] == ("same", "80k", "all", "all", "shared")
    assert columns["wiki-cc"] == ("other", "80k", "all", "all", "shared")
    assert columns["no-anchors"] == ("same", "40k/40k", "0", "all", "shared")
    assert columns["extra-anchors"] == ("same", "80k", "extra", "all", "shared")
    assert columns["sep-l1-6"] == ("same", "40k/40k", "all", "Sep L1-6", "shared")
    assert columns["sep-emb-l1-3"] == ("same", "40k/40k", "0*", "Sep Emb + L1-3", "own")
    words = {condition.name: in_words(condition, scale=PAPER) for condition in TABLE_1}
    assert len(set(words.values())) == len(TABLE_1)
    assert words["sep-emb"] == "each language has its own embeddings and softmax"
    assert words["sep-emb-l1-6"] == "each language has its own embeddings, softmax and layers 1 to 6 of 8"
    assert words["no-anchors"] == "all layers are shared, but not one subword"


def test_own_parts_that_start_equal_are_told_below_the_conditions() -> None:
    note, equal = "each language has for itself start as equal copies.", replace(DEMO, own_parts_start=Start.EQUAL)
    assert note in shown(FOUND, scale=equal)
    assert note not in shown(FOUND)
    assert note not in shown(measured("default", [1.0]), scale=equal)
    # Its name says how it starts.
    assert note not in shown(measured("sep-emb-independent", [1.0]), scale=equal)
    both = measured("sep-emb", [1.0]) + measured("sep-emb-independent", [1.0])
    assert "start as equal copies where a model's name does not say otherwise." in shown(both, scale=equal)


def test_layers_are_those_of_the_model_at_hand() -> None:
    assert described(CONDITIONS["sep-l1-6"], scale=DEMO)[3] == "Sep L1-3"
    assert in_words(condition_named("sep-l1-6"), scale=DEMO) == "each language has its own layers 1 to 3 of 4"
    apart = replace(condition_named("sep-l1-3"), separate=Separate(layers=frozenset((1, 4))))
    assert in_words(apart, scale=PAPER) == "each language has its own layers 1, 4 of 8"
    assert in_words(condition_named("anchors-25"), scale=DEMO).endswith("only 25% of the common subwords")
    own = "each language has its own embeddings and softmax; these start"
    assert in_words(condition_named("sep-emb-equal"), scale=DEMO) == f"{own} as equal copies but for tokens"
    assert in_words(condition_named("sep-l1-3-equal"), scale=DEMO).endswith("2 of 4; these start as equal copies")
    assert in_words(condition_named("sep-emb-independent"), scale=DEMO) == f"{own} independently"
    for row, words in {
        "no-anchors": "but not one subword, except that each language has its own bias in the softmax",
        "sep-l1-3": "each language has its own layers 1 to 2 of 4 and bias in the softmax",
    }.items():
        has_bias = condition_named(f"{row}-own-bias")
        assert in_words(has_bias, scale=DEMO).endswith(words)
        assert described(has_bias, scale=DEMO) == (*described(CONDITIONS[row], scale=DEMO)[:-1], "own bias")
