"""BPE merges, the vocabulary built with them, and the text as token streams."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from isoglot.corpora.bpe import Bpe, learn_bpe
from isoglot.corpora.numbered_text import NumberedText, Split
from isoglot.corpora.streams import write_stream
from isoglot.corpora.vocabulary import Vocabulary, build_vocabulary
from isoglot.errors import IsoglotError
from isoglot.pipeline.stages.split_text import SplitText, for_split_texts
from isoglot.pipeline.stages.text import SyntheticText
from isoglot.store import Resources, Stage, Work
from isoglot.study.conditions import KeptAnchors, TableKind

MERGES = "merges.txt"
VOCABULARY = "vocabulary.json"


def _named(texts: Iterable[SplitText]) -> str:
    return " and ".join(f"{text.language}{' (other domain)' if text.is_of_other_domain else ''}" for text in texts)


@dataclass(frozen=True, kw_only=True)
class LearnedBpe(Stage):
    """BPE of one text, or of several together."""

    kind: ClassVar[str] = "bpe"
    texts: tuple[SplitText, ...]
    merges: int
    most_words: int = 20_000_000
    """Of each text."""

    @property
    def title(self) -> str:
        return f"{self.merges} BPE merges of {_named(self.texts)}"

    def resources(self) -> Resources:
        return for_split_texts(*self.texts)

    def make(self, work: Work) -> None:
        texts = [NumberedText.read(work.path(text)) for text in self.texts]
        # Departure: as many words of every language, the first of its shuffled lines; the paper does not say how it
        # balanced them.
        fewest = min(text.num_words(Split.TRAIN) for text in texts)
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(text.word_counts(Split.TRAIN, most_words=min(fewest, self.most_words)))
        bpe = learn_bpe(counts, merges=self.merges)
        # Words of a made-up language are soon whole; a real text that has no more to merge is too small.
        if bpe.exhausted and not all(isinstance(text.text, SyntheticText) for text in self.texts):
            raise IsoglotError(
                f"the text has only {len(bpe.merges)} merges in it, not {self.merges}; give more text, or lower merges "
                "in the table [change] of the study"
            )
        bpe.write(work.folder / MERGES)


@dataclass(frozen=True, kw_only=True)
class BuiltVocabulary(Stage):
    """Tables of ids for all languages of a model."""

    kind: ClassVar[str] = "vocabulary"
    tables: TableKind
    texts: Mapping[str, SplitText]
    bpe: Mapping[str, LearnedBpe]
    kept_anchors: KeptAnchors | None = None

    @property
    def title(self) -> str:
        kept = self.kept_anchors
        share = "" if kept is None else f" ({100 * kept.share:g}%, {kept.order.value})"
        return f"{self.tables.value} vocabulary{share} of {_named(self.texts.values())}"

    def resources(self) -> Resources:
        return for_split_texts(*self.texts.values())

    def make(self, work: Work) -> None:
        subwords = {
            language: Bpe.read(work.path(self.bpe[language]) / MERGES).subword_counts(
                NumberedText.read(work.path(text)).word_counts(Split.TRAIN)
            )
            for language, text in self.texts.items()
        }
        vocabulary = build_vocabulary(self.tables, counts=subwords, kept=self.kept_anchors)
        vocabulary.write(work.folder / VOCABULARY)


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
        return f"token stream of {self.language}, {self.vocabulary.title}"

    def resources(self) -> Resources:
        return for_split_texts(self.text)

    def make(self, work: Work) -> None:
        write_stream(
            work.folder,
            language=self.language,
            text=NumberedText.read(work.path(self.text)),
            bpe=Bpe.read(work.path(self.bpe) / MERGES),
            vocabulary=Vocabulary.read(work.path(self.vocabulary) / VOCABULARY),
        )
