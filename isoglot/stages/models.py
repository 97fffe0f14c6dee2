"""Models: as they start, and as they are after pretraining."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from isoglot.artifacts import NOT_IDENTITY, Amount, Stage, Work
from isoglot.corpora.streams import TokenStream
from isoglot.corpora.vocabulary import MASK, PAD
from isoglot.pretraining.run import PretrainingRun
from isoglot.stages.vocabulary import TokenStreams

if TYPE_CHECKING:
    from isoglot.encoder.cloze import ClozeModel

# Stages import torch only where they make something, so that planning and reading results stay instant.

CHOSEN = "best"


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
        from isoglot.encoder.files import write_model
        from isoglot.pretraining.loop import untrained_model

        sizes = {language: TokenStream.open(work.path(stage)).table_size for language, stage in self.streams.items()}
        write_model(untrained_model(self.run, table_sizes=sizes, pad_id=PAD), work.folder / CHOSEN)


@dataclass(frozen=True, kw_only=True)
class PretrainedEncoder(Stage):
    """The model a run ends with, chosen by the source language's dev perplexity."""

    kind: ClassVar[str] = "pretrained-encoder"
    run: PretrainingRun
    streams: Mapping[str, TokenStreams]
    label: str = field(metadata=NOT_IDENTITY)

    @property
    def title(self) -> str:
        return f"pretraining, {self.label}"

    def amount(self) -> Amount:
        return Amount(units=self.run.tokens, of="tokens")

    def make(self, work: Work) -> None:
        from isoglot.machine import this_machine
        from isoglot.pretraining.loop import pretrain

        machine = this_machine()
        tokens_per_update = self.run.batch * self.run.window

        def report(update: int, loss: float) -> None:
            work.progress(update * tokens_per_update, self.run.tokens, "tokens", f"loss {loss:.2f}")

        with machine.threads_for(num_activations=tokens_per_update * self.run.shape.width):
            pretrain(
                self.run,
                {language: TokenStream.open(work.path(stage)) for language, stage in self.streams.items()},
                pad_id=PAD,
                mask_id=MASK,
                folder=work.folder,
                machine=machine,
                report=report,
            )


AnyEncoder = UntrainedEncoder | PretrainedEncoder


def chosen_model(folder: Path) -> ClozeModel:
    """The model that speaks for an UntrainedEncoder or a PretrainedEncoder."""
    from isoglot.encoder.files import read_model

    return read_model(folder / CHOSEN)
