"""Says when a model goes on guessing words by their frequency alone, which is what troubles users of XLM most."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Self

import numpy as np
from numpy.typing import NDArray

from isoglot.corpora.streams import WindowSource
from isoglot.pretraining.masking import KEPT_SHARE, MASKED_SHARE
from isoglot.pretraining.run import PretrainingRun, UpdateRecord

# V = tokens of a table, B = windows, L = positions


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


REMEMBERED = 100
"""Losses are running means over about so many updates of a language."""
MARGIN = 0.1
"""In nats: a loss so far below any that can be had without other words has left the plateau."""
FEWEST_UPDATES = 1000
ENOUGH_UPDATES = 2000
"""Half of a short run is waited for, but no longer than this."""
PAGE = "docs/training.md"


class Plateau:
    """Compares each language's running loss with those of models that look at no other word."""

    def __init__(self, blind: Mapping[str, BlindLosses], *, run: PretrainingRun):
        self.blind = blind
        self.first = first_told(run)
        self.num_updates: Counter[str] = Counter()
        self.means: dict[str, float] = {}
        """Of the losses of languages that have been read."""
        self.told_of: set[str] = set()

    def told(self, records: Sequence[UpdateRecord]) -> str | None:
        """What the user should hear after these updates, if anything: of a run that learns, nothing."""
        sentences = [sentence for record in records for sentence in self._told(record)]
        return "; ".join(sentences) or None

    def _told(self, record: UpdateRecord) -> Iterable[str]:
        if not record.skipped:
            self._remember(record.losses)
        if left := sorted(language for language in self.told_of if self._has_left(language)):
            self.told_of.difference_update(left)
            yield f"left the unigram plateau at update {record.update:,} ({self._listed(left)})"
        if not _is_doubled(record.update, first=self.first):
            return
        above = [language for language in self.means if self._is_above(language)]
        at = [language for language in self.means if language not in above and not self._has_left(language)]
        self.told_of.update(above, at)
        if at:
            yield (
                f"still at the unigram plateau after {record.update:,} updates: see {PAGE} "
                f"({self._listed(at)}, which words' frequencies alone can give)"
            )
        if above:
            yield (
                f"still above the unigram plateau after {record.update:,} updates, as if it had not even learnt which "
                f"words are frequent: see {PAGE} ({self._listed(above)})"
            )

    def _remember(self, losses: Mapping[str, float]) -> None:
        for language, loss in losses.items():
            self.num_updates[language] += 1
            mean = self.means.get(language, 0.0)
            self.means[language] = mean + (loss - mean) / min(self.num_updates[language], REMEMBERED)

    def _has_left(self, language: str) -> bool:
        return self.means[language] < self.blind[language].unigram_or_kept - MARGIN

    def _is_above(self, language: str) -> bool:
        """Nearer to knowing nothing than to the plateau.

        Not just above it: a model that does not yet know which language it reads is off by log 2, and dropout costs.
        """
        blind = self.blind[language]
        return self.means[language] > max((blind.unigram + blind.uniform) / 2, blind.unigram + MARGIN)

    def _listed(self, languages: Iterable[str]) -> str:
        return ", ".join(f"{language}: loss {self.means[language]:.2f}" for language in languages)


def first_told(run: PretrainingRun) -> int:
    """After how many updates a run that has not left the plateau is told of, and then at each doubling.

    Twice the warm-up, since no model learns before; and half of a short run.
    """
    return max(FEWEST_UPDATES, 2 * run.optimization.warmup_updates, min(run.updates // 2, ENOUGH_UPDATES))


def _is_doubled(update: int, *, first: int) -> bool:
    """Whether it is the first number or twice that, or twice that again; the number alone says, resumed or not."""
    times, rest = divmod(update, first)
    return rest == 0 and times.bit_count() == 1
