"""The loss of hidden words on a GPU, against autograd: on a GPU, or anywhere in Triton's own interpreter."""

import pytest
import torch
import torch.nn.functional as F

from isoglot.machine import this_machine
from isoglot.pretraining.kernels.torch_kernels import Weight
from tests.pretraining.tiny_runs import CPU
from tests.pretraining.triton_ground import BF16, DEVICE, INTERPRETED, assert_near, drawn, kernels


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("rows", "size", "width"),
    [(6, 1601, 32), (130, 769, 16), (5, 100, 40)]
    if INTERPRETED
    else [(5184, 32_000, 128), (5184, 16_001, 64), (3968, 80_000, 768), (5, 100, 96)],
)
def test_cloze_loss_by_row(rows: int, size: int, width: int) -> None:
    """Against autograd; one word is sure, one hopeless, and one row counts for nothing."""
    dtype = torch.float32 if INTERPRETED else torch.bfloat16
    hidden, token = drawn(rows, width, dtype=dtype), drawn(size, width, seed=1, dtype=dtype) * width**-0.5
    bias = drawn(size, seed=2, dtype=dtype) - 20
    target = torch.randint(size, (rows,), generator=torch.Generator().manual_seed(0)).to(DEVICE)
    target[0], target[1], target[-1] = size - 1, 0, -1
    bias[size - 1], bias[0] = 20, -40
    scale = torch.tensor(0.37, device=DEVICE)
    if width in kernels("loss").FUSED_WIDTHS:
        scores = hidden.double() @ token.double().T + bias.double()
    else:
        scores = torch.addmm(bias, hidden, token.T).double()  # cuBLAS has rounded them to bf16
    scores.requires_grad_()
    expected = F.cross_entropy(scores, target, ignore_index=-1, reduction="none")
    (expected.sum() * scale).backward()
    table, table_bias = kernels("loss").round_table(token, bias)
    exponentials, sums = kernels("loss").exponentials(hidden, table, table_bias, target)
    loss, weight, weighted = kernels("loss").loss_and_weights(exponentials, sums, hidden, target, scale=scale)
    torch.testing.assert_close(loss.double(), expected, rtol=1e-3, atol=1e-3)
    assert exponentials.shape[1] % 64 == 0
    assert not exponentials[:, size:].any()
    gradient = exponentials[:, :size].double() * weight[:, None].double()
    torch.testing.assert_close(gradient, scores.grad, rtol=BF16, atol=1e-6)
    beside = torch.cat([hidden.float(), torch.ones_like(loss)[:, None]], 1) * weight[:, None]
    assert_near(weighted[:, : width + 1], beside)
    assert not weighted[:, width + 1 :].any()


@pytest.mark.gpu
@pytest.mark.parametrize("size", [640, 641, 703])
@pytest.mark.parametrize(("width", "is_narrow"), [(32, False), (40, False), *([] if INTERPRETED else [(128, True)])])
def test_cloze_gradients(size: int, width: int, is_narrow: bool) -> None:
    """Gradients of states, table and bias, added to what is there; tables of real text have any size."""
    from isoglot.pretraining.kernels.gpu_kernels import GpuKernels

    dtype = torch.float32 if INTERPRETED else torch.bfloat16
    machine = CPU if INTERPRETED else this_machine()
    hidden, rows = drawn(50, width, dtype=dtype), 50
    token, bias = (
        Weight(value, torch.ones_like(value, dtype=torch.float32))
        for value in (drawn(size, width, seed=1, dtype=dtype) * width**-0.5, drawn(size, seed=2, dtype=dtype))
    )
    target = torch.randint(size, (rows,), generator=torch.Generator().manual_seed(0)).to(DEVICE)
    target[0], target[-1] = size - 1, -1
    leaves = [each.double().requires_grad_() for each in (hidden, token.value, bias.value)]
    expected = F.cross_entropy(leaves[0] @ leaves[1].T + leaves[2], target, ignore_index=-1, reduction="sum")
    scale = torch.tensor(0.37, device=DEVICE)
    (expected * scale).backward()
    gpu = GpuKernels(machine, dropout=0.0, attention_dropout=0.0, is_narrow=is_narrow)
    loss, d_hidden = gpu.cloze_loss(hidden, token, bias, target, scale=scale)
    gpu.end()
    assert loss.item() == pytest.approx(expected.item(), rel=1e-2)
    for found, leaf in zip((d_hidden, token.gradient - 1, bias.gradient - 1), leaves, strict=True):
        assert (found - leaf.grad).norm() <= (1e-4 if INTERPRETED else 0.02) * leaf.grad.norm()
