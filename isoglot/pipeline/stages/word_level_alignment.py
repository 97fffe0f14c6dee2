"""Translation of words by a map between two models' vectors of word types, and between fastText vectors beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, ClassVar

from isoglot.corpora.numbered_text import NumberedText, Split
from isoglot.corpora.words import split_lines
from isoglot.pipeline.stages.dictionaries import AnyDictionary, dictionary_entries
from isoglot.pipeline.stages.scores import Score, write_scores
from isoglot.pipeline.stages.split_text import SplitText
from isoglot.pipeline.stages.two_models import TwoModelStage
from isoglot.pipeline.stages.word_vectors import AnyWordVectors, word_vectors
from isoglot.store import Work

if TYPE_CHECKING:
    from torch import Tensor

    from isoglot.evaluation.geometry.reader import EncoderReader
    from isoglot.evaluation.geometry.word_translation import WordPair, WordSpace, WordTranslation

    _FitAndTest = tuple[list[WordPair], list[WordPair]]

# S = layers 0 to last, or one where there are none, R = rows of vectors, D = width

LINES_BETWEEN_REPORTS = 1000


@dataclass(frozen=True, kw_only=True)
class WordLevelAlignment(TwoModelStage):
    """Figure 4 (section 5.1.1).

    Contextual vectors of all layers and both languages are in memory at once: 5.5 GB a language at the paper's scale,
    and twice that while they are summed.
    """

    kind: ClassVar[str] = "word-level-alignment"
    version: ClassVar[int] = 2
    texts: Mapping[str, SplitText]
    """Whose training lines tell the words, and are where these are met in context."""
    fit: AnyDictionary
    # Departure: the reverse direction is scored by the same entries turned round; MUSE has a dictionary of its own.
    test: AnyDictionary
    vectors: Mapping[str, AnyWordVectors]
    """The baseline, of both languages or of none."""
    rounds: int
    # Departure: a line of the text is a sentence; what is longer than the model's windows is read in pieces.
    word_sentences: int
    most_words: int

    @property
    def title(self) -> str:
        return f"map of words, {self.label}"

    def make(self, work: Work) -> None:
        from isoglot.evaluation.geometry.word_translation import NoPairsError

        texts = [NumberedText.read(work.path(self.texts[language])) for language in self.languages]
        with self.readers(work) as readers:
            embedding = [
                _embedding_vectors(reader, text, most_words=self.most_words)
                for reader, text in zip(readers, texts, strict=True)
            ]
            contextual = [
                self._contextual_vectors(reader, text, work) for reader, text in zip(readers, texts, strict=True)
            ]
        baseline = [self._baseline_vectors(work, language) for language in self.languages] if self.vectors else []
        pairs = self._pairs(work, self.fit), self._pairs(work, self.test)
        scores = list(self._scores("contextual", contextual, baseline, pairs=pairs))
        try:
            scores += list(self._scores("embedding", embedding, baseline, pairs=pairs))
        except NoPairsError:
            # A small vocabulary may have no dictionary word whole; the states of its words are still there.
            scores.append(Score(metric="embedding_coverage", value=0.0))
        scores.append(Score(metric="map_dimensions", value=readers[0].width))
        write_scores(work.folder, scores)

    def _baseline_vectors(self, work: Work, language: str) -> _TypeVectors:
        import torch

        words, vector_RD = word_vectors(work.path(self.vectors[language]))
        row_of = {word: row for row, word in enumerate(words)}
        return _TypeVectors(row_of=row_of, vector_SRD=torch.from_numpy(vector_RD).unsqueeze(0))

    def _contextual_vectors(self, reader: EncoderReader, text: NumberedText, work: Work) -> _TypeVectors:
        from isoglot.evaluation.geometry.hidden_states import word_type_vectors

        counts = text.word_counts(Split.TRAIN)
        # Departure: occurrences of all spellings that are one word in lower case are averaged together.
        lower: Counter[str] = Counter()
        for spelling, count in counts.items():
            lower[spelling.lower()] += count
        row_of = {word: row for row, word in enumerate(_most_frequent(lower)[: self.most_words])}
        lines = self._told(islice(text.lines(Split.TRAIN), self.word_sentences), work)
        vector_SRD, num_met_R = word_type_vectors(
            reader,
            reader.whole_sentences_of_words(lines),
            types={spelling: row_of[spelling.lower()] for spelling in counts if spelling.lower() in row_of},
        )
        met = num_met_R.tolist()
        return _TypeVectors(row_of={word: row for word, row in row_of.items() if met[row]}, vector_SRD=vector_SRD)

    def _told(self, lines: Iterator[list[str]], work: Work) -> Iterator[list[str]]:
        for number, line in enumerate(lines):
            if number % LINES_BETWEEN_REPORTS == 0:
                work.progress(number, self.word_sentences, "sentences")
            yield line

    def _scores(
        self, name: str, of_model: Sequence[_TypeVectors], baseline: Sequence[_TypeVectors], *, pairs: _FitAndTest
    ) -> Iterator[Score]:
        """Of the model's words, and of the same words of the baseline."""
        # Departure: words that only the model has, or only the baseline, are left out, so that both translate the same.
        words = [
            [word for word in side.row_of if not baseline or word in baseline[place].row_of]
            for place, side in enumerate(of_model)
        ]
        for language, side, kept in zip(self.languages, of_model, words, strict=True):
            yield Score(metric=f"{name}_words", language=language, value=len(kept))
            yield Score(metric=f"{name}_words_left_out", language=language, value=len(side.row_of) - len(kept))
        layers = list(self._translations(of_model, words, pairs=pairs))
        yield from _coverage_scores(name, layers[0])
        for layer, found in enumerate(layers):
            yield from _precision_scores(name, found, layer=layer if len(layers) > 1 else None)
        for found in self._translations(baseline, words, pairs=pairs):
            yield from _coverage_scores(f"fasttext_of_{name}_words", found)
            yield from _precision_scores(f"fasttext_of_{name}_words", found, layer=None)

    def _translations(
        self, sides: Sequence[_TypeVectors], words: Sequence[Sequence[str]], *, pairs: _FitAndTest
    ) -> Iterator[WordTranslation]:
        """At every layer; none of a baseline that is not there."""
        from isoglot.evaluation.geometry.word_translation import word_translation

        fit, test = pairs
        for layer in range(len(sides[0].vector_SRD) if sides else 0):
            source, target = (side.space(kept, layer=layer) for side, kept in zip(sides, words, strict=True))
            yield word_translation(source, target, fit=fit, test=test, rounds=self.rounds)

    def _pairs(self, work: Work, dictionary: AnyDictionary) -> list[WordPair]:
        """All entries in lower case; one of several words is in no vocabulary, but counts for the coverage."""
        entries = dictionary_entries(work.path(dictionary))
        source, target = self.languages
        own = split_lines([entry.source for entry in entries], self.splittings[source])
        other = split_lines([entry.target for entry in entries], self.splittings[target])
        return [(" ".join(a).lower(), " ".join(b).lower()) for a, b in zip(own, other, strict=True)]


