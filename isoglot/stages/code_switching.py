"""Training text that can be code-switched, for extra anchors."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from isoglot.artifacts import Stage, Work
from isoglot.corpora.bpe import Bpe
from isoglot.corpora.numbered_text import NumberedText
from isoglot.corpora.readers.dictionaries import DictionaryEntry
from isoglot.corpora.switchable_text import SwitchableText, Translation
from isoglot.corpora.vocabulary import Vocabulary
from isoglot.corpora.words import split_lines
from isoglot.languages import WordSplitting
from isoglot.stages.dictionaries import AnyDictionary, dictionary_entries
from isoglot.stages.split_text import SplitText
from isoglot.stages.vocabulary import MERGES, VOCABULARY, BuiltVocabulary, LearnedBpe

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
    splittings: Mapping[str, WordSplitting]

    @property
    def title(self) -> str:
        return f"switchable text of {self.language}, {self.vocabulary.tables.value} vocabulary"

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
            source, target = dictionary.names
            entries = dictionary_entries(work.path(dictionary))
            if self.language != source:
                source, target = target, source
                entries = [DictionaryEntry(source=e.target, target=e.source, weight=e.weight) for e in entries]
            words = split_lines([entry.source for entry in entries], self.splittings[source])
            foreign = split_lines([entry.target for entry in entries], self.splittings[target])
            for entry, own_words, other_words in zip(entries, words, foreign, strict=True):
                # Departure: words change places with words; entries of several are left out.
                if len(own_words) == len(other_words) == 1:
                    translation = Translation(language=target, word=other_words[0], weight=entry.weight)
                    found[own_words[0]].append(translation)
        return found


def _by_type(types: Iterable[str], translations: Translations) -> Translations:
    """The translations of each word of a text."""
    # Departure: a word not in the dictionary as it is written is looked up in lower case, as at the head of a sentence.
    found = {word: translations.get(word) or translations.get(word.lower()) for word in types}
    return {word: listed for word, listed in found.items() if listed}
