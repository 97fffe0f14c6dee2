"""Updates that are left out: those that no number came of, and those at which the loss jumps."""

# K = languages of the run

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

TRUSTED_AFTER = 20
"""So many updates of a language must have come before its loss can be said to jump."""
REMEMBERED = 100
"""Running means are over about so many updates of a language."""
LEAST_JUMP = 1.0
"""In nats for each masked word; batches of a few hundred words and more differ by less."""
FEWEST_DEVIATIONS = 10.0
"""A jump is also so many times as large as losses usually differ: a small batch has a wild loss."""
MOST_JUMPS = 5
"""Of a language that are left out in a row. A loss that stays up comes of weights that an earlier update spoiled, and
only learning mends them."""
MOST_SKIPPED = 20
WINDOW = 100
"""Among so many of the latest updates."""


class Guard:
    """Says on the device, without anyone waiting for it, which updates to leave out, and remembers the others' losses.

    Nothing here reads a tensor's value on the host or replaces a tensor that is kept, so CUDA graphs may record it.
    """

    def __init__(self, languages: Sequence[str], device: torch.device):
        self.languages = list(languages)
        self.num_updates_K = torch.zeros(len(self.languages), device=device)
        self.mean_K = torch.zeros_like(self.num_updates_K)
        """Of a language's loss for each word."""
        self.variance_K = torch.zeros_like(self.num_updates_K)
        """Of one word's loss, as far as updates show it: the mean over n words varies by one n-th of it."""
        self.num_jumps_K = torch.zeros_like(self.num_updates_K)
        """In a row, until now."""

    @torch.no_grad()
    def is_bad_update(self, loss_sum_K: Tensor, count_K: Tensor, gradient_norm: Tensor) -> Tensor:
        """1.0 where the update is to be skipped, else 0.0, as fused Adam takes its `found_inf`.

        For each language, in this update and over all processes: its losses summed over its masked words, and how many
        these are; none where the language was not read.
        """
        loss_sum_K, count_K = loss_sum_K.float(), count_K.float()
        deviation_K = loss_sum_K / count_K.clamp(min=1) - self.mean_K
        known_K = count_K * (self.num_updates_K >= TRUSTED_AFTER)
        # Sums over all words of languages that are known well enough.
        jump, usual = known_K.dot(deviation_K), known_K.dot(self.variance_K).sqrt()
        jumps = jump > torch.maximum(LEAST_JUMP * known_K.sum(), FEWEST_DEVIATIONS * usual)
        # Departure: an update that comes to nothing is left out; XLM ends at the first loss that is no number.
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
        """What it remembers, for a checkpoint; exact in JSON. Waits for the device."""
        return {
            f"{name}/{language}": value
            for name, kept_K in self._kept().items()
            for language, value in zip(self.languages, kept_K.tolist(), strict=True)
        }

    def load(self, state: Mapping[str, float]) -> None:
        """Go on from a checkpoint's state; an empty one is that of a guard that has seen nothing."""
        for name, kept_K in self._kept().items():
            values = [state.get(f"{name}/{language}", 0.0) for language in self.languages]
            kept_K.copy_(torch.tensor(values, dtype=kept_K.dtype))

    def _kept(self) -> dict[str, Tensor]:
        return {
            "updates": self.num_updates_K,
            "mean": self.mean_K,
            "variance": self.variance_K,
            "jumps": self.num_jumps_K,
        }


def too_many(skipped_updates: Sequence[int], update: int) -> bool:
    """Whether more of the latest updates were skipped than a run can bear; `update` is the last that was tried."""
    return sum(update - WINDOW < skipped <= update for skipped in skipped_updates) > MOST_SKIPPED
