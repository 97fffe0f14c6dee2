"""A reader turns lines of a language into the hidden states of every layer; our own encoders are readers."""

# B = sentences of a batch, L = positions, V = tokens of the table, D = width

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Self

import torch
from torch import Tensor, nn

from isoglot.corpora.sentences import EncodedSentence, Encoding, sentence_stream
from isoglot.corpora.vocabulary import UNK
from isoglot.corpora.words import split_lines
from isoglot.model.encoder import Encoder
from isoglot.study.languages import WordSplitting


class Reader(ABC):
    """A model with what makes its tokens: one of ours for one of its languages, or one of Hugging Face."""

    network: nn.Module
    """The model itself, with all its weights."""
    num_states: int
    """The number of layers and the embeddings' output, which is layer 0."""
    width: int
    most_tokens: int
    """The longest sentence, special symbols included: as many positions as were learned."""
    pad_id: int
    unknown_id: int | None
    """The token that stands for whatever the vocabulary lacks."""

    @abstractmethod
    def untrained(self, *, seed: int) -> Self:
        """The same architecture and tokenizer with weights as they are before training."""

    @property
    @abstractmethod
    def token_table_VD(self) -> Tensor | None:
        """The rows that tokens are looked up in; None where a model has no such table."""

    @abstractmethod
    def whole_sentences(self, lines: Sequence[str]) -> list[EncodedSentence]:
        """Raw lines, however long; special symbols belong to no word."""

    @abstractmethod
    def states(self, token_BL: Tensor, *, real_BL: Tensor) -> list[Tensor]:
        """[B, L, D] for each layer; no padding, which stands where `real_BL` is false, changes those of real tokens."""

    @property
    def device(self) -> torch.device:
        return next(self.network.parameters()).device

    def pieces(self, sentence: EncodedSentence) -> Iterator[EncodedSentence]:
        """A sentence in as few parts of whole words as fit into `most_tokens`; a single longer word is cut."""
        return iter([sentence]) if self.fits(sentence) else sentence.pieces(most_tokens=self.most_tokens)

    def fits(self, sentence: EncodedSentence) -> bool:
        return len(sentence.ids) <= self.most_tokens

    def sentences(self, lines: Sequence[str]) -> list[EncodedSentence]:
        """Raw lines, each cut to its first words if it is longer than `most_tokens`."""
        return self.cut(self.whole_sentences(lines))[0]

    def cut(self, whole: Sequence[EncodedSentence]) -> tuple[list[EncodedSentence], int]:
        """Whole sentences cut to what the model can read at once, and how many were longer."""
        return [next(self.pieces(each)) for each in whole], sum(not self.fits(each) for each in whole)


class EncoderReader(Reader):
    """One of our encoders for one of its languages, in evaluation mode and on its own device."""

    network: Encoder

    def __init__(self, encoder: Encoder, *, encoding: Encoding, splitting: WordSplitting, most_tokens: int):
        self.network, self.encoding, self.splitting = encoder.eval(), encoding, splitting
        self.language = encoding.language
        self.num_states, self.width = encoder.shape.layers + 1, encoder.shape.width
        self.most_tokens, self.pad_id, self.unknown_id = most_tokens, encoder.pad_id, UNK

    def untrained(self, *, seed: int) -> Self:
        trained = self.network
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            encoder = Encoder(
                trained.shape, table_sizes=trained.table_sizes, separate=trained.separate, pad_id=trained.pad_id
            )
        splitting, most_tokens = self.splitting, self.most_tokens
        return type(self)(encoder.to(self.device), encoding=self.encoding, splitting=splitting, most_tokens=most_tokens)

    @property
    def token_table_VD(self) -> Tensor:
        return self.network.embeddings.of(self.language).token.weight.detach()

    def whole_sentences(self, lines: Sequence[str]) -> list[EncodedSentence]:
        return list(self.whole_sentences_of_words(split_lines(lines, self.splitting)))

    def whole_sentences_of_words(self, lines: Iterable[Sequence[str]]) -> Iterator[EncodedSentence]:
        """Lines that are words already, however long; a stream stays one."""
        return sentence_stream(lines, encoding=self.encoding)

    @torch.no_grad()
    def states(self, token_BL: Tensor, *, real_BL: Tensor) -> list[Tensor]:
        padded_BL = token_BL.masked_fill(~real_BL, self.pad_id)
        return self.network.hidden_states(padded_BL, language=self.language)
