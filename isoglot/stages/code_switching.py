"""Training text that can be code-switched, for extra anchors."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from isoglot.artifacts import Stage, Work
from isoglot.corpora.bpe import Bpe
from isoglot.corpora.streams import Split
from isoglot.corpora.switchable_text import SwitchableText, Translation
from isoglot.corpora.vocabulary import Vocabulary
from isoglot.languages import SyntheticLanguage, World
from isoglot.stages.text import SplitText, split_lines
from isoglot.stages.vocabulary import MERGES, VOCABULARY, BuiltVocabulary, LearnedBpe
from isoglot.synthetic import dictionary


@dataclass(frozen=True, kw_only=True)
class SwitchableTrainingText(Stage):
    """One language's training lines, with the translations of its words into all other languages."""

    kind: ClassVar[str] = "switchable-text"
    language: str
    text: SplitText
    bpe: Mapping[str, LearnedBpe]
    vocabulary: BuiltVocabulary
    world: World
    others: tuple[SyntheticLanguage, ...]
    """The languages whose words may take the place of this one's."""

    @property
    def title(self) -> str:
        return f"switchable text of {self.language}, {self.vocabulary.tables.value} vocabulary"

    def make(self, work: Work) -> None:
        SwitchableText.of(
            split_lines(work.path(self.text), Split.TRAIN),
            language=self.language,
            translations=self._translations(),
            bpe={language: Bpe.read(work.path(bpe) / MERGES) for language, bpe in self.bpe.items()},
            vocabulary=Vocabulary.read(work.path(self.vocabulary) / VOCABULARY),
        ).write(work.folder)

    def _translations(self) -> dict[str, list[Translation]]:
        """Those of a word all weigh the same, as made-up languages have no better and worse ones."""
        # Departure: both languages are switched; the paper does not say.
        found: defaultdict[str, list[Translation]] = defaultdict(list)
        for other in self.others:
            for own_word, other_word in dictionary(self.text.text.language, other, world=self.world):
                found[own_word].append(Translation(language=other.name, word=other_word))
        return found
