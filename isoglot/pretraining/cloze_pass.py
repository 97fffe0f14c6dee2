"""The loss of hidden words and its gradients, written out by hand.

It computes what autograd would compute for `ClozeModel`, and saves autograd's own time, which is a good part of a small
model's on a CPU. On a GPU it saves every trip to memory that two neighbouring steps can share.

Only masked words have a loss, so nobody reads the top layer anywhere else. Its queries attend to all positions, but
after its attention only masked positions are computed: 15% of the last feed-forward layer, and of the softmax.
"""

# B = windows, L = positions, T = B x L tokens, D = width, C = masked positions, V = tokens of a table

from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import torch
from torch import Tensor, nn

from isoglot.model.block import Block, FeedForward, SelfAttention
from isoglot.model.cloze import ClozeModel
from isoglot.model.per_language import PerLanguage
from isoglot.pretraining.flat_weights import FlatWeights
from isoglot.pretraining.kernels.torch_kernels import Affine, Attended, Normed, TorchKernels, Weight
from isoglot.study.scales import NormPlacement


@dataclass(frozen=True, kw_only=True)
class Masked:
    """Positions whose words are hidden; the index one beyond the last stands for none."""

    index_C: Tensor
    num_tokens: int

    @cached_property
    def position_C(self) -> Tensor:
        """The same positions, with any position for none."""
        return self.index_C.clamp(max=self.num_tokens - 1)

    def targets(self, token_BL: Tensor) -> Tensor:
        """The hidden words, -1 for none."""
        return torch.where(self.index_C < self.num_tokens, token_BL.flatten()[self.position_C], -1)

    def taken(self, input_TD: Tensor) -> Tensor:
        return input_TD.index_select(0, self.position_C)

    def put_back(self, output_CD: Tensor) -> Tensor:
        """Rows at their positions, zeros elsewhere; one more row takes those that are none, and is cut off."""
        room = output_CD.new_zeros(self.num_tokens + 1, output_CD.shape[1])
        return room.index_copy_(0, self.index_C, output_CD)[:-1]


class AttentionPass:
    """One attention sublayer, forward and backward."""

    def __init__(self, layer: SelfAttention, *, kernels: TorchKernels, weights: FlatWeights, length: int):
        self.kernels, self.length, self.heads = kernels, length, layer.heads
        self.query_key_value = weights.linear(layer.query_key_value)
        self.output = weights.linear(layer.output)
        self.kept: list[tuple[Tensor, Attended, Tensor, Masked | None]] = []
        """Tensors kept for the way back, which takes them away."""

    def forward(self, input_TD: Tensor, residual_TD: Tensor, norm: Affine, *, at: Masked | None = None) -> Normed:
        """The output added to the residual, and the norm of that: at all positions, or at some, which attend to all."""
        joint_T3D = self.kernels.linear(input_TD, self.query_key_value)
        attended = self.kernels.attention(joint_T3D, length=self.length, heads=self.heads)
        mixed_TD = attended.output_TD if at is None else at.taken(attended.output_TD)
        self.kept.append((input_TD, attended, mixed_TD, at))
        residual_TD = residual_TD if at is None else at.taken(residual_TD)
        return self.kernels.sum_and_norm(self.kernels.linear(mixed_TD, self.output), residual_TD, norm)

    def backward(self, update_TD: Tensor, *, into_TD: Tensor | None) -> Tensor:
        """The gradient of the input, added to another where one is given."""
        kernels, (input_TD, attended, mixed_TD, at) = self.kernels, self.kept.pop()
        kernels.add_weight_gradient(self.output.weight, update_TD, mixed_TD)
        # A gradient takes the name of its tensor, whose memory is thereby freed as soon as it is not needed.
        mixed_TD = torch.mm(update_TD, self.output.weight.value)
        if at is not None:
            mixed_TD = at.put_back(mixed_TD)
        joint_T3D = kernels.attention_backward(
            mixed_TD, attended, length=self.length, heads=self.heads, bias=self.query_key_value.bias
        )
        kernels.add_weight_gradient(self.query_key_value.weight, joint_T3D, input_TD)
        return kernels.product(joint_T3D, self.query_key_value.weight, into_TD=into_TD)


class FeedForwardPass:
    """One feed-forward sublayer, forward and backward."""

    def __init__(self, layer: FeedForward, *, kernels: TorchKernels, weights: FlatWeights):
        self.kernels = kernels
        self.inner, self.output = weights.linear(layer.inner), weights.linear(layer.outer)
        self.kept: list[tuple[Tensor, Any]] = []
        """Tensors kept for the way back, which takes them away."""

    def forward(self, input_TD: Tensor, residual_TD: Tensor, norm: Affine) -> Normed:
        normed, saved = self.kernels.feed_forward(input_TD, residual_TD, self.inner, self.output, norm)
        self.kept.append((input_TD, saved))
        return normed

    def backward(self, update_TD: Tensor, *, into_TD: Tensor | None) -> Tensor:
        input_TD, saved = self.kept.pop()
        inner_TF = self.kernels.feed_forward_backward(update_TD, input_TD, saved, self.inner, self.output)
        del saved
        return self.kernels.product(inner_TF, self.inner.weight, into_TD=into_TD)


