"""The paper's size and budget (section 3.1), and what follows from them."""

from math import ceil

import pytest

from isoglot.conditions import PAPER_DEPTH, TABLE_1
from isoglot.limits import conflicts
from isoglot.pretraining.learning_rate import learning_rate
from isoglot.scales import PAPER, SCALES, Decay, NormPlacement


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


def test_the_papers_budget() -> None:
    gpus, batch_of_each, epochs, sequences_of_each_epoch = 8, 96, 200, 200_000
    assert PAPER.batch == gpus * batch_of_each
    assert PAPER.updates == ceil(epochs * sequences_of_each_epoch * gpus / PAPER.batch)
    assert PAPER.batch * PAPER.window == 196_608
    assert PAPER.tokens == pytest.approx(82e9, rel=0.005)
    assert PAPER.evaluations == epochs


@pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES)
def test_every_scale_can_run_every_condition(scale) -> None:
    assert list(conflicts(scale)) == []
    separations = [condition.separate.at_depth(scale.shape.layers) for condition in TABLE_1]
    assert len(set(separations)) == len({condition.separate for condition in TABLE_1})
    assert SCALES[scale.name] is scale
