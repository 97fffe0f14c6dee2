"""Speed of pretraining by scale and condition, beside transformers' BERT of the same size in the same process.

    python bench/pretraining.py [--scales small,paper] [--conditions default,sep-emb-l1-6] [--to FILE]

By default the demo's model on a CPU; on a GPU the paper's, the small one, and others of widths 256, 128 and 64. One
JSON line for each scale, and all of them in the file. Both read the same made-up text through the same loader, with
words hidden by one rule, in the same pieces. Medians over rounds in which each has its turn: what else the machine does
hits all of them alike. On a CPU isoglot takes as many threads as its stages do, and BERT has a turn with as many and
one with all.
"""

import argparse
import json
import os
import platform
import sys
from collections import Counter
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import torch
from torch import nn
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile
from transformers import BertConfig, BertForMaskedLM

from isoglot.hardware import free_memory_of
from isoglot.machine import Machine, this_machine
from isoglot.pretraining import loop
from isoglot.pretraining.batches import Prefetcher
from isoglot.pretraining.calibration import made_up_stream
from isoglot.pretraining.footprint import micro_batch
from isoglot.pretraining.health import measured_matmul_peak, useful_operations_per_token
from isoglot.pretraining.loop import Trainer
from isoglot.pretraining.masking import Mask
from isoglot.pretraining.run import PretrainingRun
from isoglot.study.conditions import CONDITIONS, TableKind
from isoglot.study.scales import DEMO, SCALES, SMALL, Scale

LANGUAGES = ("en", "fr")
# Shape, batch and masking of the published replication, and narrower models with the same batches.
WIDE = replace(SMALL, name="wide", shape=replace(SMALL.shape, width=256, feed_forward=1024), batch=512, mask_rate=0.15)
NARROW = replace(WIDE, name="narrow", shape=replace(SMALL.shape, width=128, feed_forward=512))
NARROWEST = replace(WIDE, name="narrowest", shape=replace(SMALL.shape, width=64, feed_forward=256))
MEASURED = SCALES | {scale.name: scale for scale in (WIDE, NARROW, NARROWEST)}
# That of small is odd, as tables of real text may be.
TABLE_SIZES = {"demo": 215, "laptop": 2_000, "small": 36_001, "paper": 80_000} | dict.fromkeys(
    ("wide", "narrow", "narrowest"), 32_000
)
ROUNDS = 7
SECONDS_OF_A_TURN = 1.0
ENDLESS = 1 << 30
WINDOWS_OF_TEXT = 20_000
PROFILED = 4
"""Updates of which it is told, on a GPU, where their time goes."""
PARTS = {
    "attention": ("_attention",),
    "dropout, sum, norm": ("_sum_and_norm", "_norm_backward", "_embedding_and_norm"),
    "GELU and gradients of biases": ("_gelu", "_column_sums", "_add_partial_sums"),
    "narrow feed-forward": ("_feed_forward",),
    "scores and their exponentials": ("_exponentials", "_loss_and_weights"),
    "gradient of embeddings": ("_add_stretches", "_add_continued", "radix_sort"),
    "Adam": ("FusedAdam", "FusedOptimizer"),
    "matrix products": ("nvjet", "gemm", "cutlass", "splitK"),
}
"""Parts of the names of kernels."""


class Bert:
    """transformers' model in the plainest loop that reads the same batches."""

    def __init__(self, like: Trainer, *, compiled: bool):
        shape, self.like = like.run.shape, like
        config = BertConfig(
            vocab_size=like.updates.table_sizes[LANGUAGES[0]],
            hidden_size=shape.width,
            num_hidden_layers=shape.layers,
            num_attention_heads=shape.heads,
            intermediate_size=shape.feed_forward,
            max_position_embeddings=shape.positions,
            hidden_dropout_prob=shape.dropout,
            attention_probs_dropout_prob=shape.attention_dropout,
        )
        model = BertForMaskedLM(config).to(like.machine.device).train()
        self.model: nn.Module = torch.compile(model) if compiled else model  # type: ignore[assignment]
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
        self.generator = torch.Generator(device=like.machine.device)
        self.update = 0
        batches = copy(like.batches)
        batches.update, batches.positions = 0, dict.fromkeys(batches.positions, 0)
        self.prefetcher = Prefetcher(batches, like.machine)

    def advance(self) -> None:
        run, machine = self.like.run, self.like.machine
        self.update += 1
        self.generator.manual_seed(self.update)
        mask = Mask.drawn(run.batch, run.window, rate=run.mask_rate, generator=self.generator)
        batch = next(self.prefetcher)
        for language, first, end in batch.pieces:
            own, token_BL = mask.of_rows(first, end), batch.rows(first, end)
            seen_BL = own.hide(token_BL, table_size=self.like.updates.table_sizes[language])
            with machine.autocast():
                labels_BL = torch.where(own.chosen_BL, token_BL, -100)
                loss = self.model(input_ids=seen_BL, labels=labels_BL).loss / len(batch.pieces)
            loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), run.optimization.clip_norm)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)


