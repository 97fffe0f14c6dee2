"""Vectors of sentences and of word types at every layer of an encoder."""

# N = sentences, S = layers 0 to last, W = word types, B = sentences of a batch, L = positions, D = width

from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor

from isoglot.corpora.sentences import NO_WORD, EncodedSentence
from isoglot.encoder.encoder import Encoder

SENTENCES_AT_ONCE = 128


def sentence_vectors(encoder: Encoder, sentences: Sequence[EncodedSentence], *, language: str) -> Tensor:
    """[S, N, D]: the mean over a sentence's subwords, special symbols left out (section 5.1.3)."""
    vector_SND = torch.zeros(encoder.shape.layers + 1, len(sentences), encoder.shape.width)
    for rows, state_SBLD in _states_in_batches(encoder, sentences, language=language):
        inside_BL1 = _padded([sentences[row].word_of for row in rows], NO_WORD).ne(NO_WORD).unsqueeze(-1)
        vector_SND[:, rows] = (state_SBLD * inside_BL1).sum(2) / inside_BL1.sum(1).clamp(min=1)
    return vector_SND


def word_type_vectors(
    encoder: Encoder, sentences: Sequence[EncodedSentence], *, types: Mapping[str, int], language: str
) -> tuple[Tensor, Tensor]:
    """[S, W, D]: the mean over a word type's occurrences, each the mean of its subwords; [W]: subwords met, maybe none.

    Each spelling always has the same subwords, so this is the mean over all of them (section 5.1.1). Several spellings
    may be one type. Vectors are summed as
    the sentences go by, so that memory is bounded by the number of types.
    """
    unlisted = max(types.values(), default=-1) + 1
    sum_SWD = torch.zeros(encoder.shape.layers + 1, unlisted + 1, encoder.shape.width, dtype=torch.float64)
    num_subwords_W = torch.zeros(unlisted + 1, dtype=torch.long)
    for rows, state_SBLD in _states_in_batches(encoder, sentences, language=language):
        type_BL = _padded(
            [
                [unlisted if place == NO_WORD else types.get(words[place], unlisted) for place in word_of]
                for words, word_of in ((sentences[row].words, sentences[row].word_of) for row in rows)
            ],
            unlisted,
        )
        sum_SWD.index_add_(1, type_BL.flatten(), state_SBLD.flatten(1, 2).double())
        num_subwords_W += torch.bincount(type_BL.flatten(), minlength=unlisted + 1)
    mean_SWD = sum_SWD / num_subwords_W.clamp(min=1).unsqueeze(-1)
    return mean_SWD[:, :unlisted].float(), num_subwords_W[:unlisted]


@torch.no_grad()
def _states_in_batches(
    encoder: Encoder, sentences: Sequence[EncodedSentence], *, language: str
) -> Iterator[tuple[list[int], Tensor]]:
    """Row numbers of a few sentences of like length, which saves padding, and their hidden states [S, B, L, D]."""
    was_training = encoder.training
    encoder.eval()
    device = encoder.embeddings.of(language).token.weight.device
    by_length = sorted(range(len(sentences)), key=lambda row: len(sentences[row].ids))
    for start in range(0, len(by_length), SENTENCES_AT_ONCE):
        rows = by_length[start : start + SENTENCES_AT_ONCE]
        token_BL = _padded([sentences[row].ids for row in rows], encoder.pad_id)
        states = encoder.hidden_states(token_BL.to(device), language=language)
        yield rows, torch.stack([state.float().cpu() for state in states])
    encoder.train(was_training)


def _padded(rows: Sequence[Sequence[int]], filler: int) -> Tensor:
    length = max(len(row) for row in rows)
    return torch.tensor([[*row, *[filler] * (length - len(row))] for row in rows])
