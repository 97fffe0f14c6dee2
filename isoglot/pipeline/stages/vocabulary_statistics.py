"""How a vocabulary fits the text of its languages, and what they have in common in it (section 4.2)."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.code_switching import SwitchableText
from isoglot.corpora.numbered_text import PLACES_AT_ONCE, NumberedText, Split
from isoglot.corpora.streams import TokenStream
from isoglot.corpora.vocabulary import UNK, Vocabulary, anchor_statistics
from isoglot.pipeline.stages.code_switching import SwitchableTrainingText
from isoglot.pipeline.stages.scores import Score, write_scores
from isoglot.pipeline.stages.split_text import SplitText, for_split_texts
from isoglot.pipeline.stages.vocabulary import MERGES, VOCABULARY, BuiltVocabulary, LearnedBpe, TokenStreams
from isoglot.store import Resources, Stage, Work

UNKNOWN = ""
"""No subword is spelled so."""


@dataclass(frozen=True, kw_only=True)
class VocabularyStatistics(Stage):
    """Counted on the token streams themselves."""

    kind: ClassVar[str] = "vocabulary-statistics"
    languages: tuple[str, str]
    vocabulary: BuiltVocabulary
    texts: Mapping[str, SplitText]
    bpe: Mapping[str, LearnedBpe]
    streams: Mapping[str, TokenStreams]
    switchable: Mapping[str, SwitchableTrainingText]

    @property
    def title(self) -> str:
        return f"statistics of the {self.vocabulary.title}"

    def resources(self) -> Resources:
        return for_split_texts(*self.texts.values())

    def make(self, work: Work) -> None:
        write_scores(work.folder, self._scores(work))

    def _scores(self, work: Work) -> Iterator[Score]:
        vocabulary = Vocabulary.read(work.path(self.vocabulary) / VOCABULARY)
        streams = {language: TokenStream.open(work.path(self.streams[language])) for language in self.languages}
        num_words = {
            language: NumberedText.read(work.path(self.texts[language])).num_words(Split.TRAIN)
            for language in self.languages
        }
        counts = {
            language: _subword_counts(stream, vocabulary, Split.TRAIN, language) for language, stream in streams.items()
        }
        statistics = anchor_statistics(vocabulary, counts=counts, num_words=num_words)
        overlap = statistics.overlap["-".join(sorted(self.languages))]
        yield Score(metric="anchor_types", value=overlap.shared_types)
        yield Score(metric="anchor_similarity", value=overlap.similarity)
        for language in self.languages:
            coverage = statistics.coverage[language]
            held_out = _subword_counts(streams[language], vocabulary, Split.DEV, language)
            of_language = {
                "merges": len(Bpe.read(work.path(self.bpe[language]) / MERGES).merges),
                "anchor_token_share": 100 * overlap.shared_token_rate[language],
                "subword_types": coverage.types,
                "training_words": num_words[language],
                "training_tokens": coverage.tokens,
                "tokens_per_word": coverage.tokens_per_word,
                "unknown_share_held_out": 100 * held_out[UNKNOWN] / max(1, held_out.total()),
            }
            if language in self.switchable:
                text = SwitchableText.read(work.path(self.switchable[language]))
                of_language["dictionary_word_share"] = 100 * text.known_share()
            for metric, value in of_language.items():
                yield Score(metric=metric, value=value, language=language)


def _subword_counts(stream: TokenStream, vocabulary: Vocabulary, split: Split, language: str) -> Counter[str]:
    """How often each subword stands in a stream, line ends left out."""
    ids = stream.ids(split)
    counts = np.zeros(stream.table_size, dtype=np.int64)
    for start in range(0, len(ids), PLACES_AT_ONCE):
        counts += np.bincount(ids[start : start + PLACES_AT_ONCE], minlength=stream.table_size)
    known = {subword: int(counts[id]) for subword, id in vocabulary.ids(language).items() if counts[id]}
    return Counter(known | {UNKNOWN: int(counts[UNK])}) if counts[UNK] else Counter(known)
