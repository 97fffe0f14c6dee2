"""What an exported tokenizer calls the ids of one language's table."""

from collections.abc import Iterable, Set
from itertools import chain

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.vocabulary import SPECIALS, Vocabulary

# No symbol of a text has a space in it, so no text comes upon a name that has one.
OUT_OF_REACH = " "


def token_names(language: str, *, bpe: Bpe, vocabulary: Vocabulary) -> tuple[str, ...]:
    """The names of all ids, in order: every subword of this language's text has its own spelling for a name.

    The library `tokenizers` knows a symbol by its id even while it still joins symbols, so symbols that are merged but
    are in no table, unknown where a word ends up with one, get ids of their own after those of the table.
    """
    ids = vocabulary.ids(language)
    unknown = list(dict.fromkeys(symbol for symbol in _symbols(bpe) if symbol not in ids))
    # Names of other languages' tokens stay with their prefix, and go out of reach.
    names = [OUT_OF_REACH + token for token in vocabulary.table(language)]
    for subword, id in ids.items():
        names[id] = subword
    names[: len(SPECIALS)] = special_names(ids.keys() | set(unknown))
    return (*names, *unknown)


def special_names(symbols: Set[str]) -> list[str]:
    """The special symbols as we spell them, but for one that is also a symbol of the text, as "<s>" may be: "<s >"."""
    return [name if name not in symbols else f"{name[:-1]}{OUT_OF_REACH}>" for name in SPECIALS]


def _symbols(bpe: Bpe) -> Iterable[str]:
    return chain.from_iterable((left, right, left + right) for left, right in bpe.merges)
