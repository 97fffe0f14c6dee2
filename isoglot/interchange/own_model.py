"""What is exported: one of our models, with all that it takes to read one of its languages."""

from dataclasses import dataclass
from functools import cached_property
from typing import cast

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.vocabulary import Vocabulary
from isoglot.encoder.block import Block
from isoglot.encoder.cloze import ClozeModel
from isoglot.encoder.per_language import PerLanguage
from isoglot.errors import IsoglotError
from isoglot.interchange.token_names import token_names
from isoglot.study.languages import WordSplitting


@dataclass(frozen=True, kw_only=True)
class OwnModel:
    """A model as it reads one language: parts that languages own apart are that language's."""

    model: ClozeModel
    language: str
    bpe: Bpe
    vocabulary: Vocabulary
    splitting: WordSplitting
    window: int
    """The longest sequence of pretraining."""

    def __post_init__(self) -> None:
        sizes = self.model.encoder.table_sizes
        if self.language not in sizes:
            raise IsoglotError(f"this model does not read {self.language!r}; it reads {', '.join(sizes)}")
        if sizes[self.language] != self.table_size:
            raise IsoglotError(
                f"the model has {sizes[self.language]} tokens of {self.language!r}, its vocabulary {self.table_size}; "
                "they are not of one run"
            )

    @property
    def table_size(self) -> int:
        return self.vocabulary.size(self.language)

    @property
    def blocks(self) -> list[Block]:
        return [cast(PerLanguage[Block], layer).of(self.language) for layer in self.model.encoder.blocks]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of all ids of the exported tokenizer, which are more than the model's own."""
        return token_names(self.language, bpe=self.bpe, vocabulary=self.vocabulary)

    @property
    def num_unknown(self) -> int:
        """Ids of the exported tokenizer, after all others, that stand for what the model reads as unknown."""
        return len(self.names) - self.table_size
