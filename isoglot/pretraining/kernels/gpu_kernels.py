"""The steps of a pass for a GPU: cuBLAS multiplies matrices, and fused kernels do everything between the products."""

# T = tokens of a piece, D = width, N = width of any layer, L = positions, C = masked positions, V = tokens of a table

from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from isoglot.machine import Machine
from isoglot.pretraining.kernels import (
    triton_attention,
    triton_columns,
    triton_feed_forward,
    triton_loss,
    triton_norms,
    triton_tables,
)
from isoglot.pretraining.kernels.torch_kernels import Affine, Attended, Normed, TorchKernels, Weight

aten = torch.ops.aten
MOST_HELD = 8
"""Steps aside whose inputs keep their memory at a time."""


class GpuKernels(TorchKernels):
    """The steps on a GPU; those that are not here are torch's."""

    # Dropout is a hash of a seed, the place of the step in the pass and the place of the number. So the way back draws
    # it once more instead of keeping it, and a CUDA graph reads a fresh seed from the same tensor at every replay.

    def __init__(self, machine: Machine, *, dropout: float, attention_dropout: float, is_narrow: bool = False):
        super().__init__(machine, dropout=dropout, attention_dropout=attention_dropout)
        self.current_seed = torch.zeros(1, dtype=torch.int64, device=machine.device)
        self.place = 0
        self.aside = Aside(machine.device) if is_narrow else None

    def seed(self, number: int) -> None:
        self.current_seed.fill_(number)
        self.machine.seed(number)  # for torch's own attention

    def begin(self) -> None:
        self.place = 0

    def end(self) -> None:
        if self.aside:
            self.aside.join()

    def product(self, output_TN: Tensor, weight: Weight, *, into_TD: Tensor | None) -> Tensor:
        if into_TD is None or not self.aside:
            return super().product(output_TN, weight, into_TD=into_TD)
        # Not in place: a gradient of weights may still be reading it.
        return torch.addmm(into_TD, output_TN, weight.value)

    def add_weight_gradient(self, weight: Weight, output_TN: Tensor, input_TD: Tensor) -> None:
        into = weight.gradient
        with self._aside(output_TN, input_TD):
            if input_TD.dtype == into.dtype:
                into.addmm_(output_TN.t(), input_TD)
            else:
                # The sum is in full precision as it leaves the multiplier, without a trip through memory in bf16.
                aten.addmm.dtype_out(into, output_TN.t(), input_TD, into.dtype, out=into)

    def add_bias_gradient(self, bias: Weight, output_TN: Tensor) -> None:
        self._add_sums(triton_columns.column_sums(output_TN), bias)

    def embedding_and_norm(self, id_T: Tensor, token: Weight, position_LD: Tensor, norm: Affine) -> Normed:
        place = self._next_place()
        return triton_norms.embedding_and_norm(id_T, token.value, position_LD, norm, **self._draw(), place=place)

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
        sum_TD, partial_2PD = triton_norms.embedding_and_norm_backward(output_TD, normed, norm, **self._draw())
        self._add_sums(partial_2PD, norm.weight, norm.bias)
        # Aside as well, since the loss adds to the same table there.
        with self._aside(sum_TD):
            positions_LD = sum_TD.view(-1, *position_gradient_LD.shape).sum(0, dtype=torch.float32)
            position_gradient_LD.add_(positions_LD)
            triton_tables.add_rows(token.gradient, id_T, sum_TD, skipped_id=pad_id)

    def sum_and_norm(self, update_TD: Tensor | None, residual_TD: Tensor, norm: Affine) -> Normed:
        return triton_norms.sum_and_norm(update_TD, residual_TD, norm, **self._draw(), place=self._next_place())

    def sum_and_norm_backward(
        self, output_TD: Tensor, sum_TD: Tensor | None, normed: Normed, norm: Affine, *, update_bias: Weight | None
    ) -> tuple[Tensor, Tensor]:
        own_TD, update_TD, partial_KPD = triton_norms.sum_and_norm_backward(
            output_TD, sum_TD, normed, norm, **self._draw(), has_update_bias=update_bias is not None
        )
        self._add_sums(partial_KPD, norm.weight, norm.bias, update_bias)
        return own_TD, update_TD

    def feed_forward(
        self, input_TD: Tensor, residual_TD: Tensor, inner: Affine, outer: Affine, norm: Affine
    ) -> tuple[Normed, Any]:
        if self.dropout or not triton_feed_forward.is_for(inner):
            return super().feed_forward(input_TD, residual_TD, inner, outer, norm)
        return triton_feed_forward.feed_forward(input_TD, residual_TD, inner, outer, norm), None

    def feed_forward_backward(
        self, update_TD: Tensor, input_TD: Tensor, saved: Any, inner: Affine, outer: Affine
    ) -> Tensor:
        if saved is not None:
            return super().feed_forward_backward(update_TD, input_TD, saved, inner, outer)
        inner_FT, weights_2SN, bias_1SF = triton_feed_forward.feed_forward_backward(update_TD, input_TD, inner, outer)
        self._add_sums(weights_2SN, inner.weight, outer.weight)
        self._add_sums(bias_1SF, inner.bias)
        return inner_FT.t()

    def gelu(self, input_TN: Tensor) -> Tensor:
        return triton_columns.gelu(input_TN)

    def gelu_backward(self, output_TN: Tensor, input_TN: Tensor, *, bias: Weight) -> Tensor:
        gradient_TN, partial_1PN = triton_columns.gelu_backward(output_TN, input_TN)
        self._add_sums(partial_1PN, bias)
        return gradient_TN

    def attention(self, joint_T3D: Tensor, *, length: int, heads: int) -> Attended:
        place = self._next_place()
        if not triton_attention.is_for(joint_T3D, length=length, heads=heads):
            return _attention_of_torch(joint_T3D, length=length, heads=heads, dropout=self.attention_dropout)
        shape: dict[str, Any] = {"batch": len(joint_T3D) // length, "length": length, "heads": heads}
        draw: dict[str, Any] = {"dropout": self.attention_dropout, "seed": self.current_seed, "place": place}
        output_TD, divisor_WHL = triton_attention.attention(joint_T3D, **shape, **draw)
        return Attended(output_TD=output_TD, saved=(joint_T3D, divisor_WHL, place))

    def attention_backward(
        self, output_TD: Tensor, attended: Attended, *, length: int, heads: int, bias: Weight
    ) -> Tensor:
        if isinstance(attended.saved, TorchAttention):
            (gradient_T3D,) = torch.autograd.grad(attended.saved.mixed_TD, attended.saved.joint_T3D, output_TD)
            sums_1P3D = triton_columns.column_sums(gradient_T3D)
            sums_1P3D.chunk(3, dim=2)[1].zero_()  # as in triton_attention: a bias of keys changes nothing
            self._add_sums(sums_1P3D, bias)
            return gradient_T3D
        joint_T3D, divisor_WHL, place = attended.saved
        shape: dict[str, Any] = {"batch": len(joint_T3D) // length, "length": length, "heads": heads}
        draw: dict[str, Any] = {"dropout": self.attention_dropout, "seed": self.current_seed, "place": place}
        gradient_T3D, partial_1W3D = triton_attention.attention_backward(
            output_TD, joint_T3D, attended.output_TD, divisor_WHL, **shape, **draw
        )
        self._add_sums(partial_1W3D, bias)
        return gradient_T3D

    def cloze_loss(
        self, hidden_CD: Tensor, token: Weight, bias: Weight, target_C: Tensor, *, scale: Tensor
    ) -> tuple[Tensor, Tensor]:
        table_VD, bias_V = triton_loss.round_table(token.value, bias.value)
        exp_CV, sums_CS = triton_loss.exponentials(hidden_CD, table_VD, bias_V, target_C)
        loss_C, weight_C, weighted_CD = triton_loss.loss_and_weights(exp_CV, sums_CS, hidden_CD, target_C, scale=scale)
        width, size = hidden_CD.shape[1], len(token.value)
        if width in triton_loss.FUSED_WIDTHS:
            with self._aside(exp_CV, weighted_CD):
                both_VD = _full_product(exp_CV, weighted_CD)
                token.gradient.add_(both_VD[:size, :width])
                bias.gradient.add_(both_VD[:size, width])
        else:
            # Another tensor of a wide table's size would cost more than to read the scores once more for the bias.
            self.add_weight_gradient(token, exp_CV[:, :size], weighted_CD[:, :width])
            bias.gradient.add_(_full_product(exp_CV, weighted_CD[:, width:])[:size, 0])
        return loss_C.sum(), torch.mm(exp_CV, table_VD).mul_(weight_C.unsqueeze(1))

    def _add_sums(self, partial_KPN: Tensor, first: Weight, *others: Weight | None) -> None:
        with self._aside(partial_KPN):
            gradients = (None if each is None else each.gradient for each in others)
            triton_columns.add_partial_sums(partial_KPN, first.gradient, *gradients)

    def _aside(self, *inputs: Tensor) -> AbstractContextManager[None]:
        return self.aside(inputs) if self.aside else nullcontext()

    def _next_place(self) -> int:
        self.place += 1
        return self.place

    def _draw(self) -> dict[str, Any]:
        return {"dropout": self.dropout, "seed": self.current_seed}


class Aside:
    """A second stream for gradients of weights: nothing waits for them before the end of the pass."""

    def __init__(self, device: torch.device):
        self.stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        self.held: deque[tuple[torch.cuda.Event, tuple[Tensor, ...]]] = deque()
        """Inputs of what was begun: their memory must not be given to others before it is done."""

    @contextmanager
    def __call__(self, inputs: tuple[Tensor, ...]) -> Iterator[None]:
        main = torch.cuda.current_stream()
        self.stream.wait_stream(main)
        with torch.cuda.stream(self.stream):
            yield
            self.held.append((self.stream.record_event(), inputs))
        while len(self.held) > MOST_HELD:
            main.wait_event(self.held.popleft()[0])

    def join(self) -> None:
        torch.cuda.current_stream().wait_stream(self.stream)
        self.held.clear()


def _full_product(output_TN: Tensor, input_TD: Tensor) -> Tensor:
    """A product over tokens in full precision."""
    if output_TN.dtype is torch.float32:
        return torch.mm(output_TN.t(), input_TD)
    return torch.mm(output_TN.t(), input_TD, out_dtype=torch.float32)


class TorchAttention(NamedTuple):
    """Input and output of an attention that autograd goes back through."""

    joint_T3D: Tensor
    mixed_TD: Tensor


def _attention_of_torch(joint_T3D: Tensor, *, length: int, heads: int, dropout: float) -> Attended:
    """Attention for shapes that our kernel does not take; slower, as its gradients must be put together again."""
    leaf_T3D = joint_T3D.detach().requires_grad_()
    with torch.enable_grad():
        joint_BL3HK = leaf_T3D.view(-1, length, 3, heads, leaf_T3D.shape[1] // (3 * heads))
        query_BHLK, key_BHLK, value_BHLK = joint_BL3HK.permute(2, 0, 3, 1, 4).unbind(0)
        mixed_BHLK = F.scaled_dot_product_attention(query_BHLK, key_BHLK, value_BHLK, dropout_p=dropout)
        mixed_TD = mixed_BHLK.transpose(1, 2).reshape(len(leaf_T3D), -1)
    return Attended(output_TD=mixed_TD.detach(), saved=TorchAttention(leaf_T3D, mixed_TD))
