"""A text whose words know their translations, ready to be code-switched (section 4.2)."""

# N = words and line ends of the text, W = types of the text, T = those and the types that only translate them,
# S = tokens of all types, K = translations of all types, C = any types

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from math import inf
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.numbered_text import LINE_END, PLACES_AT_ONCE, NumberedText, Split
from isoglot.corpora.spellings import Spellings
from isoglot.corpora.vocabulary import UNK, Vocabulary
from isoglot.errors import IsoglotError


@dataclass(frozen=True, kw_only=True)
class Translation:
    """A word of another language, and how good a translation it is beside the others of the same word."""

    language: str
    word: str
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.weight < inf:
            raise IsoglotError(
                f"the translation {self.word!r} of {self.language!r} has the weight {self.weight}; give one above 0"
            )


@dataclass(frozen=True, kw_only=True)
class SwitchableText:
    """A text as numbers of its types, the tokens of each type, and the types that it may give way to."""

    type_N: NDArray[np.unsignedinteger]
    token_S: NDArray[np.int64]
    """Those of type 0, then those of type 1, and so on; so with translations."""
    token_end_T: NDArray[np.int64]
    translation_K: NDArray[np.int64]
    weight_end_K: NDArray[np.float64]
    """Running sum of the weights of all translations."""
    translation_end_W: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        text: NumberedText,
        *,
        language: str,
        translations: Mapping[str, Sequence[Translation]],
        bpe: Mapping[str, Bpe],
        vocabulary: Vocabulary,
    ) -> Self:
        """The training lines of one language, and the translations of its words; a word without any never changes."""
        own = Spellings.of(text.types, language=language, bpe=bpe[language], vocabulary=vocabulary)
        foreign: dict[tuple[str, str], int] = {}
        spellings: list[list[int]] = []
        targets: list[int] = []
        weights: list[float] = []
        ends = [0]
        for word in text.types:
            for translation in translations.get(word, ()):
                other = translation.language
                # Departure: whole words give way before BPE, each side cut as its own language is; a translation that
                # the vocabulary cannot spell is left out, as <unk> would be no anchor.
                spelling = vocabulary.encode(other, bpe[other].segment(translation.word))
                if UNK in spelling:
                    continue
                number = foreign.setdefault((other, translation.word), len(spellings))
                if number == len(spellings):
                    spellings.append(spelling)
                targets.append(len(own.end_T) + number)
                weights.append(translation.weight)
            ends.append(len(targets))
        if not targets:
            raise IsoglotError(f"the dictionary translates no word of the text of {language!r}; give one that does")
        return cls(
            type_N=text.number_N[Split.TRAIN],
            token_S=np.concatenate([own.id_S, *spellings], dtype=np.int64),
            token_end_T=np.cumsum([*own.length_T, *(len(spelling) for spelling in spellings)]),
            translation_K=np.array(targets),
            weight_end_K=np.cumsum(weights),
            translation_end_W=np.array(ends),
        )

    def known_share(self) -> float:
        """The share of running words that have a translation."""
        known_W = np.diff(self.translation_end_W, prepend=0) > 0
        num_known = num_words = 0
        for start in range(0, len(self.type_N), PLACES_AT_ONCE):
            type_N = self.type_N[start : start + PLACES_AT_ONCE]
            num_known += int(np.count_nonzero(known_W[type_N]))
            num_words += int(np.count_nonzero(type_N != LINE_END))
        return num_known / num_words

    def drawn_translations(self, type_C: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
        """For each type one of its translations, drawn by weight; all types must have some."""
        first_C, end_C = self.translation_end_W[type_C - 1], self.translation_end_W[type_C]
        low_C = np.where(first_C > 0, self.weight_end_K[first_C - 1], 0.0)
        draw_C = low_C + random.random(len(type_C)) * (self.weight_end_K[end_C - 1] - low_C)
        place_C = np.searchsorted(self.weight_end_K, draw_C, side="right")
        # Rounding may push a draw onto the first translation of the next type.
        return self.translation_K[np.minimum(place_C, end_C - 1)]

    def write(self, folder: Path) -> None:
        """One file for each array."""
        for field in fields(self):
            np.save(folder / f"{field.name}.npy", getattr(self, field.name), allow_pickle=False)

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Arrays are mapped into memory, not read."""
        try:
            arrays = {
                field.name: np.asarray(np.load(folder / f"{field.name}.npy", mmap_mode="r", allow_pickle=False))
                for field in fields(cls)
            }
        except (OSError, ValueError) as error:
            raise IsoglotError(f"{folder}: not a switchable text ({error}); delete it to make it anew") from error
        return cls(**arrays)
