"""Training text that can be code-switched, for extra anchors."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import ClassVar

from isoglot.artifacts import Stage, Work
from isoglot.corpora.bpe import Bpe
from isoglot.corpora.streams import Split
from isoglot.corpora.switchable_text import SwitchableText, Translation
from isoglot.corpora.vocabulary import Vocabulary
from isoglot.stages.parallel_text import SyntheticParallelText, dictionary_pairs
from isoglot.stages.text import SplitText, split_lines
from isoglot.stages.vocabulary import MERGES, VOCABULARY, BuiltVocabulary, LearnedBpe


@dataclass(frozen=True, kw_only=True)
class SwitchableTrainingText(Stage):
    """One language's training lines, with the translations of its words into all other languages."""

    kind: ClassVar[str] = "switchable-text"
    language: str
    text: SplitText
    bpe: Mapping[str, LearnedBpe]
    vocabulary: BuiltVocabulary
    parallel: SyntheticParallelText
    """Only its dictionaries are read."""

    @property
    def title(self) -> str:
        return f"switchable text of {self.language}, {self.vocabulary.tables.value} vocabulary"

    def make(self, work: Work) -> None:
        SwitchableText.of(
            split_lines(work.path(self.text), Split.TRAIN),
            language=self.language,
            translations=self._translations(work.path(self.parallel)),
            bpe={language: Bpe.read(work.path(bpe) / MERGES) for language, bpe in self.bpe.items()},
            vocabulary=Vocabulary.read(work.path(self.vocabulary) / VOCABULARY),
        ).write(work.folder)

    def _translations(self, folder: Path) -> dict[str, list[Translation]]:
        """Those of a word all weigh the same, as made-up languages have no better and worse ones."""
        # Departure: dictionaries are read both ways round; the paper does not say whether both languages are switched.
        found: defaultdict[str, list[Translation]] = defaultdict(list)
        for a, b in combinations((language.name for language in self.parallel.languages), 2):
            for word_a, word_b in dictionary_pairs(folder, source=a, target=b):
                if self.language == a:
                    found[word_a].append(Translation(language=b, word=word_b))
                if self.language == b:
                    found[word_b].append(Translation(language=a, word=word_a))
        return found
