"""Every example has its turn, and few positions of a batch are padding."""

from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.evaluation.transfer.sequences import BATCHES_AT_ONCE, by_length, epoch_order, length_batches
from isoglot.evaluation.transfer.task import Ids

SIZES = st.integers(1, 60)
LENGTHS = st.lists(st.integers(1, 40), min_size=1, max_size=300).map(np.array)


@given(size=SIZES, examples=SIZES, epochs=st.integers(1, 8), seed=st.integers(0, 3))
def test_epochs_cut_one_endless_series_of_passes(size: int, examples: int, epochs: int, seed: int) -> None:
    cuts = [epoch_order(epoch=epoch, examples=examples, size=size, seed=seed) for epoch in range(epochs)]
    assert [len(cut) for cut in cuts] == [examples] * epochs
    series = np.concatenate(cuts)
    for start in range(0, len(series), size):
        rows = series[start : start + size]
        assert len(set(rows.tolist())) == len(rows)
        assert set(rows.tolist()) <= set(range(size))
        if len(rows) == size:
            assert sorted(rows.tolist()) == list(range(size))


def test_the_series_is_the_same_however_it_is_cut_and_each_pass_and_seed_has_its_own_order() -> None:
    long = epoch_order(epoch=0, examples=210, size=70, seed=5)
    short = np.concatenate([epoch_order(epoch=epoch, examples=30, size=70, seed=5) for epoch in range(7)])
    assert long.tolist() == short.tolist()
    orders = {tuple(epoch_order(epoch=epoch, examples=50, size=50, seed=seed)) for epoch in range(4) for seed in (0, 1)}
    assert len(orders) == 8


def batches_of(length_N: Ids, *, batch: int, seed: int = 0, epoch: int = 0) -> list[Ids]:
    order = epoch_order(epoch=epoch, examples=len(length_N), size=len(length_N), seed=seed)
    return length_batches(order, length_N, batch=batch, seed=seed, epoch=epoch)


@given(length_N=LENGTHS, batch=st.integers(1, 9), epoch=st.integers(0, 3))
def test_every_row_is_in_one_batch_of_the_wanted_size(length_N: Ids, batch: int, epoch: int) -> None:
    batches = batches_of(length_N, batch=batch, epoch=epoch)
    assert sorted(row for rows_B in batches for row in rows_B.tolist()) == list(range(len(length_N)))
    sizes = sorted(map(len, batches))
    assert len(sizes) == -(-len(length_N) // batch)
    assert sizes[1:] == [batch] * (len(sizes) - 1)
    again = batches_of(length_N, batch=batch, epoch=epoch)
    assert [rows_B.tolist() for rows_B in again] == [rows_B.tolist() for rows_B in batches]


def test_epochs_have_other_batches_in_another_order() -> None:
    length_N = np.random.default_rng(0).integers(1, 30, 1000)
    epochs = [batches_of(length_N, batch=8, epoch=epoch) for epoch in range(3)]
    made = [{frozenset(rows_B.tolist()) for rows_B in batches} for batches in epochs]
    for a, b in ((0, 1), (0, 2), (1, 2)):
        assert len(made[a] & made[b]) <= 2
    lengths = [[int(length_N[rows_B].max()) for rows_B in batches] for batches in epochs]
    assert lengths[0] != lengths[1]
    # Neither the short ones first nor the long ones, as they were before the batches were shuffled.
    for each in lengths:
        assert len(list(groupby(np.sign(np.diff(each[:BATCHES_AT_ONCE]))))) > 20


def padding_share(batches: list[Ids], length_N: Ids) -> float:
    positions = sum(len(rows_B) * int(length_N[rows_B].max()) for rows_B in batches)
    return 1 - sum(int(length_N[rows_B].sum()) for rows_B in batches) / positions


def test_little_of_a_batch_is_padding_where_sentences_are_like_those_of_a_treebank() -> None:
    """English EWT: 16.3 words a sentence, half of them 13 or fewer, the longest 160."""
    words_N = np.random.default_rng(0).lognormal(np.log(13), np.sqrt(2 * np.log(16.3 / 13)), 12_543)
    length_N = np.ceil(1.3 * np.clip(words_N, 1, 160)).astype(np.int64) + 2
    assert words_N.mean() == pytest.approx(16.3, rel=0.05)
    for batch in (16, 32):
        batches = batches_of(length_N, batch=batch)
        assert 0.0 < padding_share(batches, length_N) < 0.10
        unsorted = [np.arange(start, min(start + batch, 12_543)) for start in range(0, 12_543, batch)]
        assert padding_share(unsorted, length_N) > 0.4


@given(length_N=LENGTHS, most_tokens=st.integers(1, 120))
def test_for_prediction_the_longest_come_first_in_batches_that_fit(length_N: Ids, most_tokens: int) -> None:
    batches = list(by_length(length_N, most_tokens=most_tokens))
    rows = [row for rows_B in batches for row in rows_B.tolist()]
    assert sorted(rows) == list(range(len(length_N)))
    assert length_N[rows].tolist() == sorted(length_N.tolist(), reverse=True)
    for rows_B, after in zip(batches, [*batches[1:], None], strict=True):
        longest = int(length_N[rows_B].max())
        assert len(rows_B) == 1 or len(rows_B) * longest <= most_tokens
        assert after is None or (len(rows_B) + 1) * longest > most_tokens
