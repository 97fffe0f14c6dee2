"""BPE merges, the vocabulary built with them, and the text as token streams."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import ClassVar

from isoglot.artifacts import Stage, Work
from isoglot.conditions import TableKind
from isoglot.corpora.anchors import anchor_statistics
from isoglot.corpora.bpe import Bpe, learn_bpe
from isoglot.corpora.streams import Split, write_stream
from isoglot.corpora.vocabulary import Vocabulary, build_vocabulary
from isoglot.corpora.words import word_counts
from isoglot.stages.text import SplitText, split_lines

MERGES = "merges.txt"
VOCABULARY = "vocabulary.json"
ANCHORS = "anchors.json"


def counted_words(work: Work, text: SplitText) -> Counter[str]:
    """How often each word stands in the training lines."""
    return word_counts(split_lines(work.path(text), Split.TRAIN), language=text.language)


@dataclass(frozen=True, kw_only=True)
class LearnedBpe(Stage):
    """BPE of one text, or of several together."""

    kind: ClassVar[str] = "bpe"
    texts: tuple[SplitText, ...]
    merges: int

    @property
    def title(self) -> str:
        return f"{self.merges} BPE merges of {' and '.join(text.language for text in self.texts)}"

    def make(self, work: Work) -> None:
        # Departure: every training line of every language counts alike; the paper does not say how it balanced them.
        counts: Counter[str] = Counter()
        for text in self.texts:
            counts.update(counted_words(work, text))
        learn_bpe(counts, merges=self.merges).write(work.folder / MERGES)


@dataclass(frozen=True, kw_only=True)
class BuiltVocabulary(Stage):
    """Tables of ids for all languages of a model, and statistics of the anchors between them."""

    kind: ClassVar[str] = "vocabulary"
    tables: TableKind
    texts: Mapping[str, SplitText]
    bpe: Mapping[str, LearnedBpe]

    @property
    def title(self) -> str:
        return f"{self.tables.value} vocabulary of {' and '.join(self.texts)}"

    def make(self, work: Work) -> None:
        words = {language: counted_words(work, text) for language, text in self.texts.items()}
        subwords = {
            language: Bpe.read(work.path(self.bpe[language]) / MERGES).subword_counts(counts)
            for language, counts in words.items()
        }
        vocabulary = build_vocabulary(self.tables, counts=subwords)
        vocabulary.write(work.folder / VOCABULARY)
        statistics = anchor_statistics(
            vocabulary, counts=subwords, num_words={language: counts.total() for language, counts in words.items()}
        )
        (work.folder / ANCHORS).write_text(json.dumps(asdict(statistics), indent=2) + "\n", encoding="utf-8")


@dataclass(frozen=True, kw_only=True)
class TokenStreams(Stage):
    """One language's text as ids of one vocabulary."""

    kind: ClassVar[str] = "token-streams"
    language: str
    text: SplitText
    bpe: LearnedBpe
    vocabulary: BuiltVocabulary

    @property
    def title(self) -> str:
        return f"token stream of {self.language}, {self.vocabulary.tables.value} vocabulary"

    def make(self, work: Work) -> None:
        folder = work.path(self.text)
        write_stream(
            work.folder,
            language=self.language,
            splits={split: split_lines(folder, split) for split in Split},
            bpe=Bpe.read(work.path(self.bpe) / MERGES),
            vocabulary=Vocabulary.read(work.path(self.vocabulary) / VOCABULARY),
        )
