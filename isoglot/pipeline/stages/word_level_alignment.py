"""Translation of words by a map between two models' vectors of word types, with static word vectors as baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from isoglot.corpora.numbered_text import NumberedText, Split
from isoglot.corpora.word_vectors import fasttext_vectors, read_word_vectors
from isoglot.machine import num_workers
from isoglot.pipeline.stages.readers import TwoModelStage
from isoglot.pipeline.stages.scores import SCORES, Score, scores_of, write_scores
from isoglot.pipeline.stages.source_files import SourceFile
from isoglot.pipeline.stages.text import LINES_BETWEEN_REPORTS, ReadsText, SplitText, read_lines, write_lines
from isoglot.pipeline.stages.translations import AnyDictionary, split_entries
from isoglot.store import Stage, Work
from isoglot.study.searches import FastText

if TYPE_CHECKING:
    from torch import Tensor

    from isoglot.evaluation.geometry.reader import EncoderReader
    from isoglot.evaluation.geometry.word_translation import WordPair, WordSpace

# S = layers 0 to last, or one where there are none, R = rows of vectors, D = width

WORDS = "words.txt"
VECTORS = "vectors.npy"
DRAFT = "text.txt"


@dataclass(frozen=True, kw_only=True)
class FastTextVectors(ReadsText):
    """Vectors of a text's words, the most frequent first; two trainings on the same text differ in their numbers."""

    kind: ClassVar[str] = "fasttext-vectors"
    leaves: ClassVar[tuple[str, ...]] = (VECTORS, WORDS)
    titled: ClassVar[str] = "fastText vectors, {self.text.title}"
    text: SplitText
    training: FastText
    most_words: int

    def make(self, work: Work) -> None:
        words, vector_WD = fasttext_vectors(
            NumberedText.read(work.path(self.text)).lines(Split.TRAIN),
            settings=self.training,
            most_words=self.most_words,
            threads=num_workers(),
            draft=work.folder / DRAFT,
        )
        _write_vectors(words, vector_WD, work.folder)


@dataclass(frozen=True, kw_only=True)
class WordVectorFile(Stage):
    """The first vectors of the user's file."""

    kind: ClassVar[str] = "word-vector-file"
    leaves: ClassVar[tuple[str, ...]] = (VECTORS, WORDS)
    titled: ClassVar[str] = "word vectors, {self.file.path.name}"
    file: SourceFile
    most_words: int

    def make(self, work: Work) -> None:
        words, vector_WD = read_word_vectors(self.file.path, most_words=self.most_words)
        self.file.check_unchanged()
        _write_vectors(words, vector_WD, work.folder)


AnyWordVectors = FastTextVectors | WordVectorFile


def word_vectors(folder: Path) -> tuple[list[str], NDArray[np.float32]]:
    """Words in lower case, each once, and their vectors [W, D]."""
    return read_lines(folder / WORDS), np.load(folder / VECTORS, allow_pickle=False)


def _write_vectors(words: list[str], vector_WD: NDArray[np.float32], folder: Path) -> None:
    write_lines(folder / WORDS, words)
    np.save(folder / VECTORS, vector_WD, allow_pickle=False)


@dataclass(frozen=True, kw_only=True)
class WordLevelAlignment(TwoModelStage):
    """Word translation of Figure 4 (section 5.1.1)."""

    kind: ClassVar[str] = "word-level-alignment"
    leaves: ClassVar[tuple[str, ...]] = (SCORES,)
    titled: ClassVar[str] = "map of words, {self.label}"
    version: ClassVar[int] = 2
    texts: Mapping[str, SplitText]  # their training lines give the words and their contexts
    fit: AnyDictionary
    test: AnyDictionary
    vectors: Mapping[str, AnyWordVectors]  # the baseline, for both languages or for none
    rounds: int
    # Departure: a line of the text is a sentence; what is longer than the model's windows is read in pieces.
    word_sentences: int
    most_words: int

    def make(self, work: Work) -> None:
        from isoglot.evaluation.geometry.word_translation import NoPairsError

        texts = [NumberedText.read(work.path(self.texts[language])) for language in self.languages]
        with self.readers(work) as readers:
            # Contextual vectors of all layers and both languages are in memory at once: 5.5 GB a language at the
            # paper's scale, and twice that while they are summed.
            sides = list(zip(readers, texts, strict=True))
            embedding = [_embedding_vectors(reader, text, most_words=self.most_words) for reader, text in sides]
            contextual = [self._contextual_vectors(reader, text, work) for reader, text in sides]
        baseline = [_static_vectors(work.path(self.vectors[language])) for language in self.languages if self.vectors]
        fit, test = self._pairs(work, self.fit), self._pairs(work, self.test)
        score = partial(
            word_scores, baseline=baseline, languages=self.languages, fit=fit, test=test, rounds=self.rounds
        )
        scores = list(score("contextual", contextual))
        try:
            scores += list(score("embedding", embedding))
        except NoPairsError:
            # A small vocabulary may have no dictionary word whole; the states of its words are still there.
            scores.append(Score(metric="embedding_coverage", value=0.0))
        scores.append(Score(metric="map_dimensions", value=readers[0].width))
        write_scores(work.folder, scores)

    def _contextual_vectors(self, reader: EncoderReader, text: NumberedText, work: Work) -> TypeVectors:
        from isoglot.evaluation.geometry.hidden_states import word_type_vectors

        def lines() -> Iterator[list[str]]:
            for number, line in enumerate(islice(text.lines(Split.TRAIN), self.word_sentences)):
                if number % LINES_BETWEEN_REPORTS == 0:
                    work.progress(number, self.word_sentences, "sentences")
                yield line

        # Departure: occurrences of all spellings that are one word in lower case are averaged together.
        counts, lower = text.word_counts(Split.TRAIN), Counter[str]()
        for spelling, count in counts.items():
            lower[spelling.lower()] += count
        row_of = {word: row for row, word in enumerate(most_frequent(lower)[: self.most_words])}
        vector_SRD, num_met_R = word_type_vectors(
            reader,
            reader.whole_sentences_of_words(lines()),
            types={spelling: row_of[spelling.lower()] for spelling in counts if spelling.lower() in row_of},
        )
        met = num_met_R.tolist()
        return TypeVectors(row_of={word: row for word, row in row_of.items() if met[row]}, vector_SRD=vector_SRD)

    def _pairs(self, work: Work, dictionary: AnyDictionary) -> list[WordPair]:
        # All entries in lower case; those of several words are in no vocabulary, but count for the coverage.
        entries = split_entries(work.path(dictionary), self.languages, self.splittings)
        return [(" ".join(own).lower(), " ".join(other).lower()) for own, other, _ in entries]


