"""Files of words with BIO tags, as CoNLL-2003, WikiAnn and MSRA come: a word and its tag a line, then a blank line."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, compress, pairwise
from pathlib import Path

from isoglot.corpora.readers.line_files import LineFile
from isoglot.errors import IsoglotError
from isoglot.evaluation.transfer.bio_spans import BEGIN, INSIDE, OUTSIDE, is_bio, type_of

DOCUMENT_START = "-DOCSTART-"
# WikiAnn's own files write every word with its language, as en:Paris or zh-yue:...
LANGUAGE_PREFIX = re.compile("[a-z]{2,3}(?:-[a-z]+)*:")

Column = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class TaggedSentence:
    words: tuple[str, ...]
    tags: tuple[str, ...]


def read_bio(path: Path | str) -> list[TaggedSentence]:
    """The sentences of a file, plain or compressed, with tags in IOB2.

    The first column is the word and the last one the tag, with tabs between, or else single spaces; others are not
    read, nor are lines of -DOCSTART-. What every word of the file has before it as "en:" is taken off. A "word" of
    white space, as WikiAnn has in Chinese, is left out.

    A file in which every B-X comes right after another X, as a separator, is IOB1 and is rewritten: there I-X I-Y are
    two spans. Other tags stay as they are, valid or not: scoring mends them.
    """
    path = Path(path)
    sentences = list(_sentences(path))
    prefix = _language_prefix(word for words, _ in sentences for word in words)
    tagged = [
        TaggedSentence(words=words, tags=tags)
        for sentence in sentences
        for words, tags in [_without_blanks(*sentence, prefix=prefix)]
        if words
    ]
    if not tagged:
        raise IsoglotError(f"{path}: no sentences; each line should be a word, a tab and its BIO tag")
    if _are_iob1([sentence.tags for sentence in tagged]):
        return [TaggedSentence(words=sentence.words, tags=_from_iob1(sentence.tags)) for sentence in tagged]
    return tagged


def bio_text(sentences: Iterable[TaggedSentence]) -> str:
    """What `read_bio` reads: a word, a tab and its tag a line, and a blank line after each sentence."""
    return "".join(
        "".join(f"{word}\t{tag}\n" for word, tag in zip(sentence.words, sentence.tags, strict=True)) + "\n"
        for sentence in sentences
    )


def _sentences(path: Path) -> Iterator[tuple[Column, Column]]:
    """Words and tags, with no fault but those that only the whole file can show."""
    words: list[str] = []
    tags: list[str] = []
    separator, width = "", 0
    known = {OUTSIDE}
    with LineFile(path) as file:
        for line in file:
            if not line or line.isspace() or line.startswith(DOCUMENT_START):
                if words:
                    yield tuple(words), tuple(tags)
                    words, tags = [], []
                continue
            if not separator:
                separator = "\t" if "\t" in line else " "
                width = len(line.rstrip("\t ").split(separator))
            fields = line.split(separator)
            if len(fields) != width or not fields[0] or fields[-1] not in known:
                fields = line.rstrip("\t ").split(separator)
                _refuse_faulty(fields, width=width, separator=separator, where=f"{path}:{file.number}")
                known.add(fields[-1])
            words.append(fields[0])
            tags.append(fields[-1])
    if words:
        yield tuple(words), tuple(tags)


def _without_blanks(words: Column, tags: Column, *, prefix: str) -> tuple[Column, Column]:
    """Words less their prefix, where anything is left of them, and their tags."""
    if prefix:
        words = tuple(word[len(prefix) :] for word in words)
    is_word = [word.strip() != "" for word in words]
    return (words, tags) if all(is_word) else (tuple(compress(words, is_word)), tuple(compress(tags, is_word)))


def _refuse_faulty(fields: Sequence[str], *, width: int, separator: str, where: str) -> None:
    if not fields[0]:
        raise IsoglotError(f"{where}: the word is missing; it should come first, and its tag last")
    if len(fields) == 1:
        raise IsoglotError(f"{where}: one column, {fields[0][:40]!r}; a word, a tab and its BIO tag expected")
    if len(fields) != width:
        between = "tabs" if separator == "\t" else "spaces"
        raise IsoglotError(
            f"{where}: {len(fields)} columns with {between} between, but the first word's line has {width}; "
            "each line should be a word, a tab and its BIO tag"
        )
    if not is_bio(fields[-1]):
        raise IsoglotError(
            f"{where}: the tag is {fields[-1][:40]!r}, not O, or B- or I- with a type; write other schemes as BIO"
        )


def _language_prefix(words: Iterable[str]) -> str:
    words = iter(words)
    first = next(words, "")
    found = LANGUAGE_PREFIX.match(first)
    return found[0] if found and all(word.startswith(found[0]) for word in words) else ""


def _are_iob1(sentences: Sequence[Sequence[str]]) -> bool:
    """Whether each B comes right after its own type; also of tags without any B, which as IOB2 would have no spans."""
    pairs = set(chain.from_iterable(pairwise([OUTSIDE, *tags]) for tags in sentences))
    return all(type_of(before) == type_of(tag) for before, tag in pairs if tag.startswith(BEGIN))


def _from_iob1(tags: Sequence[str]) -> tuple[str, ...]:
    return tuple(
        BEGIN + type_of(tag) if tag.startswith(INSIDE) and type_of(before) != type_of(tag) else tag
        for before, tag in pairwise([OUTSIDE, *tags])
    )
