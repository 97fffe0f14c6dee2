"""Each fused step of pretraining on a GPU beside torch's own kernels, and what fp8 matrix products would give.

    python bench/pretraining_kernels.py [--to FILE]

One JSON line for each step, at the sizes of a piece of a model of width 256 and of the paper's: microseconds, medians
of 20, the cache emptied before each. What torch has to do in several kernels is timed as several.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import torch
import torch.nn.functional as F
from pretraining import MEASURED, WIDE
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from isoglot.machine import this_machine
from isoglot.model.block import NORM_EPSILON
from isoglot.pretraining.kernels import triton_attention, triton_columns, triton_norms, triton_tables
from isoglot.pretraining.kernels.gpu_kernels import GpuKernels
from isoglot.pretraining.kernels.torch_kernels import Affine, Weight
from isoglot.pretraining.masking import room_for_masked
from isoglot.study.scales import PAPER, Scale

aten = torch.ops.aten
WINDOWS = {WIDE.name: 512, PAPER.name: 96}
TABLE_SIZES = {WIDE.name: 32_000, PAPER.name: 80_000}
CACHE_BYTES = 128 << 20


def microseconds(step: Callable[[], object]) -> float:
    """Time of a CUDA graph of the step, as training replays it: what Python takes to launch kernels is not in it."""
    stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    with torch.cuda.graph(graph):
        step()
    cache, times = torch.empty(CACHE_BYTES, dtype=torch.int8, device="cuda"), []
    for _ in range(20):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        cache.zero_()
        start.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(1e3 * start.elapsed_time(end))
    return round(median(times), 1)


def drawn(*shape: int) -> Tensor:
    return torch.randn(shape, device="cuda").bfloat16()


@dataclass(frozen=True)
class Sizes:
    """Sizes of a piece."""

    scale: Scale

    @property
    def tokens(self) -> int:
        return WINDOWS[self.scale.name] * self.scale.window

    @property
    def width(self) -> int:
        return self.scale.shape.width


def with_sums(outputs: tuple[Tensor, ...]) -> None:
    """Add the partial sums, the last output, to gradients."""
    partial_KPN = outputs[-1]
    gradients = torch.zeros(partial_KPN.shape[::2], device="cuda")
    triton_columns.add_partial_sums(partial_KPN, *gradients)


def steps(sizes: Sizes) -> Iterator[tuple[str, dict[str, float]]]:
    shape, tokens, width = sizes.scale.shape, sizes.tokens, sizes.width
    draw = {"dropout": shape.dropout, "seed": torch.tensor([3], device="cuda")}
    update, residual, weight, bias = drawn(tokens, width), drawn(tokens, width), drawn(width), drawn(width)
    gradients = torch.zeros(3, width, device="cuda")
    norm = Affine(Weight(weight, gradients[0]), Weight(bias, gradients[1]))
    normed = triton_norms.sum_and_norm(update, residual, norm, **draw, place=1)
    kept = torch.rand(tokens, width, device="cuda") > shape.dropout

    def norm_backward_of_torch() -> None:
        d_sum, *_ = aten.native_layer_norm_backward(
            update,
            normed.sum_TD,
            [width],
            normed.mean_T[:, None],
            normed.rstd_T[:, None],
            weight,
            bias,
            [True, True, True],
        )
        aten.native_dropout_backward(d_sum, kept, 1.1).sum(0, dtype=torch.float32)

    yield (
        "dropout, sum, norm",
        {
            "ours": microseconds(lambda: triton_norms.sum_and_norm(update, residual, norm, **draw, place=1)),
            "torch": microseconds(
                lambda: F.layer_norm(residual + F.dropout(update, shape.dropout), (width,), weight, bias, NORM_EPSILON)
            ),
        },
    )
    yield (
        "dropout, sum, norm: backward, with the bias before",
        {
            "ours": microseconds(
                lambda: with_sums(
                    triton_norms.sum_and_norm_backward(update, None, normed, norm, **draw, has_update_bias=True)
                )
            ),
            "torch": microseconds(norm_backward_of_torch),
        },
    )
    inner, outer = drawn(tokens, shape.feed_forward), drawn(tokens, shape.feed_forward)
    yield (
        "GELU",
        {"ours": microseconds(lambda: triton_columns.gelu(inner)), "torch": microseconds(lambda: F.gelu(inner))},
    )
    yield (
        "GELU: backward, with the bias before",
        {
            "ours": microseconds(lambda: with_sums(triton_columns.gelu_backward(outer, inner))),
            "torch": microseconds(lambda: aten.gelu_backward(outer, inner).sum(0, dtype=torch.float32)),
        },
    )


def wide_steps(sizes: Sizes) -> Iterator[tuple[str, dict[str, float]]]:
    """Softmax and embeddings."""
    table_size = TABLE_SIZES[sizes.scale.name]
    rows = room_for_masked(sizes.tokens, rate=sizes.scale.mask_rate)
    hidden, target = drawn(rows, sizes.width), torch.randint(table_size, (rows,), device="cuda")
    token, bias = (
        Weight(drawn(*shape), torch.zeros(shape, device="cuda")) for shape in ((table_size, sizes.width), (table_size,))
    )
    scale = torch.tensor(1e-3, device="cuda")
    kernels = GpuKernels(this_machine(), dropout=0.0, attention_dropout=0.0)

    def loss_of_torch() -> None:
        leaves = [each.detach().requires_grad_() for each in (hidden, token.value, bias.value)]
        scores = torch.addmm(leaves[2], leaves[0], leaves[1].t())
        F.cross_entropy(scores.float(), target).backward()  # type: ignore[no-untyped-call]

    yield (
        "loss of hidden words and its gradients, with the products",
        {
            "ours": microseconds(lambda: kernels.cloze_loss(hidden, token, bias, target, scale=scale)),
            "torch": microseconds(loss_of_torch),
        },
    )
    # An eighth of all is the mask, as in training.
    id = torch.where(torch.rand(sizes.tokens, device="cuda") < 0.12, 4, 5 + target.repeat(9)[: sizes.tokens] // 2)
    update, gradient = drawn(sizes.tokens, sizes.width), torch.zeros(table_size, sizes.width, device="cuda")
    yield (
        "gradient of embeddings",
        {
            "ours": microseconds(lambda: triton_tables.add_rows(gradient, id, update, skipped_id=2)),
            "torch": microseconds(
                lambda: gradient.add_(aten.embedding_dense_backward(update, id, table_size, 2, False))
            ),
        },
    )


def attention_steps(sizes: Sizes) -> Iterator[tuple[str, dict[str, float]]]:
    shape, window = sizes.scale.shape, sizes.scale.window
    joint, mixed = drawn(sizes.tokens, 3 * sizes.width), drawn(sizes.tokens, sizes.width)
    named = {
        "batch": WINDOWS[sizes.scale.name],
        "length": window,
        "heads": shape.heads,
        "dropout": shape.attention_dropout,
        "seed": torch.tensor([3], device="cuda"),
        "place": 1,
    }

    def ours() -> None:
        output, divisor = triton_attention.attention(joint, **named)
        with_sums(triton_attention.attention_backward(mixed, joint, output, divisor, **named))

    def torchs() -> None:
        leaf = joint.detach().requires_grad_()
        joint_BL3HK = leaf.view(-1, window, 3, shape.heads, sizes.width // shape.heads)
        query, key, value = joint_BL3HK.permute(2, 0, 3, 1, 4).unbind(0)
        output = F.scaled_dot_product_attention(query, key, value, dropout_p=shape.attention_dropout)
        output.transpose(1, 2).reshape(sizes.tokens, -1).backward(mixed)
        leaf.grad.sum(0, dtype=torch.float32)  # type: ignore[union-attr]

    found = {"ours": microseconds(ours)}
    for backend in (SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION):
        with sdpa_kernel(backend):
            found[backend.name.lower()] = microseconds(torchs)
    yield "attention, there and back, with the bias before", found


def product_steps(sizes: Sizes) -> Iterator[tuple[str, dict[str, float]]]:
    """The four matrices of a layer, forward and backward to what they read; scales for fp8 are given, not sought."""
    shape, one = sizes.scale.shape, torch.ones((), device="cuda")
    e4m3, e5m2 = torch.float8_e4m3fn, torch.float8_e5m2
    found = dict.fromkeys(("bf16", "fp8", "casts to fp8, not fused"), 0.0)
    for inputs, outputs in (
        (shape.width, 3 * shape.width),
        (shape.width, shape.width),
        (shape.width, shape.feed_forward),
        (shape.feed_forward, shape.width),
    ):
        read, weight, given = drawn(sizes.tokens, inputs), drawn(outputs, inputs), drawn(sizes.tokens, outputs)
        read_8, weight_8, given_8 = read.to(e4m3), weight.to(e4m3), given.to(e5m2)
        turned_8 = weight.t().contiguous().to(e4m3)

        def product(left: Tensor, right: Tensor) -> Tensor:
            return torch._scaled_mm(left, right, one, one, out_dtype=torch.bfloat16, use_fast_accum=True)

        found["bf16"] += microseconds(lambda: torch.mm(read, weight.t()))  # noqa: B023
        found["bf16"] += microseconds(lambda: torch.mm(given, weight))  # noqa: B023
        found["fp8"] += microseconds(lambda: product(read_8, weight_8.t()))  # noqa: B023
        found["fp8"] += microseconds(lambda: product(given_8, turned_8.t()))  # noqa: B023
        found["casts to fp8, not fused"] += microseconds(lambda: read.to(e4m3))  # noqa: B023
        found["casts to fp8, not fused"] += microseconds(lambda: given.to(e5m2))  # noqa: B023
    yield "products of a layer but for gradients of weights", {name: round(time, 1) for name, time in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, help="a file for all lines and what they were measured on")
    wanted = parser.parse_args()
    found = []
    for name in WINDOWS:
        for kind in (steps, wide_steps, attention_steps, product_steps):
            for step, times in kind(Sizes(MEASURED[name])):
                found.append({"scale": name, "step": step, "microseconds": times})
                print(json.dumps({"bench": "pretraining_kernels"} | found[-1]), flush=True)
    if wanted.to:
        where = {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "steps": found}
        wanted.to.write_text(json.dumps(where, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