@dataclass(frozen=True, kw_only=True)
class TypeVectors:
    """The row of each word type of one language, the most frequent first, at every layer."""

    row_of: Mapping[str, int]
    vector_SRD: Tensor

    def space(self, words: Sequence[str], *, layer: int) -> WordSpace:
        from isoglot.evaluation.geometry.word_translation import WordSpace
        from isoglot.machine import this_machine

        vector_WD = self.vector_SRD[layer][[self.row_of[word] for word in words]]
        return WordSpace(words=words, vector_WD=vector_WD.to(this_machine().device))


def word_scores(
    name: str,
    vectors: Sequence[TypeVectors],
    *,
    baseline: Sequence[TypeVectors] = (),
    languages: tuple[str, str],
    fit: list[WordPair],
    test: list[WordPair],
    rounds: int,
) -> Iterator[Score]:
    """Scores of the words of both sides, and of the same words of the baseline."""
    from isoglot.evaluation.geometry.word_translation import word_translation

    # Departure: words that only the model has, or only the baseline, are left out, so that both translate the same.
    words = [
        [word for word in side.row_of if not baseline or word in baseline[place].row_of]
        for place, side in enumerate(vectors)
    ]
    for language, side, kept in zip(languages, vectors, words, strict=True):
        values = {f"{name}_words": len(kept), f"{name}_words_left_out": len(side.row_of) - len(kept)}
        yield from scores_of(values, language=language)
    for prefix, sides in ((name, vectors), (f"fasttext_of_{name}_words", baseline)):
        num_layers = len(sides[0].vector_SRD) if sides else 0
        for layer in range(num_layers):
            source, target = (side.space(kept, layer=layer) for side, kept in zip(sides, words, strict=True))
            found = word_translation(source, target, fit=fit, test=test, rounds=rounds)
            # Every layer has the same words.
            facts = found.coverage if layer == 0 else {}
            yield from scores_of({f"{prefix}_{metric}": value for metric, value in facts.items()})
            scores = {f"{prefix}_{metric}": value for metric, value in found.precision.items()}
            yield from scores_of(scores, layer=layer if num_layers > 1 else None)


def _static_vectors(folder: Path) -> TypeVectors:
    import torch

    words, vector_RD = word_vectors(folder)
    row_of = {word: row for row, word in enumerate(words)}
    return TypeVectors(row_of=row_of, vector_SRD=torch.from_numpy(vector_RD).unsqueeze(0))


def _embedding_vectors(reader: EncoderReader, text: NumberedText, *, most_words: int) -> TypeVectors:
    # The words of a text that are one subword, with its row of the embedding matrix.
    spellings = most_frequent(text.word_counts(Split.TRAIN))
    ids = reader.encoding.vocabulary.ids(reader.language)
    row_of: dict[str, int] = {}
    for spelling, subwords in zip(spellings, reader.encoding.bpe.segment_all(spellings), strict=True):
        if len(subwords) == 1 and subwords[0] in ids and len(row_of) < most_words:
            # Departure: of spellings that are one word in lower case, the most frequent has the row, as in MUSE.
            row_of.setdefault(spelling.lower(), ids[subwords[0]])
    return TypeVectors(row_of=row_of, vector_SRD=reader.token_table_VD.float().unsqueeze(0))


def most_frequent(counts: Mapping[str, int]) -> list[str]:
    return sorted(counts, key=lambda word: (-counts[word], word))
