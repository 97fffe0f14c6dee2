"""Attention against its formula in float32; test_triton_kernels.py also runs this without a GPU."""

# W = windows, H = heads, L = positions

import pytest
import torch
from torch import Tensor

from tests.pretraining.triton_ground import BF16, DEVICE, INTERPRETED, assert_near, drawn, kernels, seed_of

# torch says so once, of its own thread for derivatives; cuBLAS then finds the context.
pytestmark = pytest.mark.filterwarnings("ignore:Attempting to run cuBLAS")


def attended(joint: Tensor, mask: Tensor, *, batch: int, length: int, heads: int) -> Tensor:
    """By the formula, with dropout's factors (W, H, L, L) given."""
    query, key, value = joint.view(batch, length, 3, heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
    weight = ((query @ key.transpose(2, 3)) * query.shape[-1] ** -0.5).softmax(-1)
    return ((weight * mask) @ value).transpose(1, 2).reshape(batch * length, -1)


def kept_weights(*, batch: int, length: int, heads: int, dropout: float, seed: int = 3, place: int = 5) -> Tensor:
    """Found out from equal weights, and values that each show one of 64 keys."""
    found = []
    for first in range(0, length, 64):
        joint = torch.zeros(batch, length, 3, heads, 64, device=DEVICE)
        for key in range(first, min(first + 64, length)):
            joint[:, key, 2, :, key - first] = 1
        mixed, _ = kernels("attention").attention(
            joint.view(batch * length, -1),
            **{"batch": batch, "length": length, "heads": heads, "dropout": dropout},
            seed=seed_of(seed),
            place=place,
        )
        found.append(mixed.view(batch, length, heads, 64).transpose(1, 2) > 0)
    return torch.cat(found, -1)[..., :length]


# Windows, positions, heads, width of a head.
WINDOWS = [(1, 40, 2, 64), (2, 64, 1, 64), (2, 256, 2, 64), (2, 5, 3, 16), (2, 200, 3, 32)]
if not INTERPRETED:
    WINDOWS += [(512, 64, 4, 64), (96, 256, 12, 64), (3, 100, 2, 64)]


@pytest.mark.gpu
@pytest.mark.parametrize(("batch", "length", "heads", "depth"), WINDOWS)
@pytest.mark.parametrize("dropout", [0.0, 0.1])
def test_attention_of_windows(batch: int, length: int, heads: int, depth: int, dropout: float) -> None:
    shape = {"batch": batch, "length": length, "heads": heads}
    # The interpreter's products take the bits of bf16 for whole numbers.
    dtype = torch.float32 if INTERPRETED else torch.bfloat16
    joint = drawn(batch * length, 3 * heads * depth, dtype=dtype)
    d_mixed = drawn(batch * length, heads * depth, seed=1, dtype=dtype)
    draw = {"dropout": dropout, "seed": seed_of(3), "place": 5}
    mixed, divisor = kernels("attention").attention(joint, **shape, **draw)
    before = drawn(joint.shape[1], seed=9, dtype=torch.float32)
    bias_gradient = before.clone()
    d_joint, partial_sums = kernels("attention").attention_backward(d_mixed, joint, mixed, divisor, **shape, **draw)
    kernels("columns").add_partial_sums(partial_sums, bias_gradient)

    mask = kept_weights(**shape, dropout=dropout) / (1 - dropout)
    leaf = joint.float().requires_grad_()
    expected = attended(leaf, mask, **shape)
    expected.backward(d_mixed.float())
    share = 1e-4 if INTERPRETED else 2 * BF16
    assert_near(mixed, expected, share=share)
    assert_near(d_joint, leaf.grad, share=share)
    assert_near(bias_gradient, before + leaf.grad.sum(0), share=share)
    # To the bit, or Adam makes steps of what rounding leaves: a bias of keys changes no share.
    assert partial_sums.chunk(3, dim=-1)[1].count_nonzero() == 0


@pytest.mark.gpu
def test_attention_drops_by_chance() -> None:
    """Shares within four deviations, and nothing to be guessed from neighbours, heads, other places or other seeds."""
    shape = {"batch": 2, "length": 256, "heads": 4, "dropout": 0.1}
    one = kept_weights(**shape).float()
    deviation = (0.09 / one.numel()) ** 0.5
    assert abs(one.mean().item() - 0.9) < 4 * deviation
    for each in (one.mean((0, 1, 2)), one.mean((0, 1, 3)), one.mean((2, 3)).flatten()):
        assert ((each - 0.9).abs() < 5 * deviation * each.numel() ** 0.5).all()
    others = {f"{down} down, {right} right": one.roll((down, right), (2, 3)) for down in range(5) for right in range(5)}
    del others["0 down, 0 right"]
    others |= {"head": one.roll(1, 1), "window": one.roll(1, 0)}
    others |= {"place": kept_weights(**shape, place=6).float(), "seed": kept_weights(**shape, seed=4).float()}
    for name, other in others.items():
        correlation = ((one - 0.9) * (other - 0.9)).mean().item() / 0.09
        assert abs(correlation) < 4.5 * one.numel() ** -0.5, name


@pytest.mark.gpu
def test_attention_takes_windows_and_heads_that_fit() -> None:
    is_for = kernels("attention").is_for
    joint = drawn(8, 3 * 128)
    assert is_for(joint, length=256, heads=2)
    assert is_for(joint, length=8, heads=8)
    assert not is_for(joint, length=257, heads=2)
    assert not is_for(joint, length=8, heads=1)
    assert not is_for(joint.float(), length=8, heads=2)
    assert not is_for(drawn(8, 3 * 48), length=8, heads=2)
