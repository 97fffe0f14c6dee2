"""The device of a run, its arithmetic, and the number of its workers."""

import os
import platform
from contextlib import nullcontext

import pytest
import torch

from isoglot.errors import IsoglotError
from isoglot.machine import DEVICE_VARIABLE, Machine, num_workers, this_machine
from isoglot.model.block import SelfAttention


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
    for text in ("0", "-1", "two", "1.5", "1" * 400, "1" * 5000):
        monkeypatch.setenv("ISOGLOT_WORKERS", text)
        with pytest.raises(IsoglotError, match=f"ISOGLOT_WORKERS='{text[:4]}.*is no number of processes"):
            num_workers()


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_a_bias_of_keys_changes_no_gradient_but_by_rounding(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It moves all scores of a query alike, here to -150. cuDNN's gradients were no numbers then, at 64 positions."""
    monkeypatch.setenv(DEVICE_VARIABLE, device)
    machine = this_machine()
    torch.manual_seed(0)
    attention = SelfAttention(width=128, heads=4, dropout=0.0).to(machine.device)
    input_BLD, output_BLD = torch.randn(2, 3, 64, 128, device=machine.device)
    attend_B11L = (torch.arange(64) < torch.tensor([[64], [40], [7]]))[:, None, None].to(machine.device)
    gradients = []
    for shift in (0.0, -9.0):
        query_bias, key_bias, _ = attention.query_key_value.bias.detach().chunk(3)
        query_bias.fill_(3.0)
        key_bias.fill_(shift)
        leaf_BLD = input_BLD.clone().requires_grad_()
        with machine.autocast():
            attention(leaf_BLD, attend_B11L=attend_B11L).backward(output_BLD.to(machine.compute_dtype))
        gradients.append(leaf_BLD.grad)
    expected_BLD, shifted_BLD = gradients
    share = 1e-4 if machine.compute_dtype is torch.float32 else 0.2
    assert (shifted_BLD - expected_BLD).norm() < share * expected_BLD.norm()
