"""Two models side by side, on models whose likeness is known because it was planted."""

# B = sentences of a batch, L = positions, D = width

from collections.abc import Sequence
from typing import Self

import numpy as np
import pytest
import torch
from torch import Tensor

from isoglot.corpora.sentences import NO_WORD, EncodedSentence
from isoglot.evaluation.geometry.comparison import (
    Comparison,
    LineProgress,
    Side,
    compared,
    paired_layers,
    read_side,
    untrained_readers,
)
from isoglot.evaluation.geometry.reader import Reader
from isoglot.study.searches import NewVectors
from tests.evaluation.geometry.drawn_vectors import drawn_rotation

NUM_WORDS, WIDTH = 400, 12
SIMILARITIES = ("cka", "cka_debiased", "svcca", "neuron_correlation")
RAW, CENTRED, MAPPED = ("retrieval_p1_uncentred", "retrieval_p1", "aligned_retrieval_p1")
RETRIEVALS = (RAW, CENTRED, MAPPED, f"{MAPPED}_to_target", f"{MAPPED}_to_source")


class TableReader(Reader):
    """Words are numbers; a word's state at each layer is its row in that layer's table."""

    pad_id = unknown_id = 0
    token_table_VD = None

    def __init__(self, *tables: Tensor, longest: int = 9):
        self.network = torch.nn.ParameterList(tables)
        self.tables, self.num_states, self.width, self.most_tokens = tables, len(tables), tables[0].shape[1], longest

    def untrained(self, *, seed: int) -> Self:
        drawn = (table(1000 + seed + 10 * layer, width=self.width) for layer in range(self.num_states))
        return type(self)(*drawn, longest=self.most_tokens)

    def whole_sentences(self, lines: Sequence[str]) -> list[EncodedSentence]:
        split = [tuple(line.split()) for line in lines]
        return [
            EncodedSentence(words=words, ids=(0, *map(int, words), 0), word_of=(NO_WORD, *range(len(words)), NO_WORD))
            for words in split
        ]

    def states(self, token_BL: Tensor, *, real_BL: Tensor) -> list[Tensor]:
        return [table[token_BL] * real_BL.unsqueeze(-1) for table in self.tables]


def lines(count: int, *, seed: int = 0) -> list[str]:
    draw = np.random.default_rng(seed)
    return [" ".join(map(str, draw.integers(1, NUM_WORDS, size=draw.integers(3, 7)))) for _ in range(count)]


def table(seed: int, *, width: int = WIDTH) -> Tensor:
    return torch.randn(NUM_WORDS, width, generator=torch.Generator().manual_seed(seed))


def sides(
    a: Reader, b: Reader, text: Sequence[str], *, progress: LineProgress = lambda _name, _done: None
) -> list[Side]:
    readers = zip((a, b), untrained_readers(a, b), "AB", strict=True)
    return [
        read_side(
            *models,
            text,
            texts=range(len(text)),
            sentences=models[0].whole_sentences(text),
            types={"1": 0},
            has_words=[True] * len(text),
            name=name,
            progress=progress,
        )
        for *models, name in readers
    ]


def found(a: Reader, b: Reader, *, count: int = 500, new_vectors: NewVectors = NewVectors.CENTRED) -> Comparison:
    return compared(*sides(a, b, lines(count)), new_vectors=new_vectors)


def test_a_model_is_like_itself_and_a_shift_is_hidden_from_all_but_raw_vectors() -> None:
    shift = torch.zeros(WIDTH)
    shift[0] = 30.0
    reader = TableReader(table(0), table(1))
    for layer in found(reader, reader).layers:
        assert [layer[name] for name in SIMILARITIES] == pytest.approx([1, 1, 1, 1])
        assert [layer[name] for name in RETRIEVALS] == [100] * 5
    (layer,) = found(TableReader(table(0)), TableReader(table(0) + shift)).layers
    assert layer[RAW] < 60
    assert layer[CENTRED] == 100


