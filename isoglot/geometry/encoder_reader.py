"""Our own encoders as readers of one of their languages."""

# B = sentences of a batch, L = positions, V = tokens of the table, D = width

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, repeat

import torch
from torch import Tensor

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.sentences import NO_WORD, EncodedSentence
from isoglot.corpora.vocabulary import END, Vocabulary
from isoglot.corpora.words import split_lines
from isoglot.encoder.encoder import Encoder
from isoglot.geometry.reader import Reader
from isoglot.languages import WordSplitting

LINES_AT_ONCE = 4096


class EncoderReader(Reader):
    """The encoder is put into evaluation mode, and stays on its device."""

    def __init__(
        self,
        encoder: Encoder,
        *,
        language: str,
        bpe: Bpe,
        vocabulary: Vocabulary,
        splitting: WordSplitting,
        most_tokens: int,
    ):
        self.encoder = encoder.eval()
        self.language, self.bpe, self.vocabulary = language, bpe, vocabulary
        self.splitting = splitting
        self._most_tokens = most_tokens
        self._ids_of: dict[str, tuple[int, ...]] = {}

    @property
    def num_states(self) -> int:
        return self.encoder.shape.layers + 1

    @property
    def width(self) -> int:
        return self.encoder.shape.width

    @property
    def most_tokens(self) -> int:
        return self._most_tokens

    @property
    def device(self) -> torch.device:
        return self.token_table_VD.device

    @property
    def pad_id(self) -> int:
        return self.encoder.pad_id

    @property
    def token_table_VD(self) -> Tensor:
        """The embedding matrix that this language is read with."""
        return self.encoder.embeddings.of(self.language).token.weight.detach()

    def whole_sentences(self, lines: Sequence[str]) -> list[EncodedSentence]:
        return list(self.whole_sentences_of_words(split_lines(lines, self.splitting)))

    def sentences_of_words(self, lines: Iterable[Sequence[str]]) -> list[EncodedSentence]:
        """Lines that are words already, each cut to its first words if it is longer than `most_tokens`."""
        return [next(self.pieces(sentence)) for sentence in self.whole_sentences_of_words(lines)]

    def whole_sentences_of_words(self, lines: Iterable[Sequence[str]]) -> Iterator[EncodedSentence]:
        """Lines that are words already, however long; a stream stays one, and each spelling is looked up once."""
        stream = iter(lines)
        while pool := list(islice(stream, LINES_AT_ONCE)):
            self._meet(chain.from_iterable(pool))
            for words in pool:
                subwords = [self._ids_of[word] for word in words]
                places = chain.from_iterable(map(repeat, range(len(words)), map(len, subwords)))
                yield EncodedSentence(
                    words=tuple(words),
                    ids=(END, *chain.from_iterable(subwords), END),
                    word_of=(NO_WORD, *places, NO_WORD),
                )

    def pieces(self, sentence: EncodedSentence) -> Iterator[EncodedSentence]:
        fits = len(sentence.ids) <= self.most_tokens
        return iter([sentence]) if fits else sentence.pieces(most_tokens=self.most_tokens)

    @torch.no_grad()
    def states(self, token_BL: Tensor, *, real_BL: Tensor) -> list[Tensor]:
        padded_BL = token_BL.masked_fill(~real_BL, self.pad_id)
        return self.encoder.hidden_states(padded_BL, language=self.language)

    def _meet(self, words: Iterable[str]) -> None:
        fresh = [word for word in dict.fromkeys(words) if word not in self._ids_of]
        for word, subwords in zip(fresh, self.bpe.segment_all(fresh), strict=True):
            self._ids_of[word] = tuple(self.vocabulary.encode(self.language, subwords))
