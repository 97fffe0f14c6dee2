"""How much of what a device can compute goes into training: useful MFU."""

from __future__ import annotations

from functools import cache
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING

from isoglot.pretraining.run import PretrainingRun

if TYPE_CHECKING:
    import torch

FORWARD_AND_BACKWARD = 3
"""A matrix product's backward pass is two more of its size."""
SECONDS_OF_MEASURING = 0.2


def useful_operations_per_token(run: PretrainingRun, *, table_size: int) -> float:
    """Multiplications and additions of the model that is trained, for each token of the windows.

    Matrix products of the layers, attention over the window, and the softmax at masked positions alone. What a device
    spends on look-ups, norms, dropout, the optimizer or on computing anything twice is not useful in this sense; what
    it is spared, as the last layer where no word is masked, counts as if it had been done.
    """
    shape = run.shape
    weights = 4 * shape.width**2 + 2 * shape.width * shape.feed_forward
    attention = 2 * run.window * shape.width
    masked_share = run.mask_rate * (run.window - 1) / run.window  # never the first position
    products = shape.layers * (weights + attention) + masked_share * shape.width * table_size
    return FORWARD_AND_BACKWARD * 2 * products


def measured_matmul_peak(device: torch.device) -> float:
    """Operations a second in large matrix products, as training computes them there: bf16 where a GPU has it.

    On a CPU with as many threads as the process uses now.
    """
    import torch

    return _measured_matmul_peak(device, num_threads=torch.get_num_threads())


@cache
def _measured_matmul_peak(device: torch.device, *, num_threads: int) -> float:  # noqa: ARG001
    import torch

    on_gpu = device.type == "cuda"
    size, products_at_once = (8192, 4) if on_gpu else (1024, 1)
    dtype = torch.bfloat16 if on_gpu and torch.cuda.is_bf16_supported() else torch.float32
    # Random numbers, since a GPU computes faster with zeros; of a generator of its own, as the run has its own draws.
    generator = torch.Generator(device=device).manual_seed(0)
    left, right = (torch.randn(size, size, device=device, generator=generator).to(dtype) for _ in range(2))
    product = torch.mm(left, right)

    def seconds() -> float:
        product[0, 0].item()  # waits for the device
        start = perf_counter()
        for _ in range(products_at_once):
            torch.mm(left, right, out=product)
        product[0, 0].item()
        return perf_counter() - start

    best, end = inf, perf_counter() + SECONDS_OF_MEASURING
    while perf_counter() < end:
        best = min(best, seconds())
    if on_gpu:
        del left, right, product
        torch.cuda.empty_cache()  # others may train on this GPU
    return products_at_once * 2 * size**3 / best