def trainer_of(condition: str, *, scale: Scale, machine: Machine, folder: Path) -> Trainer:
    run = PretrainingRun.of(CONDITIONS[condition], scale=scale, languages=LANGUAGES, seed=0)
    run = replace(run, updates=ENDLESS, evaluations=1)
    is_joint = CONDITIONS[condition].tables is TableKind.JOINT
    sizes = dict.fromkeys(LANGUAGES, TABLE_SIZES[scale.name] // (1 if is_joint else 2))
    streams = {
        language: made_up_stream(
            folder / condition / language,
            language=language,
            table_size=size,
            window=run.window,
            num_windows=WINDOWS_OF_TEXT,
        )
        for language, size in sizes.items()
    }
    loop.SECONDS_BETWEEN_CHECKPOINTS = inf  # bench/checkpoints.py has what they cost
    return Trainer(
        run,
        streams,
        folder=folder / condition / "model",
        machine=machine,
        micro_batch=micro_batch(run, table_sizes=sizes, free=free_memory_of(machine)),
    )


def advance(trainer: Trainer) -> None:
    """As `pretrain` does it."""
    trainer.advance()
    if trainer.is_report_due():
        trainer.take_records()


@dataclass(frozen=True, kw_only=True)
class Learner:
    """A model that takes turns with others."""

    advance: Callable[[], None]
    threads: int
    machine: Machine
    tokens: int
    """Tokens of an update."""

    def tokens_per_second(self, *, updates: int) -> float:
        torch.set_num_threads(self.threads)
        self.machine.wait()
        start = perf_counter()
        for _ in range(updates):
            self.advance()
        self.machine.wait()
        return updates * self.tokens / (perf_counter() - start)


def milliseconds_by_part(trainer: Trainer) -> dict[str, float]:
    """Milliseconds of an update's kernels."""
    spent: Counter[str] = Counter()
    with profile(activities=[ProfilerActivity.CUDA]) as found:
        for _ in range(PROFILED):
            trainer.advance()
        trainer.machine.wait()
    for event in found.events():
        if event.device_type == DeviceType.CUDA:
            part = next(
                (part for part, names in PARTS.items() if any(each in event.name for each in names)), "the rest"
            )
            spent[part] += event.device_time
    return {part: round(time / PROFILED / 1e3, 2) for part, time in spent.most_common()}


def measured(scale: Scale, conditions: list[str], *, machine: Machine, folder: Path) -> dict[str, object]:
    """One scale: rounds of turns for each condition, and for BERT as it is and, on a GPU, compiled."""
    tokens, all_threads = scale.batch * scale.window, torch.get_num_threads()
    with machine.threads_for(num_activations=tokens * scale.shape.width):
        threads = torch.get_num_threads()
    trainers = {}
    begun = perf_counter()
    for name in conditions:
        trainers[name] = trainer_of(name, scale=scale, machine=machine, folder=folder)
        if len(trainers) == 1:
            trainers[name].advance()
            machine.wait()
            seconds_to_first = perf_counter() - begun
    default, bert = trainers[conditions[0]], Bert(trainers[conditions[0]], compiled=False)
    own = partial(Learner, machine=machine, tokens=tokens)
    learners = {name: own(advance=partial(advance, trainer), threads=threads) for name, trainer in trainers.items()}
    learners["transformers"] = own(advance=bert.advance, threads=threads)
    if threads != all_threads:
        learners["transformers, all threads"] = own(advance=bert.advance, threads=all_threads)
    if machine.device.type == "cuda":
        learners["transformers, compiled"] = own(advance=Bert(default, compiled=True).advance, threads=threads)
    updates = {}
    for name, learner in learners.items():
        learner.tokens_per_second(updates=5)
        updates[name] = max(3, round(SECONDS_OF_A_TURN * learner.tokens_per_second(updates=5) / tokens))
    rounds = [
        {name: learner.tokens_per_second(updates=updates[name]) for name, learner in learners.items()}
        for _ in range(ROUNDS)
    ]

    def ratio(name: str, to: str) -> float | None:
        return round(median(each[name] / each[to] for each in rounds), 3) if to in learners else None

    speed = median(each[conditions[0]] for each in rounds)
    torch.set_num_threads(threads)
    peak = measured_matmul_peak(machine.device)
    operations = useful_operations_per_token(default.run, table_size=default.updates.table_sizes[LANGUAGES[0]])
    return {
        "scale": scale.name,
        "tokens_per_second": round(speed),
        "useful_mfu": round(speed * operations / peak, 4),
        "matmul_peak_tflops": round(peak / 1e12, 2),
        "threads": threads,
        "transformers_tokens_per_second": round(median(each["transformers"] for each in rounds)),
        "ratio_to_transformers": ratio(conditions[0], "transformers"),
        "ratio_to_transformers_all_threads": ratio(conditions[0], "transformers, all threads"),
        "ratio_to_transformers_compiled": ratio(conditions[0], "transformers, compiled"),
        "ratio_to_default": {name: ratio(name, conditions[0]) for name in conditions[1:]},
        "hours_for_one_model": round(scale.tokens / speed / 3600, 3),
        "seconds_to_first_update": round(seconds_to_first, 1),
        "micro_batch": default.micro_batch,
        "rounds": ROUNDS,
        "ms_by_part": milliseconds_by_part(default) if machine.device.type == "cuda" else None,
    }


def main() -> None:
    machine = this_machine()
    on_gpu = machine.device.type == "cuda"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scales", default="small,paper,wide,narrow,narrowest" if on_gpu else DEMO.name)
    parser.add_argument("--conditions", default="default,sep-emb,sep-emb-l1-6")
    parser.add_argument("--to", type=Path, help="a file for all lines and what they were measured on")
    wanted = parser.parse_args()
    where = {
        "device": torch.cuda.get_device_name(machine.device) if on_gpu else platform.processor() or "cpu",
        "cores": len(os.sched_getaffinity(0)),
        "torch": torch.__version__,
        "command": " ".join(["python", *sys.argv]),
    }
    found = []
    for name in wanted.scales.split(","):
        with TemporaryDirectory() as folder:
            found.append(measured(MEASURED[name], wanted.conditions.split(","), machine=machine, folder=Path(folder)))
        print(json.dumps({"bench": "pretraining"} | found[-1]), flush=True)
        if wanted.to:
            wanted.to.parent.mkdir(parents=True, exist_ok=True)
            wanted.to.write_text(json.dumps(where | {"scales": found}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
