"""Vectors of sentences and word types against one sentence at a time, without padding or batches."""

from collections import defaultdict

import numpy as np
import pytest
import torch
from torch import Tensor

from isoglot.corpora.sentences import NO_WORD, EncodedSentence
from isoglot.corpora.vocabulary import END
from isoglot.encoder.encoder import Encoder
from isoglot.geometry import hidden_states
from isoglot.geometry.hidden_states import sentence_vectors, word_type_vectors
from tests.encoder.tiny_models import EVERYTHING, TABLE_SIZE, tiny_model, tiny_shape

WORDS = [f"w{number}" for number in range(12)]
SUBWORDS = {word: [14 + (3 * place + step) % 30 for step in range(1 + place % 3)] for place, word in enumerate(WORDS)}
TYPES = {"w3": 0, "w0": 1, "never": 2, "w7": 3, "w11": 4}
TOLERANCE = 1e-5


def sentence_of(words: list[str]) -> EncodedSentence:
    ids, word_of = [END], [NO_WORD]
    for place, word in enumerate(words):
        ids += SUBWORDS[word]
        word_of += [place] * len(SUBWORDS[word])
    return EncodedSentence(words=tuple(words), ids=(*ids, END), word_of=(*word_of, NO_WORD))


@pytest.fixture(scope="module")
def sentences() -> list[EncodedSentence]:
    generator = np.random.default_rng(0)
    return [sentence_of(generator.choice(WORDS, generator.integers(1, 7)).tolist()) for _ in range(30)]


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return tiny_model(separate=EVERYTHING, table_sizes={"en": TABLE_SIZE, "fr": TABLE_SIZE}).encoder


@torch.no_grad()
def states_of(encoder: Encoder, sentence: EncodedSentence, *, language: str) -> list[Tensor]:
    return [state[0] for state in encoder.hidden_states(torch.tensor([sentence.ids]), language=language)]


def sentence_vectors_one_by_one(encoder: Encoder, sentences: list[EncodedSentence], *, language: str) -> Tensor:
    return torch.stack(
        [
            torch.stack([state_LD[1:-1].mean(0) for state_LD in states_of(encoder, sentence, language=language)])
            for sentence in sentences
        ],
        dim=1,
    )


def word_states_one_by_one(
    encoder: Encoder, sentences: list[EncodedSentence], *, language: str
) -> dict[str, list[Tensor]]:
    """Each occurrence of each word: the mean of its subwords at every layer, [S, D]."""
    found = defaultdict(list)
    for sentence in sentences:
        states = states_of(encoder, sentence, language=language)
        start = 1
        for word in sentence.words:
            end = start + len(SUBWORDS[word])
            found[word].append(torch.stack([state_LD[start:end].mean(0) for state_LD in states]))
            start = end
    return found


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("at_once", [1, 7, 128])
def test_sentence_vectors_are_means_without_special_symbols(
    language: str, at_once: int, encoder: Encoder, sentences: list[EncodedSentence], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hidden_states, "SENTENCES_AT_ONCE", at_once)
    vector_SND = sentence_vectors(encoder, sentences, language=language)
    assert vector_SND.shape == (4, 30, 24)
    expected_SND = sentence_vectors_one_by_one(encoder, sentences, language=language)
    torch.testing.assert_close(vector_SND, expected_SND, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("at_once", [1, 7, 128])
def test_word_type_vectors_are_means_over_occurrences(
    language: str, at_once: int, encoder: Encoder, sentences: list[EncodedSentence], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hidden_states, "SENTENCES_AT_ONCE", at_once)
    mean_SWD, num_subwords_W = word_type_vectors(encoder, sentences, types=TYPES, language=language)
    assert mean_SWD.shape == (4, 5, 24)
    occurrences = word_states_one_by_one(encoder, sentences, language=language)
    for word, row in TYPES.items():
        if word == "never":
            assert num_subwords_W[row] == 0
            assert mean_SWD[:, row].eq(0).all()
        else:
            assert len(occurrences[word]) > 1
            assert num_subwords_W[row] == len(occurrences[word]) * len(SUBWORDS[word])
            expected_SD = torch.stack(occurrences[word]).mean(0)
            torch.testing.assert_close(mean_SWD[:, row], expected_SD, rtol=0, atol=TOLERANCE)


def test_a_sentence_without_words_gets_no_direction(encoder: Encoder) -> None:
    vector_SND = sentence_vectors(encoder, [sentence_of([]), sentence_of(["w1"])], language="en")
    assert vector_SND[:, 0].eq(0).all()
    assert vector_SND[:, 1].ne(0).any(1).all()


def test_no_sentences_give_no_vectors(encoder: Encoder) -> None:
    assert sentence_vectors(encoder, [], language="en").shape == (4, 0, 24)
    mean_SWD, num_subwords_W = word_type_vectors(encoder, [], types=TYPES, language="en")
    assert not mean_SWD.any()
    assert not num_subwords_W.any()


def test_dropout_never_enters_a_vector(sentences: list[EncodedSentence]) -> None:
    encoder = tiny_model(tiny_shape(dropout=0.5)).encoder
    expected_SND = sentence_vectors(encoder, sentences, language="en")
    assert sentence_vectors(encoder.train(), sentences, language="en").equal(expected_SND)
    assert all(module.training for module in encoder.modules())


def test_vectors_carry_no_gradient(encoder: Encoder, sentences: list[EncodedSentence]) -> None:
    assert not sentence_vectors(encoder, sentences, language="en").requires_grad
    assert not word_type_vectors(encoder, sentences, types=TYPES, language="en")[0].requires_grad
    assert torch.is_grad_enabled()
