"""The paper's size and budget (section 3.1), its search (section 3.2), and what follows from them."""

from itertools import product
from math import ceil

import pytest

from isoglot.pretraining.updates import learning_rate
from isoglot.study.conditions import TABLE_1
from isoglot.study.scales import PAPER, SCALES, Decay, NormPlacement
from isoglot.study.searches import Schedule
from isoglot.study.separate import PAPER_DEPTH


def test_the_papers_model() -> None:
    shape = PAPER.shape
    assert (shape.layers, shape.heads, shape.width, shape.feed_forward) == (8, 12, 768, 3072)
    assert (shape.dropout, shape.attention_dropout) == (0.1, 0.1)
    assert shape.norm is NormPlacement.POST
    assert shape.positions == 512
    assert shape.layers == PAPER_DEPTH


def test_the_papers_optimization() -> None:
    optimization = PAPER.optimization
    assert (optimization.learning_rate, optimization.warmup_updates) == (1e-4, 30_000)
    assert optimization.decay is Decay.INVERSE_SQUARE_ROOT
    assert learning_rate(PAPER.updates, optimization=optimization, updates=PAPER.updates) == pytest.approx(
        2.7e-5, rel=0.01
    )
    assert optimization.warmup_updates / PAPER.updates == pytest.approx(0.07, abs=0.005)


def test_the_papers_masking_and_sampling() -> None:
    assert (PAPER.window, PAPER.mask_rate, PAPER.language_exponent, PAPER.merges) == (256, 0.15, 0.7, 80_000)
    assert PAPER.language_draws == 8  # one for each of its GPUs, as in XLM


def test_the_papers_budget() -> None:
    gpus, batch_of_each, epochs, sequences_of_each_epoch = 8, 96, 200, 200_000
    assert PAPER.batch == gpus * batch_of_each
    assert PAPER.updates == ceil(epochs * sequences_of_each_epoch * gpus / PAPER.batch)
    assert PAPER.batch * PAPER.window == 196_608
    assert PAPER.tokens == pytest.approx(82e9, rel=0.005)
    assert PAPER.evaluations == epochs


def test_the_papers_search_for_words() -> None:
    search = PAPER.word_tasks
    assert search.settings() == [(batch, rate, rate) for batch in (16, 32) for rate in (2e-5, 3e-5, 5e-5)]
    assert (search.epochs, search.epoch_examples) == (10, None)
    assert (search.schedule, search.warmup_share) == (Schedule.LINEAR, 0.1)


def test_the_papers_search_for_pairs() -> None:
    search = PAPER.pair_tasks
    assert search.settings() == list(product((4, 8), (1.25e-6, 2.5e-6, 5e-6), (5e-6, 2.5e-5, 1.25e-4)))
    assert search.schedule is Schedule.CONSTANT
    mnli_pairs = 392_702
    assert search.epochs == 200
    assert search.epochs * (search.epoch_examples or 0) / mnli_pairs == pytest.approx(10.2, abs=0.05)


@pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES)
def test_every_scale_has_two_settings_to_average(scale) -> None:
    # "We report the result on average of best two set of hyperparameters."
    for search in (scale.word_tasks, scale.pair_tasks):
        assert len(set(search.settings())) == len(search.settings()) >= 2


@pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES)
def test_every_scale_can_run_every_condition(scale) -> None:
    assert list(scale.conflicts()) == []
    separations = [condition.separate.at_depth(scale.shape.layers) for condition in TABLE_1]
    assert len(set(separations)) == len({condition.separate for condition in TABLE_1})
    assert SCALES[scale.name] is scale
