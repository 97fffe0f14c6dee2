"""Our own encoders as readers of one of their languages."""

# B = sentences of a batch, L = positions, V = tokens of the table, D = width

from collections.abc import Iterable, Iterator, Sequence

import torch
from torch import Tensor

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.sentences import EncodedSentence, Encoding, sentence_stream
from isoglot.corpora.vocabulary import Vocabulary
from isoglot.corpora.words import split_lines
from isoglot.evaluation.geometry.reader import Reader
from isoglot.model.encoder import Encoder
from isoglot.study.languages import WordSplitting


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
        self._encoding = Encoding(language=language, bpe=bpe, vocabulary=vocabulary)

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

    def whole_sentences_of_words(self, lines: Iterable[Sequence[str]]) -> Iterator[EncodedSentence]:
        """Lines that are words already, however long; a stream stays one."""
        return sentence_stream(lines, encoding=self._encoding)

    def pieces(self, sentence: EncodedSentence) -> Iterator[EncodedSentence]:
        return iter([sentence]) if self.fits(sentence) else sentence.pieces(most_tokens=self.most_tokens)

    @torch.no_grad()
    def states(self, token_BL: Tensor, *, real_BL: Tensor) -> list[Tensor]:
        padded_BL = token_BL.masked_fill(~real_BL, self.pad_id)
        return self.encoder.hidden_states(padded_BL, language=self.language)
