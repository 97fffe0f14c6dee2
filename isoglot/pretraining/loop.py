"""The training loop of section 3.1."""

import json
import shutil
from collections.abc import Callable, Mapping
from math import isfinite
from pathlib import Path
from time import monotonic
from types import MappingProxyType

import torch
import torch.nn.functional as F
from torch import Tensor

from isoglot.checkpoints import read_checkpoint, write_checkpoint
from isoglot.corpora.numbered_text import Split
from isoglot.corpora.streams import TokenStream
from isoglot.corpora.switchable_text import SwitchableText
from isoglot.encoder.cloze import ClozeModel
from isoglot.encoder.files import write_model
from isoglot.errors import IsoglotError
from isoglot.machine import Machine
from isoglot.pretraining.batches import Batches, window_source
from isoglot.pretraining.learning_rate import learning_rate
from isoglot.pretraining.masking import masked_batch
from isoglot.pretraining.perplexity import HeldOut, perplexity
from isoglot.pretraining.progression import Progression
from isoglot.pretraining.run import BEST, INTERMEDIATE, LOG, PretrainingRun
from isoglot.randomness import derived_seed

CHECKPOINTS = "checkpoints"
SECONDS_BETWEEN_CHECKPOINTS = 30.0
UPDATES_BETWEEN_REPORTS = 20
Report = Callable[[int, float], None]
"""Told the updates done and the latest loss."""
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
) -> None:
    """Leave in the folder the best model, intermediate ones and the log; go on from an interrupted attempt's files.

    A language with a switchable text is trained on that; all are evaluated on their streams as they are.
    """
    if not (folder / LOG).exists():
        trainer = Trainer(
            run, streams, pad_id=pad_id, mask_id=mask_id, folder=folder, machine=machine, switchable=switchable
        )
        while trainer.progression.update < run.updates:
            trainer.advance()
            if trainer.progression.update % UPDATES_BETWEEN_REPORTS == 0:
                report(trainer.progression.update, trainer.settle_losses())
        rows = "".join(json.dumps(row) + "\n" for row in trainer.progression.log)
        # In one step, since the log's existence says that the training is finished.
        fresh = folder / (LOG + ".new")
        fresh.write_text(rows, encoding="utf-8")
        fresh.replace(folder / LOG)
    # After the log: a kill between the two must find the training finished, not its checkpoint gone.
    shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)


