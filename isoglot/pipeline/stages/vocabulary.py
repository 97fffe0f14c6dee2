"""BPE merges, vocabularies with their statistics (section 4.2), and text as token streams or as switchable text."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import ClassVar

import numpy as np

from isoglot.corpora.bpe import Bpe, learn_bpe
from isoglot.corpora.code_switching import SwitchableText, Translation
from isoglot.corpora.numbered_text import PLACES_AT_ONCE, NumberedText, Split
from isoglot.corpora.sentences import Encoding
from isoglot.corpora.streams import DESCRIPTION, TokenStream, write_stream
from isoglot.corpora.vocabulary import UNK, Vocabulary, anchor_statistics, build_vocabulary
from isoglot.errors import IsoglotError
from isoglot.pipeline.stages.scores import SCORES, Score, scores_of, write_scores
from isoglot.pipeline.stages.text import ReadsText, SplitText, SyntheticText
from isoglot.pipeline.stages.translations import AnyDictionary, word_pairs
from isoglot.store import Stage, Work
from isoglot.study.conditions import KeptAnchors, TableKind
from isoglot.study.languages import WordSplitting

MERGES = "merges.txt"
VOCABULARY = "vocabulary.json"
UNKNOWN = ""  # stands for unknown subwords in counts; no subword has this spelling


def _language_list(texts: Iterable[SplitText]) -> str:
    return " and ".join(f"{text.language}{' (other domain)' if text.is_of_other_domain else ''}" for text in texts)


@dataclass(frozen=True, kw_only=True)
class LearnedBpe(ReadsText):
    """BPE of one text, or of several together."""

    kind: ClassVar[str] = "bpe"
    leaves: ClassVar[tuple[str, ...]] = (MERGES,)
    texts: tuple[SplitText, ...]
    merges: int
    most_words: int = 20_000_000  # the limit for each text

    @property
    def title(self) -> str:
        return f"{self.merges} BPE merges of {_language_list(self.texts)}"

    def make(self, work: Work) -> None:
        texts = [NumberedText.read(work.path(text)) for text in self.texts]
        # Departure: as many words of every language, the first of its shuffled lines; the paper does not say how it
        # balanced them.
        fewest = min(text.num_words(Split.TRAIN) for text in texts)
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(text.word_counts(Split.TRAIN, most_words=min(fewest, self.most_words)))
        bpe = learn_bpe(counts, merges=self.merges)
        # Words of a synthetic language are soon whole; a real text that has no more to merge is too small.
        if bpe.exhausted and not all(isinstance(text.text, SyntheticText) for text in self.texts):
            raise IsoglotError(
                f"the text has only {len(bpe.merges)} merges in it, not {self.merges}; give more text, or lower merges "
                "in the table [change] of the study"
            )
        bpe.write(work.folder / MERGES)


@dataclass(frozen=True, kw_only=True)
class BuiltVocabulary(ReadsText):
    """Tables of ids for all languages of a model."""

    kind: ClassVar[str] = "vocabulary"
    leaves: ClassVar[tuple[str, ...]] = (VOCABULARY,)
    tables: TableKind
    texts: Mapping[str, SplitText]
    bpe: Mapping[str, LearnedBpe]
    kept_anchors: KeptAnchors | None = None

    @property
    def title(self) -> str:
        kept = self.kept_anchors
        share = "" if kept is None else f" ({100 * kept.share:g}%, {kept.order.value})"
        return f"{self.tables.value} vocabulary{share} of {_language_list(self.texts.values())}"

    def make(self, work: Work) -> None:
        subwords = {
            language: Bpe.read(work.path(self.bpe[language]) / MERGES).subword_counts(
                NumberedText.read(work.path(text)).word_counts(Split.TRAIN)
            )
            for language, text in self.texts.items()
        }
        build_vocabulary(self.tables, counts=subwords, kept=self.kept_anchors).write(work.folder / VOCABULARY)


@dataclass(frozen=True, kw_only=True)
class TokenStreams(ReadsText):
    """One language's text as ids of one vocabulary."""

    kind: ClassVar[str] = "token-streams"
    leaves: ClassVar[tuple[str, ...]] = (DESCRIPTION, *(f"{split.value}.bin" for split in Split))
    titled: ClassVar[str] = "token stream of {self.language}, {self.vocabulary.title}"
    language: str
    text: SplitText
    bpe: LearnedBpe
    vocabulary: BuiltVocabulary

    def make(self, work: Work) -> None:
        encoding, text = self.encoding(work.path), NumberedText.read(work.path(self.text))
        write_stream(work.folder, language=self.language, text=text, bpe=encoding.bpe, vocabulary=encoding.vocabulary)

    def encoding(self, path: Callable[[Stage], Path]) -> Encoding:
        """The way from words to ids; `path` gives a stage's folder, as `Work.path` and `Store.verified_folder` do."""
        return Encoding(
            language=self.language,
            bpe=Bpe.read(path(self.bpe) / MERGES),
            vocabulary=Vocabulary.read(path(self.vocabulary) / VOCABULARY),
        )


