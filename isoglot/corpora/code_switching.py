"""Extra anchors: as a text is read, some of its words give way to their translations (section 4.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import chain, count
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.numbered_text import LINE_END, PLACES_AT_ONCE, NumberedText, Split, concatenated_ranges
from isoglot.corpora.sentences import Encoding
from isoglot.corpora.streams import Spellings, WindowOrder
from isoglot.corpora.vocabulary import UNK, Vocabulary
from isoglot.errors import IsoglotError
from isoglot.randomness import derived_seed

# N = words and line ends of the text, W = types of the text, T = those and the types that only translate them,
# S = tokens of all types, K = translations of all types, B = windows taken, L = tokens in a window,
# C = any types, or words to change


@dataclass(frozen=True, kw_only=True)
class Translation:
    """A word of another language, and how good a translation it is beside the others of the same word."""

    language: str
    word: str
    weight: float = 1.0


@dataclass(frozen=True, kw_only=True)
class SwitchableText:
    """A text as numbers of its types, the tokens of each type, and the types that it may give way to."""

    type_N: NDArray[np.unsignedinteger]
    token_S: NDArray[np.int64]
    """The tokens of type 0, then those of type 1, and so on; translations likewise."""
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
        # Departure: whole words give way before BPE, each side cut as its own language is; a translation that the
        # vocabulary cannot spell is left out, as <unk> would be no anchor.
        known = [translations.get(word, ()) for word in text.types]
        ids: dict[tuple[str, str], tuple[int, ...]] = {}
        for other in bpe:
            encoding = Encoding(language=other, bpe=bpe[other], vocabulary=vocabulary)
            encoding.meet(each.word for of_word in known for each in of_word if each.language == other)
            ids |= {(other, word): spelling for word, spelling in encoding.known.items() if UNK not in spelling}
        kept = [[each for each in of_word if (each.language, each.word) in ids] for of_word in known]
        kept_K = list(chain.from_iterable(kept))
        if not kept_K:
            raise IsoglotError(f"the dictionary translates no word of the text of {language!r}; give one that does")
        spellings = {(each.language, each.word): ids[each.language, each.word] for each in kept_K}
        numbers = dict(zip(spellings, count(len(own.end_T))))
        return cls(
            type_N=text.number_N[Split.TRAIN],
            token_S=np.concatenate([own.id_S, *spellings.values()], dtype=np.int64),
            token_end_T=np.cumsum([*own.length_T, *map(len, spellings.values())]),
            translation_K=np.array([numbers[each.language, each.word] for each in kept_K]),
            weight_end_K=np.cumsum([each.weight for each in kept_K]),
            translation_end_W=np.cumsum([0, *map(len, kept)]),
        )

    def known_share(self) -> float:
        known_W = np.diff(self.translation_end_W, prepend=0) > 0
        count_W = np.zeros(len(known_W), dtype=np.int64)
        for start in range(0, len(self.type_N), PLACES_AT_ONCE):
            count_W += np.bincount(self.type_N[start : start + PLACES_AT_ONCE], minlength=len(count_W))
        count_W[LINE_END] = 0
        return float(count_W[known_W].sum() / count_W.sum())

    def drawn_translations(self, type_C: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
        """For each type one of its translations, drawn by weight; all types must have some."""
        first_C, end_C = self.translation_end_W[type_C - 1], self.translation_end_W[type_C]
        low_C = np.where(first_C > 0, self.weight_end_K[first_C - 1], 0.0)
        draw_C = low_C + random.random(len(type_C)) * (self.weight_end_K[end_C - 1] - low_C)
        # One search serves all types: the weights of a type span an interval of the running sum of all weights, and a
        # uniform draw from that interval falls on each translation as often as its weight says.
        place_C = np.searchsorted(self.weight_end_K, draw_C, side="right")
        # Rounding may push a draw onto the first translation of the next type.
        return self.translation_K[np.minimum(place_C, end_C - 1)]

    def write(self, folder: Path) -> None:
        for field in fields(self):
            np.save(folder / f"{field.name}.npy", getattr(self, field.name), allow_pickle=False)

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Arrays are mapped into memory, not read."""
        arrays = {
            field.name: np.asarray(np.load(folder / f"{field.name}.npy", mmap_mode="r", allow_pickle=False))
            for field in fields(cls)
        }
        return cls(**arrays)


