"""The watch over a run's losses: which updates to leave out, and whether a model guesses words by frequency alone."""

# K = languages of the run, V = tokens of a table, B = windows, L = positions

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from isoglot.corpora.streams import WindowSource
from isoglot.pretraining.masking import KEPT_SHARE, MASKED_SHARE
from isoglot.pretraining.run import PretrainingRun, UpdateRecord

REMEMBERED = 100  # running means are over about so many updates of a language

TRUSTED_AFTER = 20  # so many updates of a language must have come before its loss can jump
LEAST_JUMP = 1.0
"""Smallest jump, in nats for each masked word; batches of a few hundred words and more differ by less."""
FEWEST_DEVIATIONS = 10.0
"""A jump is also so many times as large as losses usually differ: a small batch has a wild loss."""
MOST_JUMPS = 5
"""Jumps of a language that are left out in a row. A loss that stays up comes from weights that an earlier update
spoiled, and only learning repairs them."""
MOST_SKIPPED = 20
WINDOW = 100  # more than MOST_SKIPPED among so many of the latest updates end a run

TOKENS_OF_EACH_TYPE = 100
"""Counting so many tokens of text for each of its types gives entropies within a hundredth of a nat."""
FEWEST_TOKENS = 100_000
WINDOWS_AT_ONCE = 4096
MARGIN = 0.1
"""In nats: a loss so far below any that is possible without other words has left the plateau."""
FEWEST_UPDATES = 1000
ENOUGH_UPDATES = 2000  # the first warning waits for half of a short run, but no longer than this
PAGE = "docs/training.md"


class Guard:
    """Decides on the device which updates to leave out, and remembers the losses of the others."""

    # Nothing here reads a tensor's value on the host or replaces a tensor that is kept, so CUDA graphs may record it.

    def __init__(self, languages: Sequence[str], device: torch.device):
        self.languages = list(languages)
        zeros_4K = torch.zeros(4, len(self.languages), device=device)
        self._kept = dict(zip(("updates", "mean", "variance", "jumps"), zeros_4K.unbind(), strict=True))
        self.num_updates_K, self.mean_K, self.variance_K, self.num_jumps_K = self._kept.values()
        # mean_K is the loss of a word. variance_K is the variance of one word's loss, as far as updates show it: the
        # mean over n words varies by one n-th of it. num_jumps_K counts jumps in a row, until now.

    @torch.no_grad()
    def is_bad_update(self, loss_sum_K: Tensor, count_K: Tensor, gradient_norm: Tensor) -> Tensor:
        """1.0 where the update is to be skipped, else 0.0, as fused Adam takes its `found_inf`.

        For each language it takes the sum of losses over masked words and the number of words, over all processes. The
        number is 0 where the language was not read.
        """
        loss_sum_K, count_K = loss_sum_K.float(), count_K.float()
        deviation_K = loss_sum_K / count_K.clamp(min=1) - self.mean_K
        known_K = count_K * (self.num_updates_K >= TRUSTED_AFTER)
        # Sums over all words of languages that are known well enough.
        jump, usual = known_K.dot(deviation_K), known_K.dot(self.variance_K).sqrt()
        jumps = jump > torch.maximum(LEAST_JUMP * known_K.sum(), FEWEST_DEVIATIONS * usual)
        # Departure: an update without a finite loss and gradient is left out; XLM warns of such a loss and goes on.
        is_number = (loss_sum_K.sum() + gradient_norm).isfinite()
        good = is_number & ~(jumps & ((self.num_jumps_K < MOST_JUMPS) & (known_K > 0)).any())
        counted_K = torch.where(known_K > 0, (self.num_jumps_K + 1) * jumps, self.num_jumps_K)
        self.num_jumps_K.copy_(torch.where(is_number, counted_K, self.num_jumps_K))
        self._remember(torch.where(good, deviation_K, 0), count_K, learnt_K=good & (count_K > 0))
        return 1 - good.to(torch.float32)

    def _remember(self, deviation_K: Tensor, count_K: Tensor, *, learnt_K: Tensor) -> None:
        """Plain means and variances over the first updates of a language, then exponential ones."""
        self.num_updates_K += learnt_K
        share_K = learnt_K / self.num_updates_K.clamp(1, REMEMBERED)
        self.mean_K.addcmul_(share_K, deviation_K)
        # West's rule: the first loss deviates from nothing, and each has drawn the mean towards itself.
        self.variance_K.lerp_((1 - share_K) * count_K * deviation_K.square(), share_K)

    def state(self) -> dict[str, float]:
        """Everything it remembers, for a checkpoint; exact in JSON. Waits for the device."""
        return {
            f"{name}/{language}": value
            for name, kept_K in self._kept.items()
            for language, value in zip(self.languages, kept_K.tolist(), strict=True)
        }

    def load(self, state: Mapping[str, float]) -> None:
        """Continue from a checkpoint's state; an empty one is that of a guard that has seen nothing."""
        for name, kept_K in self._kept.items():
            values = [state.get(f"{name}/{language}", 0.0) for language in self.languages]
            kept_K.copy_(torch.tensor(values, dtype=kept_K.dtype))


