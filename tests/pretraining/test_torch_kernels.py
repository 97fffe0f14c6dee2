"""Single steps of a pass where the pass as a whole would not show what they do; see also test_cloze_pass.py."""

# C = masked positions, V = tokens of a table, T = tokens, D = width

import pytest
import torch
import torch.nn.functional as F
from scipy import stats

from isoglot.machine import Machine
from isoglot.pretraining.kernels.torch_kernels import Affine, TorchKernels, Weight

CPU = Machine(device=torch.device("cpu"))


def kernels_of(*, dropout: float = 0.0, attention_dropout: float = 0.0) -> TorchKernels:
    kernels = TorchKernels(CPU, dropout=dropout, attention_dropout=attention_dropout)
    kernels.seed(0)
    return kernels


def plain_norm(width: int) -> Affine:
    ones, zeros = torch.ones(width), torch.zeros(width)
    return Affine(Weight(ones, zeros.clone()), Weight(zeros, zeros.clone()))


def test_dropout_hides_its_share_and_keeps_the_expectation() -> None:
    dropout = 0.1
    kernels, ones_TD = kernels_of(dropout=dropout), torch.ones(400, 64)
    normed = kernels.sum_and_norm(ones_TD, torch.zeros_like(ones_TD), plain_norm(64))
    hidden = int((normed.sum_TD == 0).sum())
    assert stats.binomtest(hidden, ones_TD.numel(), dropout).pvalue > 1e-6
    assert normed.sum_TD[normed.sum_TD > 0].unique().tolist() == pytest.approx([1 / (1 - dropout)])
    other = kernels.sum_and_norm(ones_TD, torch.zeros_like(ones_TD), plain_norm(64))
    assert not other.sum_TD.equal(normed.sum_TD), "drawn again at the next step"


@pytest.mark.parametrize(("rows", "size"), [(1, 1), (3, 17), (200, 5003)])
def test_cloze_loss(rows: int, size: int) -> None:
    """Scores far from 0, rows that count for nothing, and more of them than any cache holds."""
    generator = torch.Generator().manual_seed(0)
    hidden_CD, token_VD = torch.randn(rows, 8, generator=generator), 10 * torch.randn(size, 8, generator=generator)
    bias_V = torch.full((size,), -500.0)
    target_C = torch.randint(size, (rows,), generator=generator)
    target_C[rows // 2 + 1 :] = -1
    leaves = [each.clone().requires_grad_() for each in (hidden_CD, token_VD, bias_V)]
    logits_CV = torch.addmm(leaves[2], leaves[0], leaves[1].t())
    expected = F.cross_entropy(logits_CV, target_C, ignore_index=-1, reduction="sum")
    (0.3 * expected).backward()
    token, bias = (Weight(each, torch.zeros_like(each)) for each in (token_VD, bias_V))
    loss, d_hidden_CD = kernels_of().cloze_loss(hidden_CD, token, bias, target_C, scale=torch.tensor(0.3))
    torch.testing.assert_close(loss, expected.detach(), rtol=1e-4, atol=1e-4)
    for found, leaf in zip((d_hidden_CD, token.gradient, bias.gradient), leaves, strict=True):
        torch.testing.assert_close(found, leaf.grad, rtol=1e-3, atol=1e-4)
    assert not d_hidden_CD[rows // 2 + 1 :].any()
