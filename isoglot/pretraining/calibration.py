"""How fast a run would be on this machine: a few of its updates, on made-up text."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from functools import cached_property
from math import inf
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from isoglot.corpora.numbered_text import Split
from isoglot.corpora.streams import TokenStream, id_type
from isoglot.corpora.vocabulary import MASK, PAD, SPECIALS
from isoglot.machine import GUESSED_OPERATIONS_PER_SECOND, Machine
from isoglot.pretraining.footprint import FLOAT, MOMENTS
from isoglot.pretraining.loop import Trainer
from isoglot.pretraining.parameters import num_flat_tensors, num_in_training, num_parameters, num_read, num_tensors
from isoglot.pretraining.run import PretrainingRun

HEADER_BYTES = 140
"""Of a tensor's name, shape and place in a safetensors file."""
DESCRIPTION_BYTES = 500
LOG_LINE_BYTES = 250


@dataclass(frozen=True, kw_only=True)
class DiskUse:
    """Of one run."""

    run: PretrainingRun
    table_sizes: Mapping[str, int]

    @cached_property
    def model_bytes(self) -> int:
        """Of weights alone."""
        tensors = num_tensors(self.run, table_sizes=self.table_sizes)
        weights = FLOAT * num_parameters(self.run, table_sizes=self.table_sizes)
        return weights + tensors * HEADER_BYTES + DESCRIPTION_BYTES

    @cached_property
    def checkpoint_bytes(self) -> int:
        """Of weights, Adam's moments and its counts of updates."""
        numbers = (1 + MOMENTS) * num_in_training(self.run, table_sizes=self.table_sizes)
        tensors = (2 + MOMENTS) * num_flat_tensors(self.run, table_sizes=self.table_sizes)
        return FLOAT * numbers + tensors * HEADER_BYTES

    @property
    def num_kept(self) -> int:
        """Models kept from the course of the training, beside the best."""
        updates = self.run.updates
        return sum(self.run.kept_after(updates >> halvings) for halvings in range(1, updates.bit_length()))

    @property
    def finished_bytes(self) -> int:
        """Of what stays."""
        return (1 + self.num_kept) * self.model_bytes + self.run.evaluations * LOG_LINE_BYTES

    @property
    def passing_bytes(self) -> int:
        """Of what is there during training only: a checkpoint and the next, and a better model than the best."""
        return 2 * self.checkpoint_bytes + self.model_bytes


WARM_UP = 4
FEWEST, MOST = 3, 50
"""Updates that are timed."""
SECONDS = 3.0
"""Of timing, once the fewest are done."""
WINDOWS_OF_TEXT = 256
OPERATIONS_PER_NUMBER = 6
LONGEST_UPDATE_SECONDS = 2.0


@dataclass(frozen=True, kw_only=True)
class TimedRun(PretrainingRun):
    """Updates and nothing else: the paper's model would fill a small disk with what its first ones leave."""

    @classmethod
    def like(cls, run: PretrainingRun) -> "TimedRun":
        return cls(**{field.name: getattr(run, field.name) for field in fields(run)})

    def evaluated_after(self, update: int) -> bool:  # noqa: ARG002
        return False

    def kept_after(self, update: int) -> bool:  # noqa: ARG002
        return False


def tokens_per_second(
    run: PretrainingRun, *, table_sizes: Mapping[str, int], machine: Machine, micro_batch: int
) -> float:
    """The median over updates of a few seconds; checkpoints and evaluations come on top.

    Where one update would take long, smaller ones are timed, in which Adam takes a larger share: better too slow.
    """
    batch = min(run.batch, max(1, int(run.batch * _timed_share(run, table_sizes=table_sizes, machine=machine))))
    part = replace(TimedRun.like(run), batch=batch, language_draws=min(run.language_draws, batch))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="isoglot-calibration-")))
        stack.enter_context(machine.threads_for(num_activations=run.batch * run.window * run.shape.width))
        trainer = stack.enter_context(
            Trainer(
                part,
                {
                    language: made_up_stream(folder / language, language=language, table_size=size, window=run.window)
                    for language, size in table_sizes.items()
                },
                pad_id=PAD,
                mask_id=MASK,
                folder=folder / "model",
                machine=machine,
                micro_batch=min(micro_batch, batch),
                checkpoint_seconds=inf,
            )
        )
        for _ in range(WARM_UP):
            trainer.advance()
        seconds: list[float] = []
        while len(seconds) < FEWEST or (len(seconds) < MOST and sum(seconds) < SECONDS):
            seconds.append(_seconds_of_an_update(trainer))
    return batch * run.window / median(seconds)


def _timed_share(run: PretrainingRun, *, table_sizes: Mapping[str, int], machine: Machine) -> float:
    """By a guess, as one update of a model of the paper's size may take a laptop many minutes."""
    numbers = num_read(run, table_sizes=table_sizes, languages=1)
    operations = OPERATIONS_PER_NUMBER * numbers * run.batch * run.window
    return LONGEST_UPDATE_SECONDS * GUESSED_OPERATIONS_PER_SECOND[machine.device.type] / operations


def _seconds_of_an_update(trainer: Trainer) -> float:
    trainer.machine.wait()
    start = perf_counter()
    trainer.advance()
    trainer.machine.wait()
    return perf_counter() - start


def made_up_stream(
    folder: Path, *, language: str, table_size: int, window: int, num_windows: int = WINDOWS_OF_TEXT
) -> TokenStream:
    """Every id as often as any other."""
    folder.mkdir(parents=True)
    dtype, num_tokens = id_type(table_size), num_windows * window
    ids = np.random.default_rng(0).integers(len(SPECIALS), table_size, num_tokens)
    for split in Split:
        ids.astype(dtype).tofile(folder / f"{split}.bin")
    return TokenStream(
        folder=folder,
        language=language,
        table_size=table_size,
        dtype=dtype.name,
        lines=dict.fromkeys(Split, num_windows),
        tokens=dict.fromkeys(Split, num_tokens),
    )
