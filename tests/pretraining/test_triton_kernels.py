"""Kernels against plain formulas in float32: on a GPU, or anywhere in Triton's own interpreter."""

# T = tokens, D = width, N = width of any layer, V = tokens of a table, L = positions, C = masked positions

import importlib.util
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from isoglot.pretraining.kernels.torch_kernels import Affine, Weight
from tests.pretraining.triton_ground import DEVICE, INTERPRETED, assert_near, drawn, kernels, seed_of

ROOT = Path(__file__).parents[2]
FILES = sorted(map(str, Path(__file__).parent.glob("test_triton_*.py")))
FAMILIES = ("norms", "columns", "cloze", "feed_forward", "tables", "attention", "adam")


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_right_in_the_interpreter(family: str) -> None:
    if importlib.util.find_spec("triton") is None:
        pytest.skip("Triton is not installed: pip install triton, and its interpreter tests the kernels without a GPU")
    done = subprocess.run(
        # The interpreter itself does what newer numpy warns of.
        [sys.executable, "-m", "pytest", "-q", "-W", "ignore", "-m", "gpu", "-k", f"test_{family}", *FILES],
        cwd=ROOT,
        env={**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def affine(weight: Tensor, bias: Tensor) -> Affine:
    """Weights with gradients other than 0, as kernels add to them."""
    gradients = drawn(2, len(weight), seed=6, dtype=torch.float32)
    return Affine(Weight(weight, gradients[0]), Weight(bias, gradients[1]))


def kept(rows: int, width: int, *, dropout: float, seed: int = 3, place: int = 1) -> Tensor:
    """Found out by adding ones to zeros."""
    ones, zeros = torch.ones(rows, width, device=DEVICE), torch.zeros(rows, width, device=DEVICE)
    norm = affine(torch.ones(width, device=DEVICE), torch.zeros(width, device=DEVICE))
    normed = kernels("norms").sum_and_norm(ones, zeros, norm, dropout=dropout, seed=seed_of(seed), place=place)
    return normed.sum_TD > 0


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("rows", "width", "dropout", "with_past"),
    [
        (21, 200, 0.1, False),
        *(
            (8 if INTERPRETED else 24_576, 768, dropout, with_past)
            for dropout in (0, 0.1)
            for with_past in (False, True)
        ),
        # In the interpreter, more rows than all programs of the way back take at once.
        (1065, 4096, 0.1, True) if INTERPRETED else (32_768, 256, 0.0, True),
    ],
)
def test_norms_of_a_sum(rows: int, width: int, dropout: float, with_past: bool) -> None:
    update, residual, d_normed, d_past = (drawn(rows, width, seed=each) for each in range(4))
    weight, bias = 1 + 0.1 * drawn(width, seed=4), drawn(width, seed=5)
    draw, norm = {"dropout": dropout, "seed": seed_of(3)}, affine(weight, bias)
    normed = kernels("norms").sum_and_norm(update, residual, norm, **draw, place=7)
    sum_TD = normed.sum_TD

    mask = kept(rows, width, dropout=dropout, place=7) / (1 - dropout)
    leaves = [each.float().requires_grad_() for each in (update, weight, bias)]
    expected_sum = residual.float() + leaves[0] * mask
    expected_sum.retain_grad()
    # From the sum as it was rounded, which is another by half a step.
    through = expected_sum + (sum_TD.float() - expected_sum).detach()
    expected = F.layer_norm(through, (width,), leaves[1], leaves[2], 1e-12)
    assert_near(sum_TD, expected_sum)
    assert_near(normed.output_TD, expected)
    assert_near(normed.mean_T, sum_TD.float().mean(1), share=1e-5)
    assert_near(normed.rstd_T, sum_TD.float().var(1, correction=0).rsqrt(), share=1e-5)

    loss = (expected * d_normed.float()).sum() + (expected_sum * d_past.float()).sum() * with_past
    loss.backward()
    update_bias = Weight(bias, drawn(width, seed=8, dtype=torch.float32))
    gradients = [each.gradient for each in (norm.weight, norm.bias, update_bias)]
    before = [each.clone() for each in gradients]
    d_sum, d_update, partial_sums = kernels("norms").sum_and_norm_backward(
        d_normed, d_past if with_past else None, normed, norm, **draw, has_update_bias=True
    )
    kernels("columns").add_partial_sums(partial_sums, *gradients)
    assert_near(d_sum, expected_sum.grad)
    assert_near(d_update, leaves[0].grad)
    assert (d_update is d_sum) == (dropout == 0)
    assert_near(gradients[0], before[0] + leaves[1].grad, share=1e-4)
    assert_near(gradients[1], before[1] + leaves[2].grad, share=1e-4)
    assert_near(gradients[2], before[2] + leaves[0].grad.sum(0), share=1e-3)


@pytest.mark.gpu
@pytest.mark.parametrize(("batch", "length", "width"), [(3, 8, 768), (2, 7, 200)] if INTERPRETED else [(96, 256, 768)])
@pytest.mark.parametrize("dropout", [0.0, 0.1])
def test_norms_of_embeddings(batch: int, length: int, width: int, dropout: float) -> None:
    rows = batch * length
    ids = torch.randint(50, (rows,), generator=torch.Generator().manual_seed(0)).to(DEVICE)
    token, position = drawn(50, width), drawn(length, width, seed=1)
    weight, bias, d_dropped = 1 + 0.1 * drawn(width, seed=2), drawn(width, seed=3), drawn(rows, width, seed=4)
    draw, norm = {"dropout": dropout, "seed": seed_of(3)}, affine(weight, bias)
    normed = kernels("norms").embedding_and_norm(ids, token, position, norm, **draw, place=2)
    sum_TD = normed.sum_TD
    assert_near(sum_TD, token.float()[ids] + position.float().repeat(batch, 1))

    mask = kept(rows, width, dropout=dropout, place=2) / (1 - dropout)
    leaves = [each.float().requires_grad_() for each in (sum_TD, weight, bias)]
    expected = F.layer_norm(leaves[0], (width,), leaves[1], leaves[2], 1e-12) * mask
    assert_near(normed.output_TD, expected)
    (expected * d_dropped.float()).sum().backward()
    before = norm.weight.gradient.clone(), norm.bias.gradient.clone()
    d_sum, partial_sums = kernels("norms").embedding_and_norm_backward(d_dropped, normed, norm, **draw)
    kernels("columns").add_partial_sums(partial_sums, norm.weight.gradient, norm.bias.gradient)
    assert_near(d_sum, leaves[0].grad)
    assert_near(norm.weight.gradient, before[0] + leaves[1].grad, share=1e-4)
    assert_near(norm.bias.gradient, before[1] + leaves[2].grad, share=1e-4)


@pytest.mark.gpu
def test_norms_drop_by_chance() -> None:
    """Shares within four deviations, and nothing to be guessed from neighbours, other places or other seeds."""
    rows, width, dropout = 512, 512, 0.1
    one = kept(rows, width, dropout=dropout).float()
    size = one.numel()
    deviation = (dropout * (1 - dropout) / size) ** 0.5
    assert abs(one.mean().item() - 0.9) < 4 * deviation
    assert torch.equal(one, kept(rows, width, dropout=dropout).float())
    for each in (one.view(-1, 8, width).mean((0, 2)), one.mean(1), one.mean(0)):
        # No row of eight, no row, no column differs more than chance lets it.
        own = deviation * (size * each.numel() / size) ** 0.5
        assert ((each - 0.9).abs() < 5 * own).all()
    others = {
        f"{down} down, {right} right": one.roll((down, right), (0, 1)) for down in range(9) for right in (0, 1, 8)
    }
    del others["0 down, 0 right"]
    others["place"] = kept(rows, width, dropout=dropout, place=2).float()
    others["seed"] = kept(rows, width, dropout=dropout, seed=4).float()
    others["high seed"] = kept(rows, width, dropout=dropout, seed=3 + 2**40).float()
    for name, other in others.items():
        correlation = ((one - 0.9) * (other - 0.9)).mean().item() / (dropout * (1 - dropout))
        assert abs(correlation) < 4.5 * size**-0.5, name


@pytest.mark.gpu
@pytest.mark.parametrize(("rows", "width"), [(40, 512), (13, 300)] if INTERPRETED else [(24_576, 3072), (13, 300)])
def test_columns_of_gelu(rows: int, width: int) -> None:
    inner, d_outer = 3 * drawn(rows, width), drawn(rows, width, seed=1)
    leaf = inner.float().requires_grad_()
    expected = F.gelu(leaf)
    (expected * d_outer.float()).sum().backward()
    assert_near(kernels("columns").gelu(inner), expected)
    bias_gradient = torch.ones(width, device=DEVICE)
    d_inner, partial_sums = kernels("columns").gelu_backward(d_outer, inner)
    kernels("columns").add_partial_sums(partial_sums, bias_gradient)
    assert_near(d_inner, leaf.grad)
    assert_near(bias_gradient, 1 + d_inner.float().sum(0), share=1e-5)


@pytest.mark.gpu
def test_columns_of_gelu_to_the_last_digits() -> None:
    x = torch.linspace(-12, 12, 4801, device=DEVICE).view(1, -1)
    expected = F.gelu(x.double()).float()
    torch.testing.assert_close(kernels("columns").gelu(x), expected, rtol=1e-6, atol=5e-7)


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("rows", "width"), [(40, 600), (2500, 256), (3, 20_000)] if INTERPRETED else [(24_576, 2304), (3968, 80_000)]
)
def test_columns_are_added_up(rows: int, width: int) -> None:
    d, into = drawn(rows, width), drawn(width, seed=1, dtype=torch.float32)
    expected = into + d.float().sum(0)
    kernels("columns").add_partial_sums(kernels("columns").column_sums(d), into)
    assert_near(into, expected, share=1e-5)


