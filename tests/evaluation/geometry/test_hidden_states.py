"""Vectors of sentences, words and word types against one sentence at a time, without padding or batches."""

import weakref
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import compress, groupby

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from isoglot.corpora.sentences import NO_WORD, EncodedSentence
from isoglot.evaluation.geometry import hidden_states
from isoglot.evaluation.geometry.hidden_states import (
    sentence_and_type_vectors,
    sentence_vectors,
    word_type_vectors,
    word_vectors,
)
from isoglot.evaluation.geometry.reader import Reader
from isoglot.study.searches import Subwords
from tests.evaluation.geometry.tiny_readers import CPU, WORDS, tiny_encoder_reader
from tests.evaluation.geometry.tiny_transformers import tiny_transformers_reader

TYPES = {"the": 0, "dogs": 1, "never": 2, "cat": 3, "mats": 4, "mat": 4}
TOLERANCE = 1e-5


@pytest.fixture(scope="module", params=["en", "BERT", "T5"])
def reader(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Reader:
    if request.param == "en":
        return tiny_encoder_reader()
    return tiny_transformers_reader(tmp_path_factory.mktemp("model"), request.param)


DRAW = np.random.default_rng(0)
SENTENCES = [" ".join(DRAW.choice(WORDS, DRAW.integers(1, 7))) for _ in range(30)]
LINES = [*SENTENCES[:9], "", *SENTENCES[9:]]


class Memory:
    """A reader whose states are what tokens say, wherever they stand: exact, and with no special symbols."""

    num_states, width, most_tokens, device, pad_id = 2, 3, 1000, CPU, 0

    def __init__(self) -> None:
        table_VD = torch.randn(50, self.width, generator=torch.Generator().manual_seed(0))
        self.tables = [table_VD, 1000 + table_VD]

    def pieces(self, sentence: EncodedSentence) -> Iterator[EncodedSentence]:
        yield sentence

    def states(self, token_BL: Tensor, *, real_BL: Tensor) -> list[Tensor]:
        return [table_VD[token_BL].masked_fill(~real_BL.unsqueeze(-1), torch.nan) for table_VD in self.tables]


def sentence_of(*words: Sequence[int]) -> EncodedSentence:
    """A sentence of words that are tokens already."""
    return EncodedSentence(
        words=tuple(" ".join(map(str, word)) for word in words),
        ids=tuple(token for word in words for token in word),
        word_of=tuple(place for place, word in enumerate(words) for _ in word),
    )


def words_one_by_one(reader: Reader, sentence: EncodedSentence) -> list[tuple[int, Tensor]]:
    """The place of each word, and the states of its subwords in float64, [S, subwords, D]."""
    if not sentence.ids:
        return []
    token_1L = torch.tensor([sentence.ids])
    states = reader.states(token_1L, real_BL=torch.ones_like(token_1L).bool())
    state_SLD = torch.cat(states).double()
    parts = groupby(range(len(sentence.ids)), key=sentence.word_of.__getitem__)
    return [(place, state_SLD[:, list(positions)]) for place, positions in parts if place != NO_WORD]


def sentence_vectors_one_by_one(reader: Reader, sentences: Sequence[EncodedSentence]) -> Tensor:
    vector_SND = torch.zeros(reader.num_states, len(sentences), reader.width)
    for row, sentence in enumerate(sentences):
        if words := [state_SKD for _, state_SKD in words_one_by_one(reader, sentence)]:
            vector_SND[:, row] = torch.cat(words, dim=1).mean(1).float()
    return vector_SND


@pytest.mark.parametrize("limit", [{"SENTENCES_AT_ONCE": 7}, {"TOKENS_AT_ONCE": 40}])
def test_sentence_vectors_are_means_without_special_symbols_whatever_the_batch(
    limit: dict[str, int], reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in limit.items():
        monkeypatch.setattr(hidden_states, name, value)
    sentences = reader.sentences(LINES)
    vector_SND = sentence_vectors(reader, sentences)
    assert (vector_SND.shape, vector_SND.dtype) == ((4, 31, 24), torch.float32)
    assert vector_SND[:, 9].eq(0).all()
    assert vector_SND.ne(0).any(2).sum() == 4 * 30
    torch.testing.assert_close(vector_SND, sentence_vectors_one_by_one(reader, sentences), rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize(("layer", "subwords"), [(0, Subwords.FIRST), (3, Subwords.FIRST), (3, Subwords.MEAN)])
def test_word_vectors_are_first_subwords_or_means(layer: int, subwords: Subwords, reader: Reader) -> None:
    sentences = reader.sentences(LINES)
    expected = [
        (row, place, (state_SKD[layer, 0] if subwords is Subwords.FIRST else state_SKD[layer].mean(0)).float())
        for row, sentence in enumerate(sentences)
        for place, state_SKD in words_one_by_one(reader, sentence)
    ]
    found = word_vectors(reader, sentences, layer=layer, subwords=subwords)
    rows, places, vectors = zip(*expected, strict=True)
    assert len(set(zip(rows, places, strict=True))) == sum(len(line.split()) for line in LINES)
    assert (found.sentence_P.tolist(), found.place_P.tolist()) == (list(rows), list(places))
    torch.testing.assert_close(found.vector_PD, torch.stack(vectors), rtol=0, atol=TOLERANCE)


@given(
    st.lists(st.lists(st.lists(st.integers(0, 49), min_size=1, max_size=3), max_size=4), min_size=1, max_size=9),
    st.integers(1, 4),
)
def test_words_of_neighbouring_sentences_stay_apart(tokens: list[list[list[int]]], at_once: int) -> None:
    reader, sentences = Memory(), [sentence_of(*words) for words in tokens]
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(hidden_states, "SENTENCES_AT_ONCE", at_once)
        found = word_vectors(reader, sentences, layer=0, subwords=Subwords.MEAN)
        vector_SND = sentence_vectors(reader, sentences)
    assert list(zip(found.sentence_P.tolist(), found.place_P.tolist(), strict=True)) == [
        (row, place) for row, words in enumerate(tokens) for place in range(len(words))
    ]
    words = [word for each in tokens for word in each]
    means = [reader.tables[0][word].double().mean(0).float() for word in words]
    assert found.vector_PD.equal(torch.stack(means) if means else torch.zeros(0, 3))
    assert vector_SND.equal(sentence_vectors_one_by_one(reader, sentences))


@pytest.mark.parametrize("stream_sentences", [4, 8192])
def test_word_type_vectors_are_means_over_all_that_is_met_in_a_stream(
    stream_sentences: int, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hidden_states, "STREAM_SENTENCES", stream_sentences)
    sentences = reader.whole_sentences([*LINES, " ".join(WORDS * 4)])
    mean_SWD, num_met_W = word_type_vectors(reader, iter(sentences), types=TYPES)
    pieces = [piece for sentence in sentences for piece in reader.pieces(sentence)]
    assert len(pieces) > len(sentences) or reader.most_tokens > 100
    met = defaultdict(list)
    for piece in pieces:
        for place, state_SKD in words_one_by_one(reader, piece):
            met[TYPES.get(piece.words[place])].append(state_SKD)
    assert mean_SWD.shape == (4, 5, 24)
    for row in set(TYPES.values()) - {TYPES["never"]}:
        occurrences_SKD = torch.stack([state_SKD.mean(1) for state_SKD in met[row]], dim=1)
        assert num_met_W[row] == occurrences_SKD.shape[1] > 5
        torch.testing.assert_close(mean_SWD[:, row], occurrences_SKD.mean(1).float(), rtol=0, atol=TOLERANCE)
    assert num_met_W[TYPES["never"]] == 0
    assert mean_SWD[:, TYPES["never"]].eq(0).all()
    assert not mean_SWD.requires_grad
    assert torch.is_grad_enabled()


@pytest.mark.parametrize("pool", [4, 1024])
def test_sentences_and_types_are_read_together_as_they_are_alone(
    pool: int, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sentence that is longer than the model reads has the vector of its first piece, and all its words count."""
    monkeypatch.setattr(hidden_states, "SENTENCES_IN_A_POOL", pool)
    lines, done = [*LINES[:9], " ".join(WORDS * 4), *LINES[9:]], []
    whole = reader.whole_sentences(lines)
    every, some = [True] * len(whole), [row % 3 == 0 for row in range(len(whole))]
    found = sentence_and_type_vectors(reader, whole, types=TYPES, has_words=every, progress=done.append)
    alone = sentence_vectors(reader, reader.sentences(lines)), word_type_vectors(reader, whole, types=TYPES)[0]
    torch.testing.assert_close(found, alone, rtol=0, atol=TOLERANCE)
    assert done == sorted({*range(pool, len(lines), pool), len(lines)})
    vector_SND, type_SRD = sentence_and_type_vectors(reader, whole, types=TYPES, has_words=some)
    assert vector_SND.equal(found[0])
    of_some = word_type_vectors(reader, compress(whole, some), types=TYPES)[0]
    torch.testing.assert_close(type_SRD, of_some, rtol=0, atol=TOLERANCE)
    assert not type_SRD.equal(found[1])
    assert sentence_and_type_vectors(reader, whole, types={}, has_words=every)[1].shape == (4, 0, 24)


def test_a_stream_is_never_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hidden_states, "STREAM_SENTENCES", 50)
    alive: weakref.WeakSet[EncodedSentence] = weakref.WeakSet()
    most = 0

    def stream() -> Iterator[EncodedSentence]:
        nonlocal most
        for number in range(1000):
            sentence = sentence_of([number % 50], [number // 50])
            alive.add(sentence)
            most = max(most, len(alive))
            yield sentence

    _, num_met_W = word_type_vectors(Memory(), stream(), types={"7": 0})
    assert num_met_W.tolist() == [20 + 50]
    # One pool that is being filled, and one that is not yet let go of; equal sentences are one in a set.
    assert 25 < most <= 2 * 50 + 1


def test_sums_lose_nothing_over_many_occurrences() -> None:
    """A running sum in float32 would stand still at 16,777,216 thousandths."""
    reader = Memory()
    sentences = [sentence_of(*[[token]] * 500) for token in (3, 4)] * 100
    mean_SWD, num_met_W = word_type_vectors(reader, sentences, types={"3": 0, "4": 0})
    assert num_met_W.tolist() == [100_000]
    expected_SD = torch.stack([table_VD[[3, 4]].double().mean(0).float() for table_VD in reader.tables])
    assert mean_SWD[:, 0].equal(expected_SD)


@pytest.mark.gpu
@pytest.mark.parametrize("has_room", [True, False])
def test_on_a_gpu_vectors_are_those_of_a_cpu(has_room: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = tiny_encoder_reader()
    sentences = reader.sentences(LINES * 20)

    def vectors() -> list[Tensor]:
        of_words = word_vectors(reader, sentences, layer=2, subwords=Subwords.MEAN).vector_PD
        return [sentence_vectors(reader, sentences), of_words, word_type_vectors(reader, sentences, types=TYPES)[0]]

    on_cpu = vectors()
    reader.network.cuda()
    if not has_room:
        monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _: (1 << 10, 1 << 40))
    on_gpu = vectors()
    torch.testing.assert_close(on_gpu, on_cpu, rtol=0, atol=1e-4)
    torch.testing.assert_close(vectors(), on_gpu, rtol=1e-6, atol=1e-7)
