"""One update: words are hidden, gradients are added up over pieces of a batch and over processes, and Adam steps."""

# B = windows, L = positions, K = languages

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import Any, assert_never

import torch
from torch import Tensor

from isoglot.errors import IsoglotError
from isoglot.machine import DEVICE_VARIABLE, Machine
from isoglot.model.cloze import ClozeModel
from isoglot.model.cuda_graphs import GraphReplay
from isoglot.pretraining.batches import Batch
from isoglot.pretraining.cloze_pass import ClozePass
from isoglot.pretraining.flat_weights import MATRICES, VECTORS, FlatWeights
from isoglot.pretraining.kernels.torch_kernels import TorchKernels
from isoglot.pretraining.loss_watch import Guard
from isoglot.pretraining.masking import Mask, room_for_masked
from isoglot.pretraining.ranks import Ranks
from isoglot.pretraining.run import PretrainingRun, UpdateRecord
from isoglot.randomness import derived_seed
from isoglot.study.scales import TAIL_SHARE, Decay, Optimization

FIRST_RATE = 1e-7
NORM_EPSILON = 1e-6
NARROW = 128
"""Up to this width the steps of a model leave parts of a GPU idle, which gradients of weights can fill."""


def learning_rate(update: int, *, optimization: Optimization, updates: int) -> float:
    """The rate of an update counted from 1; XLM sets the rate after each step, so the first runs at FIRST_RATE."""
    done, warmup = update - 1, optimization.warmup_updates
    if done < warmup:
        return FIRST_RATE + done * (optimization.learning_rate - FIRST_RATE) / warmup
    match optimization.decay:
        case Decay.INVERSE_SQUARE_ROOT:
            return optimization.learning_rate * sqrt(max(warmup, 1) / max(done, 1))
        case Decay.LINEAR_TAIL:
            tail = TAIL_SHARE * updates
            return optimization.learning_rate * min(1.0, (updates - done) / tail)
    assert_never(optimization.decay)