@dataclass(frozen=True, kw_only=True)
class _TypeVectors:
    """The row of each word type of one language, the most frequent first, at every layer."""

    row_of: Mapping[str, int]
    vector_SRD: Tensor

    def space(self, words: Sequence[str], *, layer: int) -> WordSpace:
        from isoglot.evaluation.geometry.word_translation import WordSpace
        from isoglot.machine import this_machine

        vector_RD = self.vector_SRD[layer]
        vector_WD = vector_RD[[self.row_of[word] for word in words]]
        return WordSpace(words=words, vector_WD=vector_WD.to(this_machine().device))


def _embedding_vectors(reader: EncoderReader, text: NumberedText, *, most_words: int) -> _TypeVectors:
    """The words of a text that are one subword, and its row of the embedding matrix."""
    spellings = _most_frequent(text.word_counts(Split.TRAIN))
    ids = reader.vocabulary.ids(reader.language)
    row_of: dict[str, int] = {}
    for spelling, subwords in zip(spellings, reader.bpe.segment_all(spellings), strict=True):
        if len(subwords) == 1 and subwords[0] in ids:
            # Departure: of spellings that are one word in lower case, the most frequent has the row, as in MUSE.
            row_of.setdefault(spelling.lower(), ids[subwords[0]])
            if len(row_of) == most_words:
                break
    return _TypeVectors(row_of=row_of, vector_SRD=reader.token_table_VD.float().unsqueeze(0))


def _most_frequent(counts: Mapping[str, int]) -> list[str]:
    return sorted(counts, key=lambda word: (-counts[word], word))


def _precision_scores(name: str, found: WordTranslation, *, layer: int | None) -> Iterator[Score]:
    """By CSLS and from source to target, where the name does not say otherwise."""
    from isoglot.evaluation.geometry.retrieval import Measure

    for direction, by_measure in (("", found.to_target), ("_to_source", found.to_source)):
        for measure, precision in by_measure.items():
            suffix = ("" if measure is Measure.CSLS else f"_{measure.value}") + direction
            for at, value in precision.at.items():
                yield Score(metric=f"{name}_p{at}{suffix}", layer=layer, value=value)


def _coverage_scores(name: str, found: WordTranslation) -> Iterator[Score]:
    asked = next(iter(found.to_target.values())).num_queries
    yield Score(metric=f"{name}_asked", value=asked)
    yield Score(metric=f"{name}_fitted_pairs", value=found.fitted_pairs)
    yield Score(metric=f"{name}_coverage", value=found.coverage.pairs)
    yield Score(metric=f"{name}_coverage_of_source_words", value=found.coverage.source_words)
    yield Score(metric=f"{name}_coverage_of_target_words", value=found.coverage.target_words)
