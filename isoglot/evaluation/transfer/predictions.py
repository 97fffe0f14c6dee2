"""The labels that a fine-tuned model gives to examples of any of its languages, and their scores."""

# B = sequences of a batch, N = sequences, C = columns, P = points of a batch

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from isoglot.corpora.sentences import Encoding
from isoglot.evaluation.transfer.model import TaskModel
from isoglot.evaluation.transfer.sequences import ResidentSequences, Sequences, by_length, encoded
from isoglot.evaluation.transfer.task import Ids, Task
from isoglot.machine import Machine

TOKENS_AT_ONCE, FEWEST_TOKENS = {"cuda": 16384}, 1024


def predictions(
    task: Task[Any],
    examples: Sequence[Any],
    sequences: Sequences,
    *,
    model: TaskModel,
    labels: Sequence[str],
    language: str,
    machine: Machine,
) -> list[Any]:
    """The examples, labelled by the model; the language's own embeddings and layers read them."""
    device, length_N = machine.device, sequences.length_N
    resident = ResidentSequences(sequences, pad_id=model.encoder.pad_id, device=device)
    batches = list(by_length(length_N, most_tokens=TOKENS_AT_ONCE.get(device.type, FEWEST_TOKENS)))
    model.eval()
    # Nothing is fetched from the device until all batches are scored: a GPU that waits for Python is slow.
    scored = []
    with torch.inference_mode(), machine.autocast():
        for rows_B in batches:
            rows_on_device_B = torch.from_numpy(rows_B).to(device)
            token_BL, point_BL, _ = resident.batch(rows_on_device_B, length=int(length_N[rows_B].max()))
            scored.append(model.score(token_BL, point_BL=point_BL, language=language))
    columns_N: list[Ids] = [np.empty((0, 0), dtype=np.int64)] * len(sequences)
    for rows_B, columns_CP in zip(batches, model.head.decode(scored), strict=True):
        stops = np.cumsum([len(sequences.places(n)) for n in rows_B])
        for n, columns in zip(rows_B.tolist(), np.split(columns_CP, stops[:-1], axis=1), strict=True):
            columns_N[n] = columns
    return [
        task.predicted(example, columns.tolist(), labels)
        for example, columns in zip(examples, _by_example(task, sequences, columns_N), strict=True)
    ]


def _by_example(task: Task[Any], sequences: Sequences, columns_N: Sequence[Ids]) -> list[Ids]:
    # Each word has the label of the one window that scores it; there, heads are counted from the window's first word.
    parts: dict[int, list[Ids]] = {}
    for example, window, columns in zip(sequences.example_N.tolist(), sequences.window_N, columns_N, strict=True):
        here = columns[:, window.scored - window.first :].copy()
        if task.points_to_words:
            here[0] += np.where(here[0] > 0, window.first, 0)
        parts.setdefault(example, []).append(here)
    return [np.concatenate(of_example, axis=1) for of_example in parts.values()]


class Evaluation(NamedTuple):
    predicted: list[Any]
    scores: dict[str, float]


def evaluate(
    task: Task[Any],
    gold: Sequence[Any],
    *,
    model: TaskModel,
    labels: Sequence[str],
    encoding: Encoding,
    most_tokens: int,
    machine: Machine,
) -> Evaluation:
    """The task's scores and two limits: examples that were read in parts, and labels that training never had."""
    language, sequences = encoding.language, encoded(task, gold, encoding=encoding, most_tokens=most_tokens)
    predicted = predictions(task, gold, sequences, model=model, labels=labels, language=language, machine=machine)
    in_parts = 100 * sequences.num_in_parts / len(gold)
    limits = {"in_parts": in_parts, "unseen_labels": task.unseen_share(gold, labels)}
    return Evaluation(predicted=predicted, scores=task.scores(gold, predicted) | limits)
