"""How vectors of two models are mapped onto each other, and on how much text (section 5.1)."""

from dataclasses import dataclass
from enum import StrEnum

from isoglot.searches import Search


class NewVectors(StrEnum):
    """How a map that was fitted on normalised vectors is applied to vectors it was not fitted on."""

    CENTRED = "centred"
    """Less the mean of their side, rotated, plus the mean of the other side."""
    ROTATED = "rotated"
    """Rotated as they are."""
    NORMALIZED = "normalized"
    """Through all rounds with the means that were kept, then rotated; the other side is normalised as well."""


class Subwords(StrEnum):
    """Which of a word's subwords stand for it in context."""

    FIRST = "first"
    MEAN = "mean"


@dataclass(frozen=True, kw_only=True)
class FastText:
    """Skip-grams with subwords of characters (Bojanowski et al., 2017): the baseline of Figure 4."""

    dimensions: int = 300
    epochs: int = 5
    least_count: int = 5
    learning_rate: float = 0.05
    window: int = 5
    buckets: int = 2_000_000


@dataclass(frozen=True, kw_only=True)
class Alignment:
    """Maps between models, and what is measured with them."""

    # Departure: the paper does not say how vectors that a map was not fitted on are normalised.
    new_vectors: NewVectors = NewVectors.CENTRED
    rounds: int = 5
    """Of iterative normalization."""
    word_sentences: int = 500_000
    """In which word types are met, of each language."""
    most_words: int = 200_000
    """Word types of each language, the most frequent first."""
    # Departure: the paper does not say which subword of an aligned word is mapped; tasks label the first.
    subwords: Subwords = Subwords.FIRST
    aligner: tuple[str, ...] = ()
    """A program that aligns words in the place of fast_align's model; reads "a b ||| c d", writes "0-0 1-1"."""
    new_layers: int = 4
    """Transformer layers between a frozen layer and the task's own."""
    layer_tasks: Search
    """Of these new layers, on every frozen layer; the setting that is best on the dev set is tested."""
    fasttext: FastText = FastText()
    has_fasttext: bool = True
    """Whether Figure 4 has this baseline, trained on the same text where a study names no vectors."""
