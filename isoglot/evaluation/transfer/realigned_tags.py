"""Tags of single characters, as Chinese files have them, moved to the words of a segmenter (section 3.2)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, pairwise

from isoglot.corpora.splitters.marks import WITHOUT_SPACES, plain
from isoglot.corpora.words import split_lines
from isoglot.evaluation.transfer.bio_files import TaggedSentence
from isoglot.evaluation.transfer.bio_spans import BEGIN, INSIDE, OUTSIDE, Span, repair_bio, spans
from isoglot.study.languages import WordSplitting

UNSPACED = re.compile(f"[{WITHOUT_SPACES}]")
REMEMBERED = 1 << 16
LEAST_UNSPACED = 0.25
"""Of the tokens of a file in such a script; those of Chinese Wikipedia are two thirds."""
LEAST_SINGLE = 0.95
"""Of these; of Chinese words, about half are single characters."""


@dataclass(frozen=True, kw_only=True)
class Realigned:
    """Sentences in the words of a segmenter, and what became of the entities."""

    sentences: tuple[TaggedSentence, ...]
    num_straddling: int
    """Words with characters of an entity and others that are not of it."""
    num_spans: int
    """Before."""
    num_changed: int
    """Spans that have other first or last characters now, as a word straddles their ends."""
    num_lost: int
    """Spans without a word, as another entity has the only one they are in."""
    num_untouched: int
    """Sentences left as they were, as the segmenter gave back other characters."""


@dataclass(frozen=True, kw_only=True)
class _Moved:
    tags: tuple[str, ...]
    num_straddling: int
    num_changed: int
    num_lost: int


def needs_realignment(sentences: Sequence[TaggedSentence]) -> bool:
    """Whether the tokens are single characters of Chinese or another script without spaces, rather than words."""
    tokens = [token for sentence in sentences for token in sentence.words]
    unspaced = [token for token in tokens if UNSPACED.search(token)]
    singles = sum(len(token) == 1 for token in unspaced)
    return bool(tokens) and len(unspaced) >= LEAST_UNSPACED * len(tokens) and singles >= LEAST_SINGLE * len(unspaced)


def realigned(sentences: Sequence[TaggedSentence], splitting: WordSplitting) -> Realigned:
    """Sentences cut into words without a look at their tags, which then follow their characters.

    A segmenter may make marks plain and drop control characters, as those of text for pretraining do. A sentence in
    which it changes others has no places to move tags to, and stays as it was.
    """
    # Letters become small only when their places are known: some become two.
    as_written = replace(splitting, lowercase=False)
    moved: list[TaggedSentence] = []
    num_spans = num_straddling = num_changed = num_lost = num_untouched = 0
    lines = split_lines([_joined(sentence.words) for sentence in sentences], as_written)
    for sentence, words in zip(sentences, lines, strict=True):
        entities = spans(sentence.tags)
        num_spans += len(entities)
        edges = _edges(sentence.words, words)
        if edges is None:
            words, tags = list(sentence.words), tuple(repair_bio(sentence.tags))
            num_untouched += 1
        else:
            result = _moved([(edges[start], edges[stop], kind) for start, stop, kind in entities], words)
            tags = result.tags
            num_straddling += result.num_straddling
            num_changed += result.num_changed
            num_lost += result.num_lost
        moved.append(TaggedSentence(words=tuple(map(str.lower, words) if splitting.lowercase else words), tags=tags))
    return Realigned(
        sentences=tuple(moved),
        num_straddling=num_straddling,
        num_spans=num_spans,
        num_changed=num_changed,
        num_lost=num_lost,
        num_untouched=num_untouched,
    )


def _joined(tokens: Sequence[str]) -> str:
    """Tokens in one line, with a space where two would grow together of which one is a whole word, as in Hong Kong."""
    pieces = [*tokens[:1]]
    for before, token in pairwise(tokens):
        if len(before) + len(token) > 2 and _in_spaced_word(before[-1]) and _in_spaced_word(token[0]):
            pieces.append(" ")
        pieces.append(token)
    return "".join(pieces)


def _in_spaced_word(character: str) -> bool:
    return character.isalnum() and UNSPACED.match(character) is None


def _edges(tokens: Sequence[str], words: Sequence[str]) -> list[int] | None:
    """Where each token begins in the words joined, and where the last one ends; nothing if they are of other text."""
    text = "".join(words)
    for spelled in (_plain, _unspaced):
        spellings = [spelled(token) for token in tokens]
        if text and "".join(spellings) == text:
            return [0, *accumulate(map(len, spellings))]
    return None


@lru_cache(maxsize=REMEMBERED)
def _plain(token: str) -> str:
    """As our own segmenters write it, wherever they cut."""
    return _unspaced(plain(token))


def _unspaced(token: str) -> str:
    return "".join(token.split())


def _moved(entities: Sequence[Span], words: Sequence[str]) -> _Moved:
    """Tags of words, from spans of the characters in them."""
    # Departure: a word that is in part an entity is that entity. Of several it is the first that has no word yet, so
    # that as few as possible are lost, or else the one that goes on from the word before.
    tags: list[str] = []
    covered: dict[Span, tuple[int, int]] = {}
    num_straddling = 0
    for start, stop in pairwise([0, *accumulate(map(len, words))]):
        inside = [entity for entity in entities if max(entity[0], start) < min(entity[1], stop)]
        num_straddling += any(first > start or end < stop for first, end, _ in inside)
        entity = next((entity for entity in inside if entity not in covered), inside[0] if inside else None)
        if entity is None:
            tags.append(OUTSIDE)
            continue
        tags.append((INSIDE if entity in covered else BEGIN) + entity[2])
        covered[entity] = (covered.get(entity, (start, stop))[0], stop)
    changed = [entity for entity, place in covered.items() if entity[:2] != place]
    return _Moved(
        tags=tuple(tags),
        num_straddling=num_straddling,
        num_changed=len(changed),
        num_lost=len(entities) - len(covered),
    )
