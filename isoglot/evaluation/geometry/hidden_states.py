"""Vectors of sentences, of words in context and of word types, at the layers of any reader."""

# N = sentences, T = tokens of all of them, S = layers 0 to last, R = rows of the result, P = words in context,
# W = word types, B = sentences of a batch, L = positions, K = tokens of a batch that count, D = width

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from isoglot.corpora.sentences import NO_WORD, EncodedSentence
from isoglot.evaluation.geometry.reader import Reader
from isoglot.study.searches import Subwords

Ids = NDArray[np.int64]
SENTENCES_AT_ONCE = 128
TOKENS_AT_ONCE = 1 << 14
STREAM_SENTENCES, SENTENCES_IN_A_POOL = 8192, 1024
NO_ROW = -1


class WordVectors(NamedTuple):
    """The vector of every word in context, in the order of the text, with its sentence and its place there."""

    vector_PD: Tensor
    sentence_P: Tensor
    place_P: Tensor


def sentence_vectors(
    reader: Reader, sentences: Sequence[EncodedSentence], *, layers: Sequence[int] | None = None
) -> Tensor:
    """[S, N, D]: the mean over a sentence's subwords, special symbols left out (section 5.1.3); zero without words.

    All layers, or those that are named.
    """
    tokens = _Tokens(sentences)
    means = _Means(reader, layers=range(reader.num_states) if layers is None else layers, num_rows=len(sentences))
    _read(reader, tokens, _Wanted(means, np.where(tokens.word_T == NO_WORD, NO_ROW, tokens.sentence_T)))
    return means.vector_SRD()


def line_vectors(reader: Reader, lines: Sequence[str]) -> tuple[Tensor, int]:
    """Sentence vectors of raw lines, [S, N, D], and how many of them were longer than the model can read."""
    sentences, num_cut = reader.cut(reader.whole_sentences(lines))
    return sentence_vectors(reader, sentences), num_cut


def word_vectors(
    reader: Reader, sentences: Sequence[EncodedSentence], *, layer: int, subwords: Subwords
) -> WordVectors:
    """A word's first subword at one layer, or the mean of all; words that were cut off have no vector."""
    tokens = _Tokens(sentences)
    inside_T = tokens.word_T != NO_WORD
    goes_on_T = np.zeros_like(inside_T)
    goes_on_T[1:] = (np.diff(tokens.word_T) == 0) & (np.diff(tokens.sentence_T) == 0)
    begins_T = inside_T & ~goes_on_T
    counts_T = begins_T if subwords is Subwords.FIRST else inside_T
    means = _Means(reader, layers=[layer], num_rows=int(begins_T.sum()))
    _read(reader, tokens, _Wanted(means, np.where(counts_T, np.cumsum(begins_T) - 1, NO_ROW)))
    return WordVectors(
        vector_PD=means.vector_SRD()[0],
        sentence_P=torch.from_numpy(tokens.sentence_T[begins_T]),
        place_P=torch.from_numpy(tokens.word_T[begins_T]),
    )


def word_type_vectors(
    reader: Reader, sentences: Iterable[EncodedSentence], *, types: Mapping[str, int]
) -> tuple[Tensor, Tensor]:
    """[S, W, D]: the mean over a word type's occurrences, each the mean of its subwords; [W]: how many there are."""
    # Several spellings may be one type (section 5.1.1). No word is lost, as long sentences are read in pieces. Vectors
    # are summed as the sentences are read, so that memory is bounded by the number of types.
    means = _Means(reader, layers=range(reader.num_states), num_rows=max(types.values(), default=-1) + 1)
    pieces = chain.from_iterable(map(reader.pieces, sentences))
    while pool := list(islice(pieces, STREAM_SENTENCES)):
        tokens = _Tokens(pool)
        _read(reader, tokens, _Wanted(means, *_rows_of_types(pool, tokens, types)))
    return means.vector_SRD(), torch.from_numpy(means.weight_R.round().astype(np.int64))


def sentence_and_type_vectors(
    reader: Reader,
    sentences: Sequence[EncodedSentence],
    *,
    types: Mapping[str, int],
    has_words: Sequence[bool],
    progress: Callable[[int], None] = lambda _done: None,
) -> tuple[Tensor, Tensor]:
    """Both of whole sentences, which are read once: [S, N, D] as if they had been cut, and [S, W, D] of all words.

    Words are taken from some sentences alone.
    """
    layers = range(reader.num_states)
    of_sentences = _Means(reader, layers=layers, num_rows=len(sentences))
    of_types = _Means(reader, layers=layers, num_rows=max(types.values(), default=-1) + 1)
    for start in range(0, len(sentences), SENTENCES_IN_A_POOL):
        pieces = [list(reader.pieces(each)) for each in sentences[start : start + SENTENCES_IN_A_POOL]]
        # What is cut off a sentence has no part in its vector.
        rows = ([start + place, *[NO_ROW] * (len(each) - 1)] for place, each in enumerate(pieces))
        row_N = np.array([*chain.from_iterable(rows)])
        pool = [*chain.from_iterable(pieces)]
        tokens = _Tokens(pool)
        row_T = np.where(tokens.word_T == NO_WORD, NO_ROW, row_N[tokens.sentence_T])
        type_T, weight_T = _rows_of_types(pool, tokens, types)
        gives_words_N = np.repeat(has_words[start : start + len(pieces)], [*map(len, pieces)])
        of_words = _Wanted(of_types, np.where(gives_words_N[tokens.sentence_T], type_T, NO_ROW), weight_T)
        _read(reader, tokens, _Wanted(of_sentences, row_T), of_words)
        progress(start + len(pieces))
    return of_sentences.vector_SRD(), of_types.vector_SRD()


