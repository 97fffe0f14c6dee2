"""One update: words are hidden, gradients gathered over the pieces of a batch and over processes, and Adam steps."""

# B = windows, L = positions, M = masked positions, V = tokens of a table, K = languages

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from isoglot.encoder.cloze import ClozeModel
from isoglot.machine import Machine
from isoglot.pretraining.guard import Guard
from isoglot.pretraining.learning_rate import learning_rate
from isoglot.pretraining.masking import Mask
from isoglot.pretraining.ranks import Ranks
from isoglot.pretraining.run import PretrainingRun
from isoglot.pretraining.update_record import UpdateRecord
from isoglot.randomness import derived_seed

NORM_EPSILON = 1e-6


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Rows of an update's batch that are read at once."""

    language: str
    first_row: int
    token_BL: Tensor


@dataclass(frozen=True, kw_only=True)
class Unsettled:
    """An update whose numbers are still on the device, since a look at them would wait for it."""

    update: int
    learning_rate: float
    numbers: Tensor
    """Summed losses and numbers of masked words by language, the gradient's norm, and whether it was left out."""

    def record(self, numbers: Sequence[float], *, languages: Sequence[str]) -> UpdateRecord:
        """With its numbers brought from the device."""
        *by_language, norm, left_out = numbers
        sums, counts = by_language[: len(languages)], by_language[len(languages) :]
        means = zip(languages, sums, counts, strict=True)
        return UpdateRecord(
            update=self.update,
            losses={language: total / count for language, total, count in means if count},
            gradient_norm=norm,
            learning_rate=self.learning_rate,
            skipped=bool(left_out),
        )


class Updates:
    """Makes the updates of a run; what it draws depends on the run's seed and the update's number alone."""

    def __init__(
        self,
        model: ClozeModel,
        run: PretrainingRun,
        *,
        mask_id: int,
        table_sizes: Mapping[str, int],
        machine: Machine,
        ranks: Ranks,
    ):
        self.model, self.run, self.mask_id, self.table_sizes = model, run, mask_id, table_sizes
        self.machine, self.ranks = machine, ranks
        self.optimizer = adam(model, run)
        self.guard = Guard(run.languages, machine.device)
        self.generator = torch.Generator(device=machine.device)
        # Kept, as a walk through the model takes as long as one of its small layers.
        self._read_by = cache(model.read_by)

    def __call__(self, update: int, pieces: Sequence[Piece], *, languages: frozenset[str]) -> Unsettled:
        """Learn from this process's pieces of a batch that, over all processes, is of these languages."""
        self.generator.manual_seed(derived_seed(self.run.seed, "masking", update))
        mask = Mask.drawn(self.run.batch, self.run.window, rate=self.run.mask_rate, generator=self.generator)
        num_masked = mask.chosen_BL.sum()
        # Departure: parts of the absent language get no gradient at all, so Adam leaves them and their moments alone;
        # in XLM they get zeros, and drift on.
        self.optimizer.zero_grad(set_to_none=True)
        sum_and_count_2K = torch.zeros(2, len(self.run.languages), device=self.machine.device)
        for piece in pieces:
            self.machine.seed(derived_seed(self.run.seed, "dropout", update, piece.first_row))
            own_mask = mask.of_rows(piece.first_row, len(piece.token_BL))
            loss = self._summed_loss(piece, own_mask)
            # As a share of the whole batch, so that neither pieces nor processes change what is learnt.
            (loss / num_masked).backward()  # type: ignore[no-untyped-call]
            place = self.run.languages.index(piece.language)
            sum_and_count_2K[0, place] += loss.detach()
            sum_and_count_2K[1, place] += own_mask.chosen_BL.sum()
        parameters = self._read_by(languages)
        self.ranks.add_up_gradients(parameters)
        self.ranks.add_up(sum_and_count_2K)
        rate = learning_rate(update, optimization=self.run.optimization, updates=self.run.updates)
        norm, left_out = self._step(parameters, sum_and_count_2K, rate=rate)
        return Unsettled(
            update=update,
            learning_rate=rate,
            numbers=torch.cat([sum_and_count_2K.flatten(), norm.view(1), left_out.view(1)]),
        )

    def _summed_loss(self, piece: Piece, mask: Mask) -> Tensor:
        seen_BL = mask.hide(piece.token_BL, mask_id=self.mask_id, table_size=self.table_sizes[piece.language])
        masked_M = mask.masked_M
        with self.machine.autocast():
            logits_MV = self.model.masked_logits(seen_BL, masked_M=masked_M, language=piece.language)
            return F.cross_entropy(logits_MV.float(), piece.token_BL.flatten()[masked_M], reduction="sum")

    def _step(
        self, parameters: Sequence[nn.Parameter], sum_and_count_2K: Tensor, *, rate: float
    ) -> tuple[Tensor, Tensor]:
        norm = torch.nn.utils.get_total_norm([each.grad for each in parameters if each.grad is not None])
        left_out = self.guard.found_bad(sum_and_count_2K[0], sum_and_count_2K[1], norm)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        # Fused Adam divides gradients by one of these and does nothing at all if the other says so: it clips on its
        # way, and nobody waits for the device to hear whether a number went astray.
        self.optimizer.grad_scale = ((norm + NORM_EPSILON) / self.run.optimization.clip_norm).clamp(min=1.0)  # type: ignore[attr-defined]
        self.optimizer.found_inf = left_out  # type: ignore[attr-defined]
        self.optimizer.step()
        return norm, left_out


def adam(model: ClozeModel, run: PretrainingRun) -> torch.optim.Optimizer:
    """Adam, with decoupled weight decay on matrices where the run asks for any."""
    settings = run.optimization
    # Departure: biases and norms never decay; the paper names no decay.
    matrices = [parameter for parameter in model.parameters() if parameter.ndim > 1]
    vectors = [parameter for parameter in model.parameters() if parameter.ndim <= 1]
    return torch.optim.AdamW(
        [
            {"params": matrices, "weight_decay": settings.weight_decay},
            {"params": vectors, "weight_decay": 0.0},
        ],
        lr=settings.learning_rate,
        betas=(settings.beta1, settings.beta2),
        eps=settings.epsilon,
        fused=True,
    )
