"""How strongly fast_align's diagonal draws words together, optimised for the distances that were observed."""

# R = places of target words in sentence pairs of different sizes
from dataclasses import dataclass

import numpy as np

from isoglot.geometry.diagonal import Floats, TargetPlaces
from isoglot.geometry.sentence_blocks import SentenceBlocks

STEPS = 8
RATE = 20.0
LEAST, MOST = 0.1, 14.0


@dataclass(frozen=True, kw_only=True)
class PlacesBySize:
    """All places that words stand in, those of sentence pairs of one size counted together."""

    places: TargetPlaces
    count_R: Floats
    """How many words stand there."""

    @classmethod
    def of(cls, sentences: SentenceBlocks) -> "PlacesBySize":
        rows = [(*block.size, len(block.line_B)) for block in sentences.blocks]
        num_targets, num_sources, count = np.array(rows, dtype=np.int64).reshape(-1, 3).T
        block_R = np.repeat(np.arange(len(rows)), num_targets)
        first_R = np.repeat(num_targets.cumsum() - num_targets, num_targets)
        return cls(
            places=TargetPlaces(
                place_R=np.arange(len(block_R)) - first_R + 1,
                num_targets_R=num_targets[block_R],
                num_sources_R=num_sources[block_R],
            ),
            count_R=count[block_R].astype(np.float64),
        )

    def better_tension(self, tension: float, *, distance: float) -> float:
        """A few steps towards the tension under which words are as far from their partners as observed, all told."""
        num_words = max(float(self.count_R.sum()), 1.0)
        for _ in range(STEPS):
            expected = float(self.count_R @ self.places.expected_distance(tension))
            tension += RATE * (expected - distance) / num_words
            tension = min(max(tension, LEAST), MOST)
        return tension
