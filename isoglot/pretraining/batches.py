"""The batch of each update: a language is drawn, and its next windows are taken."""

# B = windows, L = positions

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from isoglot.corpora.code_switching import SwitchedWindows
from isoglot.corpora.numbered_text import Split
from isoglot.corpora.streams import TokenStream
from isoglot.corpora.switchable_text import SwitchableText
from isoglot.corpora.windows import Windows, WindowSource
from isoglot.pretraining.language_sampling import language_probabilities
from isoglot.randomness import derived_seed


def window_source(stream: TokenStream, *, switchable: SwitchableText | None, window: int, seed: int) -> WindowSource:
    """Windows of a language's training text: as it is in the stream, or code-switched where it can be."""
    if switchable is None:
        return Windows(stream.ids(Split.TRAIN), length=window, seed=seed, name=stream.language)
    return SwitchedWindows(switchable, length=window, seed=seed, name=stream.language)


class Batches:
    """Draws batches by update number; the only state is how many windows each language has given."""

    def __init__(
        self,
        sources: Mapping[str, WindowSource],
        *,
        lines: Mapping[str, int],
        batch: int,
        language_exponent: float,
        seed: int,
    ):
        self.sources = sources
        self.batch = batch
        self.seed = seed
        self.positions = dict.fromkeys(sources, 0)
        probabilities = language_probabilities(lines, exponent=language_exponent)
        self.languages = list(probabilities)
        self.cumulative = np.cumsum(list(probabilities.values()))

    def take(self, update: int) -> tuple[str, Tensor]:
        """The language and windows of this update; updates must be taken in order."""
        # Departure: one language for a whole update; in XLM every process draws its own.
        draw = np.random.default_rng(derived_seed(self.seed, "language", update)).random()
        place = int(np.searchsorted(self.cumulative, draw, side="right"))
        # Rounding may leave the last sum just below a draw just below one.
        language = self.languages[min(place, len(self.languages) - 1)]
        token_BL = self.sources[language].take(self.positions[language], self.batch)
        self.positions[language] += self.batch
        return language, torch.from_numpy(token_BL)
