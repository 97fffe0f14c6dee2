"""The steps that a pass over a model is written in, forward and backward, whichever device they are written for."""

# T = tokens of a piece, D = width, N = width of any layer, L = positions, C = masked positions, V = tokens of a table

from dataclasses import dataclass
from typing import Any, Protocol

from torch import Tensor


@dataclass(frozen=True)
class Weight:
    """A weight as the device computes with it, and the gradient that every step adds to."""

    value: Tensor
    gradient: Tensor


@dataclass(frozen=True)
class Affine:
    """Weight and bias of a linear layer, or of a norm."""

    weight: Weight
    bias: Weight


@dataclass(frozen=True, kw_only=True)
class Normed:
    """A sum and its norm, with what the way back needs."""

    sum_TD: Tensor
    output_TD: Tensor
    mean_T: Tensor
    rstd_T: Tensor
    kept: Any
    """What dropout left, in a form the kernels know."""


@dataclass(frozen=True, kw_only=True)
class Attended:
    """What attention gave, with what the way back needs."""

    output_TD: Tensor
    saved: Any


class Kernels(Protocol):
    """Gradients of weights are added to those that are there; what the caller gives is left as it was unless said."""

    def seed(self, number: int) -> None:
        """What dropout draws from in the next pass."""
        ...

    def begin(self) -> None:
        """A pass begins."""
        ...

    def linear(self, input_TD: Tensor, layer: Affine) -> Tensor: ...

    def add_weight_gradient(self, weight: Weight, output_TN: Tensor, input_TD: Tensor) -> None:
        """From the gradient of what a matrix gave and what it was given."""
        ...

    def add_bias_gradient(self, bias: Weight, output_TN: Tensor) -> None: ...

    def embedding_and_norm(self, id_T: Tensor, token: Weight, position_LD: Tensor, norm: Affine) -> Normed:
        """Token and position vectors, normed, then dropout."""
        ...

    def embedding_and_norm_backward(
        self,
        output_TD: Tensor,
        normed: Normed,
        id_T: Tensor,
        token: Weight,
        position_gradient_LD: Tensor,
        norm: Affine,
        *,
        pad_id: int,
    ) -> None: ...

    def sum_and_norm(self, update_TD: Tensor | None, residual_TD: Tensor, norm: Affine) -> Normed:
        """Dropout of what a layer gave, added to what came in, and normed."""
        ...

    def sum_and_norm_backward(
        self, output_TD: Tensor, sum_TD: Tensor | None, normed: Normed, norm: Affine, *, update_bias: Weight | None
    ) -> tuple[Tensor, Tensor]:
        """Gradients of the residual and of the layer's output, one tensor where they are the same."""
        ...

    def gelu(self, input_TN: Tensor) -> Tensor: ...

    def gelu_backward(self, output_TN: Tensor, input_TN: Tensor, *, bias: Weight) -> Tensor:
        """With the gradient of the bias that had been added to the input."""
        ...

    def attention(self, joint_T3D: Tensor, *, length: int, heads: int) -> Attended: ...

    def attention_backward(
        self, output_TD: Tensor, attended: Attended, *, length: int, heads: int, bias: Weight
    ) -> Tensor:
        """With the gradient of the bias that had been added to queries, keys and values."""
        ...

    def softmax_loss(self, logits_CV: Tensor, target_C: Tensor, *, scale: Tensor) -> tuple[Tensor, Tensor]:
        """The summed loss, and its gradient times `scale`; a target of -1 counts for nothing. Uses up the logits."""
        ...
