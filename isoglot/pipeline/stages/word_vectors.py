"""Static word vectors, trained here or read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from isoglot.corpora.numbered_text import NumberedText, Split
from isoglot.corpora.word_vectors import fasttext_vectors, read_word_vectors
from isoglot.machine import num_workers
from isoglot.pipeline.stages.source_files import SourceFile
from isoglot.pipeline.stages.split_text import SplitText, for_split_texts
from isoglot.pipeline.stages.text import read_lines, write_lines
from isoglot.store import Resources, Stage, Work
from isoglot.study.searches import FastText

WORDS = "words.txt"
VECTORS = "vectors.npy"
DRAFT = "text.txt"


@dataclass(frozen=True, kw_only=True)
class FastTextVectors(Stage):
    """Of the words of a text, the most frequent first; two that are made of the same text differ in their numbers."""

    kind: ClassVar[str] = "fasttext-vectors"
    text: SplitText
    training: FastText
    most_words: int

    @property
    def title(self) -> str:
        return f"fastText vectors, {self.text.title}"

    def resources(self) -> Resources:
        return for_split_texts(self.text)

    def make(self, work: Work) -> None:
        text = NumberedText.read(work.path(self.text))
        words, vector_WD = fasttext_vectors(
            text.lines(Split.TRAIN),
            settings=self.training,
            most_words=self.most_words,
            threads=num_workers(),
            draft=work.folder / DRAFT,
        )
        _write(words, vector_WD, work.folder)


@dataclass(frozen=True, kw_only=True)
class WordVectorFile(Stage):
    """The first vectors of a file that the user has."""

    kind: ClassVar[str] = "word-vector-file"
    file: SourceFile
    most_words: int

    @property
    def title(self) -> str:
        return f"word vectors, {self.file.path.name}"

    def make(self, work: Work) -> None:
        words, vector_WD = read_word_vectors(self.file.path, most_words=self.most_words)
        self.file.check_unchanged()
        _write(words, vector_WD, work.folder)


AnyWordVectors = FastTextVectors | WordVectorFile


def word_vectors(folder: Path) -> tuple[list[str], NDArray[np.float32]]:
    """Words in lower case, each once, and their vectors [W, D]."""
    vector_WD: NDArray[np.float32] = np.load(folder / VECTORS, allow_pickle=False)
    return read_lines(folder / WORDS), vector_WD


def _write(words: list[str], vector_WD: NDArray[np.float32], folder: Path) -> None:
    write_lines(folder / WORDS, words)
    np.save(folder / VECTORS, vector_WD, allow_pickle=False)
