"""Reports of a pretraining stage: its progress, a log of its health, and a warning where it does not learn."""

import warnings
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

from isoglot.corpora.code_switching import SwitchableText
from isoglot.corpora.streams import TokenStream
from isoglot.errors import IsoglotError
from isoglot.machine import Machine
from isoglot.pretraining.batches import window_source
from isoglot.pretraining.health import HealthLog
from isoglot.pretraining.loss_watch import BlindLosses, Plateau
from isoglot.pretraining.run import PretrainingRun, UpdateRecord
from isoglot.store import Work


class TrainingWatch:
    """Called with the updates done since the last time."""

    def __init__(
        self,
        run: PretrainingRun,
        work: Work,
        streams: Mapping[str, TokenStream],
        switchable: Mapping[str, SwitchableText],
        *,
        label: str,
        machine: Machine,
        processes: int,
    ):
        self.run, self.work, self.label = run, work, label
        self.num_skipped = 0
        blind = {}
        for language, stream in streams.items():
            source = window_source(stream, switchable=switchable.get(language), window=run.window, seed=run.seed)
            blind[language] = BlindLosses.of(source, window=run.window, table_size=stream.table_size)
        self.plateau = Plateau(blind, run=run)
        self.health = HealthLog(
            work.log_folder,
            run=run,
            table_sizes={language: stream.table_size for language, stream in streams.items()},
            device=machine.device,
            processes=processes,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.health.close()
        if isinstance(error, IsoglotError):
            self.health.remark(str(error))

    def __call__(self, records: Sequence[UpdateRecord]) -> None:
        self.health(records)
        latest = records[-1]
        self.num_skipped += sum(record.skipped for record in records)
        loss = sum(latest.losses.values()) / len(latest.losses)
        note = f"loss {loss:.2f}" + (f", {self.num_skipped} updates left out" if self.num_skipped else "")
        self.work.progress(latest.update * self.run.batch * self.run.window, self.run.tokens, "tokens", note)
        if warning := self.plateau.warning_for(records):
            self.health.remark(warning)
            warnings.warn(f"pretraining, {self.label}: {warning}", stacklevel=2)
