"""The training loop of section 3.1."""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import isfinite
from pathlib import Path
from time import monotonic
from types import MappingProxyType
from typing import Any

import torch

from isoglot.corpora.code_switching import SwitchableText
from isoglot.corpora.numbered_text import Split
from isoglot.corpora.streams import TokenStream
from isoglot.corpora.vocabulary import MASK, PAD
from isoglot.errors import IsoglotError
from isoglot.files import text_sum, write_whole
from isoglot.machine import Machine
from isoglot.model.checkpoints import LATEST, BackgroundWriter, read_checkpoint, write_checkpoint
from isoglot.model.cloze import WEIGHTS, ClozeModel, description_of, write_model
from isoglot.model.work_files import CHECKPOINTS, WorkSums
from isoglot.pretraining.batches import Batches, Prefetcher, window_source
from isoglot.pretraining.loss_watch import MOST_SKIPPED, WINDOW, too_many
from isoglot.pretraining.perplexity import HeldOut, perplexity
from isoglot.pretraining.ranks import ALONE, Ranks
from isoglot.pretraining.run import BEST, INTERMEDIATE, LOG, PretrainingRun, UpdateRecord
from isoglot.pretraining.train_state import TrainState, check_models, damaged_model, is_finished
from isoglot.pretraining.updates import PendingUpdate, Updates
from isoglot.randomness import derived_seed
from isoglot.study.scales import AttentionStart, Start

SECONDS_BETWEEN_CHECKPOINTS = 30.0
UPDATES_BETWEEN_REPORTS = 20
SECONDS_BETWEEN_REPORTS = 5.0
Report = Callable[[Sequence[UpdateRecord]], None]  # called with the updates done since the last call
NOTHING_SWITCHABLE: Mapping[str, SwitchableText] = MappingProxyType({})


