"""The ids that a model reads, which position stands for which word, and batches with little padding."""

import random
from collections.abc import Sequence
from itertools import chain, combinations, groupby

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from isoglot.corpora.readers.bio_files import TaggedSentence
from isoglot.corpora.readers.conllu import Tree
from isoglot.corpora.vocabulary import END
from isoglot.evaluation.transfer.sequences import (
    BATCHES_AT_ONCE,
    Sequences,
    by_length,
    encoded,
    epoch_order,
    length_batches,
    target_columns,
)
from isoglot.evaluation.transfer.task import IGNORE, Ids, Task, Windows
from isoglot.evaluation.transfer.tasks.nli import Inference
from tests.evaluation.transfer import tiny_transfer as tiny

WORDS = st.text(tiny.LETTERS, min_size=1, max_size=6)
SENTENCES = st.lists(st.lists(WORDS, min_size=1, max_size=12), min_size=1, max_size=4)
ROOMS = st.integers(4, 16)


def ids(words: Sequence[str]) -> list[int]:
    """The tokens of words whose every letter is one."""
    known = tiny.vocabulary().ids("en")
    return [known[letter] for word in words for letter in (*word[:-1], word[-1] + "</w>")]


def size(words: Sequence[Sequence[int]]) -> int:
    return sum(map(len, words))


def trees(*sentences: Sequence[str], seed: int = 0) -> list[Tree]:
    """Any heads, which may be no tree."""
    draw = random.Random(seed)
    return [
        Tree(
            words=tuple(words),
            upos=("X",) * len(words),
            heads=tuple(draw.randint(0, len(words)) for _ in words),
            relations=tuple(draw.choice(["det", "nsubj", "root"]) for _ in words),
        )
        for words in sentences
    ]


def tokens(sequences: Sequences, n: int) -> list[int]:
    start = sequences.start_N[n]
    return sequences.token_T[start : start + sequences.length_N[n]].tolist()