Ints = NDArray[np.int64]
REPLACED_SHARE = 0.3
"""The share of the dictionary's words that change."""
MOST_OF_A_BATCH = 0.15
"""The largest share of all words of a batch that may change."""


class SwitchedWindows:
    """Windows of a text with some of its words changed, others each time a window is taken."""

    def __init__(self, text: SwitchableText, *, length: int, seed: int, name: str) -> None:
        self.text, self.length, self.seed, self.name = text, length, seed, name
        self._num_tokens_T = np.diff(text.token_end_T, prepend=0)
        self._is_known_W = np.diff(text.translation_end_W, prepend=0) > 0
        # Departure: a window begins with a whole word, the first one to begin where the unchanged text would be cut.
        first_words, num_tokens = self._first_words_of_windows()
        self.order = WindowOrder(num_tokens, length=length, seed=seed, name=name)
        self._first_words = first_words[: self.order.num_windows]

    def _first_words_of_windows(self) -> tuple[Ints, int]:
        """Where each window of the unchanged text begins, and how many tokens it has; read in parts, as it is long."""
        first_words: list[Ints] = []
        num_windows = num_tokens = 0
        # A text ends with a line end, which is one token, so that some place begins at or after each cut.
        for start in range(0, len(self.text.type_N), PLACES_AT_ONCE):
            num_tokens_N = self._num_tokens_T[self.text.type_N[start : start + PLACES_AT_ONCE]]
            start_N = num_tokens + np.cumsum(num_tokens_N) - num_tokens_N
            num_tokens += int(num_tokens_N.sum())
            cuts = np.arange(num_windows, int(start_N[-1]) // self.length + 1) * self.length
            first_words.append(start + np.searchsorted(start_N, cuts))
            num_windows += len(cuts)
        return np.concatenate(first_words), num_tokens

    def take(self, position: int, count: int) -> Ints:
        """Windows as of WindowSource; the same position and count give the same changes."""
        # L words are enough for L tokens. After the last line comes the first one.
        place_BL = self._first_words[self.order.rows(position, count)][:, None] + np.arange(self.length)
        type_BL = self.text.type_N.take(place_BL, mode="wrap").astype(np.int64)
        # Departure: changes are drawn afresh each time a text is seen; the paper does not say.
        random = np.random.default_rng(derived_seed(self.seed, "code-switching", self.name, position))
        return self._spelled(self._switched(type_BL, random))

    def _switched(self, type_BL: Ints, random: np.random.Generator) -> Ints:
        draw_BL = random.random(type_BL.shape)
        place_C = np.flatnonzero((draw_BL < REPLACED_SHARE) & self._is_known_W[type_BL])
        # Should they be too many, those of the highest draws stay as they are, which is chance alone.
        place_C = place_C[np.argsort(draw_BL.reshape(-1)[place_C], kind="stable")]
        translation_C = self.text.drawn_translations(type_BL.reshape(-1)[place_C], random)
        while True:
            switched_BL = type_BL.copy()
            switched_BL.reshape(-1)[place_C] = translation_C
            # Long translations push words out of a window, so what it shows must be counted after each change.
            shown_BL = self._start_BL(switched_BL) < self.length
            shown_C = np.flatnonzero(shown_BL.reshape(-1)[place_C])
            # Departure: the paper's "batch" is the windows of one update, and a word cut by a window's end is a word.
            most = int(MOST_OF_A_BATCH * np.count_nonzero(shown_BL & (type_BL != LINE_END)))
            if len(shown_C) <= most:
                return switched_BL
            place_C, translation_C = place_C[: shown_C[most]], translation_C[: shown_C[most]]

    def _start_BL(self, type_BL: Ints) -> Ints:
        """Where in its window each word begins."""
        num_tokens_BL = self._num_tokens_T[type_BL]
        return np.cumsum(num_tokens_BL, axis=1) - num_tokens_BL

    def _spelled(self, type_BL: Ints) -> Ints:
        """The first L tokens of each row of words."""
        num_shown_BL = np.clip(self.length - self._start_BL(type_BL), 0, self._num_tokens_T[type_BL])
        first_token_BL = self.text.token_end_T[type_BL] - self._num_tokens_T[type_BL]
        places = concatenated_ranges(first_token_BL.reshape(-1), num_shown_BL.reshape(-1))
        return self.text.token_S[places].reshape(len(type_BL), self.length)
