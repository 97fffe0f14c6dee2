"""Masking rates within binomial bounds, and what is never touched (section 3.1)."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from isoglot.corpora.vocabulary import MASK
from isoglot.pretraining.masking import Mask, room_for_masked

TABLE_SIZE = 40


@dataclass(frozen=True, kw_only=True)
class MaskedBatch:
    """Windows as the model sees them, where words were hidden, and which."""

    token_BL: torch.Tensor
    masked_M: torch.Tensor
    target_M: torch.Tensor


def masked(token_BL: torch.Tensor, *, rate: float = 0.15, seed: int = 0) -> MaskedBatch:
    mask = Mask.drawn(*token_BL.shape, rate=rate, generator=torch.Generator().manual_seed(seed))
    return MaskedBatch(
        token_BL=mask.hide(token_BL, table_size=TABLE_SIZE),
        masked_M=mask.masked_M,
        target_M=token_BL.flatten()[mask.masked_M],
    )


def within_binomial_bounds(count: int, *, trials: int, probability: float) -> bool:
    """False once in a million where the probability is right."""
    return bool(stats.binomtest(count, trials, probability).pvalue > 1e-6)


@pytest.fixture(scope="module")
def token_BL() -> torch.Tensor:
    """Ids above the table's, so that no random word can be one of them."""
    return torch.randint(1000, 2000, (2000, 128), generator=torch.Generator().manual_seed(1))


@pytest.fixture(scope="module")
def batch(token_BL: torch.Tensor) -> MaskedBatch:
    return masked(token_BL)


def test_each_position_but_the_first_is_chosen_at_the_rate(token_BL: torch.Tensor) -> None:
    rate = 0.15
    masked_M = masked(token_BL, rate=rate).masked_M
    assert within_binomial_bounds(len(masked_M), trials=2000 * 127, probability=rate)
    by_position = torch.bincount(masked_M % 128, minlength=128).tolist()
    assert by_position[0] == 0
    assert all(within_binomial_bounds(count, trials=2000, probability=rate) for count in by_position[1:])


def test_eight_in_ten_are_masked_one_kept_and_one_random(batch: MaskedBatch) -> None:
    seen_M = batch.token_BL.flatten()[batch.masked_M]
    num_masked, num_kept = int(seen_M.eq(MASK).sum()), int(seen_M.eq(batch.target_M).sum())
    trials = len(seen_M)
    assert within_binomial_bounds(num_kept, trials=trials, probability=0.1)
    assert within_binomial_bounds(num_masked, trials=trials, probability=0.8 + 0.1 / TABLE_SIZE)
    assert within_binomial_bounds(trials - num_masked - num_kept, trials=trials, probability=0.1 - 0.1 / TABLE_SIZE)


def test_random_words_are_uniform_over_the_whole_table(batch: MaskedBatch) -> None:
    """Special symbols too, as in XLM; the mask symbol is left out here, being there for another reason as well."""
    seen_M = batch.token_BL.flatten()[batch.masked_M]
    words = seen_M[seen_M.ne(batch.target_M) & seen_M.ne(MASK)]
    counts = np.delete(torch.bincount(words, minlength=TABLE_SIZE).numpy(), MASK)
    assert len(counts) == TABLE_SIZE - 1
    assert stats.chisquare(counts).pvalue > 1e-6
    assert counts.min() > 0


def test_words_that_are_not_chosen_are_left_alone(token_BL: torch.Tensor, batch: MaskedBatch) -> None:
    flat = token_BL.flatten()
    assert batch.masked_M.unique().equal(batch.masked_M)
    elsewhere = torch.ones(len(flat), dtype=torch.bool)
    elsewhere[batch.masked_M] = False
    assert batch.token_BL.flatten()[elsewhere].equal(flat[elsewhere])


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 2**31))
def test_rows_read_apart_have_the_same_words_hidden(batch: int, cut: int, seed: int) -> None:
    token_BL = torch.arange(1000, 1000 + batch * 7).view(batch, 7)
    mask = Mask.drawn(batch, 7, rate=0.4, generator=torch.Generator().manual_seed(seed))
    bounds = sorted({0, min(cut, batch), batch})
    parts = [
        mask.of_rows(first, end).hide(token_BL[first:end], table_size=TABLE_SIZE) for first, end in pairwise(bounds)
    ]
    assert torch.cat(parts).equal(mask.hide(token_BL, table_size=TABLE_SIZE))
    chosen = [mask.of_rows(first, end).masked_M + 7 * first for first, end in pairwise(bounds)]
    assert torch.cat(chosen).equal(mask.masked_M)


@given(st.integers(1, 3), st.integers(2, 5), st.integers(0, 2**31))
def test_even_the_smallest_batch_has_a_word_to_find_and_never_the_first(batch: int, length: int, seed: int) -> None:
    token_BL = torch.arange(1000, 1000 + batch * length).view(batch, length)
    found = masked(token_BL, rate=0.01, seed=seed)
    assert len(found.masked_M) >= 1
    assert (found.masked_M % length).min() > 0
    assert found.target_M.equal(found.masked_M + 1000)


@given(
    st.lists(st.lists(st.booleans(), min_size=5, max_size=5), min_size=1, max_size=6),
    st.integers(0, 40),
)
def test_so_many_chosen_positions_then_none(chosen: list[list[bool]], count: int) -> None:
    chosen_BL = torch.tensor(chosen)
    mask = Mask(chosen_BL=chosen_BL, fate_BL=torch.rand(chosen_BL.shape), other_BL=torch.zeros_like(chosen_BL).long())
    by_hand = [5 * row + place for row, window in enumerate(chosen) for place in range(5) if window[place]]
    assert mask.masked_M.tolist() == by_hand
    assert mask.first_masked_C(count).tolist() == (by_hand + [chosen_BL.numel()] * count)[:count]


@given(st.integers(1, 200_000), st.floats(0.01, 0.9))
def test_room_is_for_more_than_are_ever_chosen(tokens: int, rate: float) -> None:
    room = room_for_masked(tokens, rate=rate)
    assert room == tokens or room % 64 == 0
    assert room <= tokens
    # Positions are chosen one by one; more than there is room for, once in a hundred thousand draws at the very most.
    assert stats.binom.sf(room, tokens, rate) < 1e-5
    assert room <= rate * tokens + 5 * (rate * (1 - rate) * tokens) ** 0.5 + 64, "and not for many more"