@pytest.mark.gpu
@pytest.mark.parametrize(("rows", "width"), [(700, 48), (63, 200), (129, 16)] if INTERPRETED else [(24_576, 768)])
@pytest.mark.parametrize("share_of_mask", [0.0, 0.5, 1.0])
def test_tables_get_their_rows(rows: int, width: int, share_of_mask: float) -> None:
    pad, mask, size = 2, 4, 60
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(size, (rows,), generator=generator)
    ids[torch.rand(rows, generator=generator) < share_of_mask] = mask
    ids = ids.to(DEVICE)
    d, gradient = drawn(rows, width), drawn(size, width, seed=1, dtype=torch.float32)
    expected = gradient.double().index_add(0, ids, d.double() * (ids != pad)[:, None])
    again = gradient.clone()
    kernels("tables").add_rows(gradient, ids, d, skipped_id=pad)
    assert_near(gradient, expected, share=1e-5)
    kernels("tables").add_rows(again, ids, d, skipped_id=pad)
    assert torch.equal(again, gradient)


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("rows", "width"), [(70, 16), (130, 32)] if INTERPRETED else [(32_768, 128), (5301, 128), (32_768, 64), (70, 16)]
)
def test_feed_forward(rows: int, width: int) -> None:
    """The sublayer with its norm, and back, against autograd."""
    dtype, inner_width = torch.float32 if INTERPRETED else torch.bfloat16, 4 * width
    draw = partial(drawn, dtype=dtype)
    x, residual, d_update = draw(rows, width), draw(rows, width, seed=1), draw(rows, width, seed=2)
    inner, outer = (
        Affine(*(Weight(each, torch.ones_like(each, dtype=torch.float32)) for each in pair))
        for pair in (
            (draw(inner_width, width, seed=3) * width**-0.5, draw(inner_width, seed=4)),
            (draw(width, inner_width, seed=5) * inner_width**-0.5, draw(width, seed=6)),
        )
    )
    norm = affine(drawn(width, seed=7, dtype=torch.float32), drawn(width, seed=8, dtype=torch.float32))
    tensors = (x, inner.weight.value, inner.bias.value, outer.weight.value, outer.bias.value)
    leaves = [each.double().requires_grad_() for each in tensors]
    active = F.gelu(F.linear(leaves[0], leaves[1], leaves[2]))
    update = F.linear(active, leaves[3], leaves[4])
    update.backward(d_update.double())
    normed = kernels("feed_forward").feed_forward(x, residual, inner, outer, norm)
    expected = update.detach() + residual.double()
    assert_near(normed.sum_TD, expected)
    assert_near(
        normed.output_TD, F.layer_norm(expected, (width,), norm.weight.value.double(), norm.bias.value.double())
    )
    d_inner, weights, biases = kernels("feed_forward").feed_forward_backward(d_update, x, inner, outer)
    assert_near(d_inner.T.double() @ leaves[1].detach(), leaves[0].grad)
    gradients = (inner.weight.gradient, inner.bias.gradient, outer.weight.gradient)
    kernels("columns").add_partial_sums(weights, gradients[0], gradients[2])
    kernels("columns").add_partial_sums(biases, gradients[1])
    for found, leaf in zip(gradients, leaves[1:4], strict=True):
        assert_near(found - 1, leaf.grad)


