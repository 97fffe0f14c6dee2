"""What a study says of the paper: when numbers agree with it, disagree, or are too close to call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import sqrt

from isoglot.report.samples import Sample

CLOSE_POINTS = 3.0
"""Of two scores in percent, each of one model: seeds and reimplementations differ by as much (docs/claims.md)."""
CLOSE_CKA = 0.02
FEW_SEEDS = 3
ROUNDING = 1e-9


class Verdict(StrEnum):
    """How what we found compares with what the paper says."""

    AGREES = "agrees with the paper"
    DISAGREES = "disagrees with the paper"
    TOO_CLOSE = "too close to call"
    NOT_TESTED = "not tested"

    @property
    def word(self) -> str:
        return self.value.removesuffix(" with the paper")


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A sentence of the paper, and what a study says of it."""

    key: str
    sentence: str
    source: str
    """Where the paper says it: "section 4.1"."""
    test: str
    """What decides it."""
    verdict: Verdict
    numbers: str
    """In a sentence, or why it is not tested."""
    num_seeds: int
    """That all its comparisons have; 0 where it is not tested."""
    papers_verdict: Verdict
    """What the same test says of the numbers that the paper prints."""
    papers_numbers: str


def order_verdict(better: Sample, worse: Sample, *, close: float = CLOSE_POINTS) -> Verdict:
    """Decided only if every seed is on the same side, and the means are further apart than noise.

    Two single scores differ by `close` through noise alone, means of n by close / sqrt(n).
    """
    noise = close * sqrt((better.variance + worse.variance) / 2)
    if abs(better.mean - worse.mean) <= noise + ROUNDING:
        return Verdict.TOO_CLOSE
    if min(better.values) > max(worse.values):
        return Verdict.AGREES
    if max(better.values) < min(worse.values):
        return Verdict.DISAGREES
    return Verdict.TOO_CLOSE


def joint_verdict(verdicts: Sequence[Verdict]) -> Verdict:
    """Of a claim about all of them: one clear exception refutes it, and half of them must bear it out.

    Those that could not be made are among them: what a few others say is no test of the claim.
    """
    tested = [each for each in verdicts if each is not Verdict.NOT_TESTED]
    if not tested:
        return Verdict.NOT_TESTED
    if Verdict.DISAGREES in tested:
        return Verdict.DISAGREES
    num_for_it = tested.count(Verdict.AGREES)
    if 2 * num_for_it < len(tested):
        return Verdict.TOO_CLOSE
    return Verdict.AGREES if 2 * num_for_it >= len(verdicts) else Verdict.NOT_TESTED


def said_of_seeds(claims: Sequence[Claim]) -> tuple[str, dict[str, str]]:
    """A sentence for all claims that were tested, if none stands on enough seeds, and by key what is left to say."""
    few = {claim.key: few_seeds(claim.num_seeds) for claim in claims}
    if not few or not all(few.values()):
        return "", few
    usual, _ = Counter(few.values()).most_common(1)[0]
    stands = usual.removeprefix(", ")
    if set(few.values()) == {usual}:
        return f"Every verdict stands {stands}.", dict.fromkeys(few, "")
    return f"A verdict that does not say how many seeds it has stands {stands}.", {
        key: "" if told == usual else f"; all {told.removeprefix(', ')}" for key, told in few.items()
    }


def few_seeds(num_seeds: int) -> str:
    """ ", on 1 seed only", where a verdict stands on fewer than it should."""
    if num_seeds >= FEW_SEEDS:
        return ""
    return f", on {num_seeds} seed{'s' if num_seeds > 1 else ''} only"