@dataclass(frozen=True, kw_only=True)
class SwitchableTrainingText(ReadsText):
    """One language's training lines with translations of its words into all other languages, for extra anchors."""

    kind: ClassVar[str] = "switchable-text"
    leaves: ClassVar[tuple[str, ...]] = tuple(f"{each.name}.npy" for each in fields(SwitchableText))
    titled: ClassVar[str] = "switchable text of {self.language}, {self.vocabulary.tables.value} vocabulary"
    language: str
    text: SplitText
    bpe: Mapping[str, LearnedBpe]
    vocabulary: BuiltVocabulary
    dictionaries: tuple[AnyDictionary, ...]
    held_out: tuple[AnyDictionary, ...]  # pairs that score word translation: the model must not see them in training
    splittings: Mapping[str, WordSplitting]

    def make(self, work: Work) -> None:
        text, translations = NumberedText.read(work.path(self.text)), self._translations(work)
        # Departure: a word not in the dictionary as it is written is looked up in lower case, as at the head of a
        # sentence.
        listed = {word: translations.get(word) or translations.get(word.lower()) for word in text.types}
        SwitchableText.of(
            text,
            language=self.language,
            translations={word: entries for word, entries in listed.items() if entries},
            bpe={language: Bpe.read(work.path(bpe) / MERGES) for language, bpe in self.bpe.items()},
            vocabulary=Vocabulary.read(work.path(self.vocabulary) / VOCABULARY),
        ).write(work.folder)

    def _translations(self, work: Work) -> dict[str, list[Translation]]:
        translations: dict[str, list[Translation]] = defaultdict(list)
        for dictionary in self.dictionaries:
            held_out = {
                (source.lower(), target.lower())
                for each in self.held_out
                if each.names == dictionary.names
                for source, target, _ in word_pairs(work.path(each), each.names, self.splittings)
            }
            # Departure: both languages are switched, so a dictionary is read both ways; the paper does not say.
            own_side = dictionary.names.index(self.language)
            other = dictionary.names[1 - own_side]
            for *pair, weight in word_pairs(work.path(dictionary), dictionary.names, self.splittings):
                if (pair[0].lower(), pair[1].lower()) not in held_out:
                    entry = Translation(language=other, word=pair[1 - own_side], weight=weight)
                    translations[pair[own_side]].append(entry)
        return translations


@dataclass(frozen=True, kw_only=True)
class VocabularyStatistics(ReadsText):
    """How well a vocabulary fits the text of its languages and how much they share, counted on token streams."""

    kind: ClassVar[str] = "vocabulary-statistics"
    leaves: ClassVar[tuple[str, ...]] = (SCORES,)
    titled: ClassVar[str] = "statistics of the {self.vocabulary.title}"
    languages: tuple[str, str]
    vocabulary: BuiltVocabulary
    texts: Mapping[str, SplitText]
    bpe: Mapping[str, LearnedBpe]
    streams: Mapping[str, TokenStreams]
    switchable: Mapping[str, SwitchableTrainingText]

    def make(self, work: Work) -> None:
        write_scores(work.folder, self._scores(work))

    def _scores(self, work: Work) -> Iterator[Score]:
        vocabulary = Vocabulary.read(work.path(self.vocabulary) / VOCABULARY)
        streams = {language: TokenStream.open(work.path(self.streams[language])) for language in self.languages}
        texts = {language: NumberedText.read(work.path(self.texts[language])) for language in self.languages}
        num_words = {language: text.num_words(Split.TRAIN) for language, text in texts.items()}
        counts = {
            language: _subword_counts(stream, vocabulary, Split.TRAIN, language) for language, stream in streams.items()
        }
        statistics = anchor_statistics(vocabulary, counts=counts)
        yield from scores_of({"anchor_types": statistics.shared_types, "anchor_similarity": statistics.similarity})
        for language in self.languages:
            num_tokens = counts[language].total()
            held_out = _subword_counts(streams[language], vocabulary, Split.DEV, language)
            values = {
                "merges": len(Bpe.read(work.path(self.bpe[language]) / MERGES).merges),
                "anchor_token_share": 100 * statistics.shared_token_rate[language],
                "subword_types": len(counts[language].keys() - {UNKNOWN}),
                "training_words": num_words[language],
                "training_tokens": num_tokens,
                "tokens_per_word": num_tokens / num_words[language],
                "unknown_share_held_out": 100 * held_out[UNKNOWN] / max(1, held_out.total()),
            }
            if language in self.switchable:
                text = SwitchableText.read(work.path(self.switchable[language]))
                values["dictionary_word_share"] = 100 * text.known_share()
            yield from scores_of(values, language=language)


def _subword_counts(stream: TokenStream, vocabulary: Vocabulary, split: Split, language: str) -> Counter[str]:
    # How often each subword stands in a stream, line ends left out.
    ids = stream.ids(split)
    counts = np.zeros(stream.table_size, dtype=np.int64)
    for start in range(0, len(ids), PLACES_AT_ONCE):
        counts += np.bincount(ids[start : start + PLACES_AT_ONCE], minlength=stream.table_size)
    known = {subword: int(counts[id]) for subword, id in vocabulary.ids(language).items() if counts[id]}
    return Counter(known | {UNKNOWN: int(counts[UNK])}) if counts[UNK] else Counter(known)
