"""The batch of each update: a language is drawn, and its next windows are taken."""

# B = windows, L = positions

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from isoglot.corpora.streams import Split, TokenStream
from isoglot.corpora.windows import Windows
from isoglot.pretraining.language_sampling import language_probabilities
from isoglot.randomness import derived_seed


class Batches:
    """Draws batches by update number; the only state is how many windows each language has given."""

    def __init__(
        self, streams: Mapping[str, TokenStream], *, window: int, batch: int, language_exponent: float, seed: int
    ):
        self.batch = batch
        self.seed = seed
        self.windows = {
            language: Windows(stream.ids(Split.TRAIN), length=window, seed=seed, name=language)
            for language, stream in streams.items()
        }
        self.positions = dict.fromkeys(streams, 0)
        probabilities = language_probabilities(
            {language: stream.lines[Split.TRAIN] for language, stream in streams.items()}, exponent=language_exponent
        )
        self.languages = list(probabilities)
        self.cumulative = np.cumsum(list(probabilities.values()))

    def take(self, update: int) -> tuple[str, Tensor]:
        """The language and windows of this update; updates must be taken in order."""
        # Departure: one language for a whole update; in XLM every process draws its own.
        draw = np.random.default_rng(derived_seed(self.seed, "language", update)).random()
        place = int(np.searchsorted(self.cumulative, draw, side="right"))
        # Rounding may leave the last sum just below a draw just below one.
        language = self.languages[min(place, len(self.languages) - 1)]
        token_BL = self.windows[language].take(self.positions[language], self.batch)
        self.positions[language] += self.batch
        return language, torch.from_numpy(token_BL)
