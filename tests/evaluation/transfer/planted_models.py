"""Models of which one is the other but for the order of its features: a rotation between them that is known."""

import torch
from torch import Tensor

from isoglot.model.cloze import ClozeModel
from isoglot.model.encoder import Encoder


def order_of_features(width: int, *, seed: int = 0) -> Tensor:
    """Not its own inverse, so that a map in the wrong direction is noticed."""
    order_D = torch.randperm(width, generator=torch.Generator().manual_seed(seed))
    assert not order_D.equal(order_D.argsort())
    return order_D


def reordered(model: Encoder | ClozeModel, order_D: Tensor) -> None:
    """In place: feature d of every state is what feature order_D[d] was, as a norm does not care about the order."""
    # Only weights that read or write states; others may have as many rows or columns by chance.
    for name, parameter in model.named_parameters():
        part = name.split(".")[-2]
        with torch.no_grad():
            if "norm" in name or part in ("token", "position"):
                parameter.copy_(parameter[..., order_D])
            elif part in ("query_key_value", "inner") and name.endswith("weight"):
                parameter.copy_(parameter[:, order_D])
            elif part in ("output", "outer"):
                parameter.copy_(parameter[order_D])
