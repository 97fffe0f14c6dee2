"""Measurements gathered into rows, over seeds and layers, whatever is still missing."""

from isoglot.pipeline.cells import UNTRAINED
from isoglot.report.rows import rows, single_value
from tests.report.made_up_measurements import measured, measurement


def test_a_row_is_over_layers_and_seeds() -> None:
    found = [
        *measured("default", [10, 20, 60], seed=0),
        *measured("default", [30, 50, 40], seed=1),
        *measured("default", [1, 2, 3], variant=UNTRAINED, seed=0),
        *measured("default", [6, 5, 4], variant=UNTRAINED, seed=1),
    ]
    (row,) = rows(found, metric="retrieval_p1")
    assert (row.condition, row.languages) == ("default", ("ela", "oru"))
    assert row.layers == (20, 35, 50)
    assert (row.best, row.untrained_best) == ((60, 50), (3, 6))
    assert (row.mean_best, row.mean_untrained_best) == (55, 4.5)
    assert rows(reversed(found), metric="retrieval_p1")[0].layers == row.layers


def test_rows_are_of_one_metric_condition_and_pair_in_the_order_they_came() -> None:
    found = [
        *measured("sep-emb", [1], languages=("ela", "tem")),
        *measured("default", [2]),
        *measured("sep-emb", [3]),
        *measured("default", [4], metric="word_translation_p1"),
        *measured("default", [5], metric="retrieval_p1_uncentred"),
        measurement("default", 6, metric="retrieval_p1_chance"),
    ]
    found += [
        *measured("sep-emb", [0], variant=UNTRAINED, languages=("ela", "tem")),
        *measured("default", [0], variant=UNTRAINED),
        *measured("sep-emb", [0], variant=UNTRAINED),
    ]
    gathered = rows(found, metric="retrieval_p1")
    assert [(row.condition, row.languages[1], row.layers) for row in gathered] == [
        ("sep-emb", "tem", (1,)),
        ("default", "oru", (2,)),
        ("sep-emb", "oru", (3,)),
    ]


def test_seeds_that_lack_one_of_their_two_scores_are_left_out() -> None:
    found = [
        *measured("default", [10, 20], seed=0),
        *measured("default", [30, 40], seed=1),
        *measured("default", [1, 2], variant=UNTRAINED, seed=1),
        *measured("default", [1, 2], variant=UNTRAINED, seed=2),
        *measured("sep-emb", [50, 60], seed=0),
        *measured("no-anchors", [1, 2], variant=UNTRAINED, seed=0),
    ]
    (row,) = rows(found, metric="retrieval_p1")
    assert (row.condition, row.layers, row.best, row.untrained_best) == ("default", (30, 40), (40,), (2,))
    assert rows([], metric="retrieval_p1") == []


def test_chance_is_that_of_the_pair() -> None:
    found = [
        measurement("default", 0.8, metric="word_translation_p1_chance"),
        measurement("default", 0.5, metric="word_translation_p1_chance", languages=("ela", "tem")),
    ]
    assert single_value(found, metric="word_translation_p1_chance", languages=("ela", "tem")) == 0.5
    assert single_value(found, metric="word_translation_p1_chance", languages=("ela", "zuk")) is None
