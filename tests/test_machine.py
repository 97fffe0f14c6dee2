"""The device a run gets."""

from contextlib import nullcontext

import pytest
import torch

from isoglot.errors import IsoglotError
from isoglot.machine import DEVICE_VARIABLE, Machine, this_machine


def test_the_environment_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DEVICE_VARIABLE, "cpu")
    assert this_machine() == Machine(device=torch.device("cpu"))


def test_else_the_gpu_if_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = "cuda" if torch.cuda.is_available() else "cpu"
    monkeypatch.delenv(DEVICE_VARIABLE, raising=False)
    assert this_machine().device.type == expected
    monkeypatch.setenv(DEVICE_VARIABLE, "")
    assert this_machine().device.type == expected


@pytest.mark.parametrize("name", ["gpu", "cpu:one", "cuda:99"])
def test_a_device_that_is_not_there_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DEVICE_VARIABLE, name)
    with pytest.raises(IsoglotError, match=f"ISOGLOT_DEVICE='{name}' .* unset it, or take cpu"):
        this_machine()


def test_a_cpu_computes_in_full_precision() -> None:
    with Machine(device=torch.device("cpu")).autocast() as context:
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.float32
    assert context is None
    assert isinstance(Machine(device=torch.device("cpu")).autocast(), nullcontext)


def test_its_random_draws_are_those_of_torch_itself() -> None:
    torch.manual_seed(7)
    expected = torch.rand(5)
    Machine(device=torch.device("cpu")).seed(7)
    assert torch.rand(5).equal(expected)
