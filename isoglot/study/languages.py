"""The languages people write: what must be known of one before a line of it is read."""

import re
from dataclasses import dataclass
from enum import StrEnum

from isoglot.study.toml_tables import FileKey

# No language is called so: a model keeps its parts under their owners' names, and these two are taken.
RESERVED_NAMES = frozenset({"shared", "training"})

# After a language's name: the same text once more, for a model that is to be compared with itself (Figure 7).
PRIME = "-prime"


def original(language: str) -> str:
    """en for en-prime, and every other language for itself."""
    return language.removesuffix(PRIME)


def check_name(name: str, *, place: FileKey) -> None:
    """Refuse a name that cannot be that of a folder, a prefix of tokens and a key of weights."""
    if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        raise place.error(f"{name!r} should be lower-case letters, digits and hyphens, beginning with a letter")
    if name.endswith(PRIME):
        raise place.error(f"{name!r}: names in {PRIME!r} stand for a language's second model; choose another name")
    if name in RESERVED_NAMES:
        raise place.error(f"{name!r} means something in every model; choose another name")


class Splitter(StrEnum):
    """Ways to cut a line into words."""

    WHITESPACE = "whitespace"
    MOSES = "moses"
    MOSES_PERL_QUOTES = "moses-perl-quotes"
    JIEBA = "jieba"
    CHARACTERS = "characters"
    COMMAND = "command"


@dataclass(frozen=True, kw_only=True)
class WordSplitting:
    """How lines of one language become words: part of what everything made from them is."""

    splitter: Splitter
    language: str  # the language whose rules a splitter follows, if it has rules for several
    # Departure: text keeps its case; the paper does not say, and XLM did both.
    lowercase: bool = False
    # Command of an external splitter: it reads lines, and writes each with spaces between its words.
    command: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Language:
    """A language by its code."""

    code: str
    name: str
    splitter: Splitter
    remark: str = ""  # a note for readers on how its words are found


# Departure: XLM cuts Chinese with the Stanford segmenter; jieba needs no Java.
LANGUAGES = {
    language.code: language
    for language in (
        Language(code="en", name="English", splitter=Splitter.MOSES),
        Language(code="fr", name="French", splitter=Splitter.MOSES),
        Language(code="de", name="German", splitter=Splitter.MOSES),
        Language(code="ru", name="Russian", splitter=Splitter.MOSES),
        Language(code="zh", name="Chinese", splitter=Splitter.JIEBA),
    )
}

WRITTEN_WITHOUT_SPACES = frozenset({"bo", "dz", "ja", "km", "lo", "my", "th", "wuu", "yue"})


def language_of(code: str) -> Language:
    """A registered language, or the likeliest guess about another: Moses, or single characters where no spaces are."""
    if code in LANGUAGES:
        return LANGUAGES[code]
    if code in WRITTEN_WITHOUT_SPACES:
        remark = "written without spaces and not registered: each character is a word"
        return Language(code=code, name=code, splitter=Splitter.CHARACTERS, remark=remark)
    remark = "not registered: the rules of Moses for this code, or else for English"
    return Language(code=code, name=code, splitter=Splitter.MOSES, remark=remark)


def default_splitting(code: str) -> WordSplitting:
    """How the words of a language are found if nobody says otherwise."""
    return WordSplitting(splitter=language_of(code).splitter, language=code)
