"""Fine-tuning on the source language (section 3.2): what languages own is frozen, the dev set chooses the epoch."""

# B = sequences of a batch, N = all sequences

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from math import isfinite
from pathlib import Path
from time import monotonic
from typing import Any

import torch
from torch import Tensor, nn

from isoglot.corpora.sentences import Encoding
from isoglot.errors import IsoglotError
from isoglot.evaluation.transfer.heads import NotFiniteError
from isoglot.evaluation.transfer.model import NewLayers, TaskModel
from isoglot.evaluation.transfer.predictions import predictions
from isoglot.evaluation.transfer.run import FineTuningRun
from isoglot.evaluation.transfer.sequences import (
    ResidentSequences,
    encoded,
    epoch_order,
    length_batches,
    target_columns,
)
from isoglot.evaluation.transfer.task import Task
from isoglot.machine import Machine
from isoglot.model.checkpoints import BackgroundWriter, read_checkpoint, write_checkpoint
from isoglot.model.cuda_graphs import GraphReplay
from isoglot.model.encoder import Encoder
from isoglot.model.work_files import CHECKPOINTS, WriteTensors
from isoglot.randomness import derived_seed

SECONDS_BETWEEN_CHECKPOINTS = 30.0
UPDATES_BETWEEN_REPORTS = 20
FINE_LENGTHS = 32
"""Up to here a batch is padded to an even length on a GPU, beyond to a multiple of COARSE_STEP: a graph serves one."""
FINE_STEP, COARSE_STEP = 2, 8
Report = Callable[[int, int], None]
"""Called with the number of updates done, and of all."""


def adam(model: TaskModel, run: FineTuningRun, *, machine: Machine) -> torch.optim.Optimizer:
    """Adam without weight decay on all that is not frozen; the task's own layer has a rate of its own."""
    # Rates that graphs read are tensors, and always the same ones.
    in_graphs = machine.device.type == "cuda"
    groups = [
        {
            "params": [parameter for parameter in part.parameters() if parameter.requires_grad],
            "lr": torch.tensor(rate, device=machine.device) if in_graphs else rate,
            "full_rate": rate,
        }
        for part, rate in ((model.head, run.head_learning_rate), (model.encoder, run.learning_rate))
    ]
    groups = [group for group in groups if group["params"]]
    return torch.optim.AdamW(groups, betas=(0.9, run.beta2), weight_decay=0.0, fused=True, capturable=in_graphs)


