"""Named-entity recognition: BIO tags of words, their spans, and tags of characters moved to words (section 3.2)."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import ClassVar

from isoglot.corpora.readers.bio_files import BEGIN, INSIDE, OUTSIDE, TaggedSentence, bio_text, read_bio
from isoglot.corpora.splitters.marks import WITHOUT_SPACES, plain
from isoglot.corpora.synthetic import draw_meanings, trees
from isoglot.corpora.words import split_lines, whole_words
from isoglot.evaluation.transfer.bio_tags import Span, repair_bio, span_counts, spans
from isoglot.evaluation.transfer.task import Recipe, Segments, Task, Windows
from isoglot.study.languages import WordSplitting
from isoglot.study.synthetic_languages import SyntheticLanguage, World

UNSPACED = re.compile(f"[{WITHOUT_SPACES}]")
REMEMBERED = 1 << 16
LEAST_UNSPACED = 0.25
"""The share of a file's tokens in such a script; in Chinese Wikipedia it is two thirds."""
LEAST_SINGLE = 0.95
"""The share of these that are single characters; of Chinese words it is about half."""


class Ner(Task[TaggedSentence]):
    """A linear softmax on first subwords; its tags are repaired to spans of one type each."""

    name = "ner"
    title = "NER"
    metric = "f1"
    metric_titles: ClassVar = {"f1": "F1", "precision": "Precision", "recall": "Recall"}
    suffix = ".bio"
    scorer = "seqeval, or with conlleval on the columns of: paste GOLD PREDICTED | cut -f 1,2,4"
    recipe = Recipe.WORDS
    windows = Windows.OVERLAPPING

    def read_official(
        self, paths: Sequence[Path], *, splitting: WordSplitting
    ) -> tuple[list[TaggedSentence], dict[str, int]]:
        sentences = [sentence for path in paths for sentence in read_bio(path)]
        if needs_realignment(sentences):
            return realigned(sentences, splitting)
        return [replace(each, words=whole_words(each.words, splitting)) for each in sentences], {}

    def made_up(self, language: SyntheticLanguage, *, world: World, count: int, seed: int) -> list[TaggedSentence]:
        made = trees(draw_meanings(world, count=count, seed=seed), language, world=world)
        return [TaggedSentence(words=tree.words, tags=tree.entity_tags) for tree in made]

    def read(self, path: Path) -> list[TaggedSentence]:
        return read_bio(path)

    def text(self, examples: Sequence[TaggedSentence]) -> str:
        return bio_text(examples)

    def segments(self, example: TaggedSentence) -> Segments:
        return (example.words,)

    def gold_labels(self, example: TaggedSentence) -> tuple[str, ...]:
        return example.tags

    def scored(self, label: str) -> str | None:
        # Spans are counted, not the words between them.
        return None if label == OUTSIDE else label

    def predicted(
        self, example: TaggedSentence, columns: Sequence[Sequence[int]], labels: Sequence[str]
    ) -> TaggedSentence:
        return replace(example, tags=tuple(repair_bio([labels[label] for label in columns[0]])))

    def scores(self, gold: Sequence[TaggedSentence], predicted: Sequence[TaggedSentence]) -> dict[str, float]:
        counts, _ = span_counts([each.tags for each in gold], [each.tags for each in predicted])
        return {"f1": counts.f1, "precision": counts.precision, "recall": counts.recall}

    def breakdown(self, gold: Sequence[TaggedSentence], predicted: Sequence[TaggedSentence]) -> list[list[str]]:
        _, by_type = span_counts([each.tags for each in gold], [each.tags for each in predicted])
        return [["type", "spans", "precision", "recall", "F1"]] + [
            [type_, str(each.gold), f"{each.precision:.1f}", f"{each.recall:.1f}", f"{each.f1:.1f}"]
            for type_, each in by_type.items()
        ]


def needs_realignment(sentences: Sequence[TaggedSentence]) -> bool:
    """Whether the tokens are single characters of Chinese or another script without spaces, rather than words."""
    tokens = [token for sentence in sentences for token in sentence.words]
    unspaced = [token for token in tokens if UNSPACED.search(token)]
    singles = sum(len(token) == 1 for token in unspaced)
    return bool(tokens) and len(unspaced) >= LEAST_UNSPACED * len(tokens) and singles >= LEAST_SINGLE * len(unspaced)


def realigned(
    sentences: Sequence[TaggedSentence], splitting: WordSplitting
) -> tuple[list[TaggedSentence], dict[str, int]]:
    """Sentences in the words of a segmenter, which does not see their tags, and counts of what the moves cost.

    straddling_words: words with characters of an entity and others that are not of it.
    changed_spans: spans that have other first or last characters now, as a word straddles their ends.
    lost_spans: spans without a word, as another entity has the only one they are in.
    sentences_not_realigned: sentences left as they were, as the segmenter gave back other characters. It may make
    marks plain and drop control characters, as splitters do with text for pretraining, and no more.
    """
    # Letters become small only when their places are known: some become two.
    as_written = replace(splitting, lowercase=False)
    moved: list[TaggedSentence] = []
    counts = dict.fromkeys(("straddling_words", "changed_spans", "lost_spans", "sentences_not_realigned"), 0)
    lines = split_lines([_joined(sentence.words) for sentence in sentences], as_written)
    for sentence, words in zip(sentences, lines, strict=True):
        edges = _edges(sentence.words, words)
        if edges is None:
            words, tags = list(sentence.words), repair_bio(sentence.tags)
            counts["sentences_not_realigned"] += 1
        else:
            entities = [(edges[start], edges[stop], kind) for start, stop, kind in spans(sentence.tags)]
            tags = _moved(entities, words, counts=counts)
        words = [word.lower() for word in words] if splitting.lowercase else words
        moved.append(TaggedSentence(words=tuple(words), tags=tuple(tags)))
    return moved, counts


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
    """The place where each token begins in the words joined, and where the last one ends; None for another text."""
    text = "".join(words)
    for spelled in (_plain, _unspaced):
        spellings = [spelled(token) for token in tokens]
        if text and "".join(spellings) == text:
            return [0, *accumulate(map(len, spellings))]
    return None


@lru_cache(maxsize=REMEMBERED)
def _plain(token: str) -> str:
    """A token as our own segmenters write it, wherever they cut."""
    return _unspaced(plain(token))


def _unspaced(token: str) -> str:
    return "".join(token.split())


def _moved(entities: Sequence[Span], words: Sequence[str], *, counts: dict[str, int]) -> list[str]:
    """Tags of words, from spans of the characters in them; what they cost is added to the counts."""
    # Departure: a word that is in part an entity is that entity. Of several it is the first that has no word yet, so
    # that as few as possible are lost, or else the one that goes on from the word before.
    tags: list[str] = []
    covered: dict[Span, tuple[int, int]] = {}
    for start, stop in pairwise([0, *accumulate(map(len, words))]):
        inside = [entity for entity in entities if max(entity[0], start) < min(entity[1], stop)]
        counts["straddling_words"] += any(first > start or end < stop for first, end, _ in inside)
        entity = next((entity for entity in inside if entity not in covered), inside[0] if inside else None)
        if entity is None:
            tags.append(OUTSIDE)
            continue
        tags.append((INSIDE if entity in covered else BEGIN) + entity[2])
        covered[entity] = (covered.get(entity, (start, stop))[0], stop)
    counts["changed_spans"] += sum(entity[:2] != place for entity, place in covered.items())
    counts["lost_spans"] += len(entities) - len(covered)
    return tags


TASK = Ner()