class ClozePass:
    """The pass over the model as one language uses it."""

    def __init__(self, model: ClozeModel, weights: FlatWeights, *, language: str, window: int, kernels: TorchKernels):
        encoder = model.encoder
        self.kernels, self.pad_id = kernels, encoder.pad_id
        self.is_pre = encoder.shape.norm is NormPlacement.PRE
        embeddings = encoder.embeddings.of(language)
        embeddings.check_length(window)  # kernels would silently read too few positions over and over
        self.token = weights.weight(embeddings.token.weight)
        position = weights.weight(embeddings.position.weight)
        self.position = Weight(position.value[:window], position.gradient[:window])
        self.embedding_norm = weights.norm(embeddings.norm)
        self.output_bias = weights.weight(model.output_bias.of(language).bias)
        self.sublayers: list[AttentionPass | FeedForwardPass] = []
        self.norms = []
        for layer in encoder.blocks:
            block = cast(PerLanguage[Block], layer).of(language)
            self.sublayers += [
                AttentionPass(block.attention, kernels=kernels, weights=weights, length=window),
                FeedForwardPass(block.feed_forward, kernels=kernels, weights=weights),
            ]
            self.norms += [weights.norm(block.attention_norm), weights.norm(block.feed_forward_norm)]
        self.last_attention = cast(AttentionPass, self.sublayers[-2])
        if self.is_pre:
            self.norms.append(weights.norm(cast(nn.LayerNorm, encoder.top_norm)))

    @torch.no_grad()
    def __call__(self, token_BL: Tensor, *, seen_BL: Tensor, masked_C: Tensor, scale: Tensor) -> Tensor:
        """The summed loss at masked positions, given as flat indices into B x L, or B x L for none.

        Gradients of `scale` times that loss are added to those that are there.
        """
        self.kernels.begin()
        id_T, masked = seen_BL.flatten(), Masked(index_C=masked_C, num_tokens=seen_BL.numel())
        states = self.forward(id_T, masked)
        loss, output_CD = self.kernels.cloze_loss(
            states[-1].output_TD, self.token, self.output_bias, masked.targets(token_BL), scale=scale
        )
        self.backward(output_CD, states, id_T=id_T, masked=masked)
        self.kernels.end()
        return loss

    def forward(self, id_T: Tensor, masked: Masked) -> list[Normed]:
        """States from the embeddings to the top, which is computed at masked positions; the way back takes them."""
        kernels, norms = self.kernels, iter(self.norms)
        states = [kernels.embedding_and_norm(id_T, self.token, self.position.value, self.embedding_norm)]
        residual_TD = input_TD = states[-1].output_TD
        if self.is_pre:
            states.append(kernels.sum_and_norm(None, residual_TD, next(norms)))
            input_TD = states[-1].output_TD
        for sublayer, norm in zip(self.sublayers, norms, strict=True):
            if sublayer is self.last_attention:
                states.append(self.last_attention.forward(input_TD, residual_TD, norm, at=masked))
            else:
                states.append(sublayer.forward(input_TD, residual_TD, norm))
            input_TD = states[-1].output_TD
            residual_TD = states[-1].sum_TD if self.is_pre else input_TD
        return states

    def backward(self, output_TD: Tensor, states: list[Normed], *, id_T: Tensor, masked: Masked) -> None:
        """From the gradient of the top, at masked positions, to the embeddings."""
        kernels, norms = self.kernels, list(self.norms)
        residual_TD = None
        for sublayer in reversed(self.sublayers):
            # From here on output_TD is the gradient of the sum: the old one is freed before the sublayer needs memory.
            output_TD, update_TD = kernels.sum_and_norm_backward(
                output_TD, residual_TD, states.pop(), norms.pop(), update_bias=sublayer.output.bias
            )
            if sublayer is self.last_attention:
                output_TD = masked.put_back(output_TD)
            residual_TD = output_TD if self.is_pre else None
            output_TD = sublayer.backward(update_TD, into_TD=None if self.is_pre else output_TD)
        if self.is_pre:
            output_TD, _ = kernels.sum_and_norm_backward(
                output_TD, residual_TD, states.pop(), norms.pop(), update_bias=None
            )
        kernels.embedding_and_norm_backward(
            output_TD, states.pop(), id_T, self.token, self.position.gradient, self.embedding_norm, pad_id=self.pad_id
        )
