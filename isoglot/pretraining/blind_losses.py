"""The losses of models that look at no other word: what training must get below to have learnt anything."""

# V = tokens of a table, B = windows, L = positions

from dataclasses import dataclass
from math import log
from typing import Self

import numpy as np
from numpy.typing import NDArray

from isoglot.corpora.windows import WindowSource
from isoglot.pretraining.masking import KEPT_SHARE, MASKED_SHARE

TOKENS_OF_EACH_TYPE = 100
"""Counting so many tokens of text for each of its types finds entropies within a hundredth of a nat."""
FEWEST_TOKENS = 100_000
WINDOWS_AT_ONCE = 4096


@dataclass(frozen=True, kw_only=True)
class BlindLosses:
    """Of one language, in nats for each masked word."""

    uniform: float
    """Every token alike: a model that knows nothing."""
    unigram: float
    """The entropy of tokens: it knows how frequent each of them is, and gives all masked words that same answer."""
    unigram_or_kept: float
    """It also looks at the masked position itself, where some words were kept and others put in their place."""

    @classmethod
    def of(cls, source: WindowSource, *, window: int, table_size: int) -> Self:
        """Of the windows that training begins with, which are a fair sample of the text, code-switched where it is."""
        tokens = max(TOKENS_OF_EACH_TYPE * table_size, FEWEST_TOKENS)
        num_windows = -(-tokens // window)
        count_V = np.zeros(table_size, dtype=np.int64)
        for position in range(0, num_windows, WINDOWS_AT_ONCE):
            token_BL = source.take(position, min(WINDOWS_AT_ONCE, num_windows - position))
            # The first position is never masked.
            count_V += np.bincount(token_BL[:, 1:].ravel(), minlength=table_size)
        return cls.of_frequencies(count_V / count_V.sum())

    @classmethod
    def of_frequencies(cls, share_V: NDArray[np.float64]) -> Self:
        """Of masked words that are drawn with these probabilities."""
        entropy = -float(_times_log(share_V).sum())
        return cls(
            uniform=log(len(share_V)),
            unigram=entropy,
            unigram_or_kept=MASKED_SHARE * entropy + _loss_where_a_word_is_seen(share_V, entropy),
        )


def _loss_where_a_word_is_seen(share_V: NDArray[np.float64], entropy: float) -> float:
    """The entropy of the right word given the one that is seen, times the share of masked words that this befalls."""
    # Right word t and seen word w come together with probability put * share[t], and kept * share[t] more if t is w.
    kept, put = KEPT_SHARE, (1 - MASKED_SHARE - KEPT_SHARE) / len(share_V)
    seen_V = kept * share_V + put
    same_V, others_V = (kept + put) * share_V, put * (1 - share_V)
    # Of all t but w: the sum of put * share[t] * log(put * share[t]).
    others_log_V = others_V * log(put) + put * (-entropy - _times_log(share_V))
    return float((_times_log(seen_V) - _times_log(same_V) - others_log_V).sum())


def _times_log(number_V: NDArray[np.float64]) -> NDArray[np.float64]:
    """x log x, which is 0 at 0."""
    return number_V * np.log(np.where(number_V > 0, number_V, 1.0))
