"""The device of a run, its arithmetic, and the number of its workers."""

import os
import platform
from contextlib import nullcontext

import pytest
import torch

from isoglot.errors import IsoglotError
from isoglot.machine import DEVICE_VARIABLE, Machine, num_workers, this_machine


def test_the_environment_decides_else_the_gpu_if_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    best = "cuda" if torch.cuda.is_available() else "cpu"
    for text, expected in (("cpu", "cpu"), ("", best)):
        monkeypatch.setenv(DEVICE_VARIABLE, text)
        assert this_machine().device.type == expected
    monkeypatch.delenv(DEVICE_VARIABLE)
    assert this_machine().device.type == best


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


@pytest.mark.parametrize(("name", "used"), [("aarch64", False), ("arm64", False), ("x86_64", True)])
def test_derivatives_go_without_onednn_on_arm_alone(name: str, used: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: name)
    before = torch.backends.mkldnn.enabled
    with Machine(device=torch.device("cpu")).derivatives():
        assert torch.backends.mkldnn.enabled is (used and before)
    assert torch.backends.mkldnn.enabled is before


def test_as_many_workers_as_processors_or_as_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ISOGLOT_WORKERS", raising=False)
    assert 1 <= num_workers() <= (os.cpu_count() or 1)
    monkeypatch.setenv("ISOGLOT_WORKERS", "7")
    assert num_workers() == 7
    for text in ("0", "-1", "two", "1.5"):
        monkeypatch.setenv("ISOGLOT_WORKERS", text)
        with pytest.raises(IsoglotError, match=f"ISOGLOT_WORKERS='{text}' is no number of processes"):
            num_workers()
