"""What the lines of a data file must look like, each format in a few words of code."""

import re
from collections.abc import Iterable, Sequence

Numbered = Iterable[tuple[int, str]]
"""Lines with their numbers, from 1."""

CONLLU_COLUMNS = 10
ID, HEAD = 0, 6
NLI_LABELS = ("entailment", "neutral", "contradiction")
BIO_TAG = re.compile(r"O|[BI]-\S+")


class FormatError(Exception):
    """The number of a line, and what is wrong with it."""

    def __init__(self, line: int, problem: str):
        super().__init__(problem)
        self.line = line


def check_text(lines: Numbered) -> None:
    """Text: at least one line that is not blank."""
    if not sum(bool(line.strip()) for _, line in lines):
        raise FormatError(1, "all lines are blank")


def check_conllu(lines: Numbered) -> None:
    """CoNLL-U: ten columns, words counted from 1, heads in the sentence, a blank line after every sentence."""
    words: list[tuple[int, int]] = []
    number = 0
    for number, line in lines:
        if line.startswith("#"):
            continue
        if line:
            columns = line.split("\t")
            if len(columns) != CONLLU_COLUMNS:
                raise FormatError(number, f"{len(columns)} columns where CoNLL-U has {CONLLU_COLUMNS}")
            if columns[ID].isdecimal():
                words.append((number, _head(columns, number=number, place=len(words) + 1)))
        else:
            _refuse_heads(words)
            words = []
    if words:
        raise FormatError(number, "no blank line ends the last sentence: the file may be cut off")


def _head(columns: Sequence[str], *, number: int, place: int) -> int:
    if int(columns[ID]) != place:
        raise FormatError(number, f"word {columns[ID]} stands where word {place} should")
    if not columns[HEAD].isdecimal():
        raise FormatError(number, f"the head {columns[HEAD]!r} is not a whole number")
    return int(columns[HEAD])


def _refuse_heads(words: Sequence[tuple[int, int]]) -> None:
    for place, (number, head) in enumerate(words, start=1):
        if head > len(words) or head == place:
            raise FormatError(number, f"the head of word {place} is {head} in a sentence of {len(words)} words")


def check_nli(lines: Numbered) -> None:
    """Premise, hypothesis, label, and perhaps a source."""
    for number, line in lines:
        columns = line.split("\t")
        if len(columns) not in (3, 4):
            raise FormatError(number, f"{len(columns)} columns where 3 or 4 were expected")
        if columns[2] not in NLI_LABELS:
            raise FormatError(number, f"the label {columns[2]!r} is none of {', '.join(NLI_LABELS)}")


def check_bio(lines: Numbered) -> None:
    """Token and IOB2 tag; a blank line between sentences."""
    for number, line in lines:
        columns = line.split("\t")
        if line and len(columns) != 2:
            raise FormatError(number, f"{len(columns)} columns where a token and a tag were expected")
        if line and not BIO_TAG.fullmatch(columns[1]):
            raise FormatError(number, f"the tag {columns[1]!r} is not O, B-something or I-something")


def check_table(lines: Numbered) -> None:
    """A header with a column for each language, and as many columns in every row."""
    width = 0
    for number, line in lines:
        width = width or len(line.split("\t"))
        if (columns := len(line.split("\t"))) != width or width == 1:
            raise FormatError(number, f"{columns} columns where {max(width, 2)} were expected")
