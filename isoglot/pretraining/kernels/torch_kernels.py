"""The steps that a pass is written in, forward and backward, and how plain torch takes them.

torch's steps are for a CPU, and for the kernels of other devices to be compared with.
"""

# T = tokens of a piece, D = width, N = width of any layer, L = positions, C = masked positions, V = tokens of a table

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from isoglot.machine import Machine
from isoglot.model.block import NORM_EPSILON

aten = torch.ops.aten
NORM_PARTS = [True, True, True]


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
    """A sum and its norm, with everything the way back needs."""

    sum_TD: Tensor
    output_TD: Tensor
    mean_T: Tensor
    rstd_T: Tensor
    kept: Any  # dropout's draw, in a form that the kernels know


@dataclass(frozen=True, kw_only=True)
class Attended:
    """The output of attention, with everything the way back needs."""

    output_TD: Tensor
    saved: Any


class TorchKernels:
    """The steps in plain torch; dropout draws from the device's own generator."""

    # Kernels of other devices replace some of these methods. They add gradients of weights to those that are there, and
    # leave their inputs as they are unless noted.

    def __init__(self, machine: Machine, *, dropout: float, attention_dropout: float):
        self.machine, self.dropout, self.attention_dropout = machine, dropout, attention_dropout

    def seed(self, number: int) -> None:
        """Seed dropout for the next pass."""
        self.machine.seed(number)

    def begin(self) -> None:
        """Begin a pass; there is nothing to do, as the generator keeps its own place."""

    def end(self) -> None:
        """End a pass: all gradients are there."""

    def linear(self, input_TD: Tensor, layer: Affine) -> Tensor:
        return torch.addmm(layer.bias.value, input_TD, layer.weight.value.t())

    def product(self, output_TN: Tensor, weight: Weight, *, into_TD: Tensor | None) -> Tensor:
        """The gradient of a matrix's input, added in place to another where one is given."""
        if into_TD is None:
            return torch.mm(output_TN, weight.value)
        return into_TD.addmm_(output_TN, weight.value)

    def add_weight_gradient(self, weight: Weight, output_TN: Tensor, input_TD: Tensor) -> None:
        """Add the product of the gradient of a matrix's output and its input."""
        weight.gradient.addmm_(output_TN.t(), input_TD)

    def add_bias_gradient(self, bias: Weight, output_TN: Tensor) -> None:
        bias.gradient.add_(output_TN.sum(0))

    def embedding_and_norm(self, id_T: Tensor, token: Weight, position_LD: Tensor, norm: Affine) -> Normed:
        """Token and position vectors, normed, then dropout."""
        length, width = position_LD.shape
        token_TD = token.value.index_select(0, id_T)
        sum_TD = token_TD.view(-1, length, width).add_(position_LD).view(-1, width)
        normed_TD, mean_T, rstd_T = self._norm(sum_TD, norm)
        output_TD, kept_TD = _dropped(normed_TD, self.dropout)
        return Normed(sum_TD=sum_TD, output_TD=output_TD, mean_T=mean_T, rstd_T=rstd_T, kept=kept_TD)

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
    ) -> None:
        sum_TD = self._norm_backward(_dropped_backward(output_TD, normed.kept, self.dropout), normed, norm)
        position_gradient_LD.add_(sum_TD.view(-1, *position_gradient_LD.shape).sum(0))
        # As nn.Embedding does, which never learns a vector for padding.
        padding_D = token.gradient[pad_id].clone()
        token.gradient.index_add_(0, id_T, sum_TD)
        token.gradient[pad_id] = padding_D

    def sum_and_norm(self, update_TD: Tensor | None, residual_TD: Tensor, norm: Affine) -> Normed:
        """Dropout of a layer's output, added to the residual, and normed."""
        sum_TD, kept_TD = residual_TD, None
        if update_TD is not None:
            dropped_TD, kept_TD = _dropped(update_TD, self.dropout)
            sum_TD = residual_TD + dropped_TD
        output_TD, mean_T, rstd_T = self._norm(sum_TD, norm)
        return Normed(sum_TD=sum_TD, output_TD=output_TD, mean_T=mean_T, rstd_T=rstd_T, kept=kept_TD)

    def sum_and_norm_backward(
        self, output_TD: Tensor, sum_TD: Tensor | None, normed: Normed, norm: Affine, *, update_bias: Weight | None
    ) -> tuple[Tensor, Tensor]:
        """Gradients of the residual and of the layer's output, one tensor where they are the same."""
        own_TD = self._norm_backward(output_TD, normed, norm)
        if sum_TD is not None:
            own_TD.add_(sum_TD)
        update_TD = _dropped_backward(own_TD, normed.kept, self.dropout)
        if update_bias is not None:
            self.add_bias_gradient(update_bias, update_TD)
        return own_TD, update_TD

    def feed_forward(
        self, input_TD: Tensor, residual_TD: Tensor, inner: Affine, outer: Affine, norm: Affine
    ) -> tuple[Normed, Any]:
        """Inner layer, GELU and outer layer, added to the residual and normed, with what the way back needs."""
        inner_TF = self.linear(input_TD, inner)
        active_TF = self.gelu(inner_TF)
        return self.sum_and_norm(self.linear(active_TF, outer), residual_TD, norm), [inner_TF, active_TF]

    def feed_forward_backward(
        self, update_TD: Tensor, input_TD: Tensor, saved: Any, inner: Affine, outer: Affine
    ) -> Tensor:
        """The gradient of the inner layer before its GELU; takes away what was saved."""
        inner_TF, active_TF = saved
        saved.clear()  # the caller's hold on them would keep their memory
        self.add_weight_gradient(outer.weight, update_TD, active_TF)
        # A gradient takes the name of its tensor, whose memory is thereby freed as soon as it is not needed.
        active_TF = torch.mm(update_TD, outer.weight.value)
        inner_TF = self.gelu_backward(active_TF, inner_TF, bias=inner.bias)
        self.add_weight_gradient(inner.weight, inner_TF, input_TD)
        return inner_TF

    def gelu(self, input_TN: Tensor) -> Tensor:
        return F.gelu(input_TN)

    def gelu_backward(self, output_TN: Tensor, input_TN: Tensor, *, bias: Weight) -> Tensor:
        """Also adds to the gradient of the bias that had been added to the input."""
        with self.machine.derivatives():
            gradient_TN: Tensor = aten.gelu_backward(output_TN, input_TN)
        self.add_bias_gradient(bias, gradient_TN)
        return gradient_TN

    def attention(self, joint_T3D: Tensor, *, length: int, heads: int) -> Attended:
        query_BLK, key_BLK, value_BLK = _by_head(joint_T3D, length=length, heads=heads, parts=3)
        scores_BLL = torch.bmm(query_BLK, _turned(key_BLK)).mul_(query_BLK.shape[2] ** -0.5)
        share_BLL = torch.softmax(scores_BLL, dim=2)
        del scores_BLL
        dropped_BLL, kept_BLL = _dropped(share_BLL, self.attention_dropout)
        mixed_TD = _by_token([torch.bmm(dropped_BLL, value_BLK)], heads=heads)
        return Attended(output_TD=mixed_TD, saved=(query_BLK, key_BLK, value_BLK, share_BLL, kept_BLL))

    def attention_backward(
        self, output_TD: Tensor, attended: Attended, *, length: int, heads: int, bias: Weight
    ) -> Tensor:
        """Also adds to the gradient of the bias of queries, keys and values."""
        query_BLK, key_BLK, value_BLK, share_BLL, kept_BLL = attended.saved
        (mixed_BLK,) = _by_head(output_TD, length=length, heads=heads, parts=1)
        # Dropout is applied to the shares once more, which is cheaper than keeping the result.
        dropped_BLL = _dropped_backward(share_BLL, kept_BLL, self.attention_dropout)
        d_value_BLK = torch.bmm(dropped_BLL.transpose(1, 2), mixed_BLK)
        del dropped_BLL
        d_BLL = torch.bmm(mixed_BLK, _turned(value_BLK))
        if kept_BLL is not None:
            d_BLL.mul_(kept_BLL).mul_(1 / (1 - self.attention_dropout))
        d_BLL = aten._softmax_backward_data(d_BLL, share_BLL, 2, share_BLL.dtype)
        d_BLL.mul_(query_BLK.shape[2] ** -0.5)
        gradients = [torch.bmm(d_BLL, key_BLK), torch.bmm(d_BLL.transpose(1, 2), query_BLK), d_value_BLK]
        del d_BLL, mixed_BLK
        joint_T3D = _by_token(gradients, heads=heads)
        self.add_bias_gradient(bias, joint_T3D)
        return joint_T3D

    def cloze_loss(
        self, hidden_CD: Tensor, token: Weight, bias: Weight, target_C: Tensor, *, scale: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The summed loss of hidden words, and the gradient of `scale` times it; a target of -1 counts for nothing."""
        # In place, row by row: the scores are the largest tensor of all.
        logits_CV = self.linear(hidden_CD, Affine(token, bias))
        log_CV = torch.log_softmax(logits_CV, dim=1, out=logits_CV)
        is_target_C1 = (target_C >= 0).unsqueeze(1)
        target_C1 = target_C.clamp(min=0).unsqueeze(1)
        loss = -(log_CV.gather(1, target_C1) * is_target_C1).sum()
        scale_C1 = scale * is_target_C1
        logits_CV = log_CV.exp_().mul_(scale_C1).scatter_add_(1, target_C1, -scale_C1)
        self.add_weight_gradient(token, logits_CV, hidden_CD)
        self.add_bias_gradient(bias, logits_CV)
        return loss, torch.mm(logits_CV, token.value)

    def _norm(self, input_TD: Tensor, norm: Affine) -> tuple[Tensor, Tensor, Tensor]:
        return torch.native_layer_norm(input_TD, input_TD.shape[1:], norm.weight.value, norm.bias.value, NORM_EPSILON)

    def _norm_backward(self, output_TD: Tensor, normed: Normed, norm: Affine) -> Tensor:
        gradient_TD: Tensor
        gradient_TD, weight_D, bias_D = aten.native_layer_norm_backward(
            output_TD,
            normed.sum_TD,
            output_TD.shape[1:],
            normed.mean_T,
            normed.rstd_T,
            norm.weight.value,
            norm.bias.value,
            NORM_PARTS,
        )
        norm.weight.gradient.add_(weight_D)
        norm.bias.gradient.add_(bias_D)
        return gradient_TD


def _dropped(input_TD: Tensor, dropout: float) -> tuple[Tensor, Tensor | None]:
    return torch.native_dropout(input_TD, dropout, True) if dropout else (input_TD, None)


def _dropped_backward(output_TD: Tensor, kept_TD: Tensor | None, dropout: float) -> Tensor:
    return output_TD if kept_TD is None else (output_TD * kept_TD).mul_(1 / (1 - dropout))


def _turned(input_BLK: Tensor) -> Tensor:
    # As a copy: OpenBLAS multiplies small matrices by a turned view at a fifth of its speed.
    return input_BLK.transpose(1, 2).contiguous()


def _by_head(input_TN: Tensor, *, length: int, heads: int, parts: int) -> list[Tensor]:
    """Queries, keys and values, say, as so many windows as there are heads in all windows: B x L x K each."""
    width = input_TN.shape[1] // (parts * heads)
    parts_BLHK = input_TN.view(-1, length, parts, heads, width).unbind(2)
    return [part_BLHK.transpose(1, 2).reshape(-1, length, width) for part_BLHK in parts_BLHK]


def _by_token(parts_BLK: list[Tensor], *, heads: int) -> Tensor:
    """Back again, side by side."""
    _, length, width = parts_BLK[0].shape
    side_by_side = [part_BLK.view(-1, heads, length, width).transpose(1, 2) for part_BLK in parts_BLK]
    # One part of one head lies as it should already.
    joint = side_by_side[0] if len(side_by_side) == 1 else torch.stack(side_by_side, dim=2)
    return joint.reshape(-1, len(parts_BLK) * heads * width)
