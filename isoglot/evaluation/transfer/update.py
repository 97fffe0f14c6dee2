"""One update of fine-tuning: batch, loss, gradients and Adam, replayed as one CUDA graph where there is a GPU."""

# B = sequences of a batch

from functools import partial

import torch
from torch import Tensor

from isoglot.evaluation.transfer.model import TaskModel
from isoglot.evaluation.transfer.run import FineTuningRun
from isoglot.evaluation.transfer.sequences import ResidentSequences
from isoglot.machine import Machine
from isoglot.model.cuda_graphs import Recorder

FINE_LENGTHS = 32
"""Up to here a batch is padded to an even length on a GPU, beyond to a multiple of COARSE_STEP: a graph serves one."""
FINE_STEP, COARSE_STEP = 2, 8


def adam(model: TaskModel, run: FineTuningRun, *, machine: Machine) -> torch.optim.Optimizer:
    """Adam without weight decay on all that is not frozen; the task's own layer has a rate of its own."""
    # Rates that graphs read are tensors, and always the same ones.
    in_graphs = machine.device.type == "cuda"
    groups = [
        {
            "params": [parameter for parameter in part.parameters() if parameter.requires_grad],
            "lr": torch.tensor(rate, device=machine.device) if in_graphs else rate,
        }
        for part, rate in ((model.head, run.head_learning_rate), (model.encoder, run.learning_rate))
    ]
    return torch.optim.AdamW(
        [group for group in groups if group["params"]],
        betas=(0.9, run.beta2),
        weight_decay=0.0,
        fused=True,
        capturable=in_graphs,
    )


def set_rates(optimizer: torch.optim.Optimizer, run: FineTuningRun, *, share: float) -> None:
    """Each part's rate, times the share that the schedule gives it now."""
    for group, rate in zip(optimizer.param_groups, (run.head_learning_rate, run.learning_rate), strict=False):
        if isinstance(group["lr"], torch.Tensor):
            group["lr"].fill_(share * rate)
        else:
            group["lr"] = share * rate


class Updates:
    """Learns from one batch at a time."""

    def __init__(
        self,
        model: TaskModel,
        optimizer: torch.optim.Optimizer,
        resident: ResidentSequences,
        *,
        language: str,
        machine: Machine,
    ):
        self.model, self.optimizer, self.resident = model, optimizer, resident
        self.language, self.machine = language, machine
        self.recorded = Recorder(machine.device)

    def __call__(self, rows_B: Tensor, *, length: int) -> Tensor:
        """The loss of the batch before the update, left on the device."""
        if self.recorded.is_used:
            length = graph_length(length, positions=self.model.encoder.shape.positions)
        # Before anything is recorded: a graph must not free what it did not make.
        self.optimizer.zero_grad(set_to_none=True)
        return self.recorded((len(rows_B), length), partial(self._update, length=length), rows_B)

    def _update(self, rows_B: Tensor, *, length: int) -> Tensor:
        token_BL, point_BL, target_CBL = self.resident.batch(rows_B, length=length)
        with self.machine.autocast(cache=not self.recorded.is_used):
            loss = self.model.loss(token_BL, point_BL=point_BL, target_CBL=target_CBL, language=self.language)
        with self.machine.derivatives():
            loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        return loss.detach()


def graph_length(length: int, *, positions: int) -> int:
    """The length of the graph that serves batches of a length, within the model's positions."""
    step = FINE_STEP if length <= FINE_LENGTHS else COARSE_STEP
    return min(-(-length // step) * step, positions)
