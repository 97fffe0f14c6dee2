"""Training text that can be code-switched, for extra anchors."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.code_switching import SwitchableText, Translation
from isoglot.corpora.numbered_text import NumberedText
from isoglot.corpora.vocabulary import Vocabulary
from isoglot.pipeline.stages.dictionaries import AnyDictionary, word_pairs
from isoglot.pipeline.stages.split_text import SplitText, for_split_texts
from isoglot.pipeline.stages.vocabulary import MERGES, VOCABULARY, BuiltVocabulary, LearnedBpe
from isoglot.store import Resources, Stage, Work
from isoglot.study.languages import WordSplitting

Translations = dict[str, list[Translation]]


@dataclass(frozen=True, kw_only=True)
class SwitchableTrainingText(Stage):
    """One language's training lines, with the translations of its words into all other languages."""

    kind: ClassVar[str] = "switchable-text"
    language: str
    text: SplitText
    bpe: Mapping[str, LearnedBpe]
    vocabulary: BuiltVocabulary
    dictionaries: tuple[AnyDictionary, ...]
    held_out: tuple[AnyDictionary, ...]
    """Pairs that word translation is scored by: what a model is asked it must not have been told."""
    splittings: Mapping[str, WordSplitting]

    @property
    def title(self) -> str:
        return f"switchable text of {self.language}, {self.vocabulary.tables.value} vocabulary"

    def resources(self) -> Resources:
        return for_split_texts(self.text)

    def make(self, work: Work) -> None:
        text = NumberedText.read(work.path(self.text))
        SwitchableText.of(
            text,
            language=self.language,
            translations=_by_type(text.types, self._translations(work)),
            bpe={language: Bpe.read(work.path(bpe) / MERGES) for language, bpe in self.bpe.items()},
            vocabulary=Vocabulary.read(work.path(self.vocabulary) / VOCABULARY),
        ).write(work.folder)

    def _translations(self, work: Work) -> Translations:
        # Departure: both languages are switched, so a dictionary is read both ways; the paper does not say.
        found: Translations = defaultdict(list)
        for dictionary in self.dictionaries:
            (other,) = (name for name in dictionary.names if name != self.language)
            for source_word, target_word, weight in self._anchors(work, dictionary):
                own, foreign = (
                    (source_word, target_word) if other == dictionary.names[1] else (target_word, source_word)
                )
                found[own].append(Translation(language=other, word=foreign, weight=weight))
        return found

    def _anchors(self, work: Work, dictionary: AnyDictionary) -> Iterator[tuple[str, str, float]]:
        held_out = {
            (source.lower(), target.lower())
            for kept in self.held_out
            for source, target, _ in word_pairs(work.path(kept), kept.names, self.splittings)
            if kept.names == dictionary.names
        }
        for source, target, weight in word_pairs(work.path(dictionary), dictionary.names, self.splittings):
            if (source.lower(), target.lower()) not in held_out:
                yield source, target, weight


def _by_type(types: Iterable[str], translations: Translations) -> Translations:
    """The translations of each word of a text."""
    # Departure: a word not in the dictionary as it is written is looked up in lower case, as at the head of a sentence.
    found = {word: translations.get(word) or translations.get(word.lower()) for word in types}
    return {word: listed for word, listed in found.items() if listed}
