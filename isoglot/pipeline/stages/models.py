"""Models: as they start, and as they are after pretraining."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from isoglot.corpora.code_switching import SwitchableText
from isoglot.corpora.streams import TokenStream
from isoglot.corpora.vocabulary import MASK, PAD
from isoglot.machine import GUESSED_OPERATIONS_PER_SECOND, processes_per_model
from isoglot.model.checkpoints import stored_progression
from isoglot.pipeline.stages.code_switching import SwitchableTrainingText
from isoglot.pipeline.stages.job_sizes import for_training
from isoglot.pipeline.stages.vocabulary import TokenStreams
from isoglot.pretraining.run import BEST, LOG, PretrainingRun
from isoglot.store import NOT_IDENTITY, Amount, Resources, Stage, Work

if TYPE_CHECKING:
    from isoglot.model.cloze import ClozeModel

# Stages import torch only where they make something, so that planning and reading results stay instant.

GUESSED_UPDATE_SECONDS = 0.01


def guessed_training_seconds(*, updates: float, operations: float) -> float:
    """On two CPU cores."""
    return updates * GUESSED_UPDATE_SECONDS + operations / GUESSED_OPERATIONS_PER_SECOND["cpu"]


@dataclass(frozen=True, kw_only=True)
class UntrainedEncoder(Stage):
    """The model a run starts from: what it scores owes nothing to learning."""

    kind: ClassVar[str] = "untrained-encoder"
    run: PretrainingRun
    streams: Mapping[str, TokenStreams]
    label: str = field(metadata=NOT_IDENTITY)

    @property
    def title(self) -> str:
        return f"untrained model, {self.label}"

    def make(self, work: Work) -> None:
        from isoglot.model.cloze import write_model
        from isoglot.pretraining.loop import untrained_model

        sizes = {language: stream.table_size for language, stream in _opened(self, work).items()}
        write_model(untrained_model(self.run, table_sizes=sizes, pad_id=PAD), work.folder / BEST)


@dataclass(frozen=True, kw_only=True)
class PretrainedEncoder(Stage):
    """The model a run ends with, chosen by the source language's dev perplexity."""

    kind: ClassVar[str] = "pretrained-encoder"
    version: ClassVar[int] = 2
    fills_gpu: ClassVar[bool] = True
    run: PretrainingRun
    streams: Mapping[str, TokenStreams]
    switchable: Mapping[str, SwitchableTrainingText]
    """Read in training where a language has one, in the place of its stream."""
    label: str = field(metadata=NOT_IDENTITY)

    @property
    def title(self) -> str:
        return f"pretraining, {self.label}"

    def amount(self) -> Amount:
        return Amount(units=self.run.tokens, of="tokens")

    def guessed_seconds(self) -> float:
        """For two CPU cores: a fixed cost for each update, and six operations for each parameter and token."""
        operations = 6 * self.run.shape.num_parameters(table_size=0) * self.run.tokens
        return guessed_training_seconds(updates=self.run.updates, operations=operations)

    def share_done(self, folder: Path) -> float:
        if (folder / LOG).exists():
            return 1.0
        return float(stored_progression(folder).get("update", 0) / self.run.updates)

    def resources(self) -> Resources:
        asked = for_training(self.run.shape, guessed_seconds=self.guessed_seconds())
        # Hours are left as they are: how much faster several are is not known beforehand.
        return replace(asked, gpus=asked.gpus * processes_per_model())

    def make(self, work: Work) -> None:
        from isoglot.hardware import free_memory_of
        from isoglot.machine import this_machine
        from isoglot.pipeline.stages.training_watch import TrainingWatch
        from isoglot.pretraining.footprint import micro_batch
        from isoglot.pretraining.loop import pretrain
        from isoglot.pretraining.torchrun import Job, pretrain_in_processes

        machine, processes, streams = this_machine(), processes_per_model(), _opened(self, work)
        switchable = {language: SwitchableText.read(work.path(text)) for language, text in self.switchable.items()}
        windows = micro_batch(
            self.run,
            table_sizes={language: stream.table_size for language, stream in streams.items()},
            free=free_memory_of(machine),
            processes=processes,
        )
        num_activations = self.run.batch * self.run.window * self.run.shape.width
        with (
            machine.threads_for(num_activations=num_activations),
            TrainingWatch(
                self.run,
                work,
                streams=streams,
                switchable=switchable,
                label=self.label,
                machine=machine,
                processes=processes,
            ) as watch,
        ):
            if processes > 1:
                job = Job(
                    run=self.run,
                    streams={language: stream.folder for language, stream in streams.items()},
                    switchable={language: work.path(text) for language, text in self.switchable.items()},
                    pad_id=PAD,
                    mask_id=MASK,
                    folder=work.folder,
                    micro_batch=windows,
                )
                pretrain_in_processes(job, processes=processes, report=watch, log_folder=work.log_folder)
            else:
                pretrain(
                    self.run,
                    streams,
                    pad_id=PAD,
                    mask_id=MASK,
                    folder=work.folder,
                    machine=machine,
                    report=watch,
                    switchable=switchable,
                    micro_batch=windows,
                )


AnyEncoder = UntrainedEncoder | PretrainedEncoder


def _opened(encoder: AnyEncoder, work: Work) -> dict[str, TokenStream]:
    """Streams in the order of the run's languages, in which weights are drawn: a mapping's own is not in the digest."""
    return {language: TokenStream.open(work.path(encoder.streams[language])) for language in encoder.run.languages}


def chosen_model(folder: Path) -> ClozeModel:
    """The model that speaks for an UntrainedEncoder or a PretrainedEncoder."""
    from isoglot.model.cloze import read_model

    return read_model(folder / BEST)
