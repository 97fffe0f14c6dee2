"""Models before and after pretraining, with the log of their evaluations and the sizes of their token tables."""

from __future__ import annotations

import json
import os
import shutil
import warnings
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from math import exp
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from isoglot.corpora.code_switching import SwitchableText
from isoglot.corpora.streams import DESCRIPTION, TokenStream
from isoglot.corpora.vocabulary import SPECIALS
from isoglot.errors import IsoglotError
from isoglot.files import write_whole
from isoglot.machine import GUESSED_OPERATIONS_PER_SECOND, processes_per_model
from isoglot.model.work_files import CHECKPOINTS, SUMS_NAME
from isoglot.pipeline.stages.job_sizes import for_training
from isoglot.pipeline.stages.text import SyntheticText
from isoglot.pipeline.stages.training_log import UNLEARNED_FIX, chosen_evaluation, evaluations, unlearned
from isoglot.pipeline.stages.vocabulary import LearnedBpe, SwitchableTrainingText, TokenStreams
from isoglot.pretraining.run import BEST, FILES, INTERMEDIATE, LOG, MODEL_FILES, UNIGRAM, PretrainingRun, UpdateRecord
from isoglot.store import NOT_IDENTITY, Amount, Resources, Stage, Store, Work
from isoglot.study.conditions import TableKind

if TYPE_CHECKING:
    from isoglot.model.cloze import ClozeModel

# Stages import torch only where they make something, so that planning and reading results stay instant.

GUESSED_UPDATE_SECONDS = 0.01
# Two wider models at once are no faster than one after the other, and each has half of the memory.
SHARING_WIDTH = 256
# Single characters, at the end of a word and elsewhere. XLM's vocabularies of two Wikipedias have some 4,000 tokens
# more than merges, most of them of scripts that neither language is written in.
CHARACTERS_OF_A_TEXT = 2500
CHARACTERS_OF_A_SYNTHETIC_TEXT = 60


def guessed_training_seconds(*, updates: float, operations: float) -> float:
    """A guess for two CPU cores."""
    return updates * GUESSED_UPDATE_SECONDS + operations / GUESSED_OPERATIONS_PER_SECOND["cpu"]


@dataclass(frozen=True, kw_only=True)
class UntrainedEncoder(Stage):
    """The model a run starts from: its scores owe nothing to learning."""

    kind: ClassVar[str] = "untrained-encoder"
    leaves: ClassVar[tuple[str, ...]] = MODEL_FILES
    titled: ClassVar[str] = "untrained model, {self.label}"
    run: PretrainingRun
    streams: Mapping[str, TokenStreams]
    label: str = field(metadata=NOT_IDENTITY)

    def make(self, work: Work) -> None:
        from isoglot.model.cloze import write_model
        from isoglot.pretraining.loop import untrained_model

        sizes = {language: stream.table_size for language, stream in _opened(self, work).items()}
        write_model(untrained_model(self.run, table_sizes=sizes), work.folder / BEST)


