"""Words with BIO tags, a word a line, as sets of named entities are released."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from pathlib import Path

from isoglot.corpora.readers.line_files import LineFile
from isoglot.errors import IsoglotError

OUTSIDE = "O"
BEGIN, INSIDE = "B-", "I-"
DOCUMENT_START = "-DOCSTART-"
# WikiAnn's own files write every word with its language, as en:Paris or zh-yue:...
LANGUAGE_PREFIX = re.compile("[a-z]{2,3}(?:-[a-z]+)*:")


@dataclass(frozen=True, kw_only=True)
class TaggedSentence:
    words: tuple[str, ...]
    tags: tuple[str, ...]


def is_bio(tag: str) -> bool:
    has_type = tag.startswith((BEGIN, INSIDE)) and len(tag) > len(BEGIN)
    # A line end of another system, say, would make two types of one.
    return tag == OUTSIDE or (has_type and tag.isprintable() and " " not in tag)


def type_of(tag: str) -> str:
    return tag[len(BEGIN) :]


def read_bio(path: Path | str) -> list[TaggedSentence]:
    """The sentences of a file, plain or compressed, with tags in IOB2, as CoNLL-2003, WikiAnn and MSRA come.

    The first column is the word and the last one the tag, with tabs between, or else single spaces; others are not
    read, nor are lines of -DOCSTART-. A prefix such as "en:" that every word of the file has is taken off. A "word" of
    white space, as WikiAnn has in Chinese, is left out.

    A file in which every B-X comes right after another X, as a separator, is IOB1 and is rewritten: there I-X I-Y are
    two spans. Other tags stay as they are, valid or not: scoring repairs them.
    """
    sentences = list(_sentences(Path(path)))
    prefix = _language_prefix(word for sentence in sentences for word, _ in sentence)
    bare = [[(word[len(prefix) :], tag) for word, tag in sentence] for sentence in sentences]
    worded = [pairs for sentence in bare if (pairs := [pair for pair in sentence if pair[0].strip()])]
    if not worded:
        raise IsoglotError(f"{path}: no sentences; each line should be a word, a tab and its BIO tag")
    tagged = [
        TaggedSentence(words=tuple(word for word, _ in pairs), tags=tuple(tag for _, tag in pairs)) for pairs in worded
    ]
    # In IOB1 each B comes right after its own type; so it is in tags without any B, which IOB2 would not have.
    neighbours = set(chain.from_iterable(pairwise([OUTSIDE, *each.tags]) for each in tagged))
    if all(type_of(before) == type_of(tag) for before, tag in neighbours if tag.startswith(BEGIN)):
        return [replace(each, tags=_from_iob1(each.tags)) for each in tagged]
    return tagged


def bio_text(sentences: Iterable[TaggedSentence]) -> str:
    """The text that `read_bio` reads: a word, a tab and its tag a line, and a blank line after each sentence."""
    return "".join(
        "".join(f"{word}\t{tag}\n" for word, tag in zip(sentence.words, sentence.tags, strict=True)) + "\n"
        for sentence in sentences
    )


def _sentences(path: Path) -> Iterator[list[tuple[str, str]]]:
    words: list[tuple[str, str]] = []
    separator, width = "", 0
    known = {OUTSIDE}
    with LineFile(path) as file:
        for line in file:
            if not line or line.isspace() or line.startswith(DOCUMENT_START):
                if words:
                    yield words
                    words = []
                continue
            separator = separator or ("\t" if "\t" in line else " ")
            fields = line.rstrip("\t ").split(separator)
            width = width or len(fields)
            # Most lines have a tag that was met before and pass at once; the others are looked at closely.
            if len(fields) != width or not fields[0] or fields[-1] not in known:
                _refuse_faulty(fields, width=width, separator=separator, where=f"{path}:{file.number}")
                known.add(fields[-1])
            words.append((fields[0], fields[-1]))
    if words:
        yield words


def _refuse_faulty(fields: Sequence[str], *, width: int, separator: str, where: str) -> None:
    if not fields[0]:
        raise IsoglotError(f"{where}: the word is missing; it should come first, and its tag last")
    if len(fields) == 1:
        raise IsoglotError(f"{where}: one column, {fields[0][:40]!r}; a word, a tab and its BIO tag expected")
    if len(fields) != width:
        between = "tabs" if separator == "\t" else "spaces"
        columns = f"{len(fields)} columns with {between} between, but the first word's line has {width}"
        raise IsoglotError(f"{where}: {columns}; each line should be a word, a tab and its BIO tag")
    if not is_bio(fields[-1]):
        tag = f"the tag is {fields[-1][:40]!r}, not O, or B- or I- with a type"
        raise IsoglotError(f"{where}: {tag}; write other schemes as BIO")


def _language_prefix(words: Iterable[str]) -> str:
    words = iter(words)
    prefix = LANGUAGE_PREFIX.match(next(words, ""))
    return prefix[0] if prefix and all(word.startswith(prefix[0]) for word in words) else ""


def _from_iob1(tags: Sequence[str]) -> tuple[str, ...]:
    return tuple(
        BEGIN + type_of(tag) if tag.startswith(INSIDE) and type_of(before) != type_of(tag) else tag
        for before, tag in pairwise([OUTSIDE, *tags])
    )