def _rows_of_types(
    sentences: Sequence[EncodedSentence], tokens: _Tokens, types: Mapping[str, int]
) -> tuple[Ids, NDArray[np.float64]]:
    """The row and the weight of each token: an occurrence weighs as much as any other, however many subwords it has."""
    words = chain.from_iterable(sentence.words for sentence in sentences)
    type_P = np.fromiter((types.get(word, NO_ROW) for word in words), dtype=np.int64)
    first_word_N = np.cumsum([0, *(len(sentence.words) for sentence in sentences)])
    type_T = np.full_like(tokens.word_T, NO_ROW)
    inside_T = tokens.word_T != NO_WORD
    occurrence_K = (first_word_N[tokens.sentence_T] + tokens.word_T)[inside_T]
    type_T[inside_T] = type_P[occurrence_K]
    weight_T = np.ones(len(type_T))
    weight_T[inside_T] = 1 / np.bincount(occurrence_K, minlength=len(type_P))[occurrence_K]
    return type_T, weight_T


class _Tokens:
    """The tokens of sentences, one after the other; `word_T` is a token's word in its sentence, or NO_WORD."""

    def __init__(self, sentences: Sequence[EncodedSentence]):
        self.token_T = np.fromiter(chain.from_iterable(sentence.ids for sentence in sentences), dtype=np.int64)
        self.word_T = np.fromiter(chain.from_iterable(sentence.word_of for sentence in sentences), dtype=np.int64)
        self.length_N = np.array([len(sentence.ids) for sentence in sentences], dtype=np.int64)
        self.sentence_T = np.repeat(np.arange(len(sentences)), self.length_N)

    def batches(self) -> Iterator[Ids]:
        """place_BL: the places of the tokens of a few sentences of like length, the longest first; -1 is padding."""
        start_N = np.cumsum(self.length_N) - self.length_N
        by_length = np.argsort(-self.length_N, kind="stable")[: np.count_nonzero(self.length_N)]
        while len(by_length):
            longest = int(self.length_N[by_length[0]])
            row_B, by_length = np.split(by_length, [min(SENTENCES_AT_ONCE, max(TOKENS_AT_ONCE // longest, 1))])
            position_L = np.arange(longest)
            yield np.where(position_L < self.length_N[row_B, None], start_N[row_B, None] + position_L, -1)


class _Means:
    """Sums of hidden states."""

    def __init__(self, reader: Reader, *, layers: Sequence[int], num_rows: int):
        self.layers = layers
        shape = (len(layers), num_rows, reader.width)
        # In float64, so that a GPU's order of adding vanishes when results become float32.
        self.sum_SRD = torch.zeros(shape, dtype=torch.float64, device=_device_for_sums(reader.device, shape))
        self.weight_R = np.zeros(num_rows)

    def add(self, states: Sequence[Tensor], *, row_BL: Ids, weight_BL: NDArray[np.float64]) -> None:
        """Add the states of each token, times its weight, to its row, unless that is NO_ROW."""
        counts_BL = row_BL != NO_ROW
        counts_K = torch.from_numpy(np.flatnonzero(counts_BL)).to(states[0].device)
        row_K = torch.from_numpy(row_BL[counts_BL]).to(self.sum_SRD.device)
        weight_K1 = torch.from_numpy(weight_BL[counts_BL]).to(self.sum_SRD.device).unsqueeze(1)
        for sum_RD, layer in zip(self.sum_SRD, self.layers, strict=True):
            state_KD = states[layer].flatten(0, 1)[counts_K].to(sum_RD.device)
            sum_RD.index_add_(0, row_K, state_KD.double() * weight_K1)

    def count(self, row_T: Ids, weight_T: NDArray[np.float64]) -> None:
        counts_T = row_T != NO_ROW
        self.weight_R += np.bincount(row_T[counts_T], weights=weight_T[counts_T], minlength=len(self.weight_R))

    def vector_SRD(self) -> Tensor:
        """float32 on the CPU, zero in a row that has no token."""
        weight_R1 = torch.from_numpy(np.where(self.weight_R > 0, self.weight_R, 1.0)[:, None]).to(self.sum_SRD.device)
        return torch.stack([(sum_RD / weight_R1).float().cpu() for sum_RD in self.sum_SRD])


class _Wanted(NamedTuple):
    """The sums that tokens are added to: the row of each, or NO_ROW, and its weight, by default 1."""

    means: _Means
    row_T: Ids
    weight_T: NDArray[np.float64] | None = None


def _read(reader: Reader, tokens: _Tokens, *wanted: _Wanted) -> None:
    """Add the states of all tokens to all sums."""
    # Place -1 of a batch is padding.
    token_of_place, device = np.append(tokens.token_T, reader.pad_id), reader.device
    by_place = []
    for means, row_T, weight_T in wanted:
        weight_T = np.ones(len(row_T)) if weight_T is None else weight_T
        means.count(row_T, weight_T)
        by_place.append((means, np.append(row_T, NO_ROW), np.append(weight_T, 0.0)))
    for place_BL in tokens.batches():
        states = reader.states(
            torch.from_numpy(token_of_place[place_BL]).to(device),
            real_BL=torch.from_numpy(place_BL >= 0).to(device),
        )
        for means, row_of_place, weight_of_place in by_place:
            means.add(states, row_BL=row_of_place[place_BL], weight_BL=weight_of_place[place_BL])


def _device_for_sums(device: torch.device, shape: Sequence[int]) -> torch.device:
    """The model's own device if it has room for twice as much; not every kind of device has float64."""
    if device.type == "cuda":
        num_free_bytes, _ = torch.cuda.mem_get_info(device)
        if 2 * 8 * math.prod(shape) < num_free_bytes:
            return device
    return torch.device("cpu")
