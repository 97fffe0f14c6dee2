"""Useful operations are those that torch counts in a real pass; the peak is what matrix products reach."""

from dataclasses import replace
from itertools import count

import pytest
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from isoglot.corpora.vocabulary import PAD
from isoglot.model.cloze import ClozeModel
from isoglot.pretraining import health as useful_work
from isoglot.pretraining.health import measured_matmul_peak, useful_operations_per_token
from isoglot.pretraining.run import PretrainingRun
from isoglot.study.conditions import CONDITIONS, Separate
from isoglot.study.scales import PAPER, EncoderShape, NormPlacement
from tests.pretraining.tiny_runs import tiny_run


def counted_operations(run: PretrainingRun, *, table_size: int) -> int:
    """Of a forward and a backward pass over one batch, as torch counts them while they run."""
    model = ClozeModel(run.shape, table_sizes={"en": table_size, "fr": table_size}, separate=run.separate, pad_id=PAD)
    token_BL = torch.randint(PAD + 1, table_size, (run.batch, run.window))
    num_masked = run.batch * run.mask_rate * (run.window - 1)
    masked_M = torch.randperm(token_BL.numel())[: int(num_masked)]
    assert len(masked_M) == num_masked
    # The plain kernel, as others compute attention's scores twice, and are counted so.
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        logits_MV = model.masked_logits(token_BL, masked_M=masked_M, language="fr")
        F.cross_entropy(logits_MV, token_BL.flatten()[masked_M]).backward()  # type: ignore[no-untyped-call]
    return counter.get_total_flops()


@pytest.mark.parametrize(
    ("shape", "window", "batch", "mask_rate", "table_size"),
    [
        (EncoderShape(layers=1, width=8, heads=1, feed_forward=8), 9, 1, 0.25, 20),
        (EncoderShape(layers=3, width=24, heads=4, feed_forward=96, norm=NormPlacement.PRE), 17, 5, 0.25, 301),
        (EncoderShape(layers=2, width=64, heads=2, feed_forward=32, dropout=0.0), 65, 4, 0.125, 1000),
    ],
    ids=["least", "pre-norm", "long windows"],
)
@pytest.mark.parametrize("separate", [Separate(), Separate(embeddings=True, layers=frozenset({1}))], ids=str)
def test_operations_are_those_of_a_real_pass(
    shape: EncoderShape, window: int, batch: int, mask_rate: float, table_size: int, separate: Separate
) -> None:
    run = replace(tiny_run(window=window, batch=batch, mask_rate=mask_rate, separate=separate), shape=shape)
    expected = counted_operations(run, table_size=table_size) / (batch * window)
    assert useful_operations_per_token(run, table_size=table_size) == pytest.approx(expected, rel=1e-12)


def test_the_papers_model_can_come_to_less_than_two_million_tokens_a_second_on_an_h200() -> None:
    """Its matrix products were measured at 774e12 operations a second."""
    run = PretrainingRun.of(CONDITIONS["default"], scale=PAPER, languages=("en", "fr"), seed=0)
    operations = useful_operations_per_token(run, table_size=80_000)
    assert 774e12 / operations == pytest.approx(1.87e6, rel=0.002)
    assert 1.05e6 * operations / 774e12 == pytest.approx(0.56, abs=0.005)


def test_the_peak_is_measured_once_with_the_threads_there_are() -> None:
    device, before = torch.device("cpu"), torch.get_num_threads()
    torch.manual_seed(4)
    expected = torch.rand(3)
    torch.manual_seed(4)
    peak = measured_matmul_peak(device)
    assert torch.rand(3).equal(expected), "the run's own draws must not change"
    assert measured_matmul_peak(torch.device("cpu")) == peak, "no two measurements would be the same"
    try:
        torch.set_num_threads(before + 1)
        assert measured_matmul_peak(device) != peak
    finally:
        torch.set_num_threads(before)
    assert measured_matmul_peak(device) == peak


def test_the_peak_is_operations_by_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that goes on by so much each time it is looked at; torch counts the operations."""
    seconds, looks = 2**-7, count()
    monkeypatch.setattr(useful_work, "perf_counter", lambda: next(looks) * seconds)
    with FlopCounterMode(display=False) as counter:
        peak = useful_work._measured_matmul_peak.__wrapped__(torch.device("cpu"), num_threads=1)
    rounds = (next(looks) - 2) / 3  # one look before, one that ends it, and three for each
    assert rounds > 3
    assert peak == counter.get_total_flops() / (rounds + 1) / seconds


@pytest.mark.gpu
def test_the_peak_of_a_gpu_is_that_of_bf16() -> None:
    device = torch.device("cuda")
    left = torch.randn(8192, 8192, device=device)
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.mm(left, left)
    start.record()  # type: ignore[no-untyped-call]
    torch.mm(left, left)
    end.record()  # type: ignore[no-untyped-call]
    end.synchronize()  # type: ignore[no-untyped-call]
    in_float32 = 2 * 8192**3 / (start.elapsed_time(end) / 1000)  # type: ignore[no-untyped-call]
    assert measured_matmul_peak(device) > 2 * in_float32
