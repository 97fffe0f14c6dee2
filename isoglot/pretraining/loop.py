"""The training loop of section 3.1."""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from time import monotonic
from types import MappingProxyType
from typing import Any

import torch

from isoglot.corpora.code_switching import SwitchableText
from isoglot.corpora.numbered_text import Split
from isoglot.corpora.streams import TokenStream
from isoglot.errors import IsoglotError
from isoglot.machine import Machine
from isoglot.model.background_writing import BackgroundWriter
from isoglot.model.checkpoints import CHECKPOINTS, read_checkpoint, write_checkpoint
from isoglot.model.cloze import ClozeModel, write_model
from isoglot.pretraining.batches import Batches, window_source
from isoglot.pretraining.guard import MOST_SKIPPED, WINDOW, too_many
from isoglot.pretraining.perplexity import HeldOut, perplexity
from isoglot.pretraining.prefetching import Prefetcher
from isoglot.pretraining.ranks import ALONE, Ranks
from isoglot.pretraining.run import BEST, INTERMEDIATE, LOG, PretrainingRun, UpdateRecord
from isoglot.pretraining.updates import PendingUpdate, Updates
from isoglot.randomness import derived_seed


@dataclass
class TrainState:
    """What changes during training besides weights and moments; random draws depend on the update number alone."""

    update: int = 0
    positions: dict[str, int] = field(default_factory=dict)
    """Windows taken of each language."""
    micro_batch: int | None = None
    """Windows read at once until now; where there is dropout, other pieces of a batch would draw other masks."""
    best_perplexity: float = float("inf")
    losses: dict[str, list[float]] = field(default_factory=dict)
    """By language: the sum of losses since the last evaluation, and of how many updates."""
    skipped: list[int] = field(default_factory=list)
    """Updates that were left out."""
    guard: dict[str, float] = field(default_factory=dict)
    """What the guard goes by in leaving updates out."""
    log: list[dict[str, object]] = field(default_factory=list)


SECONDS_BETWEEN_CHECKPOINTS = 30.0
UPDATES_BETWEEN_REPORTS = 20
SECONDS_BETWEEN_REPORTS = 5.0
Report = Callable[[Sequence[UpdateRecord]], None]
"""Told of the updates done since the last time."""
NOTHING_SWITCHABLE: Mapping[str, SwitchableText] = MappingProxyType({})


