"""Everything that decides the weights of one model, and nothing about how or where it runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from isoglot.study.conditions import Condition
from isoglot.study.scales import AttentionStart, EncoderShape, Optimization, Scale, Start
from isoglot.study.separate import Separate

# Names in the folder of a run.
BEST = "best"
INTERMEDIATE = "intermediate"
LOG = "log.jsonl"
UNIGRAM = "unigram.json"
MODEL_FILES = (f"{BEST}/model.json", f"{BEST}/model.safetensors")
FILES = (*MODEL_FILES, f"{INTERMEDIATE}/*/model.json", f"{INTERMEDIATE}/*/model.safetensors", LOG, UNIGRAM)
"""Patterns of all of them."""
# Name in the folder of its logs.
HEALTH = "health.jsonl"
EVALUATED_AT_ONCE = 64  # dev windows that are read at once


@dataclass(frozen=True, kw_only=True)
class PretrainingRun:
    """One model of a study. The condition's name is not here: two names for one model make one model."""

    languages: tuple[str, ...]
    """The first is the source language, by whose perplexity the checkpoint is chosen."""
    separate: Separate
    shape: EncoderShape
    optimization: Optimization
    window: int
    batch: int
    updates: int
    evaluations: int
    mask_rate: float
    language_draws: int
    language_exponent: float
    seed: int
    # The store's NOT_IDENTITY_AT_DEFAULT, written out since this room knows no store.
    own_parts_start: Start = field(default=Start.INDEPENDENT, metadata={"isoglot.identity": "unless default"})
    attention_start: AttentionStart = field(
        default=AttentionStart.EVERYWHERE, metadata={"isoglot.identity": "unless default"}
    )
    moments: int | None = field(default=None, metadata={"isoglot.identity": "unless default"})

    @classmethod
    def of(cls, condition: Condition, *, scale: Scale, languages: tuple[str, ...], seed: int) -> "PretrainingRun":
        """The run a scale prescribes for a condition."""
        separate = condition.separate.at_depth(scale.shape.layers)
        own: dict[str, Any] = {"languages": languages, "separate": separate, "seed": seed}
        if not separate.has_starts:
            # Without own parts both starts are one model, which must have one digest.
            own["own_parts_start"] = Start.INDEPENDENT
        elif condition.own_parts_start is not None:
            own["own_parts_start"] = condition.own_parts_start
        others = {each.name: getattr(scale, each.name) for each in fields(cls) if each.name not in own}
        return cls(**own, **others)

    @property
    def tokens(self) -> int:
        """Training budget."""
        return self.updates * self.batch * self.window

    def evaluated_after(self, update: int) -> bool:
        """Whether update number `update` (from 1) ends one of the run's equal parts."""
        return update * self.evaluations // self.updates > (update - 1) * self.evaluations // self.updates

    @property
    def kept_updates(self) -> list[int]:
        """Updates whose weights are kept for curves over training, earliest first: ... 1/8, 1/4, 1/2 of the run."""
        # The chosen model is the last moment.
        return [self.updates >> halvings for halvings in range(1, self.moments or self.updates.bit_length())][::-1]

    @property
    def keeps_halves(self) -> bool:
        """Whether kept models are in float16. Without `moments` they keep the bytes that they always had."""
        return self.moments is not None


@dataclass(frozen=True, kw_only=True)
class UpdateRecord:
    """Numbers of one update for people who watch a run; none of them decides its outcome."""

    update: int  # counted from 1
    losses: dict[str, float]  # by language read in this update: the mean over its masked words
    gradient_norm: float  # before clipping
    learning_rate: float
    skipped: bool  # not a number, or a spike of the loss: weights were left as they were


def language_probabilities(num_lines: Mapping[str, int], *, exponent: float) -> dict[str, float]:
    """Proportional to the share of lines raised to a power below one, which gives small corpora more than their share.

    >>> language_probabilities({"en": 900, "fr": 100}, exponent=0.5)
    {'en': 0.75, 'fr': 0.25}
    """
    total = sum(num_lines.values())
    weights = {language: (count / total) ** exponent for language, count in num_lines.items()}
    return {language: weight / sum(weights.values()) for language, weight in weights.items()}
