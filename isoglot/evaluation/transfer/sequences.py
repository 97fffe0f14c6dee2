"""Examples as a model reads them: flat arrays of ids, with the positions that stand for words, and their batches."""

# T = tokens of all sequences, N = sequences, B = sequences of a batch, L = positions, C = columns of targets,
# E = examples, W = words of all examples

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from isoglot.corpora.sentences import Encoding
from isoglot.corpora.vocabulary import END
from isoglot.evaluation.transfer.task import IGNORE, Ids, Recipe, Task, Windows
from isoglot.randomness import derived_seed

Flags = NDArray[np.bool_]
Words = list[tuple[int, ...]]
ENDS_OF_ONE, ENDS_OF_TWO = 2, 3
# Departure: the paper does not say how it draws batches. So many are sorted by length together: enough for little
# padding, few enough that no two passes make the same batches.
BATCHES_AT_ONCE = 64


class Window(NamedTuple):
    """Words first to stop of an example; those from `scored` on are labelled here, the others are context."""

    first: int
    scored: int
    stop: int


@dataclass(frozen=True, kw_only=True)
class Sequences:
    """A point is a position that stands for something: the first subword for its word, position 0 for a pair."""

    token_T: Ids
    point_T: Flags
    start_N: Ids
    length_N: Ids
    example_N: Ids
    window_N: tuple[Window, ...]
    num_in_parts: int
    """Examples that are read in several windows, or were cut."""

    def __len__(self) -> int:
        return len(self.start_N)

    def places(self, n: int) -> Ids:
        start = self.start_N[n]
        return np.flatnonzero(self.point_T[start : start + self.length_N[n]])


def encoded(task: Task[Any], examples: Sequence[Any], *, encoding: Encoding, most_tokens: int) -> Sequences:
    segments_E = [task.segments(example) for example in examples]
    encoding.meet(word for segments in segments_E for words in segments for word in words)
    ids_of = encoding.known.__getitem__
    sequences, num_in_parts = [], 0
    for number, example_segments in enumerate(segments_E):
        segments = [list(map(ids_of, words)) for words in example_segments]
        parts = list(_parts(segments, task=task, most_tokens=most_tokens))
        is_cut = task.windows is Windows.CUT and parts[0][0] is not segments
        num_in_parts += is_cut or len(parts) > 1
        sequences += [(number, window, *_sequence(words, recipe=task.recipe)) for words, window in parts]
    example_of, windows, tokens, points = zip(*sequences, strict=True)
    length_N = np.array(list(map(len, tokens)), dtype=np.int64)
    return Sequences(
        token_T=np.fromiter(chain.from_iterable(tokens), dtype=np.int64),
        point_T=np.fromiter(chain.from_iterable(points), dtype=np.bool_),
        start_N=length_N.cumsum() - length_N,
        length_N=length_N,
        example_N=np.array(example_of, dtype=np.int64),
        window_N=windows,
        num_in_parts=num_in_parts,
    )


def _sequence(segments: Sequence[Words], *, recipe: Recipe) -> tuple[list[int], list[bool]]:
    """End symbols around each sentence; positions run on from the first to the second (XLM)."""
    tokens, points = [END], [recipe is Recipe.PAIRS]
    for words in segments:
        tokens.extend(chain.from_iterable(words))
        tokens.append(END)
        if recipe is Recipe.WORDS:
            points.extend(place == 0 for subwords in words for place in range(len(subwords)))
            points.append(False)
    points += [False] * (len(tokens) - len(points))
    return tokens, points


