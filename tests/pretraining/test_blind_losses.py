"""Losses that can be had without looking at other words."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from isoglot.corpora.numbered_text import Split
from isoglot.corpora.streams import TokenStream, Windows
from isoglot.corpora.vocabulary import MASK
from isoglot.pretraining import plateau as blind_losses
from isoglot.pretraining.batches import window_source
from isoglot.pretraining.masking import Mask
from isoglot.pretraining.plateau import BlindLosses
from tests.pretraining.tiny_runs import switchable_texts


class Counted:
    """Windows of words that are drawn by their shares; the first of each is one that is never masked."""

    def __init__(self, share_V: NDArray[np.float64], *, window: int):
        self.share_V, self.window = share_V, window
        self.taken: list[tuple[int, int]] = []

    def take(self, position: int, count: int) -> NDArray[np.int64]:
        self.taken.append((position, count))
        random = np.random.default_rng(position)
        token_BL = random.choice(len(self.share_V), (count, self.window), p=self.share_V)
        token_BL[:, 0] = 0
        return token_BL


def conditional_entropy(share_V: NDArray[np.float64]) -> float:
    """Of the right word given what is seen in its place, from the table of both; one more column is the mask symbol."""
    size = len(share_V)
    joint = np.zeros((size, size + 1))
    for right in range(size):
        joint[right, size] = 0.8 * share_V[right]
        joint[right, right] = 0.1 * share_V[right]
        joint[right, :size] += 0.1 * share_V[right] / size
    seen = joint.sum(0)
    assert joint.sum() == pytest.approx(1.0)
    return -sum(
        joint[right, word] * math.log(joint[right, word] / seen[word])
        for right, word in zip(*joint.nonzero(), strict=True)
    )


@given(st.lists(st.floats(0.0, 1.0), min_size=2, max_size=12).filter(lambda weights: sum(weights) > 0.1))
def test_losses_are_entropies(weights: list[float]) -> None:
    share_V = np.array(weights) / sum(weights)
    found = BlindLosses.of_frequencies(share_V)
    assert found.uniform == pytest.approx(math.log(len(weights)))
    assert found.unigram == pytest.approx(-sum(it * math.log(it) for it in share_V if it), abs=1e-9)
    assert found.unigram_or_kept == pytest.approx(conditional_entropy(share_V), abs=1e-9)
    assert found.unigram_or_kept <= found.unigram + 1e-9 <= found.uniform + 2e-9


def test_nothing_that_looks_at_the_masked_position_alone_gets_below() -> None:
    """A table of scores for each word that may be seen there, trained on masks as they are drawn."""
    share_V = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.4, 0.3, 0.2, 0.1])
    source = Counted(share_V, window=33)
    # The mask symbol is also a word that may be put in another's place.
    score_VV = torch.zeros(10, 10, requires_grad=True)
    optimizer = torch.optim.Adam([score_VV], lr=0.1)
    generator, losses = torch.Generator().manual_seed(0), []
    for update in range(400):
        token_BL = torch.from_numpy(source.take(update, 500))
        mask = Mask.drawn(500, 33, rate=0.15, generator=generator)
        seen_BL = mask.hide(token_BL, mask_id=MASK, table_size=10)
        loss = F.cross_entropy(score_VV[seen_BL.flatten()[mask.masked_M]], token_BL.flatten()[mask.masked_M])
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        losses.append(loss.item())
    expected = BlindLosses.of_frequencies(share_V).unigram_or_kept
    assert np.mean(losses[-200:]) == pytest.approx(expected, abs=0.01)
    assert expected < BlindLosses.of_frequencies(share_V).unigram - 0.08


def test_a_sample_of_bounded_size_is_counted() -> None:
    share_V = 1 / np.arange(1, 5001)
    share_V /= share_V.sum()
    source = Counted(share_V, window=50)
    found = BlindLosses.of(source, window=50, table_size=5000)
    exact = BlindLosses.of_frequencies(share_V)
    assert found.unigram == pytest.approx(exact.unigram, abs=0.01)
    assert found.unigram_or_kept == pytest.approx(exact.unigram_or_kept, abs=0.01)
    assert sum(count for _, count in source.taken) * 50 == 500_000
    assert max(count for _, count in source.taken) <= blind_losses.WINDOWS_AT_ONCE
    ends = [position + count for position, count in source.taken]
    assert [position for position, _ in source.taken] == [0, *ends[:-1]]


def test_a_text_is_counted_as_training_reads_it(streams: dict[str, TokenStream]) -> None:
    ids = streams["en"].ids(Split.TRAIN)
    plain = BlindLosses.of(Windows(ids, length=12, seed=0, name="en"), window=12, table_size=streams["en"].table_size)
    share_V = np.bincount(ids, minlength=streams["en"].table_size) / len(ids)
    assert plain.unigram == pytest.approx(BlindLosses.of_frequencies(share_V).unigram, abs=0.01)
    source = window_source(streams["en"], switchable=switchable_texts()["en"], window=12, seed=0)
    switched = BlindLosses.of(source, window=12, table_size=streams["en"].table_size)
    counts_V = np.bincount(source.take(0, 20_000)[:, 1:].ravel(), minlength=streams["en"].table_size)
    expected = BlindLosses.of_frequencies(counts_V / counts_V.sum())
    assert switched.unigram == pytest.approx(expected.unigram, abs=0.01)
    assert abs(switched.unigram - plain.unigram) > 0.02, "half of the letters become more frequent"