@dataclass(frozen=True, kw_only=True)
class PendingUpdate:
    """An update whose numbers are still on the device: reading them at once would make every update wait."""

    update: int
    learning_rate: float
    numbers: Tensor
    """Summed losses and counts of masked words by language, the gradient's norm, and whether it was left out."""

    def record(self, numbers: Sequence[float], *, languages: Sequence[str]) -> UpdateRecord:
        """The record of this update, given its numbers as the host has read them."""
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
    """Makes the updates of a run; its random draws depend on the run's seed and the update's number alone."""

    # Tensors that outlive an update are only ever changed in place: a CUDA graph replays operations on fixed addresses.

    def __init__(
        self,
        model: ClozeModel,
        run: PretrainingRun,
        *,
        table_sizes: Mapping[str, int],
        machine: Machine,
        ranks: Ranks,
    ):
        self.run, self.table_sizes, self.machine, self.ranks = run, table_sizes, machine, ranks
        self.weights = FlatWeights(model, compute_dtype=machine.compute_dtype)
        self.rate = torch.zeros((), device=machine.device)
        self.optimizer = adam(self.weights, run, rate=self.rate)
        self.guard = Guard(run.languages, machine.device)
        self.generator = torch.Generator(device=machine.device)
        self.kernels = kernels_for(run, machine)
        self.passes = {
            language: ClozePass(model, self.weights, language=language, window=run.window, kernels=self.kernels)
            for language in run.languages
        }
        self.replay = GraphReplay(machine.device)
        self.sum_and_count_2K = torch.zeros(2, len(run.languages), device=machine.device)
        self.word_share = torch.zeros((), device=machine.device)
        """One over the number of masked words in the whole batch."""

    def __call__(self, update: int, batch: Batch) -> PendingUpdate:
        """Learn from this process's pieces of a batch."""
        self.generator.manual_seed(derived_seed(self.run.seed, "masking", update))
        mask = Mask.drawn(self.run.batch, self.run.window, rate=self.run.mask_rate, generator=self.generator)
        # Departure: every masked word of a batch weighs the same; XLM averages the means of its processes.
        self.word_share.copy_(1 / mask.chosen_BL.sum())
        self.sum_and_count_2K.zero_()
        gradients = self.weights.gradients_of(batch.languages)
        for gradient in gradients:
            gradient.zero_()
        for language, first, end in batch.pieces:
            self.kernels.seed(derived_seed(self.run.seed, "dropout", update, first))
            rows = mask.of_rows(first, end)
            self.replay(
                (language, end - first),
                partial(self._learn, language),
                *(batch.rows(first, end), rows.chosen_BL, rows.fate_BL, rows.other_BL),
            )
        self.ranks.add_up([*gradients, self.sum_and_count_2K])
        rate = learning_rate(update, optimization=self.run.optimization, updates=self.run.updates)
        self.rate.fill_(rate)
        numbers = self.replay(batch.languages, partial(self._step, batch.languages))
        return PendingUpdate(update=update, learning_rate=rate, numbers=numbers)

    def _learn(self, language: str, token_BL: Tensor, chosen_BL: Tensor, fate_BL: Tensor, other_BL: Tensor) -> Tensor:
        """Add the gradient of one piece."""
        # Each word's loss is divided by the words of the whole batch, so neither pieces nor processes change the sum.
        mask = Mask(chosen_BL=chosen_BL, fate_BL=fate_BL, other_BL=other_BL)
        if self.machine.device.type == "cuda":
            masked_C = mask.first_masked_C(room_for_masked(token_BL.numel(), rate=self.run.mask_rate))
        else:
            masked_C = mask.masked_M
        loss = self.passes[language](
            token_BL,
            seen_BL=mask.hide(token_BL, table_size=self.table_sizes[language]),
            masked_C=masked_C,
            scale=self.word_share,
        )
        place = self.run.languages.index(language)
        self.sum_and_count_2K[0, place] += loss
        self.sum_and_count_2K[1, place] += chosen_BL.sum()
        return loss

    def _step(self, languages: frozenset[str]) -> Tensor:
        # Departure: parts of the absent language get no gradient at all, so Adam leaves them and their moments alone;
        # in XLM they get zeros, and drift on.
        gradients = self.weights.show_gradients(languages)
        # Tensor by tensor: torch's norm of a list gives so much to a program that most of a GPU is idle.
        norm = torch.stack([gradient.norm() for gradient in gradients]).norm()
        left_out = self.guard.is_bad_update(self.sum_and_count_2K[0], self.sum_and_count_2K[1], norm)
        # Fused Adam was made for loss scaling: it divides gradients by grad_scale and skips the step where found_inf is
        # 1. So it clips and skips on the device, and the host never waits to learn whether a number was finite.
        self.optimizer.grad_scale = ((norm + NORM_EPSILON) / self.run.optimization.clip_norm).clamp(min=1.0)  # type: ignore[attr-defined]
        self.optimizer.found_inf = left_out  # type: ignore[attr-defined]
        self.optimizer.step()
        self.weights.refresh_twins(languages)
        return torch.cat([self.sum_and_count_2K.flatten(), norm.view(1), left_out.view(1)])


def kernels_for(run: PretrainingRun, machine: Machine) -> TorchKernels:
    """Triton's for a GPU, torch's for any other device."""
    settings: dict[str, Any] = {"dropout": run.shape.dropout, "attention_dropout": run.shape.attention_dropout}
    if machine.device.type != "cuda":
        return TorchKernels(machine, **settings)
    try:
        from isoglot.pretraining.kernels.gpu_kernels import GpuKernels
    except ModuleNotFoundError as error:
        if error.name != "triton":
            raise
        raise IsoglotError(
            "pretraining on a GPU needs Triton, which torch for Linux brings along and this one did not: "
            f"pip install triton, or set {DEVICE_VARIABLE}=cpu"
        ) from error

    return GpuKernels(machine, **settings, is_narrow=run.shape.width <= NARROW)


def _adam_on(device: torch.device) -> type[torch.optim.AdamW]:
    if device.type != "cuda":
        return torch.optim.AdamW
    from isoglot.pretraining.kernels.triton_adam import GpuAdam

    return GpuAdam


def adam(weights: FlatWeights, run: PretrainingRun, *, rate: Tensor) -> torch.optim.Optimizer:
    """Adam, with decoupled weight decay on matrices where the run asks for any."""
    settings = run.optimization
    # Departure: biases and norms never decay; the paper names no decay.
    # Departure: epsilon is added to the corrected root, as in Adam's paper; XLM adds it before the correction.
    matrices = [parameter for name, parameter in weights.named_parameters() if name.endswith(MATRICES)]
    vectors = [parameter for name, parameter in weights.named_parameters() if name.endswith(VECTORS)]
    return _adam_on(rate.device)(
        [{"params": matrices, "weight_decay": settings.weight_decay}, {"params": vectors, "weight_decay": 0.0}],
        lr=rate,
        betas=(settings.beta1, settings.beta2),
        eps=settings.epsilon,
        fused=True,
        capturable=rate.is_cuda,
    )