def untrained_model(run: PretrainingRun, *, table_sizes: Mapping[str, int]) -> ClozeModel:
    """The model a run starts from."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derived_seed(run.seed, "weights"))
        model = ClozeModel(run.shape, table_sizes=table_sizes, separate=run.separate, pad_id=PAD)
        if run.attention_start is AttentionStart.NEARBY:
            model.encoder.attend_nearby()
    if run.own_parts_start is Start.EQUAL:
        model.encoder.copy_first_own_parts()
    return model


def pretrain(
    run: PretrainingRun,
    streams: Mapping[str, TokenStream],
    *,
    folder: Path,
    machine: Machine,
    report: Report,
    switchable: Mapping[str, SwitchableText] = NOTHING_SWITCHABLE,
    ranks: Ranks = ALONE,
    micro_batch: int | None = None,
) -> None:
    """Leave the best model, intermediate models and the log in the folder; resume an interrupted attempt.

    A language with a switchable text is trained on that; all languages are evaluated on their streams as they are. Of
    several processes the first alone writes and reports.
    """
    # The first process decides for all. If each looked for the log itself, one might find it and remove the checkpoint
    # that another has not read yet.
    sums = WorkSums(folder)
    if not ranks.heard_from_first(ranks.is_first and is_finished(folder, sums)):
        with Trainer(
            run, streams, folder=folder, machine=machine, switchable=switchable, ranks=ranks, micro_batch=micro_batch
        ) as trainer:
            try:
                while trainer.state.update < run.updates:
                    trainer.advance()
                    if trainer.is_report_due():
                        records = trainer.take_records()
                        if ranks.is_first:
                            report(records)
            except IsoglotError:
                # The updates that led up to the error are the ones worth seeing.
                if ranks.is_first and trainer.records:
                    report(trainer.records)
                raise
        if not ranks.is_first:
            return
        check_models(folder, trainer.state.models, sums=sums, description=description_of(trainer.model))
        rows = "".join(json.dumps(row) + "\n" for row in trainer.state.log)
        sums.add(folder / LOG, text_sum(rows))
        write_whole(folder / LOG, rows)  # in one step, since the log's existence means that training is finished
    # After the log: a kill between the two must leave a finished run, not one whose checkpoint is gone.
    if ranks.is_first:
        shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)


class Trainer:
    """A model in training and everything it needs for its next update; leaving its context flushes all files."""

    def __init__(
        self,
        run: PretrainingRun,
        streams: Mapping[str, TokenStream],
        *,
        folder: Path,
        machine: Machine,
        switchable: Mapping[str, SwitchableText] = NOTHING_SWITCHABLE,
        ranks: Ranks = ALONE,
        micro_batch: int | None = None,
    ):
        self.run, self.folder, self.machine, self.ranks = run, folder, machine, ranks
        table_sizes = {language: stream.table_size for language, stream in streams.items()}
        self.model = untrained_model(run, table_sizes=table_sizes).to(machine.device).train()
        self.updates = Updates(self.model, run, table_sizes=table_sizes, machine=machine, ranks=ranks)
        self.held_out = [
            HeldOut.of(stream.ids(Split.DEV), language=language, window=run.window, rate=run.mask_rate, mask_id=MASK)
            for language, stream in streams.items()
        ]
        self.kept_updates = frozenset(run.kept_updates)
        self.pending: list[PendingUpdate] = []
        self.records: list[UpdateRecord] = []
        self.state = read_checkpoint(
            folder / CHECKPOINTS,
            model=self.updates.weights,
            optimizer=self.updates.optimizer,
            fresh=TrainState(),
            fault=partial(damaged_model, folder=folder),
        )
        self.updates.weights.refresh_twins(run.languages)
        self.updates.guard.load(self.state.guard)
        # Never more at once than before: with dropout, the same rows in other pieces would learn something else.
        self.micro_batch = min(self.state.micro_batch or run.batch, micro_batch or run.batch)
        self.state.micro_batch = self.micro_batch
        ranks.check_agreement({"update": self.state.update, "windows at once": self.micro_batch})
        self.batches = Batches(
            {
                language: window_source(stream, switchable=switchable.get(language), window=run.window, seed=run.seed)
                for language, stream in streams.items()
            },
            run=run,
            lines={language: stream.lines[Split.TRAIN] for language, stream in streams.items()},
            rows=ranks.rows(run.batch),
            micro_batch=self.micro_batch,
        )
        self.batches.go_to(self.state.update, self.state.positions)
        self.prefetcher = Prefetcher(self.batches, machine)
        self.saved_at = self.reported_at = monotonic()
        self.is_save_due = False
        self.writer = BackgroundWriter(WorkSums(folder))

    def __enter__(self) -> "Trainer":
        return self

    def __exit__(self, *error: Any) -> None:
        self.prefetcher.close()
        self.writer.__exit__(*error)

    def advance(self) -> None:
        """One update, and whatever falls due after it."""
        update, batch = self.state.update + 1, next(self.prefetcher)
        self.pending.append(self.updates(update, batch))
        self.state.update, self.state.positions = update, dict(batch.positions)
        evaluated = self.run.evaluated_after(update)
        if evaluated:
            self._read_pending()
        if self.ranks.is_first:
            if update in self.kept_updates:
                kept = self._new_model(f"{INTERMEDIATE}/{update:08d}")
                write_model(self.model, kept, write=self.writer, in_halves=self.run.keeps_halves)
            if evaluated:
                self._evaluate()
            self.is_save_due |= evaluated or monotonic() - self.saved_at > SECONDS_BETWEEN_CHECKPOINTS
            # Training does not wait while the last checkpoint is still being written: this one is saved a bit later.
            if self.is_save_due and self.writer.is_free(LATEST):
                self._save()

    def is_report_due(self) -> bool:
        """After some updates or, where these take long, some seconds; and at the end."""
        update = self.state.update
        return (
            update % UPDATES_BETWEEN_REPORTS == 0
            or update == self.run.updates
            or monotonic() - self.reported_at > SECONDS_BETWEEN_REPORTS
        )

    def take_records(self) -> list[UpdateRecord]:
        """Records of the updates since the last call; raises an error if too many updates were left out."""
        self._read_pending()
        records, self.records, self.reported_at = self.records, [], monotonic()
        return records

    def _read_pending(self) -> None:
        """Read the numbers of many updates in one go, since each read makes the host wait for the device."""
        if not self.pending:
            return
        rows = torch.stack([each.numbers for each in self.pending]).tolist()
        for pending, numbers in zip(self.pending, rows, strict=True):
            self._count(pending.record(numbers, languages=self.run.languages))
        self.pending.clear()

    def _count(self, record: UpdateRecord) -> None:
        self.records.append(record)
        if not record.skipped:
            for language, loss in record.losses.items():
                total, count = self.state.losses.get(language, [0.0, 0])
                self.state.losses[language] = [total + loss, count + 1]
            return
        self.state.skipped.append(record.update)
        if too_many(self.state.skipped, record.update):
            latest = ", ".join(f"{language} {loss:.4g}" for language, loss in record.losses.items())
            raise _diverged(
                f"more than {MOST_SKIPPED} of the last {WINDOW} updates were left out, their loss or gradient being no "
                f"number or a sudden leap (the latest loss: {latest}; gradient norm: {record.gradient_norm:.4g})",
                update=record.update,
            )

    def _evaluate(self) -> None:
        state, perplexities = self.state, {}
        for held_out in self.held_out:
            value = perplexity(self.model, held_out, device=self.machine.device)
            # The weights may have diverged since the last loss, and then no model would ever be the best.
            if not isfinite(value):
                raise _diverged(f"the dev perplexity of {held_out.language} became {value}", update=state.update)
            perplexities[held_out.language] = value
        losses = {language: total / count for language, (total, count) in sorted(state.losses.items())}
        row = {"update": state.update, "loss": losses, "perplexity": perplexities, "skipped": len(state.skipped)}
        state.log.append(row)
        state.losses = {}
        source_perplexity = perplexities[self.run.languages[0]]
        if source_perplexity < state.best_perplexity:
            state.best_perplexity = source_perplexity
            write_model(self.model, self._new_model(BEST), write=self.writer)

    def _new_model(self, name: str) -> Path:
        """The folder for a model, which checkpoints from now on rest on."""
        if (weights := f"{name}/{WEIGHTS}") not in self.state.models:
            self.state.models.append(weights)
        return self.folder / name

    def _save(self) -> None:
        self._read_pending()
        self.state.guard = self.updates.guard.state()
        write_checkpoint(
            self.folder / CHECKPOINTS,
            model=self.updates.weights,
            optimizer=self.updates.optimizer,
            state=self.state,
            write=self.writer,
        )
        self.saved_at, self.is_save_due = monotonic(), False


def _diverged(trouble: str, *, update: int) -> IsoglotError:
    return IsoglotError(
        f"{trouble} at update {update}; lower optimization.learning_rate or raise optimization.warmup_updates"
    )
