"""Weights and gradients of each owner side by side in long tensors, so that one operation reaches all of them.

Adam, clipping and the exchange between processes work on a handful of tensors instead of a hundred. Each step is then
one launch on a GPU, and parts that an update does not read are left out by leaving out whole tensors.
"""

from collections.abc import Collection, Iterator
from typing import cast

import torch
from torch import Tensor, nn

from isoglot.model.cloze import ClozeModel
from isoglot.model.per_language import SHARED, PerLanguage
from isoglot.pretraining.footprint import aligned
from isoglot.pretraining.kernels.torch_kernels import Affine, Weight

MATRICES, VECTORS = "matrices", "vectors"


class FlatWeights(nn.Module):
    """Takes over a model's weights: they become views of its own parameters, and so do their gradients."""

    # It has two parameters for each owner: matrices, and vectors, which never decay. It is a module, so that optimizers
    # and checkpoints treat it like any other.

    def __init__(self, model: ClozeModel, *, compute_dtype: torch.dtype = torch.float32):
        super().__init__()
        self.compute_dtype = compute_dtype
        self._owner_of: dict[str, str] = {}  # owner of each flat parameter, by its name
        self._gradients: dict[str, Tensor] = {}
        self._twins: dict[str, Tensor] = {}
        """The same numbers in the type that the device computes with, where that is another one: bf16 on a GPU."""
        self._twin_of: dict[int, Tensor] = {}  # view of a twin, by the identity of the model's weight
        owned = dict(_owned(model))
        for owner in (SHARED, *model.encoder.table_sizes):
            weights = [each for each in model.parameters() if owned.get(id(each), SHARED) == owner]
            self._take_over([each for each in weights if each.ndim > 1], owner=owner, kind=MATRICES)
            self._take_over([each for each in weights if each.ndim <= 1], owner=owner, kind=VECTORS)

    def weight(self, weight: Tensor) -> Weight:
        """A weight of the model as the device computes with it, and its gradient."""
        return Weight(self._twin_of.get(id(weight), weight.data), cast(Tensor, weight.grad))

    def linear(self, layer: nn.Linear) -> Affine:
        return Affine(self.weight(layer.weight), self.weight(layer.bias))

    def norm(self, layer: nn.LayerNorm) -> Affine:
        """A norm in full precision, as no matrix product reads it."""
        weight, bias = cast(Tensor, layer.weight.grad), cast(Tensor, layer.bias.grad)
        return Affine(Weight(layer.weight.data, weight), Weight(layer.bias.data, bias))

    def gradients_of(self, languages: Collection[str]) -> list[Tensor]:
        """Gradients of everything that takes part when these languages are read: all but what others own."""
        return [self._gradients[name] for name in self._read_by(languages)]

    def show_gradients(self, languages: Collection[str]) -> list[Tensor]:
        """Hand these gradients to the optimizer, which leaves parameters without a gradient alone."""
        read = set(self._read_by(languages))
        for name, parameter in self.named_parameters():
            parameter.grad = self._gradients[name] if name in read else None
        return self.gradients_of(languages)

    @torch.no_grad()
    def refresh_twins(self, languages: Collection[str]) -> None:
        """Update the twins after the weights that these languages read have changed."""
        for name in self._read_by(languages):
            if name in self._twins:
                self._twins[name].copy_(self.get_parameter(name))

    def _read_by(self, languages: Collection[str]) -> list[str]:
        return [name for name, owner in self._owner_of.items() if owner == SHARED or owner in languages]

    def _take_over(self, weights: list[nn.Parameter], *, owner: str, kind: str) -> None:
        if not weights:
            return
        starts, length = [], 0
        for each in weights:
            starts.append(length)
            length += aligned(each.numel())
        # Named by number: names of parameters have no dots, and a language may be called anything.
        name = f"{len(self._owner_of)}_{kind}"
        flat, gradient = nn.Parameter(weights[0].new_zeros(length)), weights[0].new_zeros(length)
        twin = torch.zeros_like(gradient, dtype=self.compute_dtype) if self.compute_dtype != flat.dtype else None
        self.register_parameter(name, flat)
        self._owner_of[name], self._gradients[name] = owner, gradient
        if twin is not None:
            self._twins[name] = twin
        for weight, start in zip(weights, starts, strict=True):
            own = slice(start, start + weight.numel())
            view = flat.data[own].view_as(weight)
            weight.data = view.copy_(weight.data)
            weight.grad = gradient[own].view_as(weight)
            if twin is not None:
                self._twin_of[id(weight)] = twin[own].view_as(weight).copy_(view)


def _owned(model: ClozeModel) -> Iterator[tuple[int, str]]:
    """Each weight that a language owns, with the language; all other weights are shared."""
    for part in model.modules():
        if isinstance(part, PerLanguage):
            for owner, owned in part.owned_by.items():
                for weight in owned.parameters():
                    yield id(weight), owner
