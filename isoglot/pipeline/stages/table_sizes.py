"""How many tokens a model's tables have, before and after its vocabulary is built."""

from collections.abc import Mapping
from dataclasses import dataclass

from isoglot.corpora.streams import TokenStream
from isoglot.corpora.vocabulary import SPECIALS
from isoglot.pipeline.stages.models import AnyEncoder
from isoglot.pipeline.stages.text import SyntheticText
from isoglot.pipeline.stages.vocabulary import LearnedBpe
from isoglot.store import Store
from isoglot.study.conditions import TableKind

# Single characters, at the end of a word and elsewhere. XLM's vocabularies of two Wikipedias have some 4,000 tokens
# more than merges, most of them of scripts that neither language is written in.
CHARACTERS_OF_A_TEXT = 2500
CHARACTERS_OF_A_MADE_UP_TEXT = 60


@dataclass(frozen=True, kw_only=True)
class TableSizes:
    """Of one model."""

    by_language: Mapping[str, int]
    are_known: bool
    """Or else guessed from the merges that its BPE is to have."""


def table_sizes(encoder: AnyEncoder, store: Store) -> TableSizes:
    """As the store has them, or else a guess that is rather too large."""
    streams = {language: encoder.streams[language] for language in encoder.run.languages}
    told = {language: store.lookup(stream) for language, stream in streams.items()}
    sizes = {language: TokenStream.open(each.folder).table_size for language, each in told.items() if each}
    if sizes.keys() == streams.keys():
        return TableSizes(by_language=sizes, are_known=True)
    own = {language: stream.bpe for language, stream in streams.items()}
    if all(stream.vocabulary.tables is TableKind.SEPARATE for stream in streams.values()):
        sizes = {language: len(SPECIALS) + _num_subwords(bpe) for language, bpe in own.items()}
    else:
        # Two languages may have one BPE together.
        together = sum(_num_subwords(bpe) for bpe in {bpe.digest: bpe for bpe in own.values()}.values())
        sizes = dict.fromkeys(own, len(SPECIALS) + together)
    return TableSizes(by_language=sizes, are_known=False)


def _num_subwords(bpe: LearnedBpe) -> int:
    """At most one for each merge, and the characters."""
    made_up = [isinstance(text.text, SyntheticText) for text in bpe.texts]
    return bpe.merges + sum(CHARACTERS_OF_A_MADE_UP_TEXT if each else CHARACTERS_OF_A_TEXT for each in made_up)