def _parts(segments: list[Words], *, task: Task[Any], most_tokens: int) -> Iterator[tuple[list[Words], Window]]:
    if task.windows is Windows.CUT:
        yield _cut(segments, most_tokens=most_tokens - ENDS_OF_TWO), Window(first=0, scored=0, stop=1)
        return
    (words,) = segments
    room = most_tokens - ENDS_OF_ONE
    words = [subwords[:room] for subwords in words]
    first = scored = 0
    while True:
        stop, size = first, 0
        while stop < len(words) and size + len(words[stop]) <= room:
            size += len(words[stop])
            stop += 1
        yield [words[first:stop]], Window(first=first, scored=scored, stop=stop)
        if stop == len(words):
            return
        scored = stop
        # The next word must fit behind its context.
        first = stop
        if task.windows is Windows.OVERLAPPING:
            context = min(room // 2, room - len(words[stop]))
            while first > 0 and (context := context - len(words[first - 1])) >= 0:
                first -= 1


def _cut(segments: list[Words], *, most_tokens: int) -> list[Words]:
    """Whole words are dropped from the end of whichever sentence is longer, until both fit."""
    # Departure: XLM cuts each sentence at 256 tokens; no pair here is longer than a window of pretraining, as no
    # position beyond was learned, and how many pairs were cut is a score.
    sizes = [sum(map(len, words)) for words in segments]
    if sum(sizes) > most_tokens:
        # No word takes more than half of the room, so that neither sentence loses all of its words.
        segments = [[subwords[: max(most_tokens // 2, 1)] for subwords in words] for words in segments]
        sizes = [sum(map(len, words)) for words in segments]
    while sum(sizes) > most_tokens:
        longer = sizes.index(max(sizes))
        sizes[longer] -= len(segments[longer].pop())
    return segments


def target_columns(task: Task[Any], examples: Sequence[Any], sequences: Sequences, ids: Mapping[str, int]) -> Ids:
    """target_CT: the labels to learn at each point; IGNORE elsewhere and where a window only gives context."""
    columns_E = [task.targets(example, ids) for example in examples]
    target_CT = np.full((len(columns_E[0]), len(sequences.token_T)), IGNORE, dtype=np.int64)
    for n, (example, window) in enumerate(zip(sequences.example_N.tolist(), sequences.window_N, strict=True)):
        places = sequences.places(n)
        values_CW = np.array([column[window.scored : window.stop] for column in columns_E[example]], dtype=np.int64)
        if task.points_to_words:
            # The root is at position 0, whatever the part; a head in another part cannot be found.
            head_W = np.where(values_CW[0] == 0, 0, values_CW[0] - window.first)
            outside_W = (values_CW[0] != 0) & ((head_W < 1) | (head_W > len(places)))
            values_CW[0] = np.array([0, *places])[np.where(outside_W, 0, head_W)]
            values_CW[:, outside_W] = IGNORE
        target_CT[:, sequences.start_N[n] + places[window.scored - window.first :]] = values_CW
    return target_CT


class ResidentSequences:
    """Sequences on a device, where batches are cut out of them; without targets their batches have no columns."""

    def __init__(self, sequences: Sequences, *, pad_id: int, device: torch.device, target_CT: Ids | None = None):
        if target_CT is None:
            target_CT = np.empty((0, len(sequences.token_T)), dtype=np.int64)
        arrays = (sequences.token_T, sequences.point_T, sequences.start_N, sequences.length_N, target_CT)
        on_device = (torch.from_numpy(array).to(device) for array in arrays)
        self.token_T, self.point_T, self.start_N, self.length_N, self.target_CT = on_device
        self.pad_id = pad_id

    def batch(self, rows_B: Tensor, *, length: int) -> tuple[Tensor, Tensor, Tensor]:
        """token_BL, point_BL and target_CBL, padded to a length that holds the longest."""
        position_L = torch.arange(length, device=rows_B.device)
        real_BL = position_L < self.length_N[rows_B].unsqueeze(1)
        # Padding reads place 0, which always exists, before it is overwritten: shapes never depend on the values.
        at_BL = (self.start_N[rows_B].unsqueeze(1) + position_L) * real_BL
        return (
            self.token_T[at_BL].masked_fill(~real_BL, self.pad_id),
            self.point_T[at_BL] & real_BL,
            self.target_CT[:, at_BL].masked_fill(~real_BL, IGNORE),
        )


def epoch_order(*, epoch: int, examples: int, size: int, seed: int) -> Ids:
    """The rows of an epoch, counted from 0: a cut of one endless series of shuffled passes over `size` rows."""
    first, stop = epoch * examples, (epoch + 1) * examples
    passes = range(first // size, -(-stop // size))
    rows = np.concatenate([_shuffled(size, seed=seed, part=f"pass {number}") for number in passes])
    return rows[first - passes.start * size :][:examples]


def length_batches(order: Ids, length_N: Ids, *, batch: int, seed: int, epoch: int) -> list[Ids]:
    """The rows in batches, in random order; every row once."""
    batches = []
    for pool_start in range(0, len(order), batch * BATCHES_AT_ONCE):
        pool = order[pool_start : pool_start + batch * BATCHES_AT_ONCE]
        in_order = pool[np.argsort(length_N[pool], kind="stable")]
        batches += [in_order[start : start + batch] for start in range(0, len(in_order), batch)]
    return [batches[number] for number in _shuffled(len(batches), seed=seed, part=f"batches of epoch {epoch}")]


def by_length(length_N: Ids, *, most_tokens: int) -> Iterator[Ids]:
    """All rows, the longest first, in batches of at most so many tokens with padding: for prediction."""
    order = np.argsort(-length_N, kind="stable")
    while len(order):
        size = max(1, most_tokens // int(length_N[order[0]]))
        yield order[:size]
        order = order[size:]


def _shuffled(size: int, *, seed: int, part: str) -> Ids:
    return np.random.default_rng(derived_seed(seed, part)).permutation(size)
