"""One of our models as it is exported, with everything needed to read one of its languages."""

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import cast

import torch
from torch import Tensor

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.vocabulary import SPECIALS, UNK, Vocabulary
from isoglot.model.block import Block
from isoglot.model.cloze import ClozeModel
from isoglot.model.per_language import PerLanguage
from isoglot.study.languages import WordSplitting

# No symbol of a text has a space in it, so no text comes upon a name that has one.
OUT_OF_REACH = " "


def token_names(language: str, *, bpe: Bpe, vocabulary: Vocabulary) -> tuple[str, ...]:
    """The names of all ids, in order: every subword of this language's text has its own spelling for a name."""
    # The library `tokenizers` knows a symbol by its id even while it still joins symbols, so symbols that are merged
    # but are in no table, unknown where a word ends up with one, get ids of their own after those of the table.
    ids = vocabulary.ids(language)
    symbols = chain.from_iterable((left, right, left + right) for left, right in bpe.merges)
    unknown = dict.fromkeys(symbol for symbol in symbols if symbol not in ids)
    # Names of other languages' tokens stay with their prefix, and go out of reach.
    names = [OUT_OF_REACH + token for token in vocabulary.tables[language]]
    for subword, id in ids.items():
        names[id] = subword
    # A special symbol that is also a symbol of the text, as "<s>" may be, gets another spelling: "<s >".
    names[: len(SPECIALS)] = [
        f"{name[:-1]}{OUT_OF_REACH}>" if name in ids or name in unknown else name for name in SPECIALS
    ]
    return (*names, *unknown)


@dataclass(frozen=True, kw_only=True)
class OwnModel:
    """A model as it reads one language: parts that languages own apart are that language's."""

    model: ClozeModel
    language: str
    bpe: Bpe
    vocabulary: Vocabulary
    splitting: WordSplitting
    window: int  # the longest sequence of pretraining

    @property
    def table_size(self) -> int:
        return self.vocabulary.size(self.language)

    @property
    def blocks(self) -> list[Block]:
        return [cast(PerLanguage[Block], layer).of(self.language) for layer in self.model.encoder.blocks]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of all ids of the exported tokenizer, which are more than the model's own."""
        return token_names(self.language, bpe=self.bpe, vocabulary=self.vocabulary)

    @property
    def num_unknown(self) -> int:
        # These ids come after all others.
        return len(self.names) - self.table_size

    def known(self, token: Tensor) -> Tensor:
        """Ids of the exported tokenizer as the model reads them: those beyond its table are the unknown symbol."""
        return token.where(token < self.table_size, UNK)


# V = ids of our table, N = ids of the exported tokenizer, D = width

LESS_LIKELY = 30.0
"""So far below the unknown symbol itself that no probability of another token changes in float32."""


def token_table_ND(own: OwnModel) -> Tensor:
    """Ids that the model does not know get the vector of the unknown symbol."""
    table_VD: Tensor = own.model.encoder.embeddings.of(own.language).token.weight.detach()
    return torch.cat([table_VD, table_VD[UNK].expand(own.num_unknown, -1)])


def softmax_bias_N(own: OwnModel) -> Tensor:
    """The tied table gives each copy of the unknown symbol its score; the bias takes it away again."""
    bias_V: Tensor = own.model.output_bias.of(own.language).bias.detach()
    return torch.cat([bias_V, (bias_V[UNK] - LESS_LIKELY).expand(own.num_unknown)])
