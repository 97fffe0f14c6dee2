"""Speed of comparing and mapping 10,000 vectors of 768 numbers, beside linear CKA by way of Gram matrices.

    python bench/similarity.py

Vectors are float32, as encoders give them; the similarity measures reckon in float64. One JSON line for each number of
threads, seconds being the best of three; on a GPU there is one line.
"""

import json
import time
from collections.abc import Callable

import torch
from torch import Tensor

from isoglot.evaluation.geometry.cka import average_neuron_correlation, debiased_cka, linear_cka, svcca
from isoglot.evaluation.geometry.vectors import iterative_normalization, orthogonal_map
from isoglot.machine import this_machine

ROWS = 10_000
WIDTH = 768
REPEATS = 3


def gram_cka(x_ND: Tensor, y_ND: Tensor) -> Tensor:
    """As CKA is defined: the cosine between two matrices of rows by rows."""
    x_ND, y_ND = (side_ND.double() - side_ND.double().mean(0) for side_ND in (x_ND, y_ND))
    gram_x_NN, gram_y_NN = x_ND @ x_ND.T, y_ND @ y_ND.T
    return torch.dot(gram_x_NN.flatten(), gram_y_NN.flatten()) / (gram_x_NN.norm() * gram_y_NN.norm())


def two_matrices(device: torch.device) -> tuple[Tensor, Tensor]:
    """Half alike, with some directions stronger than others, as in encoders."""
    torch.manual_seed(0)
    strength_D = torch.linspace(2, 0.1, WIDTH)
    x_ND, other_ND = torch.randn(2, ROWS, WIDTH)
    turn_DD, _ = torch.linalg.qr(torch.randn(WIDTH, WIDTH))
    return (x_ND * strength_D).to(device), ((x_ND + other_ND) * strength_D @ turn_DD).to(device)


def seconds(measure: Callable[[], Tensor], device: torch.device) -> float:
    best = float("inf")
    for _ in range(REPEATS):
        start = time.perf_counter()
        measure()
        if device.type == "cuda":
            torch.cuda.synchronize()
        best = min(best, time.perf_counter() - start)
    return round(best, 3)


def main() -> None:
    device = this_machine().device
    x_ND, y_ND = two_matrices(device)
    measures: dict[str, Callable[[], Tensor]] = {
        "linear_cka": lambda: linear_cka(x_ND, y_ND),
        "linear_cka by Gram matrices": lambda: gram_cka(x_ND, y_ND),
        "debiased_cka": lambda: debiased_cka(x_ND, y_ND),
        "svcca": lambda: svcca(x_ND, y_ND),
        "average_neuron_correlation": lambda: average_neuron_correlation(x_ND, y_ND),
        "orthogonal_map": lambda: orthogonal_map(x_ND, y_ND),
        "iterative_normalization": lambda: iterative_normalization(x_ND),
    }
    apart = abs(float(linear_cka(x_ND, y_ND)) - float(gram_cka(x_ND, y_ND)))
    for threads in (1, 2) if device.type == "cpu" else (torch.get_num_threads(),):
        torch.set_num_threads(threads)
        print(
            json.dumps(
                {
                    "bench": "similarity",
                    "device": device.type,
                    "threads": threads,
                    "seconds": {name: seconds(measure, device) for name, measure in measures.items()},
                    "cka_apart_from_gram_form": apart,
                }
            ),
            flush=True,
        )


if __name__ == "__main__":
    main()
