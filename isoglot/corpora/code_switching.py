"""Extra anchors: as a text is read, some of its words give way to their translations (section 4.2)."""

# N = words and line ends of the text, W = its types, T = those and their translations, B = windows taken,
# L = tokens in a window, C = words to change

import numpy as np
from numpy.typing import NDArray

from isoglot.corpora.numbered_text import LINE_END, PLACES_AT_ONCE
from isoglot.corpora.ranges import concatenated_ranges
from isoglot.corpora.switchable_text import SwitchableText
from isoglot.corpora.windows import WindowOrder
from isoglot.randomness import derived_seed

Ints = NDArray[np.int64]
REPLACED_SHARE = 0.3
"""Of the words that the dictionary has."""
MOST_OF_A_BATCH = 0.15
"""Of all words of a batch."""


class SwitchedWindows:
    """Windows of a text with some of its words changed, others each time a window is taken."""

    def __init__(self, text: SwitchableText, *, length: int, seed: int, name: str) -> None:
        self.text, self.length, self.seed, self.name = text, length, seed, name
        self._num_tokens_T = np.diff(text.token_end_T, prepend=0)
        self._is_known_W = np.diff(text.translation_end_W, prepend=0) > 0
        # Departure: a window begins with a whole word, the first one to begin where the unchanged text would be cut.
        first_words, num_tokens = self._first_words_of_windows()
        self.order = WindowOrder(num_tokens, length=length, seed=seed, name=name)
        self._first_words = first_words[: len(self)]

    def __len__(self) -> int:
        return len(self.order)

    def _first_words_of_windows(self) -> tuple[Ints, int]:
        """Where each window of the unchanged text begins, and how many tokens it has; read in parts, as it is long."""
        num_places = len(self.text.type_N)
        found: list[Ints] = []
        num_windows = num_tokens = 0
        for start in range(0, num_places, PLACES_AT_ONCE):
            num_tokens_N = self._num_tokens_T[self.text.type_N[start : start + PLACES_AT_ONCE]]
            start_N = num_tokens + np.cumsum(num_tokens_N) - num_tokens_N
            num_tokens += int(num_tokens_N.sum())
            cuts = np.arange(num_windows, int(start_N[-1]) // self.length + 1) * self.length
            found.append(start + np.searchsorted(start_N, cuts))
            num_windows += len(cuts)
        # Those cut within the very last word begin with the first one.
        found.append(np.full(max(0, num_tokens // self.length - num_windows), num_places))
        return np.concatenate(found), num_tokens

    def take(self, position: int, count: int) -> Ints:
        """As WindowSource says; the same position and count give the same changes."""
        # L words are enough for L tokens. After the last line comes the first one.
        place_BL = self._first_words[self.order.rows(position, count)][:, None] + np.arange(self.length)
        type_BL = self.text.type_N.take(place_BL, mode="wrap").astype(np.int64)
        # Departure: changes are drawn afresh each time a text is seen; the paper does not say.
        random = np.random.default_rng(derived_seed(self.seed, "code-switching", self.name, position))
        return self._spelled(self._switched(type_BL, random))

    def _switched(self, type_BL: Ints, random: np.random.Generator) -> Ints:
        """Words after some have given way."""
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
