"""GPUs that a process may use, told by a driver's program that stands in for nvidia-smi."""

from pathlib import Path

import pytest
from stand_in_driver import write_driver

from isoglot.hardware import usable_gpus

THREE = (
    "GPU 0: NVIDIA H200 (UUID: GPU-a)",
    "  MIG 1g.18gb Device 0: (UUID: MIG-b)",
    "GPU 1: NVIDIA H200 (UUID: GPU-c)",
    "GPU 2: NVIDIA H200 (UUID: GPU-d)",
)


@pytest.fixture(autouse=True)
def driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of its program, first on the PATH."""
    write_driver(tmp_path, lines=THREE)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    for name in ("CUDA_VISIBLE_DEVICES", "ISOGLOT_DEVICE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.mark.parametrize(
    ("visible", "usable"),
    [
        (None, ("0", "1", "2")),
        ("2,0", ("2", "0")),
        ("GPU-a, MIG-b", ("GPU-a", "MIG-b")),
        ("1,-1,0", ("1",)),
        ("", ()),
        ("-1", ()),
    ],
)
def test_cuda_visible_devices_is_heeded(
    visible: str | None, usable: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert usable_gpus() == usable


@pytest.mark.parametrize(
    ("device", "usable"),
    [("cpu", ()), ("cuda", ("0", "1", "2")), ("", ("0", "1", "2")), ("cuda:1", ("1",)), ("cuda:9", ())],
)
def test_the_device_asked_for_is_heeded(device: str, usable: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGLOT_DEVICE", device)
    assert usable_gpus() == usable


def test_a_machine_without_gpus_has_none_whatever_is_visible(driver: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_driver(driver, lines=["No devices found."])
    assert usable_gpus() == ()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    assert usable_gpus() == ()


def test_without_the_program_the_devices_are_counted(driver: Path) -> None:
    (driver / "nvidia-smi").write_text("#!/bin/sh\nexit 9\n")
    assert len(usable_gpus()) == len(list(Path("/dev").glob("nvidia[0-9]*")))