def graph_length(length: int, *, positions: int) -> int:
    """The length of the graph that serves batches of a length, within the model's positions."""
    step = FINE_STEP if length <= FINE_LENGTHS else COARSE_STEP
    return min(-(-length // step) * step, positions)


@dataclass
class TrainState:
    """The progress of fine-tuning; the checkpoint holds the best model beside the latest."""

    epoch: int = 0
    best: float = float("-inf")
    diverged: bool = False
    log: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class FineTuned:
    model: TaskModel
    labels: tuple[str, ...]
    log: list[dict[str, Any]]
    diverged: bool
    """Stopped early, as losses or scores were no numbers any more; the model is the best until then, if any."""


class FineTuner:
    """A model in fine-tuning, which goes on from an interrupted attempt's checkpoint in the folder, if there is one."""

    def __init__(
        self,
        run: FineTuningRun,
        task: Task[Any],
        *,
        encoder: Encoder | NewLayers,
        encoding: Encoding,
        train: Sequence[Any],
        dev: Sequence[Any],
        folder: Path,
        machine: Machine,
    ):
        self.run, self.task, self.dev, self.machine = run, task, dev, machine
        self.labels = task.labels(train)
        if len(self.labels) == 1:
            problem = f"all examples of {task.title} to train on have the label {self.labels[0]!r}"
            raise IsoglotError(f"{problem}; there must be two or more")
        self.train_sequences, self.dev_sequences = (
            encoded(task, examples, encoding=encoding, most_tokens=run.most_tokens) for examples in (train, dev)
        )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derived_seed(run.seed, "head"))
            head = task.head(width=encoder.shape.width, labels=self.labels)
        model = TaskModel(encoder, head, freeze_encoder=run.freeze_encoder, normed=run.normed)
        self.model = model.to(machine.device)
        self.best = deepcopy(self.model)
        self.optimizer = adam(self.model, run, machine=machine)
        ids = {label: number for number, label in enumerate(self.labels)}
        target_CT = target_columns(task, train, self.train_sequences, ids)
        self.resident = ResidentSequences(
            self.train_sequences, pad_id=encoder.pad_id, device=machine.device, target_CT=target_CT
        )
        self.replay = GraphReplay(machine.device)
        self.both = nn.ModuleDict({"latest": self.model, "best": self.best})
        self.checkpoints = folder / CHECKPOINTS
        self.state = read_checkpoint(self.checkpoints, model=self.both, optimizer=self.optimizer, fresh=TrainState())
        self.saved_at = monotonic()

    def finish(self, report: Report) -> FineTuned:
        state = self.state
        with BackgroundWriter() as writer:
            while state.epoch < self.run.epochs and not state.diverged:
                self.advance(report, write=writer)
        return FineTuned(model=self.best, labels=self.labels, log=state.log, diverged=state.diverged)

    def advance(self, report: Report, *, write: WriteTensors | None = None) -> None:
        """Run one epoch, score the dev set, and write a checkpoint if the last one is long ago."""
        state, loss = self.state, self.learn(report)
        try:
            scores = self._dev_scores() if isfinite(loss) else None
        except NotFiniteError:
            scores = None
        # Not an error: other settings of the grid may do well, and this one keeps its best epoch so far.
        if scores is None:
            state.diverged = True
            return
        state.epoch += 1
        if scores[self.task.metric] > state.best:
            state.best = scores[self.task.metric]
            self.best.load_state_dict(self.model.state_dict())
        state.log.append({"epoch": state.epoch, "loss": loss, "dev": scores})
        if monotonic() - self.saved_at > SECONDS_BETWEEN_CHECKPOINTS:
            write_checkpoint(self.checkpoints, model=self.both, optimizer=self.optimizer, state=state, write=write)
            self.saved_at = monotonic()

    def learn(self, report: Report) -> float:
        """Run one epoch of updates and return their mean loss."""
        run, length_N, epoch = self.run, self.train_sequences.length_N, self.state.epoch
        size = len(self.train_sequences)
        order = epoch_order(epoch=epoch, examples=run.examples(size), size=size, seed=run.seed)
        done, updates = epoch * run.epoch_updates(size), run.epochs * run.epoch_updates(size)
        self.model.train()
        total = torch.zeros((), device=self.machine.device)
        batches = length_batches(order, length_N, batch=run.batch, seed=run.seed, epoch=epoch)
        for update, rows_B in enumerate(batches, start=done + 1):
            self._set_rates(share=run.rate_share(update, updates=updates))
            # Each update draws its dropout from its own number, so that a resumed run draws the same.
            self.machine.seed(derived_seed(run.seed, "dropout", update))
            on_device_B = torch.from_numpy(rows_B).to(self.machine.device, non_blocking=True)
            total += self.update(on_device_B, length=int(length_N[rows_B].max()))
            if update % UPDATES_BETWEEN_REPORTS == 0:
                report(update, updates)
        return float(total) / len(batches)

    def update(self, rows_B: Tensor, *, length: int) -> Tensor:
        """Learn from one batch; its loss before that is left on the device."""
        if self.replay.is_used:
            length = graph_length(length, positions=self.model.encoder.shape.positions)
        # Before anything is recorded: a graph must not free what it did not make.
        self.optimizer.zero_grad(set_to_none=True)
        # Batch, loss, gradients and Adam are replayed as one CUDA graph where there is a GPU.
        return self.replay((len(rows_B), length), partial(self._update, length=length), rows_B)

    def _update(self, rows_B: Tensor, *, length: int) -> Tensor:
        token_BL, point_BL, target_CBL = self.resident.batch(rows_B, length=length)
        with self.machine.autocast(cache=not self.replay.is_used):
            loss = self.model.loss(token_BL, point_BL=point_BL, target_CBL=target_CBL, language=self.run.language)
        with self.machine.derivatives():
            loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        return loss.detach()

    def _set_rates(self, *, share: float) -> None:
        for group in self.optimizer.param_groups:
            rate = share * group["full_rate"]
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(rate)
            else:
                group["lr"] = rate

    def _dev_scores(self) -> dict[str, float]:
        predicted = predictions(
            self.task,
            self.dev,
            self.dev_sequences,
            model=self.model,
            labels=self.labels,
            language=self.run.language,
            machine=self.machine,
        )
        return self.task.scores(self.dev, predicted)
