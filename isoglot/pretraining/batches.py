"""The batch of each update: languages are drawn, and the next windows of each are taken."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from isoglot.corpora.code_switching import SwitchableText, SwitchedWindows
from isoglot.corpora.numbered_text import Split
from isoglot.corpora.streams import TokenStream, Windows, WindowSource
from isoglot.randomness import derived_seed


def language_probabilities(num_lines: Mapping[str, int], *, exponent: float) -> dict[str, float]:
    """Proportional to the share of lines raised to a power below one, which gives small corpora more than their share.

    >>> language_probabilities({"en": 900, "fr": 100}, exponent=0.5)
    {'en': 0.75, 'fr': 0.25}
    """
    total = sum(num_lines.values())
    weights = {language: (count / total) ** exponent for language, count in num_lines.items()}
    return {language: weight / sum(weights.values()) for language, weight in weights.items()}


# B = windows, L = positions


def window_source(stream: TokenStream, *, switchable: SwitchableText | None, window: int, seed: int) -> WindowSource:
    """Windows of a language's training text: as it is in the stream, or code-switched where it can be."""
    if switchable is None:
        return Windows(stream.ids(Split.TRAIN), length=window, seed=seed, name=stream.language)
    return SwitchedWindows(switchable, length=window, seed=seed, name=stream.language)


@dataclass(frozen=True, kw_only=True)
class Part:
    """Neighbouring rows of an update's batch, of one language."""

    language: str
    first_row: int
    num_rows: int
    position: int
    """Of the first row's window among those of its language."""


class Batches:
    """Draws batches by update number; the only state is how many windows each language has given."""

    def __init__(
        self,
        sources: Mapping[str, WindowSource],
        *,
        lines: Mapping[str, int],
        batch: int,
        language_draws: int,
        language_exponent: float,
        seed: int,
    ):
        self.sources = sources
        self.batch = batch
        self.language_draws = language_draws
        self.seed = seed
        self.positions = dict.fromkeys(sources, 0)
        probabilities = language_probabilities(lines, exponent=language_exponent)
        self.languages = list(probabilities)
        self.cumulative = np.cumsum(list(probabilities.values()))

    def next_parts(self, update: int) -> list[Part]:
        """The languages and rows of this update; updates must be asked for in order."""
        draws = np.random.default_rng(derived_seed(self.seed, "language", update)).random(self.language_draws)
        # Rounding may leave the last sum just below a draw just below one.
        drawn = np.searchsorted(self.cumulative, draws, side="right").clip(max=len(self.languages) - 1)
        bounds = [draw * self.batch // self.language_draws for draw in range(self.language_draws + 1)]
        parts = []
        for language, (first, end) in zip((self.languages[each] for each in drawn), pairwise(bounds), strict=True):
            if first == end:
                continue
            position = self.positions[language]
            parts.append(Part(language=language, first_row=first, num_rows=end - first, position=position))
            self.positions[language] += end - first
        return parts

    def tokens(self, part: Part) -> Tensor:
        """The windows of a part."""
        return torch.from_numpy(self.sources[part.language].take(part.position, part.num_rows))


def share_of(parts: Sequence[Part], *, first_row: int, end_row: int, at_most: int) -> Iterator[Part]:
    """Those rows of a batch that one process reads, in pieces of one language and so many rows at most."""
    for part in parts:
        row, end = max(part.first_row, first_row), min(part.first_row + part.num_rows, end_row)
        while row < end:
            count = min(at_most, end - row)
            yield Part(
                language=part.language,
                first_row=row,
                num_rows=count,
                position=part.position + row - part.first_row,
            )
            row += count
