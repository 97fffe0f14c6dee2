"""Chinese words as jieba cuts them in its precise mode with its hidden Markov model, many lines at a time."""

# N = characters of a text, P = pieces of it
import re
import string
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from isoglot.corpora.splitters.jieba_dictionary import Ids, JiebaDictionary
from isoglot.corpora.splitters.jieba_graph import Flags, WordGraph
from isoglot.corpora.splitters.jieba_markov import FIRST_HAN, LAST_HAN, JiebaMarkov
from isoglot.corpora.splitters.plain_marks import CONTROLS, PLAIN_MARKS

BATCH_CHARACTERS = 1 << 16
SPACE = ord(" ")
ALL_CODES = 0x110000
# Words stand in blocks of Han characters and these; every other character is a word by itself.
ALSO_IN_BLOCKS = string.ascii_letters + string.digits + "+#&._%-"
LATIN = re.compile(r"[a-zA-Z0-9]+(?:\.[0-9]+)?%?|[^a-zA-Z0-9]+")


def split_lines(lines: Sequence[str]) -> list[list[str]]:
    """The words of each line; a blank line has none.

    They are those of `jieba.lcut`, without its white space, each then rewritten as the scripts of Moses would rewrite
    it alone: plain punctuation marks and no control characters. XLM too cut first and rewrote then, but whole lines, in
    which the scripts glue "说 :" to one word.
    """
    return [words for text in _batches(lines) for words in _split(text)]


def _batches(lines: Sequence[str]) -> Iterator[str]:
    """Lines with a line end each and no other white space than single spaces."""
    batch: list[str] = []
    size = 0
    for line in lines:
        batch.append(" ".join(line.split()) + "\n")
        size += len(line)
        if size >= BATCH_CHARACTERS:
            yield "".join(batch)
            batch, size = [], 0
    if batch:
        yield "".join(batch)


def _split(text: str) -> list[list[str]]:
    code_N = np.frombuffer(text.encode("utf-32-le"), "<u4").astype(np.int64)
    graph = WordGraph.of(code_N, in_block_N=_in_blocks()[code_N], dictionary=_dictionary())
    last_N, single_N = _best_words(graph)
    first_P, end_P = _runs(single_N)
    # jieba leaves the characters of a run alone where together they are a word of the dictionary that lost.
    unknown = (end_P - first_P > 1) & ~graph.has_words(first_P, size=end_P - first_P)
    _mark_unknown_words(last_N, text=text, code_N=code_N, first_P=first_P[unknown], end_P=end_P[unknown])

    place_N = np.arange(len(code_N))
    place_N[1:] += np.cumsum(last_N[:-1])
    spaced = np.full(place_N[-1] + 1, SPACE, "<u4")
    spaced[place_N] = _plain_codes()[code_N]
    return [line.split() for line in spaced.tobytes().decode("utf-32-le").replace("…", "...").split("\n")[:-1]]


def _best_words(graph: WordGraph) -> tuple[Flags, Flags]:
    """Which characters are the last of a word, and which of those in blocks are a word alone."""
    size_N = graph.best_sizes()
    last_N = ~graph.in_block_N
    single_N = np.zeros_like(last_N)
    place, _ = _runs(graph.in_block_N)
    while place.size:
        size = size_N[place]
        single_N[place[size == 1]] = True
        place = place + size
        last_N[place - 1] = True
        place = place[graph.in_block_N[place]]
    return last_N, single_N


def _mark_unknown_words(last_N: Flags, *, text: str, code_N: Ids, first_P: Ids, end_P: Ids) -> None:
    """Mark the last characters of the words that runs of single characters are made of."""
    step_N = np.zeros(len(code_N), np.int8)
    step_N[first_P], step_N[end_P] = 1, -1
    inside_N = np.cumsum(step_N, dtype=np.int8).astype(np.bool_)
    han_N = inside_N & (code_N >= FIRST_HAN)
    last_N[inside_N] = False
    first_P, end_P = _runs(han_N)
    last_N[_markov().word_ends(code_N, first_P=first_P, size_P=end_P - first_P)] = True
    first_P, end_P = _runs(inside_N & ~han_N)
    for first, end in zip(first_P.tolist(), end_P.tolist(), strict=True):
        piece = text[first:end]
        last_N[end - 1] = True
        if not piece.isalnum():
            last_N[[first + word.end() - 1 for word in LATIN.finditer(piece)]] = True


def _runs(flag_N: Flags) -> tuple[Ids, Ids]:
    """Where runs of set flags begin, and the places after their ends; the last flag is not set."""
    edges = np.flatnonzero(np.diff(flag_N, prepend=False))
    return edges[0::2], edges[1::2]


@cache
def _dictionary() -> JiebaDictionary:
    return JiebaDictionary.read()


@cache
def _markov() -> JiebaMarkov:
    return JiebaMarkov.read()


@cache
def _in_blocks() -> Flags:
    flags = np.zeros(ALL_CODES, np.bool_)
    flags[FIRST_HAN : LAST_HAN + 1] = True
    flags[[ord(character) for character in ALSO_IN_BLOCKS]] = True
    return flags


@cache
def _plain_codes() -> NDArray[np.uint32]:
    """The character that takes the place of each one, but for an ellipsis, which becomes three."""
    codes = np.arange(ALL_CODES, dtype="<u4")
    for controls in CONTROLS:
        codes[controls.start : controls.stop] = SPACE
    single = {code: plain for code, plain in PLAIN_MARKS.items() if len(plain) == 1}
    codes[list(single)] = [ord(plain) for plain in single.values()]
    return codes