@pytest.mark.gpu
def test_adam_is_torchs() -> None:
    """Ten steps, two of them skipped, with clipping and decay; the count and the moments as well."""
    size = 70_001
    ours, expected = (nn.Parameter(drawn(size, dtype=torch.float32)) for _ in range(2))
    rate = torch.tensor(1e-2, device=DEVICE)
    settings = {"lr": rate, "betas": (0.9, 0.98), "eps": 1e-6, "weight_decay": 0.1}
    adam = kernels("adam").GpuAdam([ours], **settings)
    other = torch.optim.AdamW([expected], **settings, fused=str(DEVICE) == "cuda", foreach=False)
    for step in range(10):
        gradient = drawn(size, seed=step, dtype=torch.float32) * (1 + step)
        divisor = torch.tensor(1.0 + step % 3, device=DEVICE)
        is_skipped = step in (0, 4)
        ours.grad = torch.full_like(gradient, torch.nan) if is_skipped else gradient
        adam.grad_scale, adam.found_inf = divisor, torch.tensor(float(is_skipped), device=DEVICE)
        adam.step()
        if not is_skipped:
            expected.grad = gradient / divisor
            other.step()
    assert_near(ours, expected, share=1e-6)
    for name, moment in other.state[expected].items():
        assert_near(adam.state[ours][name], moment, share=1e-6)
