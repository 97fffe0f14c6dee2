"""A fine-tuned model asked about test examples: what it says, and how right that is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from isoglot.corpora.sentences import Encoding
from isoglot.machine import Machine
from isoglot.transfer.model import TaskModel
from isoglot.transfer.predictions import predictions
from isoglot.transfer.sequences import encoded
from isoglot.transfer.task import Task


@dataclass(frozen=True, kw_only=True)
class Examined:
    """Examples with a model's labels, and its scores in percent."""

    said: list[Any]
    scores: dict[str, float]


def examined(
    task: Task[Any],
    gold: Sequence[Any],
    *,
    model: TaskModel,
    labels: Sequence[str],
    encoding: Encoding,
    most_tokens: int,
    machine: Machine,
) -> Examined:
    """In the language of the encoding; beside the task's scores stands what keeps a model from better ones."""
    sequences = encoded(task, gold, encoding=encoding, most_tokens=most_tokens)
    said = predictions(task, gold, sequences, model=model, labels=labels, language=encoding.language, machine=machine)
    limits = {
        "in_parts": 100 * sequences.num_in_parts / len(gold),
        "unseen_labels": task.unseen_share(gold, labels),
    }
    return Examined(said=said, scores=task.scores(gold, said) | limits)
