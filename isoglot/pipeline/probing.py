"""Any encoder probed on parallel sentences and a dictionary: the numbers of Figures 4, 6 and 7, with their floors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import category
from warnings import catch_warnings

from isoglot.corpora.sentences import NO_WORD, EncodedSentence
from isoglot.pipeline.cells import EMERGENCE, FIGURE_4, FIGURE_6, FIGURE_7, UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.pipeline.probe_texts import PairText
from isoglot.pipeline.stages.readers import sentences_cut
from isoglot.pipeline.stages.scores import Score, scores_of
from isoglot.pipeline.stages.word_level_alignment import TypeVectors, most_frequent, word_scores
from isoglot.study.searches import NewVectors

if TYPE_CHECKING:
    from isoglot.evaluation.geometry.comparison import Comparison, LineProgress, Side
    from isoglot.evaluation.geometry.reader import Reader

# S = layers 0 to last, R = rows of vectors, D = width

PROBE = "probe"
BOTH_UNTRAINED = "both-untrained"
ROUNDS = 5


class Prober:
    """Probes one pair of languages after the other; the first, if it has the same sentences in each, is read once."""

    def __init__(
        self, *, name: str, new_vectors: NewVectors, progress: LineProgress = lambda _name, _done: None
    ) -> None:
        """`name` is that of the models."""
        from isoglot.evaluation.geometry.comparison import untrained_readers

        self.name, self.new_vectors, self.progress = name, new_vectors, progress
        self._floors = lru_cache(maxsize=1)(untrained_readers)
        self._first = lru_cache(maxsize=1)(self._read)

    def probed(self, readers: tuple[Reader, Reader], text: PairText) -> tuple[list[Measurement], list[str]]:
        """Every number of a pair of languages, each as its reader reads it, and notes."""
        from isoglot.evaluation.geometry.comparison import FLOOR_SEED, compared

        (a, b), lines, floors = text.languages, text.lines, self._floors(*readers)
        has_words = bool(text.entries)
        sides = (
            self._first(readers[0], floors[0], lines.a, lines.texts, a, 0 if has_words else None),
            self._read(readers[1], floors[1], lines.b, lines.texts, b, 1 if has_words else None),
        )
        result = compared(sides[0].side, sides[1].side, rounds=ROUNDS, new_vectors=self.new_vectors)
        blank = Measurement(
            study=PROBE,
            exhibit="",
            condition=self.name,
            languages=text.languages,
            language=b,
            task=None,
            metric="",
            layer=None,
            seed=FLOOR_SEED,
            value=0.0,
            stage="",
        )
        scores = (*_sentence_scores(sides, text, result), *_word_scores(sides, text))
        measured = [
            replace(blank, exhibit=exhibit, variant=variant, **vars(replace(score, language=score.language or b)))
            for exhibit, variant, score in scores
        ]
        notes = [
            f"{side.num_cut:,} of {len(side.lines):,} lines of {side.name} are longer than the "
            f"{side.reader.most_tokens:,} tokens that its model reads; their ends were not read, so give shorter lines."
            for side, _ in sides
            if side.num_cut
        ]
        notes += [*lines.notes, *result.notes]
        if text.entries and not any(each.metric == "contextual_p1" for each in measured):
            notes.append("Words are not probed: no entry of the dictionary has both its words in these sentences.")
        return measured, notes

    def _read(
        self, reader: Reader, floor: Reader, lines: tuple[str, ...], texts: tuple[int, ...], name: str, half: int | None
    ) -> ProbedSide:
        """The words are those of one half of the texts; of none where there is no dictionary to ask for them by."""
        from isoglot.evaluation.geometry.comparison import read_side

        sentences = reader.whole_sentences(lines)
        # A word and its translation stand in the same lines. What the lines speak of would tell them, so that each
        # language has its words from other texts.
        has_words = [text % 2 == half for text in texts]
        row_of: dict[str, int] = {}
        types = {}
        for spelling in most_frequent(_counts(compress(sentences, has_words))):
            if word := _dictionary_form(spelling):
                types[spelling] = row_of.setdefault(word, len(row_of))
        side = read_side(
            reader,
            floor,
            lines,
            texts=texts,
            sentences=sentences,
            types=types,
            has_words=has_words,
            name=name,
            progress=self.progress,
        )
        return ProbedSide(side, row_of)


class ProbedSide(NamedTuple):
    """One language, and the row of each of its words among the types of its side, the most frequent first."""

    side: Side
    row_of: Mapping[str, int]


Sides = tuple[ProbedSide, ProbedSide]
Scored = tuple[str, str | None, Score]
"""Exhibit, variant and score."""


def _sentence_scores(sides: Sides, text: PairText, result: Comparison) -> Iterator[Scored]:
    by_variant = {None: result.layers, UNTRAINED: result.target_untrained, BOTH_UNTRAINED: result.both_untrained}
    for variant, layers in by_variant.items():
        for place, values in enumerate(layers):
            for score in scores_of(values, layer=place):
                exhibit = EMERGENCE if score.metric.startswith("retrieval") else FIGURE_7
                yield FIGURE_6 if score.metric.startswith("aligned") else exhibit, variant, score
    num_lines, chance = len(text.lines.a), 100 / result.num_tests
    cut = sentences_cut(text.languages, [side.num_cut for side, _ in sides], num_lines=num_lines)
    facts = {
        EMERGENCE: {"retrieval_p1_chance": chance, "retrieval_p1_by_length": result.by_length.retrieval},
        FIGURE_6: {
            "aligned_retrieval_p1_chance": chance,
            "aligned_retrieval_p1_by_length": result.by_length.retrieval,
            "fitted_pairs": result.num_fitted,
            "tests": result.num_tests,
            "map_dimensions": max(side.reader.width for side, _ in sides),
        },
        FIGURE_7: {"sentences": num_lines, "cka_by_length": result.by_length.cka},
    }
    for exhibit, values in facts.items():
        yield from ((exhibit, None, score) for score in (*scores_of(values), *cut))


def _word_scores(sides: Sides, text: PairText) -> Iterator[Scored]:
    """States averaged by word over the parallel sentences (Figure 4b), and rows of the token table (4a)."""
    from isoglot.evaluation.geometry.comparison import paired_layers
    from isoglot.evaluation.geometry.vectors import FewPairsWarning
    from isoglot.evaluation.geometry.word_translation import NoPairsError

    if not text.entries:
        return
    fit, test = text.fit_and_test
    layers = list(zip(*paired_layers(*(len(side.vector_SND) for side, _ in sides)), strict=True))
    words = list(zip(*text.entries, strict=True))
    width = max(side.reader.width for side, _ in sides)
    for variant in (None, BOTH_UNTRAINED):
        states = [
            TypeVectors(row_of=row_of, vector_SRD=(side.floor_type_SRD if variant else side.type_SRD)[list(chosen)])
            for (side, row_of), chosen in zip(sides, layers, strict=True)
        ]
        rows = [
            _table_rows(side.floor if variant else side.reader, side.lines, of_dictionary)
            for (side, _), of_dictionary in zip(sides, words, strict=True)
        ]
        for name, vectors in (("contextual", states), ("embedding", rows)):
            scores: list[Score] = []
            # Where no entry has both its words there is nothing to score; a note of the figure says that pairs are few.
            with suppress(NoPairsError), catch_warnings(action="ignore", category=FewPairsWarning):
                scores += word_scores(
                    name, _of_one_width(vectors), languages=text.languages, fit=fit, test=test, rounds=ROUNDS
                )
                scores.append(Score(metric="map_dimensions", value=width))
            yield from ((FIGURE_4, variant, score) for score in scores)


def _counts(sentences: Iterable[EncodedSentence]) -> Counter[str]:
    return Counter(word for sentence in sentences for word in sentence.words)


def _table_rows(reader: Reader, lines: Sequence[str], words: Sequence[str]) -> TypeVectors:
    """Words of the text and of the dictionary that are one token; none where a model has no table."""
    import torch

    if (table_VD := reader.token_table_VD) is None:
        return TypeVectors(row_of={}, vector_SRD=torch.zeros(1, 0, reader.width))
    spellings = list(dict.fromkeys([*most_frequent(_counts(reader.whole_sentences(lines))), *words]))
    row_of: dict[str, int] = {}
    for spelling, sentence in zip(spellings, reader.whole_sentences(spellings), strict=True):
        tokens = [token for token, place in zip(sentence.ids, sentence.word_of, strict=True) if place != NO_WORD]
        if len(tokens) == 1 and tokens[0] != reader.unknown_id and (word := _dictionary_form(spelling)):
            row_of.setdefault(word, tokens[0])
    return TypeVectors(row_of=row_of, vector_SRD=table_VD.float().cpu().unsqueeze(0))


def _dictionary_form(spelling: str) -> str:
    # Tokenizers that cut at white space alone leave marks at the ends of words.
    marks = "".join(letter for letter in {*spelling} if category(letter)[0] in "PS")
    return spelling.lower().strip(marks)


def _of_one_width(sides: Sequence[TypeVectors]) -> list[TypeVectors]:
    from torch.nn.functional import pad

    width = max(side.vector_SRD.shape[2] for side in sides)
    return [replace(side, vector_SRD=pad(side.vector_SRD, (0, width - side.vector_SRD.shape[2]))) for side in sides]
