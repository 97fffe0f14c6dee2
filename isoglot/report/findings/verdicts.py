"""The one rule of all verdicts: when two scores differ, and what may be said of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from math import isfinite
from typing import NamedTuple

from isoglot.report.findings.samples import ENOUGH_SEEDS, ROUNDING, Sample, noise_between, paired


class Verdict(StrEnum):
    """How our numbers compare with what the paper says."""

    AGREES = "agrees"
    DISAGREES = "disagrees"
    TOO_CLOSE = "too close to call"
    NOT_TESTED = "not tested"


class Margin(NamedTuple):
    """How far the score that the paper has ahead is ahead."""

    noises: float
    """As a multiple of the noise between the two: within -1 and 1 it is too close to call, below 0 the other leads."""
    verdict: Verdict
    text: str


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A comparison with the paper."""

    verdict: Verdict
    numbers: str
    """In a sentence, or why it is not tested."""
    num_seeds: int = 0
    """Seeds that both sides have; 0 where it is not tested."""
    margins: tuple[Margin, ...] = ()

    def left_open(self, numbers: str) -> Finding:
        """The same without a verdict."""
        margins = tuple(each._replace(verdict=Verdict.TOO_CLOSE) for each in self.margins)
        return replace(self, verdict=Verdict.TOO_CLOSE, numbers=numbers, margins=margins)

    @property
    def is_sure(self) -> bool:
        """Whether it speaks of more than these runs."""
        return self.num_seeds >= ENOUGH_SEEDS

    @property
    def word(self) -> str:
        """ "agrees", or of few seeds "agrees in this run"."""
        runs = these_runs(self.num_seeds) if self.num_seeds else ""
        return f"{self.verdict} {runs}".rstrip()


@dataclass(frozen=True, kw_only=True)
class Claim(Finding):
    """A sentence of the paper, with all comparisons of a study that decide it."""

    key: str
    sentence: str
    source: str
    """Where the paper says it: "section 4.1"."""
    test: str
    papers_verdict: Verdict
    """The verdict of the same test on the numbers that the paper prints."""
    papers_numbers: str


def order_verdict(better: Sample, worse: Sample) -> Verdict:
    """Decided only if every seed is on the same side, and the means are further apart than noise."""
    better, worse = paired(better, worse)
    # A score that is no number decides nothing.
    if not abs(better.mean - worse.mean) > noise_between(better, worse) + ROUNDING:
        return Verdict.TOO_CLOSE
    if better.mean > worse.mean:
        return Verdict.AGREES if min(better.values) > max(worse.values) else Verdict.TOO_CLOSE
    return Verdict.DISAGREES if max(better.values) < min(worse.values) else Verdict.TOO_CLOSE


def margin(better: Sample, worse: Sample, *, text: str) -> Margin:
    """The margin of two samples that the paper puts in this order."""
    a, b = paired(better, worse)
    noises = (a.mean - b.mean) / max(noise_between(a, b), ROUNDING)
    return Margin(noises if isfinite(noises) else 0.0, order_verdict(better, worse), text)


def is_above_floor(lead: Sample) -> bool:
    """Whether points above a floor are more than noise, with every seed."""
    return order_verdict(lead, Sample.certain(0.0)) is Verdict.AGREES


def in_order(first: tuple[str, Sample], second: tuple[str, Sample], *, number: str = ".1f") -> str:
    """ "Default 70.2 > Sep Emb 65.7"."""
    (a_label, a), (b_label, b) = first, second
    a, b = paired(a, b)
    sign = ">" if a.mean > b.mean else "<" if a.mean < b.mean else "="
    return f"{a_label} {a.mean:{number}} {sign} {b_label} {b.mean:{number}}"


def compared(better: Sample, worse: Sample, *, numbers: str) -> Finding:
    """The finding on two samples that the paper puts in this order."""
    # A certain value, such as chance, needs no seeds.
    num_seeds = min(len(each.values) for each in paired(better, worse) if each.variance)
    found = margin(better, worse, text=numbers)
    return Finding(verdict=found.verdict, numbers=numbers, num_seeds=num_seeds, margins=(found,))


def ordered(where: str, *labelled: tuple[str, Sample | None], number: str = ".1f") -> Iterator[Finding]:
    """Findings on samples that the paper puts in this order, each against the next one that was measured."""
    known = [(label, sample) for label, sample in labelled if sample is not None]
    for better, worse in pairwise(known):
        numbers = f"{where}: {in_order(better, worse, number=number)}"
        yield compared(better[1], worse[1], numbers=numbers)


def joint_verdict(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict on a claim about all of them: one clear exception refutes it, and half must bear it out."""
    tested = [each for each in verdicts if each is not Verdict.NOT_TESTED]
    if not tested:
        return Verdict.NOT_TESTED
    if Verdict.DISAGREES in tested:
        return Verdict.DISAGREES
    num_for_it = tested.count(Verdict.AGREES)
    if 2 * num_for_it < len(tested):
        return Verdict.TOO_CLOSE
    # Comparisons that could not be made count: a few others are no test of the claim.
    return Verdict.AGREES if 2 * num_for_it >= len(verdicts) else Verdict.NOT_TESTED


class Tally(NamedTuple):
    """How many claims have a verdict."""

    verdict: Verdict
    counted: str
    """ "16", or where some stand on few seeds "16 (9 in these two runs, 7 in this run)"."""
    is_sure: bool
    """Whether one of them speaks of more than these runs."""


def tally(claims: Sequence[Claim]) -> list[Tally]:
    """The number of claims with each verdict that one has."""
    tallies = []
    for verdict in Verdict:
        alike = [claim for claim in claims if claim.verdict is verdict]
        few = Counter(these_runs(claim.num_seeds) for claim in alike if claim.num_seeds and not claim.is_sure)
        parts = ", ".join(f"{few[runs]} {runs}" for runs in (these_runs(2), these_runs(1)) if few[runs])
        count = parts if len(alike) in few.values() else f"{len(alike)} ({parts})" if parts else f"{len(alike)}"
        if alike:
            tallies.append(Tally(verdict, count, is_sure=few.total() < len(alike)))
    return tallies


def these_runs(num_seeds: int) -> str:
    """ "in this run", where a verdict stands on fewer seeds than it should; else empty."""
    if num_seeds >= ENOUGH_SEEDS:
        return ""
    return "in this run" if num_seeds == 1 else "in these two runs"