@pytest.mark.parametrize("new_vectors", NewVectors)
def test_a_rotated_copy_is_recovered_by_the_map_alone(new_vectors: NewVectors) -> None:
    turned = TableReader(2.5 * table(0) @ drawn_rotation(WIDTH, seed=1).float())
    outcome = found(TableReader(table(0)), turned, new_vectors=new_vectors)
    (layer,) = outcome.layers
    assert layer["cka"] == pytest.approx(1, abs=1e-6)
    assert max(layer[RAW], layer[CENTRED]) < 10
    assert [layer[name] for name in RETRIEVALS[2:]] == [100] * 3
    assert layer["neuron_correlation"] < 0.5
    assert [note.split(":")[0] for note in outcome.notes] == ["Tokens a word"]
    assert (outcome.num_fitted, outcome.num_tests) == (400, 100)


def test_floors_are_of_random_weights_that_one_model_shares_and_two_do_not() -> None:
    reader, turned = TableReader(table(0)), TableReader(table(0) @ drawn_rotation(WIDTH, seed=1).float())
    (alone,), (apart,) = found(reader, reader).both_untrained, found(reader, turned).both_untrained
    assert (alone["cka"], alone[RAW]) == pytest.approx((1, 100))
    assert apart[MAPPED] < 50
    (half,) = found(reader, reader).target_untrained
    assert half[RAW] < 10
    assert half["cka"] < 0.7


def test_widths_may_differ() -> None:
    """The wider model is the narrower one, turned within a larger space."""
    wide = torch.nn.functional.pad(table(0), (0, 4)) @ drawn_rotation(WIDTH + 4, seed=2).float()
    for a, b in ((table(0), wide), (wide, table(0))):
        outcome = found(TableReader(a), TableReader(b))
        (layer,) = outcome.layers
        assert layer["cka"] == pytest.approx(1, abs=1e-6)
        assert layer[MAPPED] == 100
        assert {*SIMILARITIES, *RETRIEVALS} - {*layer} == {RAW, CENTRED, "neuron_correlation"}
        assert any("zeros follow the narrower ones" in note for note in outcome.notes)


def test_depths_may_differ() -> None:
    tables = [table(seed) for seed in range(7)]
    shallow, deep = TableReader(*tables[::2]), TableReader(*tables)
    assert paired_layers(deep.num_states, shallow.num_states) == [(0, 0), (2, 1), (4, 2), (6, 3)]
    outcome = found(deep, shallow)
    assert all(layer["cka"] == pytest.approx(1) for layer in outcome.layers)
    assert any("equal relative height" in note for note in outcome.notes)


@pytest.mark.parametrize(("a", "b"), [(1, 1), (1, 13), (2, 9), (5, 13), (13, 7), (12, 13)])
def test_layers_are_paired_by_relative_height(a: int, b: int) -> None:
    pairs = paired_layers(a, b)
    assert pairs[0] == (0, 0)
    if min(a, b) > 1:
        assert pairs[-1] == (a - 1, b - 1)
        assert all(abs(i / (a - 1) - j / (b - 1)) <= 0.5 / (max(a, b) - 1) + 1e-9 for i, j in pairs)
    assert len({i for i, _ in pairs}) == len({j for _, j in pairs}) == len(pairs) == min(a, b)


def test_few_lines_are_noted_not_warned_of() -> None:
    reader = TableReader(table(0))
    assert any("too high" in note for note in found(reader, reader, count=10 * WIDTH - 1).notes)
    (note,) = found(reader, reader, count=10 * WIDTH).notes
    assert note == "Tokens a word: A 1.0, B 1.0; many if a text is not of the model's language."
    wide = TableReader(table(0, width=64), table(1, width=64))
    notes = found(wide, wide, count=60).notes
    for expected in ("48 pairs for 64 dimensions", "With 60 lines for vectors of 64 numbers"):
        assert sum(expected in note for note in notes) == 1


def test_progress_is_reported_cut_lines_are_counted_and_empty_ones_noted() -> None:
    calls: list[tuple[str, int]] = []
    reader, text = TableReader(table(0), longest=6), [*lines(1499), ""]
    read = sides(reader, reader, text, progress=lambda *call: calls.append(call))
    outcome = compared(*read, new_vectors=NewVectors.CENTRED)
    names = ("A", "A, random weights", "B", "B, random weights")
    assert calls == [(name, done) for name in names for done in (1024, 1500)]
    num_longer = sum(len(line.split()) + 2 > 6 for line in text)
    assert [side.num_cut for side in read] == [num_longer, num_longer]
    assert "In 1 lines of A the model finds nothing to read; their vectors are zero." in outcome.notes
