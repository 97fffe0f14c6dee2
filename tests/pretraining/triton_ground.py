"""The device for tests of kernels: a GPU, or Triton's own interpreter anywhere."""

import importlib
import os
from types import ModuleType

import torch
from torch import Tensor

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
DEVICE = "cpu" if INTERPRETED else "cuda"
BF16 = 2**-7
"""Two roundings to bf16, of numbers around 1."""


def kernels(family: str) -> ModuleType:
    """Imported where it is needed, as Triton is not everywhere."""
    return importlib.import_module(f"isoglot.pretraining.kernels.triton_{family}")


def drawn(*shape: int, seed: int = 0, dtype: torch.dtype = torch.bfloat16) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator).to(DEVICE, dtype)


def seed_of(number: int) -> Tensor:
    return torch.tensor([number], device=DEVICE)


def assert_near(found: Tensor, expected: Tensor, *, share: float = BF16) -> None:
    """Check that numbers are finite and near the expected ones, by the size of these."""
    scale = expected.float().abs().max().clamp(min=1.0).item()
    torch.testing.assert_close(found.float(), expected.float(), rtol=share, atol=share * scale)