@dataclass(frozen=True, kw_only=True)
class PretrainedEncoder(Stage):
    """The model a run ends with, chosen by the source language's dev perplexity."""

    kind: ClassVar[str] = "pretrained-encoder"
    leaves: ClassVar[tuple[str, ...]] = FILES
    resumes: ClassVar[tuple[str, ...]] = (*leaves, f"{CHECKPOINTS}/*", SUMS_NAME)
    titled: ClassVar[str] = "pretraining, {self.label}"
    version: ClassVar[int] = 2
    rate_settings: ClassVar[tuple[str, ...]] = ("run.shape",)
    fills_gpu: ClassVar[bool] = True
    run: PretrainingRun
    streams: Mapping[str, TokenStreams]
    # Where a language has one, training reads it in place of its stream.
    switchable: Mapping[str, SwitchableTrainingText]
    label: str = field(metadata=NOT_IDENTITY)

    @property
    def shares_gpu(self) -> bool:
        return self.run.shape.width <= SHARING_WIDTH

    def amount(self) -> Amount:
        return Amount(units=self.run.tokens, of="tokens")

    def guessed_seconds(self) -> float:
        """A fixed cost for each update, and six operations for each parameter and token."""
        operations = 6 * self.run.shape.num_parameters(table_size=0) * self.run.tokens
        return guessed_training_seconds(updates=self.run.updates, operations=operations)

    def share_done(self, folder: Path) -> float:
        from isoglot.model.checkpoints import stored_state

        if (folder / LOG).exists():
            return 1.0
        return float(stored_state(folder).get("update", 0) / self.run.updates)

    def resources(self) -> Resources:
        one_process = for_training(self.run.shape, guessed_seconds=self.guessed_seconds())
        # Hours stay as they are: how much faster several processes are is not known beforehand.
        return replace(one_process, gpus=one_process.gpus * processes_per_model())

    def make(self, work: Work) -> None:
        from isoglot.hardware import free_memory_of
        from isoglot.machine import this_machine
        from isoglot.pretraining.batches import window_source
        from isoglot.pretraining.footprint import micro_batch
        from isoglot.pretraining.health import HealthLog
        from isoglot.pretraining.loop import pretrain
        from isoglot.pretraining.loss_watch import BlindLosses, Plateau
        from isoglot.pretraining.torchrun import Job, pretrain_in_processes

        run, machine, processes = self.run, this_machine(), processes_per_model()
        streams, blind, num_skipped = _opened(self, work), {}, 0
        switchable = {language: SwitchableText.read(work.path(text)) for language, text in self.switchable.items()}
        sizes = {language: stream.table_size for language, stream in streams.items()}
        windows = micro_batch(run, table_sizes=sizes, free=free_memory_of(machine), processes=processes)
        for language, stream in streams.items():
            source = window_source(stream, switchable=switchable.get(language), window=run.window, seed=run.seed)
            blind[language] = BlindLosses.of(source, window=run.window, table_size=sizes[language])
        plateau = Plateau(blind, run=run)
        health = HealthLog(work.log_folder, run=run, table_sizes=sizes, device=machine.device, processes=processes)

        def report(records: Sequence[UpdateRecord]) -> None:
            nonlocal num_skipped
            health(records)
            latest = records[-1]
            num_skipped += sum(record.skipped for record in records)
            loss = sum(latest.losses.values()) / len(latest.losses)
            note = f"loss {loss:.2f}" + (f", {num_skipped} updates left out" if num_skipped else "")
            work.progress(latest.update * run.batch * run.window, run.tokens, "tokens", note)
            if warning := plateau.warning_for(records):
                health.remark(warning)
                warnings.warn(f"pretraining, {self.label}: {warning}", stacklevel=2)

        shared: dict[str, Any] = {"folder": work.folder, "micro_batch": windows}
        try:
            with machine.threads_for(num_activations=run.batch * run.window * run.shape.width), closing(health):
                if processes > 1:
                    # Processes of their own open the folders themselves: mapped arrays do not travel.
                    folders = {language: stream.folder for language, stream in streams.items()}
                    texts = {language: work.path(text) for language, text in self.switchable.items()}
                    job = Job(run=run, streams=folders, switchable=texts, **shared)
                    pretrain_in_processes(job, processes=processes, report=report, log_folder=work.log_folder)
                else:
                    pretrain(run, streams, switchable=switchable, machine=machine, report=report, **shared)
                unigram = {language: exp(losses.unigram) for language, losses in blind.items()}
                write_whole(work.folder / UNIGRAM, json.dumps(unigram) + "\n")
                if found := unlearned(work.folder, source=run.languages[0]):
                    times = " and ".join(f"{each:.3g}" for each in found.values())
                    warning = f"knows no more of {' and '.join(found)} than how frequent words are: {UNLEARNED_FIX}"
                    warning += f" (dev perplexity {times} times what frequencies alone give)"
                    health.remark(warning)
                    warnings.warn(f"pretraining, {self.label}: {warning}", stacklevel=2)
        except IsoglotError as error:
            health.remark(str(error))
            raise


