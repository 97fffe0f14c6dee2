"""Adam of fine-tuning: the task's own layer and the encoder have learning rates of their own."""

import torch

from isoglot.machine import Machine
from isoglot.transfer.model import TaskModel
from isoglot.transfer.run import FineTuningRun


def adam(model: TaskModel, run: FineTuningRun, *, machine: Machine) -> torch.optim.Optimizer:
    """Adam without weight decay on all that is not frozen, the task's own layer with a rate of its own."""
    # Rates that graphs read are tensors, and always the same ones.
    in_graphs = machine.device.type == "cuda"
    groups = [
        {
            "params": [parameter for parameter in part.parameters() if parameter.requires_grad],
            "lr": torch.tensor(rate, device=machine.device) if in_graphs else rate,
        }
        for part, rate in zip((model.head, model.encoder), _rates(run), strict=True)
    ]
    return torch.optim.AdamW(
        [group for group in groups if group["params"]],
        betas=(0.9, run.beta2),
        weight_decay=0.0,
        fused=True,
        capturable=in_graphs,
    )


def _rates(run: FineTuningRun) -> tuple[float, float]:
    """Of the task's own layer and of the encoder."""
    return run.head_learning_rate, run.learning_rate


def set_rates(optimizer: torch.optim.Optimizer, run: FineTuningRun, *, share: float) -> None:
    """Each part's rate, times the share that the schedule gives it now."""
    for group, rate in zip(optimizer.param_groups, _rates(run), strict=False):
        if isinstance(group["lr"], torch.Tensor):
            group["lr"].fill_(share * rate)
        else:
            group["lr"] = share * rate
