"""Held-out perplexity: a mask that never changes, and exp of the mean cross-entropy over it."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from isoglot.corpora.vocabulary import MASK
from isoglot.errors import IsoglotError
from isoglot.pretraining.perplexity import HeldOut, perplexity
from tests.model.tiny_models import TABLE_SIZE, tiny_model, tiny_shape

CPU = torch.device("cpu")


def ids_of(tokens: int) -> np.ndarray:
    return np.random.default_rng(5).integers(6, TABLE_SIZE, tokens).astype(np.uint16)


def held_out(tokens: int, *, window: int = 10, rate: float = 0.15, language: str = "en") -> HeldOut:
    return HeldOut.of(ids_of(tokens), language=language, window=window, rate=rate, mask_id=MASK)


@given(tokens=st.integers(3, 400), window=st.integers(3, 20), rate=st.sampled_from([0.01, 0.15, 0.9]))
def test_the_mask_is_fixed_in_every_window_and_never_at_an_end(tokens: int, window: int, rate: float) -> None:
    if tokens < window:
        return
    found = held_out(tokens, window=window, rate=rate)
    assert found.token_BL.flatten().tolist() == ids_of(tokens)[: tokens // window * window].tolist()
    assert found.token_BL.shape == found.seen_BL.shape == found.chosen_BL.shape == (tokens // window, window)
    assert found.chosen_BL.any(1).all()
    assert not found.chosen_BL[:, [0, -1]].any()
    assert found.seen_BL[found.chosen_BL].eq(MASK).all()
    assert found.seen_BL[~found.chosen_BL].equal(found.token_BL[~found.chosen_BL])
    assert held_out(tokens, window=window, rate=rate).chosen_BL.equal(found.chosen_BL)


def test_words_are_chosen_at_the_rate_and_last_resorts_are_spread() -> None:
    chosen_BL = held_out(40_000, window=40).chosen_BL
    assert stats.binomtest(int(chosen_BL.sum()), 1000 * 38, 0.15).pvalue > 1e-6
    assert chosen_BL[:, 1:-1].any(0).all()
    rare_BL = held_out(40_000, window=10, rate=1e-9).chosen_BL
    assert rare_BL.sum(1).eq(1).all()
    assert stats.chisquare(rare_BL.sum(0)[1:-1].numpy()).pvalue > 1e-6


def test_a_text_shorter_than_one_window_is_refused() -> None:
    with pytest.raises(
        IsoglotError, match="the dev text of 'fr' has 9 tokens, less than one window of 10; raise dev_l"
    ):
        held_out(9, language="fr")
    assert len(held_out(10).token_BL) == 1


@torch.no_grad()
def test_perplexity_by_hand() -> None:
    model, found = tiny_model(), held_out(95)
    losses = []
    for row in range(9):
        logits_LV = model.logits(model.encoder(found.seen_BL[row : row + 1]))[0].double()
        for position in range(10):
            if found.chosen_BL[row, position]:
                log_probability_V = logits_LV[position].log_softmax(0)
                losses.append(-float(log_probability_V[found.token_BL[row, position]]))
    assert perplexity(model, found, device=CPU) == pytest.approx(math.exp(sum(losses) / len(losses)), rel=1e-5)


def test_dropout_is_off_while_perplexity_is_measured_and_on_again_after() -> None:
    model, found = tiny_model(tiny_shape(dropout=0.5)), held_out(100)
    expected = perplexity(model, found, device=CPU)
    assert not model.training
    assert perplexity(model.train(), found, device=CPU) == expected
    assert all(module.training for module in model.modules())
