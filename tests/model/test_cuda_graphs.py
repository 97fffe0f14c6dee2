"""Functions that are replayed do what they did, once for each call."""

import pytest
import torch
from torch import Tensor

from isoglot.model.cuda_graphs import GraphReplay

CPU = torch.device("cpu")


class Sums:
    """Adds what it is given to a total that stays where it is."""

    def __init__(self, device: str):
        self.total = torch.zeros(3, device=device)
        self.calls = 0

    def add(self, numbers: Tensor, factor: Tensor) -> Tensor:
        self.calls += 1
        self.total += factor * numbers
        return 2 * self.total


def test_on_a_cpu_a_function_is_simply_called() -> None:
    replay, sums = GraphReplay(CPU), Sums("cpu")
    for call in range(1, 6):
        numbers = torch.full((3,), float(call))
        assert replay("key", sums.add, numbers, torch.tensor(2.0)).tolist() == [2 * call * (call + 1)] * 3
        assert sums.calls == call
    assert not replay.is_used


@pytest.mark.gpu
def test_on_a_gpu_the_first_call_and_all_later_ones_do_the_same() -> None:
    replay, sums = GraphReplay(torch.device("cuda")), Sums("cuda")
    results = []
    for call in range(1, 8):
        numbers, factor = torch.full((3,), float(call), device="cuda"), torch.tensor(2.0, device="cuda")
        results.append(replay("key", sums.add, numbers, factor))
        # Each effect once: the call that records does not happen twice, nor not at all.
        assert sums.total.tolist() == [call * (call + 1)] * 3
        assert numbers.eq(call).all()
    assert [result.tolist() for result in results] == [[2 * call * (call + 1)] * 3 for call in range(1, 8)]
    assert sums.calls == 2, "one call, and one that was replay"


@pytest.mark.gpu
def test_on_a_gpu_what_is_recorded_reads_tensors_that_stay_as_they_are_then() -> None:
    replay, rate = GraphReplay(torch.device("cuda")), torch.zeros((), device="cuda")
    for call in range(5):
        rate.fill_(call)
        assert replay("rate", lambda: rate * 10).item() == 10 * call
        for size in (10, 100_000):
            numbers = torch.full((size,), float(call + size), device="cuda")
            assert replay(("largest", size), lambda given: given.max(), numbers).item() == call + size