@dataclass(frozen=True, kw_only=True)
class EncoderAtMoment(Stage):
    """A model as it was after one of the updates that its run keeps, for stages that take a whole encoder."""

    kind: ClassVar[str] = "encoder-at-moment"
    leaves: ClassVar[tuple[str, ...]] = MODEL_FILES
    titled: ClassVar[str] = "{self.encoder.title}, as after update {self.update:,}"
    encoder: PretrainedEncoder
    update: int

    @property
    def run(self) -> PretrainingRun:
        return self.encoder.run

    @property
    def streams(self) -> Mapping[str, TokenStreams]:
        return self.encoder.streams

    def make(self, work: Work) -> None:
        kept = work.path(self.encoder) / INTERMEDIATE / f"{self.update:08d}"
        shutil.rmtree(work.folder / BEST, ignore_errors=True)  # a kill may have left half of it
        shutil.copytree(kept, work.folder / BEST, copy_function=_link)


def _link(source: str, target: str) -> None:
    # A second name for the same bytes costs no room; not every file system has that.
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


AnyEncoder = UntrainedEncoder | PretrainedEncoder | EncoderAtMoment


def _opened(encoder: AnyEncoder, work: Work) -> dict[str, TokenStream]:
    # Weights are drawn in the order of the run's languages, since the digest leaves out a mapping's own order.
    return {language: TokenStream.open(work.path(encoder.streams[language])) for language in encoder.run.languages}


def chosen_model(folder: Path) -> ClozeModel:
    from isoglot.model.cloze import read_model

    return read_model(folder / BEST)


def kept_models(folder: Path, *, source: str) -> dict[int, Path]:
    """The folders of a finished run's models by update, the chosen one included."""
    kept = {int(each.name): each for each in (folder / INTERMEDIATE).glob("*") if each.name.isdecimal()}
    chosen = chosen_evaluation(evaluations(folder), source=source).update
    return dict(sorted((kept | {chosen: folder / BEST}).items()))


class TableSizes(NamedTuple):
    """The number of tokens in one model's tables."""

    by_language: Mapping[str, int]
    are_known: bool  # False where they are guessed from the number of BPE merges


def stored_sizes(streams: Mapping[str, TokenStreams], store: Store) -> dict[str, int]:
    """The sizes of those tables whose streams, or summaries of them, are in the store."""
    found = {language: store.lookup(stream, read=(DESCRIPTION,)) for language, stream in streams.items()}
    return {language: TokenStream.open(each.folder).table_size for language, each in found.items() if each}


def table_sizes(encoder: AnyEncoder, store: Store) -> TableSizes:
    """The sizes of the streams in the store, or else a guess that is rather too large."""
    streams = {language: encoder.streams[language] for language in encoder.run.languages}
    sizes = stored_sizes(streams, store)
    if sizes.keys() == streams.keys():
        return TableSizes(sizes, are_known=True)
    subwords = {language: _num_subwords(stream.bpe) for language, stream in streams.items()}
    if not all(stream.vocabulary.tables is TableKind.SEPARATE for stream in streams.values()):
        # By digest, as two languages may share one BPE.
        together = sum({stream.bpe.digest: subwords[language] for language, stream in streams.items()}.values())
        subwords = dict.fromkeys(subwords, together)
    return TableSizes({language: len(SPECIALS) + count for language, count in subwords.items()}, are_known=False)


def _num_subwords(bpe: LearnedBpe) -> int:
    # An upper bound: one for each merge, and the characters.
    of_real, of_synthetic = CHARACTERS_OF_A_TEXT, CHARACTERS_OF_A_SYNTHETIC_TEXT
    return bpe.merges + sum(of_synthetic if isinstance(each.text, SyntheticText) else of_real for each in bpe.texts)
