"""Which numbers make sense in a study: the range of every setting, and what must hold between several."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from isoglot.study.scales import EncoderShape, Optimization, Scale
from isoglot.study.searches import Alignment, FastText, Search
from isoglot.study.synthetic_languages import SyntheticLanguage, World


@dataclass(frozen=True, kw_only=True)
class Limit:
    """A test that a number, or every number of a list, must pass, and how to say it."""

    holds: Callable[[float], bool]
    words: str
    """After "should be"."""


ABOVE_ZERO = Limit(holds=lambda number: number > 0, words="above 0")
SHARE = Limit(holds=lambda number: 0 <= number <= 1, words="from 0 to 1")
SHARE_BELOW_ONE = Limit(holds=lambda number: 0 <= number < 1, words="at least 0 and below 1")
SHARE_INSIDE = Limit(holds=lambda number: 0 < number < 1, words="above 0 and below 1")
UP_TO_TEN = Limit(holds=lambda number: 0 <= number <= 10, words="from 0 to 10")
SEED = Limit(holds=lambda number: 0 <= number < 2**32, words="from 0 to 4294967295")


def at_least(least: int) -> Limit:
    return Limit(holds=lambda number: number >= least, words=f"at least {least}")


LIMITS: dict[type, dict[str, Limit]] = {
    EncoderShape: {
        "layers": at_least(1),
        "width": at_least(1),
        "heads": at_least(1),
        "feed_forward": at_least(1),
        "positions": at_least(1),
        "dropout": SHARE_BELOW_ONE,
        "attention_dropout": SHARE_BELOW_ONE,
        "token_init_std": ABOVE_ZERO,
        "position_init_std": ABOVE_ZERO,
    },
    Optimization: {
        "learning_rate": ABOVE_ZERO,
        "warmup_updates": at_least(0),
        "beta1": SHARE_BELOW_ONE,
        "beta2": SHARE_BELOW_ONE,
        "epsilon": ABOVE_ZERO,
        "weight_decay": at_least(0),
        "clip_norm": ABOVE_ZERO,
    },
    Search: {
        "batches": at_least(1),
        "learning_rates": ABOVE_ZERO,
        "head_learning_rates": ABOVE_ZERO,
        "epochs": at_least(1),
        "epoch_examples": at_least(1),
        "warmup_share": SHARE_BELOW_ONE,
        "beta2": SHARE_BELOW_ONE,
    },
    Alignment: {
        "rounds": at_least(0),
        "word_sentences": at_least(1),
        "most_words": at_least(2),
        "new_layers": at_least(0),
    },
    FastText: {
        "dimensions": at_least(1),
        "epochs": at_least(1),
        "least_count": at_least(1),
        "learning_rate": ABOVE_ZERO,
        "window": at_least(1),
        "buckets": at_least(1),
    },
    Scale: {
        "merges": at_least(1),
        "window": at_least(3),
        "batch": at_least(1),
        "updates": at_least(1),
        "evaluations": at_least(1),
        "mask_rate": SHARE_INSIDE,
        "language_draws": at_least(1),
        "language_exponent": SHARE,
        "dev_lines": at_least(1),
        "test_lines": at_least(1),
    },
    SyntheticLanguage: {
        "cognates": SHARE,
        "shared_names": SHARE,
        "other_topics": SHARE,
    },
    World: {
        "seed": SEED,
        "nouns": at_least(1),
        "verbs": at_least(1),
        "adjectives": at_least(1),
        "adpositions": at_least(1),
        "determiners": at_least(1),
        "people": at_least(2),
        "places": at_least(1),
        "organisations": at_least(1),
        "numbers": at_least(1),
        "topics": at_least(1),
        "topic_strength": UP_TO_TEN,
        "zipf_exponent": UP_TO_TEN,
        "latent_dimensions": at_least(0),
        "latent_scale": UP_TO_TEN,
        "latent_falloff": SHARE,
    },
}


def conflicts(scale: Scale) -> Iterator[tuple[str, str]]:
    """Each key whose number does not fit another's, with what would be right."""
    shape, warmup = scale.shape, scale.optimization.warmup_updates
    if shape.width % shape.heads:
        yield "shape.width", f"should divide by shape.heads: {shape.width} does not divide by {shape.heads}"
    if scale.language_draws > scale.batch:
        yield "language_draws", f"should be at most batch, {scale.batch}, not {scale.language_draws}"
    if scale.window > shape.positions:
        yield "window", f"should be at most shape.positions, {shape.positions}, not {scale.window}"
    if scale.evaluations > scale.updates:
        yield "evaluations", f"should be at most updates, {scale.updates}, not {scale.evaluations}"
    if warmup > scale.updates:
        yield "optimization.warmup_updates", f"should be at most updates, {scale.updates}, not {warmup}"
