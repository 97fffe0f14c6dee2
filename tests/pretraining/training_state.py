"""The weights and moments of a trainer, and a way to tamper with its gradients."""

from collections.abc import Callable

import torch
from torch import Tensor

from isoglot.pretraining.loop import Trainer

MOMENTS = ("exp_avg", "exp_avg_sq")


def learnt(trainer: Trainer) -> dict[str, list[Tensor]]:
    """Copies of each weight of the model and, once it has been learnt, its moments and its count of updates."""
    optimizer, found = trainer.updates.optimizer, {}
    flat_by_storage = {flat.untyped_storage().data_ptr(): flat for flat in trainer.updates.weights.parameters()}
    for name, weight in trainer.model.named_parameters():
        state = optimizer.state.get(flat_by_storage[weight.untyped_storage().data_ptr()], {})
        own = slice(weight.storage_offset(), weight.storage_offset() + weight.numel())
        moments = [state[moment][own].view_as(weight) for moment in MOMENTS if state]
        counts = [state["step"]] if state else []
        found[name] = [tensor.detach().clone() for tensor in (weight, *moments, *counts)]
    return found


def tamper(trainer: Trainer, act: Callable[[], None]) -> Callable[[], None]:
    """Do something to the gradients after every pass; gives a way to stop it."""
    passes = trainer.updates.passes

    def tampered(language: str) -> Callable[..., Tensor]:
        def learn(*inputs: Tensor, **named: Tensor) -> Tensor:
            loss = passes[language](*inputs, **named)
            with torch.no_grad():
                act()
            return loss

        return learn

    trainer.updates.passes = {language: tampered(language) for language in passes}

    def stop() -> None:
        trainer.updates.passes = passes

    return stop
