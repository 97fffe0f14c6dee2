"""Which settings of fine-tuning are tried, and the budget of each."""

from dataclasses import dataclass
from enum import StrEnum
from itertools import product

from isoglot.study.toml_tables import Count, CountOrZero, Positive, ShareBelowOne, TwoOrMore


class Schedule(StrEnum):
    """The learning rate of fine-tuning: always the same, or up over the first updates and then linearly to 0."""

    CONSTANT = "constant"
    LINEAR = "linear"


@dataclass(frozen=True, kw_only=True)
class Search:
    """Settings of fine-tuning to try on the source language, and the budget of each (section 3.2)."""

    batches: tuple[Count, ...]  # examples in one update
    learning_rates: tuple[Positive, ...]  # learning rates of the encoder
    head_learning_rates: tuple[Positive, ...] = ()  # learning rates of the task's own layer; none: the encoder's
    epochs: Count  # after each of them the dev set is scored and a checkpoint considered
    epoch_examples: Count | None = None  # examples of one epoch; None: each training example once
    schedule: Schedule = Schedule.LINEAR
    warmup_share: ShareBelowOne = 0.1  # share of all updates that warm up, under the linear schedule
    beta2: ShareBelowOne  # Adam's memory of squared gradients

    def settings(self) -> list[tuple[int, float, float]]:
        """Each batch, learning rate and learning rate of the task's own layer, in the order in which they are tried."""
        return [
            (batch, rate, head_rate)
            for batch, rate in product(self.batches, self.learning_rates)
            for head_rate in self.head_learning_rates or (rate,)
        ]


class NewVectors(StrEnum):
    """How a map that was fitted on normalised vectors is applied to vectors it was not fitted on."""

    CENTRED = "centred"  # less the mean of their side, rotated, plus the mean of the other side
    ROTATED = "rotated"  # rotated as they are
    # Through all rounds with the means that were kept, then rotated; the other side is normalised as well.
    NORMALIZED = "normalized"


class Subwords(StrEnum):
    """Which of a word's subwords stand for it in context."""

    FIRST = "first"
    MEAN = "mean"


@dataclass(frozen=True, kw_only=True)
class FastText:
    """Skip-grams with subwords of characters (Bojanowski et al., 2017): the baseline of Figure 4."""

    dimensions: Count = 300  # numbers in a word vector
    epochs: Count = 5  # passes over the text
    least_count: Count = 5  # rarer words get no vector
    learning_rate: Positive = 0.05  # at the start; it falls linearly to 0
    window: Count = 5  # words on either side that a word predicts
    buckets: Count = 2_000_000  # slots that character n-grams are hashed into


@dataclass(frozen=True, kw_only=True)
class Alignment:
    """Maps between models, and what is measured with them."""

    # Departure: the paper does not say how vectors that a map was not fitted on are normalised.
    new_vectors: NewVectors = NewVectors.CENTRED
    rounds: CountOrZero = 5  # rounds of iterative normalization
    word_sentences: Count = 500_000  # sentences of each language in which word types are met
    most_words: TwoOrMore = 200_000  # word types of each language, the most frequent first
    # Departure: the paper does not say which subword of an aligned word is mapped; tasks label the first.
    subwords: Subwords = Subwords.FIRST
    # A program that aligns words in the place of fast_align's model; reads "a b ||| c d", writes "0-0 1-1".
    aligner: tuple[str, ...] = ()
    new_layers: CountOrZero = 4  # transformer layers between a frozen layer and the task's own
    # Search for these new layers, on every frozen layer; the setting that is best on the dev set is tested.
    layer_tasks: Search
    fasttext: FastText = FastText()
    # Whether Figure 4 has this baseline, trained on the same text where a study names no vectors.
    has_fasttext: bool = True