def too_many(skipped_updates: Sequence[int], update: int) -> bool:
    """Whether more of the latest updates were skipped than a run can bear; `update` is the last that was tried."""
    return sum(update - WINDOW < skipped <= update for skipped in skipped_updates) > MOST_SKIPPED


@dataclass(frozen=True, kw_only=True)
class BlindLosses:
    """Losses of models that look at no other word of one language, in nats for each masked word."""

    uniform: float  # every token alike: a model that knows nothing
    unigram: float
    """The entropy of tokens: a model that knows how frequent each is, and gives all masked words the same answer."""
    unigram_or_kept: float
    """A model that also looks at the masked position itself, where some words were kept and others replaced."""

    @classmethod
    def of(cls, source: WindowSource, *, window: int, table_size: int) -> Self:
        """Counted in the windows that training begins with: a fair sample of the text, code-switched where it is."""
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
        """Losses on masked words that are drawn with these probabilities."""
        entropy = -float(_times_log(share_V).sum())
        # Right word t and seen word w meet with probability put * share[t], and kept * share[t] more if t is w.
        kept, put = KEPT_SHARE, (1 - MASKED_SHARE - KEPT_SHARE) / len(share_V)
        seen_V = kept * share_V + put
        same_V, others_V = (kept + put) * share_V, put * (1 - share_V)
        # For all t but w: the sum of put * share[t] * log(put * share[t]).
        others_log_V = others_V * log(put) + put * (-entropy - _times_log(share_V))
        where_a_word_is_seen = float((_times_log(seen_V) - _times_log(same_V) - others_log_V).sum())
        unigram_or_kept = MASKED_SHARE * entropy + where_a_word_is_seen
        return cls(uniform=log(len(share_V)), unigram=entropy, unigram_or_kept=unigram_or_kept)


def _times_log(number_V: NDArray[np.float64]) -> NDArray[np.float64]:
    """x log x, which is 0 at 0."""
    return number_V * np.log(np.where(number_V > 0, number_V, 1.0))


class Plateau:
    """Compares each language's running loss with those of models that look at no other word."""

    # A model that stays at such a loss is the trouble that users of XLM report most.

    def __init__(self, blind: Mapping[str, BlindLosses], *, run: PretrainingRun):
        self.blind = blind
        self.first = first_warning(run)
        self.num_updates: Counter[str] = Counter()
        self.means: dict[str, float] = {}  # running losses of languages that have been read
        self.warned_of: set[str] = set()

    def warning_for(self, records: Sequence[UpdateRecord]) -> str | None:
        """A warning to the user after these updates, if one is due; a run that learns gets none."""
        return "; ".join(sentence for record in records for sentence in self._warnings(record)) or None

    def _warnings(self, record: UpdateRecord) -> Iterable[str]:
        for language, loss in record.losses.items() if not record.skipped else ():
            self.num_updates[language] += 1
            mean = self.means.get(language, 0.0)
            self.means[language] = mean + (loss - mean) / min(self.num_updates[language], REMEMBERED)
        if left := sorted(language for language in self.warned_of if self._has_left(language)):
            self.warned_of.difference_update(left)
            yield f"left the unigram plateau at update {record.update:,} ({self._listed(left)})"
        # At the first number of updates, and at each doubling; the number alone decides, resumed or not.
        times, rest = divmod(record.update, self.first)
        if rest or times.bit_count() != 1:
            return
        above = [language for language in self.means if self._is_above(language)]
        at = [language for language in self.means if language not in above and not self._has_left(language)]
        self.warned_of.update(above, at)
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

    def _has_left(self, language: str) -> bool:
        return self.means[language] < self.blind[language].unigram_or_kept - MARGIN

    def _is_above(self, language: str) -> bool:
        """Nearer to knowing nothing than to the plateau."""
        # Not just above it: a model that does not yet know which language it reads is off by log 2, and dropout costs.
        blind = self.blind[language]
        return self.means[language] > max((blind.unigram + blind.uniform) / 2, blind.unigram + MARGIN)

    def _listed(self, languages: Iterable[str]) -> str:
        return ", ".join(f"{language}: loss {self.means[language]:.2f}" for language in languages)


def first_warning(run: PretrainingRun) -> int:
    """The update at which a run still on the plateau gets its first warning; the next come at each doubling."""
    # Twice the warm-up, since no model learns before; and half of a short run.
    return max(FEWEST_UPDATES, 2 * run.optimization.warmup_updates, min(run.updates // 2, ENOUGH_UPDATES))
