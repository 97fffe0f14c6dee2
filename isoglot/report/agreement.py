"""Whether a study orders the conditions as the paper's Table 1 does."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from statistics import fmean

from isoglot.conditions import CONDITIONS
from isoglot.report.published import TABLE_1_SCORES, published_order
from isoglot.report.rows import Row

CLOSE_POINTS = 3.0
FEW_SEEDS = 3
FEW_LINES = 5
HEADING = "Points gained by training, where all tasks of the paper's Table 1 agree on the order:"


class Verdict(StrEnum):
    """How our order of two conditions compares with the paper's."""

    AGREES = "agrees with the paper"
    DISAGREES = "disagrees with the paper"
    TOO_CLOSE = "too close to call"


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Two conditions that all of the paper's tasks put in one order; ours are gains over the untrained model."""

    better: str
    worse: str
    our_better: float
    our_worse: float
    num_seeds: int
    verdict: Verdict

    def sentence(self) -> str:
        """For people: "Default +61.0 > No anchors +56.2: too close to call"."""
        better, worse = CONDITIONS[self.better].label, CONDITIONS[self.worse].label
        sign = ">" if self.our_better > self.our_worse else "<" if self.our_better < self.our_worse else "="
        few = (
            f", on {self.num_seeds} seed{'s' if self.num_seeds > 1 else ''} only" if self.num_seeds < FEW_SEEDS else ""
        )
        return f"{better} {self.our_better:+.1f} {sign} {worse} {self.our_worse:+.1f}: {self.verdict.value}{few}"


def told_apart(found: Sequence[Agreement]) -> tuple[list[Agreement], str]:
    """Those worth a line each, and one line for all that are too close to call, where these are many."""
    undecided = [each for each in found if each.verdict is Verdict.TOO_CLOSE]
    if len(undecided) <= FEW_LINES:
        return list(found), ""
    decided = [each for each in found if each.verdict is not Verdict.TOO_CLOSE]
    return decided, f"{len(undecided)} more pairs of conditions: {Verdict.TOO_CLOSE.value}"


def agreements(rows: Sequence[Row]) -> list[Agreement]:
    """Every pair of conditions of one language pair whose order the paper's three tasks agree on."""
    found = []
    for first, second in combinations(rows, 2):
        for better, worse in ((first, second), (second, first)):
            known = better.condition in TABLE_1_SCORES and worse.condition in TABLE_1_SCORES
            if better.languages == worse.languages and known and published_order(better.condition, worse.condition):
                found.append(
                    Agreement(
                        better=better.condition,
                        worse=worse.condition,
                        our_better=fmean(better.gains),
                        our_worse=fmean(worse.gains),
                        num_seeds=min(len(better.gains), len(worse.gains)),
                        verdict=_verdict(better, worse),
                    )
                )
    return found


def _verdict(better: Row, worse: Row) -> Verdict:
    """Decided only if every seed is on the same side, and the means are apart by more than CLOSE_POINTS."""
    if abs(fmean(better.gains) - fmean(worse.gains)) <= CLOSE_POINTS:
        return Verdict.TOO_CLOSE
    if min(better.gains) > max(worse.gains):
        return Verdict.AGREES
    if max(better.gains) < min(worse.gains):
        return Verdict.DISAGREES
    return Verdict.TOO_CLOSE