@given(sentences=SENTENCES, most_tokens=ROOMS, task=st.sampled_from([tiny.POS, tiny.PARSING]))
def test_windows(sentences: list[list[str]], most_tokens: int, task: Task[Tree]) -> None:
    sequences = encoded(task, trees(*sentences), encoding=tiny.letter_encoding(), most_tokens=most_tokens)
    room = most_tokens - 2
    labelled = []
    for n, (example, window) in enumerate(zip(sequences.example_N.tolist(), sequences.window_N, strict=True)):
        cut = [word[:room] for word in sentences[example]]
        subwords = [ids([word])[:room] for word in sentences[example]]
        # No sequence is too long; it holds its words and nothing else, and a point for each at its first subword.
        assert sequences.length_N[n] <= most_tokens
        read = subwords[window.first : window.stop]
        assert tokens(sequences, n) == [END, *(token for each in read for token in each), END]
        assert sequences.places(n).tolist() == [1 + sum(map(len, read[:word])) for word in range(len(read))]
        assert window.first <= window.scored < window.stop
        labelled += [(example, word) for word in range(window.scored, window.stop)]
        # No window stops before it must.
        size = sum(map(len, read))
        assert window.stop == len(cut) or size + len(cut[window.stop]) > room
        # Context is as much as half of the room holds, if the first new word still has its place behind it.
        context = sum(map(len, cut[window.first : window.scored]))
        most = min(room // 2, room - len(cut[window.scored])) if task.windows is Windows.OVERLAPPING else 0
        assert context <= most
        if window.first > 0 and task.windows is Windows.OVERLAPPING:
            assert context + len(cut[window.first - 1]) > most
    assert labelled == [(example, word) for example, words in enumerate(sentences) for word in range(len(words))]
    in_parts = [example for example in range(len(sentences)) if sequences.example_N.tolist().count(example) > 1]
    assert sequences.num_in_parts == len(in_parts)


def test_overlapping_windows_by_hand() -> None:
    """Room for six: half of it is context, or less where the next word needs more than the other half."""
    words = ("a", "bbbb", "cccc", "d", "e", "f", "gggg")
    tagged = [TaggedSentence(words=words, tags=("O", "B-A", "I-A", "O", "B-B", "O", "B-A"))]
    sequences = encoded(tiny.NER, tagged, encoding=tiny.letter_encoding(), most_tokens=8)
    assert sequences.window_N == ((0, 0, 2), (2, 2, 5), (3, 5, 6), (4, 6, 7))
    assert tokens(sequences, 3) == [END, *ids(["e", "f", "gggg"]), END]
    target_CT = target_columns(tiny.NER, tagged, sequences, {"O": 0, "B-A": 1, "I-A": 2, "B-B": 3})
    x = IGNORE
    assert target_CT.tolist() == [
        [*(x, 0, 1, x, x, x, x), *(x, 2, x, x, x, 0, 3, x), *(x, x, x, 0, x), *(x, x, x, 1, x, x, x, x)]
    ]


@given(sentences=SENTENCES, most_tokens=ROOMS, seed=st.integers(0, 9))
def test_targets_of_parsing_in_parts(sentences: list[list[str]], most_tokens: int, seed: int) -> None:
    """Word by word: where is its head in the part that it is in?"""
    examples, relations = trees(*sentences, seed=seed), {"det": 0, "nsubj": 1, "root": 2}
    sequences = encoded(tiny.PARSING, examples, encoding=tiny.letter_encoding(), most_tokens=most_tokens)
    expected: list[list[int]] = [[], []]
    for n, (example, window) in enumerate(zip(sequences.example_N.tolist(), sequences.window_N, strict=True)):
        tree = examples[example]
        position = {}
        for word in range(window.first + 1, window.stop + 1):
            before = tree.words[window.first : word - 1]
            position[word] = 1 + sum(min(len(each), most_tokens - 2) for each in before)
        heads, kinds = [IGNORE] * sequences.length_N[n], [IGNORE] * sequences.length_N[n]
        for word, at in position.items():
            head = tree.heads[word - 1]
            if head == 0 or head in position:
                heads[at] = 0 if head == 0 else position[head]
                kinds[at] = relations[tree.relations[word - 1]]
        expected[0] += heads
        expected[1] += kinds
    assert target_columns(tiny.PARSING, examples, sequences, relations).tolist() == expected


@given(pair=st.tuples(*[st.lists(WORDS, min_size=1, max_size=9)] * 2), most_tokens=ROOMS)
def test_pairs_are_cut_a_word_at_a_time_where_they_are_longer(
    pair: tuple[list[str], list[str]], most_tokens: int
) -> None:
    example = Inference(premise=tuple(pair[0]), hypothesis=tuple(pair[1]), label="neutral")
    sequences = encoded(tiny.NLI, [example], encoding=tiny.letter_encoding(), most_tokens=most_tokens)
    whole = [[ids([word]) for word in words] for words in pair]
    left, right, room = *map(list, whole), most_tokens - 3
    if size(left) + size(right) > room:
        left, right = ([word[: max(room // 2, 1)] for word in words] for words in (left, right))
    while size(left) + size(right) > room:
        (left if size(left) >= size(right) else right).pop()
    assert tokens(sequences, 0) == [END, *chain.from_iterable(left), END, *chain.from_iterable(right), END]
    assert sequences.num_in_parts == ([left, right] != whole)
    assert room < 2 or min(len(left), len(right)) > 0
    assert sequences.places(0).tolist() == [0]
    target_CT = target_columns(tiny.NLI, [example], sequences, {"neutral": 1})
    assert target_CT.tolist() == [[1] + [IGNORE] * (len(sequences.token_T) - 1)]


SIZES = st.integers(1, 60)
LENGTHS = st.lists(st.integers(1, 40), min_size=1, max_size=300).map(np.array)


@given(size=SIZES, examples=SIZES, epochs=st.integers(1, 8), seed=st.integers(0, 3))
def test_epochs_cut_one_endless_series_of_passes(size: int, examples: int, epochs: int, seed: int) -> None:
    cuts = [epoch_order(epoch=epoch, examples=examples, size=size, seed=seed) for epoch in range(epochs)]
    assert [len(cut) for cut in cuts] == [examples] * epochs
    series = np.concatenate(cuts)
    assert series.tolist() == epoch_order(epoch=0, examples=len(series), size=size, seed=seed).tolist()
    for start in range(0, len(series), size):
        rows = set(series[start : start + size].tolist())
        assert len(rows) == len(series[start : start + size])
        assert rows <= set(range(size))
    orders = {tuple(epoch_order(epoch=each, examples=50, size=50, seed=seed)) for each in range(4) for seed in (0, 1)}
    assert len(orders) == 8, "each pass and seed has its own"


def batches_of(length_N: Ids, *, batch: int, seed: int = 0, epoch: int = 0) -> list[Ids]:
    order = epoch_order(epoch=epoch, examples=len(length_N), size=len(length_N), seed=seed)
    return length_batches(order, length_N, batch=batch, seed=seed, epoch=epoch)


@given(length_N=LENGTHS, batch=st.integers(1, 9), epoch=st.integers(0, 3))
def test_every_row_is_in_one_batch_of_the_wanted_size(length_N: Ids, batch: int, epoch: int) -> None:
    batches = batches_of(length_N, batch=batch, epoch=epoch)
    assert sorted(row for rows_B in batches for row in rows_B.tolist()) == list(range(len(length_N)))
    assert sorted(map(len, batches))[1:] == [batch] * (-(-len(length_N) // batch) - 1)
    again = batches_of(length_N, batch=batch, epoch=epoch)
    assert [rows_B.tolist() for rows_B in again] == [rows_B.tolist() for rows_B in batches]


def test_epochs_have_other_batches_in_another_order_and_little_of_them_is_padding() -> None:
    length_N = np.random.default_rng(0).integers(1, 30, 1000)
    epochs = [batches_of(length_N, batch=8, epoch=epoch) for epoch in range(3)]
    made = [{frozenset(rows_B.tolist()) for rows_B in batches} for batches in epochs]
    assert all(len(a & b) <= 2 for a, b in combinations(made, 2))
    for batches in epochs:
        lengths = [int(length_N[rows_B].max()) for rows_B in batches]
        assert 8 * sum(lengths) < 1.05 * length_N.sum()
        # Neither the short ones first nor the long ones, as they were before the batches were shuffled.
        assert len(list(groupby(np.sign(np.diff(lengths[:BATCHES_AT_ONCE]))))) > 20


@given(length_N=LENGTHS, most_tokens=st.integers(1, 120))
def test_for_prediction_the_longest_come_first_in_batches_that_fit(length_N: Ids, most_tokens: int) -> None:
    batches = list(by_length(length_N, most_tokens=most_tokens))
    rows = [row for rows_B in batches for row in rows_B.tolist()]
    assert sorted(rows) == list(range(len(length_N)))
    assert length_N[rows].tolist() == sorted(length_N.tolist(), reverse=True)
    for rows_B, after in zip(batches, [*batches[1:], None], strict=True):
        longest = int(length_N[rows_B].max())
        assert len(rows_B) == 1 or len(rows_B) * longest <= most_tokens
        assert after is None or (len(rows_B) + 1) * longest > most_tokens
