"""CSLS and cosine search of all words of one side among all of the other, beside FAISS and plain topk: JSON lines.

    python bench/retrieval.py                             10,000 x 10,000 words of 300 numbers
    python bench/retrieval.py --words 50000 --threads 2   what is asked of two cores: under 4 minutes and 4 GB
    python bench/retrieval.py --words 200000              what is asked of a GPU: under 10 s and 4 GB

The first answer of each word is looked for. FAISS (IndexFlatIP, on the CPU) finds the neighbourhoods' means with one
search and the answers with a second one, in which a column more takes these means away: both ways are exact. Plain topk
is what MUSE does without FAISS, whole rows at a time. Peak memory is what a search holds beyond the vectors.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import torch
from torch import Tensor

from isoglot.evaluation.geometry.retrieval import NEIGHBOURS, Measure, nearest
from isoglot.machine import this_machine

# N = words of one side, T = of the other, D = width; R = rows at a time

ROWS_AT_ONCE = 1024
NOISE = 3.5
Search = Callable[[Tensor, Tensor], Tensor]


def vectors(words: int, *, width: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Vectors of two made-up languages: about half of the translations are lost in noise."""
    generator = torch.Generator().manual_seed(0)
    spread_D = torch.linspace(2, 0.2, width)
    source_ND = torch.randn(words, width, generator=generator) * spread_D
    target_ND = source_ND + NOISE * torch.randn(words, width, generator=generator) * spread_D
    return source_ND.to(device), target_ND.to(device)


def ours(measure: Measure) -> Search:
    return lambda source_ND, target_TD: nearest(source_ND, target_TD, count=1, measure=measure)[:, 0]


def topk_of_rows(asking_ND: Tensor, answer_TD: Tensor, *, count: int) -> tuple[Tensor, Tensor]:
    found = [(asking_RD @ answer_TD.T).topk(count, dim=1) for asking_RD in asking_ND.split(ROWS_AT_ONCE)]
    return torch.cat([each.values for each in found]), torch.cat([each.indices for each in found])


def by_topk(measure: Measure) -> Search:
    return searched(measure, topk_of_rows)


def by_faiss(measure: Measure, faiss: ModuleType) -> Search:
    def search(asking_ND: Tensor, answer_TD: Tensor, *, count: int) -> tuple[Tensor, Tensor]:
        index = faiss.IndexFlatIP(answer_TD.shape[1])
        index.add(answer_TD.cpu().numpy())
        value_NK, column_NK = index.search(asking_ND.cpu().numpy(), count)
        return torch.from_numpy(value_NK).to(asking_ND.device), torch.from_numpy(column_NK).to(asking_ND.device)

    return searched(measure, search)


def searched(measure: Measure, search: Callable[..., tuple[Tensor, Tensor]]) -> Search:
    """The same two searches as ours, done by another."""

    def first_answers(source_ND: Tensor, target_TD: Tensor) -> Tensor:
        source_ND, target_TD = (torch.nn.functional.normalize(side, dim=1) for side in (source_ND, target_TD))
        if measure is Measure.CSLS:
            crowding_T1 = search(target_TD, source_ND, count=NEIGHBOURS)[0].mean(1, keepdim=True)
            source_ND = torch.cat([source_ND, torch.ones_like(source_ND[:, :1])], dim=1)
            target_TD = torch.cat([target_TD, -crowding_T1 / 2], dim=1)
        return search(source_ND, target_TD, count=1)[1][:, 0]

    return first_answers


class Peak:
    """The most memory held since this was made, beyond what was held then: of the GPU, or of the process."""

    def __init__(self, device: torch.device):
        self.device = device
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats()
            self.before = torch.cuda.memory_allocated()
        else:
            Path("/proc/self/clear_refs").write_text("5")
            self.before = self._most_of_process()

    def gigabytes(self) -> float:
        most = torch.cuda.max_memory_allocated() if self.device.type == "cuda" else self._most_of_process()
        return (most - self.before) / 1e9

    @staticmethod
    def _most_of_process() -> int:
        line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024


def measured(search: Search, source_ND: Tensor, target_ND: Tensor) -> tuple[Tensor, dict[str, float]]:
    """Answers, and what they took; the CPU's clock is less moved than the wall's by what else runs."""
    search(source_ND[:ROWS_AT_ONCE], target_ND[:ROWS_AT_ONCE])
    peak, start, work = Peak(source_ND.device), time.perf_counter(), time.process_time()
    best_N = search(source_ND, target_ND).cpu()
    seconds, of_cpu = time.perf_counter() - start, time.process_time() - work
    return best_N, {
        "seconds": round(seconds, 2),
        "cpu_seconds": round(of_cpu, 2),
        "peak_gigabytes": round(peak.gigabytes(), 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=10_000)
    parser.add_argument("--width", type=int, default=300)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--only-ours", action="store_true", help="leave FAISS and plain topk out")
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    device = this_machine().device
    source_ND, target_ND = vectors(asked.words, width=asked.width, device=device)
    try:
        import faiss

        faiss.omp_set_num_threads(asked.threads)
    except ImportError:
        faiss = None
        print(json.dumps({"bench": "retrieval", "faiss": "is not installed and left out; pip install faiss-cpu"}))
    for measure in Measure:
        ways = {"isoglot": ours(measure)}
        if not asked.only_ours:
            ways["plain topk"] = by_topk(measure)
            if faiss is not None:
                ways["faiss"] = by_faiss(measure, faiss)
        told = {"bench": "retrieval", "measure": measure, "words": asked.words, "width": asked.width}
        machine = {"device": device.type, "threads": asked.threads}
        for name, search in ways.items():
            best_N, took = measured(search, source_ND, target_ND)
            if name == "isoglot":
                our_best_N, our_seconds = best_N, took["seconds"]
            beside = {
                "times_ours": round(took["seconds"] / our_seconds, 2),
                "same_answers_percent": round(100 * (best_N == our_best_N).float().mean().item(), 3),
                "precision_at_1": round(100 * (best_N == torch.arange(asked.words)).float().mean().item(), 2),
            }
            print(json.dumps({**told, **machine, "way": name, **took, **beside}), flush=True)


if __name__ == "__main__":
    main()