def untrained_model(run: PretrainingRun, *, table_sizes: Mapping[str, int], pad_id: int) -> ClozeModel:
    """The model a run starts from."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derived_seed(run.seed, "weights"))
        return ClozeModel(run.shape, table_sizes=table_sizes, separate=run.separate, pad_id=pad_id)


def pretrain(
    run: PretrainingRun,
    streams: Mapping[str, TokenStream],
    *,
    pad_id: int,
    mask_id: int,
    folder: Path,
    machine: Machine,
    report: Report,
    switchable: Mapping[str, SwitchableText] = NOTHING_SWITCHABLE,
    ranks: Ranks = ALONE,
    micro_batch: int | None = None,
) -> None:
    """Leave in the folder the best model, intermediate ones and the log; go on from an interrupted attempt's files.

    A language with a switchable text is trained on that; all are evaluated on their streams as they are. Of several
    processes the first alone writes and reports.
    """
    # By one of them: the first to find it so removes the checkpoint that another still looks for.
    if not ranks.heard_from_first((folder / LOG).exists()):
        with Trainer(
            run,
            streams,
            pad_id=pad_id,
            mask_id=mask_id,
            folder=folder,
            machine=machine,
            switchable=switchable,
            ranks=ranks,
            micro_batch=micro_batch,
        ) as trainer:
            try:
                while trainer.progression.update < run.updates:
                    trainer.advance()
                    if trainer.is_report_due():
                        records = trainer.settled()
                        if ranks.is_first:
                            report(records)
            except IsoglotError:
                # What led up to it is what whoever looks for its cause wants to see.
                if ranks.is_first and trainer.records:
                    report(trainer.records)
                raise
        if not ranks.is_first:
            return
        rows = "".join(json.dumps(row) + "\n" for row in trainer.progression.log)
        # In one step, since the log's existence says that the training is finished.
        fresh = folder / (LOG + ".new")
        fresh.write_text(rows, encoding="utf-8")
        fresh.replace(folder / LOG)
    # After the log: a kill between the two must find the training finished, not its checkpoint gone.
    if ranks.is_first:
        shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)


class Trainer:
    """A model in training and everything it needs for its next update; leaving its context puts all files on disk."""

    def __init__(
        self,
        run: PretrainingRun,
        streams: Mapping[str, TokenStream],
        *,
        pad_id: int,
        mask_id: int,
        folder: Path,
        machine: Machine,
        switchable: Mapping[str, SwitchableText] = NOTHING_SWITCHABLE,
        ranks: Ranks = ALONE,
        micro_batch: int | None = None,
        checkpoint_seconds: float | None = None,
    ):
        self.run, self.folder, self.machine, self.ranks = run, folder, machine, ranks
        table_sizes = {language: stream.table_size for language, stream in streams.items()}
        self.model = untrained_model(run, table_sizes=table_sizes, pad_id=pad_id).to(machine.device).train()
        self.updates = Updates(self.model, run, mask_id=mask_id, table_sizes=table_sizes, machine=machine, ranks=ranks)
        self.batches = Batches(
            {
                language: window_source(stream, switchable=switchable.get(language), window=run.window, seed=run.seed)
                for language, stream in streams.items()
            },
            lines={language: stream.lines[Split.TRAIN] for language, stream in streams.items()},
            batch=run.batch,
            language_draws=run.language_draws,
            language_exponent=run.language_exponent,
            seed=run.seed,
        )
        self.held_out = [
            HeldOut.of(stream.ids(Split.DEV), language=language, window=run.window, rate=run.mask_rate, mask_id=mask_id)
            for language, stream in streams.items()
        ]
        self.unsettled: list[PendingUpdate] = []
        self.records: list[UpdateRecord] = []
        self.progression = read_checkpoint(
            folder / CHECKPOINTS, model=self.updates.weights, optimizer=self.updates.optimizer, fresh=TrainState()
        )
        self.updates.weights.refresh_twins(run.languages)
        self.micro_batch = min(self.progression.micro_batch or run.batch, micro_batch or run.batch)
        self.progression.micro_batch = self.micro_batch
        ranks.check_agreement({"update": self.progression.update, "windows at once": self.micro_batch})
        self.batches.positions.update(self.progression.positions)
        self.upcoming = Prefetcher(
            self.batches,
            update=self.progression.update,
            rows=ranks.rows(run.batch),
            at_most=self.micro_batch,
            machine=machine,
        )
        self.updates.guard.load(self.progression.guard)
        self.saved_at = self.settled_at = monotonic()
        self.checkpoint_seconds = SECONDS_BETWEEN_CHECKPOINTS if checkpoint_seconds is None else checkpoint_seconds
        self.is_save_due = False
        self.writer = BackgroundWriter()
        self.model_outbox, self.checkpoint_outbox = self.writer.outbox(), self.writer.outbox()

    def __enter__(self) -> "Trainer":
        return self

    def __exit__(self, *error: Any) -> None:
        self.upcoming.__exit__(*error)
        self.writer.__exit__(*error)

    def advance(self) -> None:
        """One update, and whatever falls due after it."""
        update = self.progression.update + 1
        self._learn(update)
        self.progression.update = update
        evaluated = self.run.evaluated_after(update)
        if evaluated:
            self._settle()
        if self.ranks.is_first:
            if self.run.kept_after(update):
                write_model(self.model, self.folder / INTERMEDIATE / f"{update:08d}", write=self.model_outbox)
            if evaluated:
                self._evaluate()
            self.is_save_due |= evaluated or monotonic() - self.saved_at > self.checkpoint_seconds
            # Where the last one is still being written, training does not wait for it.
            if self.is_save_due and self.checkpoint_outbox.is_free:
                self._save()

    def is_report_due(self) -> bool:
        """After some updates or, where these take long, some seconds; and at the end."""
        update = self.progression.update
        return (
            update % UPDATES_BETWEEN_REPORTS == 0
            or update == self.run.updates
            or monotonic() - self.settled_at > SECONDS_BETWEEN_REPORTS
        )

    def settled(self) -> list[UpdateRecord]:
        """Updates since the last call, their numbers brought from the device; too many left out are an error."""
        self._settle()
        records, self.records, self.settled_at = self.records, [], monotonic()
        return records

    def _learn(self, update: int) -> None:
        batch = next(self.upcoming)
        self.unsettled.append(self.updates(update, batch))
        self.progression.positions = dict(batch.positions)

    def _settle(self) -> None:
        if not self.unsettled:
            return
        rows = torch.stack([each.numbers for each in self.unsettled]).tolist()
        for unsettled, numbers in zip(self.unsettled, rows, strict=True):
            self._count(unsettled.record(numbers, languages=self.run.languages))
        self.unsettled.clear()

    def _count(self, record: UpdateRecord) -> None:
        self.records.append(record)
        if not record.skipped:
            for language, loss in record.losses.items():
                total, count = self.progression.losses.get(language, [0.0, 0])
                self.progression.losses[language] = [total + loss, count + 1]
            return
        self.progression.skipped.append(record.update)
        if too_many(self.progression.skipped, record.update):
            latest = ", ".join(f"{language} {loss:.4g}" for language, loss in record.losses.items())
            self._refuse(
                f"more than {MOST_SKIPPED} of the last {WINDOW} updates were left out, their loss or gradient being no "
                f"number or a sudden leap (the latest loss: {latest}; gradient norm: {record.gradient_norm:.4g})",
                update=record.update,
            )

    def _refuse(self, trouble: str, *, update: int) -> None:
        raise IsoglotError(
            f"{trouble} at update {update}; lower optimization.learning_rate or raise optimization.warmup_updates"
        )

    def _evaluate(self) -> None:
        progression, perplexities = self.progression, {}
        for held_out in self.held_out:
            found = perplexity(self.model, held_out, device=self.machine.device)
            # Its weights may have gone astray since the last loss, and then no model would ever be the best.
            if not isfinite(found):
                self._refuse(f"the dev perplexity of {held_out.language} became {found}", update=progression.update)
            perplexities[held_out.language] = found
        losses = {language: total / count for language, (total, count) in sorted(progression.losses.items())}
        progression.log.append(
            {
                "update": progression.update,
                "loss": losses,
                "perplexity": perplexities,
                "skipped": len(progression.skipped),
            }
        )
        progression.losses = {}
        source_perplexity = perplexities[self.run.languages[0]]
        if source_perplexity < progression.best_perplexity:
            progression.best_perplexity = source_perplexity
            write_model(self.model, self.folder / BEST, write=self.model_outbox)

    def _save(self) -> None:
        self._settle()
        self.progression.guard = self.updates.guard.state()
        write_checkpoint(
            self.folder / CHECKPOINTS,
            model=self.updates.weights,
            optimizer=self.updates.optimizer,
            progression=self.progression,
            write=self.checkpoint_outbox,
        )
        self.saved_at, self.is_save_due = monotonic(), False
