"""What reads a language: lines in, the hidden states of every layer out."""

# B = sentences of a batch, L = positions

from collections.abc import Iterator, Sequence
from typing import Protocol

import torch
from torch import Tensor

from isoglot.corpora.sentences import EncodedSentence


class Reader(Protocol):
    """A model with what makes its tokens: one of ours for one of its languages, or one of Hugging Face."""

    @property
    def num_states(self) -> int:
        """Layers, and the embeddings' output, which is layer 0."""

    @property
    def width(self) -> int:
        """Of a hidden state."""

    @property
    def most_tokens(self) -> int:
        """In a sentence, special symbols among them: as many positions as were learned."""

    @property
    def device(self) -> torch.device:
        """Where the model is."""

    @property
    def pad_id(self) -> int:
        """What fills a batch where a sentence has ended."""

    def whole_sentences(self, lines: Sequence[str]) -> list[EncodedSentence]:
        """Raw lines, however long; special symbols belong to no word."""

    def pieces(self, sentence: EncodedSentence) -> Iterator[EncodedSentence]:
        """A sentence in as few parts of whole words as fit into `most_tokens`; at least one.

        Of a word that is longer than that, as much as fits is kept.
        """

    def states(self, token_BL: Tensor, *, real_BL: Tensor) -> list[Tensor]:
        """[B, L, D] for each layer, the last as the model's top gives it; padding stands where `real_BL` is false.

        What stands there, and how much, does not change the states of real tokens.
        """

    def fits(self, sentence: EncodedSentence) -> bool:
        """Whether the model can read all of it at once."""
        return len(sentence.ids) <= self.most_tokens

    def sentences(self, lines: Sequence[str]) -> list[EncodedSentence]:
        """Raw lines, each cut to its first words if it is longer than `most_tokens`."""
        return self.cut(self.whole_sentences(lines))[0]

    def cut(self, whole: Sequence[EncodedSentence]) -> tuple[list[EncodedSentence], int]:
        """Whole sentences cut to what the model can read at once, and how many were longer."""
        return [next(self.pieces(each)) for each in whole], sum(not self.fits(each) for each in whole)