class Trainer:
    """A model in training and everything it needs for its next update."""

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
    ):
        self.run = run
        self.folder = folder
        self.machine = machine
        self.mask_id = mask_id
        self.table_sizes = {language: stream.table_size for language, stream in streams.items()}
        self.model = untrained_model(run, table_sizes=self.table_sizes, pad_id=pad_id).to(machine.device).train()
        self.optimizer = adam(self.model, run)
        self.batches = Batches(
            {
                language: window_source(stream, switchable=switchable.get(language), window=run.window, seed=run.seed)
                for language, stream in streams.items()
            },
            lines={language: stream.lines[Split.TRAIN] for language, stream in streams.items()},
            batch=run.batch,
            language_exponent=run.language_exponent,
            seed=run.seed,
        )
        self.held_out = [
            HeldOut.of(stream.ids(Split.DEV), language=language, window=run.window, rate=run.mask_rate, mask_id=mask_id)
            for language, stream in streams.items()
        ]
        self.generator = torch.Generator(device=machine.device)
        self.unsettled: list[tuple[str, Tensor]] = []
        self.latest_loss = float("nan")
        self.progression = read_checkpoint(
            folder / CHECKPOINTS, model=self.model, optimizer=self.optimizer, fresh=Progression()
        )
        self.batches.positions.update(self.progression.positions)
        self.saved_at = monotonic()

    def advance(self) -> None:
        """One update, and whatever falls due after it."""
        update = self.progression.update + 1
        self._learn(update)
        self.progression.update = update
        if self.run.kept_after(update):
            write_model(self.model, self.folder / INTERMEDIATE / f"{update:08d}")
        evaluated = self.run.evaluated_after(update)
        if evaluated:
            self._evaluate()
        if evaluated or monotonic() - self.saved_at > SECONDS_BETWEEN_CHECKPOINTS:
            self._save()

    def settle_losses(self) -> float:
        """Bring losses from the device into the progression; return the latest. One that is no number is an error."""
        for language, loss in self.unsettled:
            self.latest_loss = float(loss)
            self._refuse_divergence("training loss", self.latest_loss)
            total, count = self.progression.losses.get(language, [0.0, 0])
            self.progression.losses[language] = [total + self.latest_loss, count + 1]
        self.unsettled.clear()
        return self.latest_loss

    def _refuse_divergence(self, name: str, value: float) -> None:
        if not isfinite(value):
            raise IsoglotError(
                f"the {name} became {value} near update {self.progression.update}; "
                "lower optimization.learning_rate or raise optimization.warmup_updates"
            )

    def _learn(self, update: int) -> None:
        language, token_BL = self.batches.take(update)
        self.generator.manual_seed(derived_seed(self.run.seed, "masking", update))
        batch = masked_batch(
            token_BL.to(self.machine.device),
            language=language,
            rate=self.run.mask_rate,
            mask_id=self.mask_id,
            table_size=self.table_sizes[language],
            generator=self.generator,
        )
        torch.manual_seed(derived_seed(self.run.seed, "dropout", update))
        with self.machine.autocast():
            logits_MV = self.model.masked_logits(batch.token_BL, masked_M=batch.masked_M, language=language)
            loss = F.cross_entropy(logits_MV.float(), batch.target_M)
        # Departure: parts of the absent language get no gradient at all, so Adam leaves them and their moments alone;
        # in XLM they get zeros, and drift on.
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.run.optimization.clip_norm)
        rate = learning_rate(update, optimization=self.run.optimization, updates=self.run.updates)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        self.unsettled.append((language, loss.detach()))

    def _evaluate(self) -> None:
        self.settle_losses()
        progression, perplexities = self.progression, {}
        for held_out in self.held_out:
            perplexities[held_out.language] = perplexity(self.model, held_out, device=self.machine.device)
            # Its weights may have gone astray since the last loss, and then no model would ever be the best.
            self._refuse_divergence(f"dev perplexity of {held_out.language}", perplexities[held_out.language])
        losses = {language: total / count for language, (total, count) in sorted(progression.losses.items())}
        progression.log.append({"update": progression.update, "loss": losses, "perplexity": perplexities})
        progression.losses = {}
        source_perplexity = perplexities[self.run.languages[0]]
        if source_perplexity < progression.best_perplexity:
            progression.best_perplexity = source_perplexity
            write_model(self.model, self.folder / BEST)

    def _save(self) -> None:
        self.settle_losses()
        self.progression.positions = dict(self.batches.positions)
        write_checkpoint(
            self.folder / CHECKPOINTS, model=self.model, optimizer=self.optimizer, progression=self.progression
        )
        self.saved_at = monotonic()


def adam(model: ClozeModel, run: PretrainingRun) -> torch.optim.Optimizer:
    """Adam, with decoupled weight decay on matrices where the run asks for any."""
    settings = run.optimization
    # Departure: biases and norms never decay; the paper names no decay.
    matrices = [parameter for parameter in model.parameters() if parameter.ndim > 1]
    vectors = [parameter for parameter in model.parameters() if parameter.ndim <= 1]
    return torch.optim.AdamW(
        [
            {"params": matrices, "weight_decay": settings.weight_decay},
            {"params": vectors, "weight_decay": 0.0},
        ],
        lr=settings.learning_rate,
        betas=(settings.beta1, settings.beta2),
        eps=settings.epsilon,
        fused=True,
    )
