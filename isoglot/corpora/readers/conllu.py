"""Treebanks in CoNLL-U, the format of Universal Dependencies: their words, heads and relations."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from isoglot.corpora.readers.line_files import LineFile
from isoglot.errors import IsoglotError

NUM_COLUMNS = 10
UNKNOWN = "_"
NOT_A_WORD = re.compile(r"[0-9]+[-.][0-9]+")
"""The id of a token of several words, such as 3-4, or of a word left out, such as 5.1."""
# In digits; Python reads no number of thousands of them.
LONGEST_HEAD = 9
SHOWN_WORDS = 10


@dataclass(frozen=True, kw_only=True)
class Tree:
    """A sentence and its syntax; heads count words from 1, and 0 is the root."""

    words: tuple[str, ...]
    upos: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]


Word = tuple[str, str, int, str]
"""Form, UPOS, head and relation."""


class _FaultError(Exception):
    """A fault of one word of the sentence, or of the line last read."""

    def __init__(self, complaint: str, *, word: int | None = None) -> None:
        super().__init__(complaint)
        self.word = word


def read_conllu(path: Path | str) -> list[Tree]:
    """The sentences of a file, plain or compressed; tokens of several words and words left out are skipped."""
    trees: list[Tree] = []
    words: list[Word] = []
    word_lines: list[int] = []
    line = ""
    with LineFile(path) as lines:
        try:
            for line in lines:
                if not line:
                    trees.append(_tree(words))
                    words, word_lines = [], []
                elif line[0] != "#" and (word := _word(line, place=len(words) + 1)) is not None:
                    words.append(word)
                    word_lines.append(lines.number)
            if not trees and not words:
                raise _FaultError("the file ends without a sentence; is it a treebank in CoNLL-U?")
            if line:
                raise _FaultError(
                    "no blank line ends the last sentence; fetch the file again if it was cut off, else add the line"
                )
        except _FaultError as fault:
            number = lines.number if fault.word is None else word_lines[fault.word - 1]
            raise IsoglotError(f"{path}:{number}: {fault}") from None
    return trees


def conllu_text(trees: Iterable[Tree]) -> str:
    """The text that read_conllu reads as these trees; columns that a tree does not hold are `_`."""
    lines: list[str] = []
    for number, tree in enumerate(trees, start=1):
        try:
            lines += [f"# sent_id = {number}", f"# text = {' '.join(tree.words)}", *_word_lines(tree), ""]
        except _FaultError as fault:
            raise IsoglotError(f"sentence {number} cannot be written as CoNLL-U: {fault}") from None
    return "".join(f"{line}\n" for line in lines)


def _word_lines(tree: Tree) -> list[str]:
    words = list(zip(tree.words, tree.upos, tree.heads, tree.relations, strict=True))
    lines = []
    for place, (form, upos, head, relation) in enumerate(words, start=1):
        line = f"{place}\t{form}\t_\t{upos}\t_\t_\t{head}\t{relation}\t_\t_"
        if not {"\n", "\r", "\0"}.isdisjoint(line):
            raise _FaultError(f"there is a line break or NUL in word {place}, {words[place - 1]}; take it out")
        # Refused as when it is read, so that nothing is written that could not be read again.
        _word(line, place=place)
        lines.append(line)
    _tree(words)
    return lines


def _word(line: str, *, place: int) -> Word | None:
    """The word at this place, or None if the line is no word's."""
    columns = line.split("\t")
    if len(columns) != NUM_COLUMNS:
        raise _FaultError(f"{len(columns)} columns where CoNLL-U has {NUM_COLUMNS}; put one tab between two columns")
    word_id, form, _, upos, _, _, head, relation, _, _ = columns
    if word_id != str(place):
        if NOT_A_WORD.fullmatch(word_id):
            return None
        raise _FaultError(f"the id is {word_id!r} where word {place} should be; number the words 1, 2, 3 and so on")
    if not form.strip():
        raise _FaultError(f"the form of word {place} is blank; give the word as it is written")
    if not upos.strip():
        raise _FaultError(f"the UPOS of word {place}, {form!r}, is blank; write {UNKNOWN} if it is not known")
    if not head.isdecimal() or len(head) > LONGEST_HEAD:
        shown = f"the head of word {place}, {form!r}, is {head[:40]!r}"
        raise _FaultError(f"{shown}; give a word's number, or 0 for the root")
    if relation == UNKNOWN or not relation.strip():
        raise _FaultError(f"word {place}, {form!r}, has no relation to its head; give one, such as nsubj")
    return form, upos, int(head), relation


def _tree(words: Sequence[Word]) -> Tree:
    if not words:
        raise _FaultError("a sentence without words ends here; drop this line and the comments before it")
    forms, upos, heads, relations = zip(*words, strict=True)
    roots = [place for place, head in enumerate(heads, start=1) if head == 0]
    for place, head in enumerate(heads, start=1):
        if head > len(heads):
            where = f"the head of {_named([place], forms)} is {head} in a sentence of {len(heads)} words"
            raise _FaultError(f"{where}; give the number of one of them, or 0 for the root", word=place)
    if not roots:
        raise _FaultError("no word of the sentence has the head 0; give it to the one that is the root", word=1)
    if len(roots) > 1:
        raise _FaultError(f"{_named(roots, forms)} all have the head 0; keep it for one of them", word=roots[1])
    if cycle := _cycle(heads):
        shown = _named(cycle, forms)
        raise _FaultError(f"the heads of {shown} form a cycle; give one of them a head outside it", word=cycle[0])
    return Tree(words=forms, upos=upos, heads=heads, relations=relations)


def _cycle(heads: Sequence[int]) -> list[int]:
    """The words of a cycle that heads lead into, from its first word; none in a tree."""
    try:
        TopologicalSorter({place: [head] for place, head in enumerate(heads, start=1)}).prepare()
    except CycleError as error:
        # The first node of its list is the last one as well, and heads come before their words.
        cycle: list[int] = error.args[1][:0:-1]
        first = cycle.index(min(cycle))
        return cycle[first:] + cycle[:first]
    return []


def _named(places: Sequence[int], forms: Sequence[str]) -> str:
    names = [f"{place} {forms[place - 1]!r}" for place in places[:SHOWN_WORDS]]
    names += [f"{len(places) - SHOWN_WORDS} more"] if len(places) > SHOWN_WORDS else []
    return f"word{'s' if len(places) > 1 else ''} {', '.join(names)}"
