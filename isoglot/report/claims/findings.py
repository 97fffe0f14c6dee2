"""Comparisons that decide a claim, each with its own verdict, and their summary in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from isoglot.report.verdicts import CLOSE_POINTS, Sample, Verdict, joint_verdict, order_verdict

# Sections 4.4 and 5.2. German stands only in Figures 4, 6 and 7, and the paper does not order it and French.
RANKS = {"en": {"fr": 1, "de": 1, "ru": 2, "zh": 3}}
LACKING = "two target languages that the paper has at different distances from the source (en: fr and de, ru, zh)"


def by_distance(source: str, targets: Sequence[str]) -> list[list[str]]:
    """Groups of equally close targets, the closest first; targets that the paper does not rank are left out."""
    ranks = RANKS.get(source, {})
    known = [target for target in dict.fromkeys(targets) if target in ranks]
    return [
        [target for target in known if ranks[target] == rank] for rank in sorted({ranks[target] for target in known})
    ]


MOST_LISTED = 6
HEADINGS = {Verdict.DISAGREES: "against it", Verdict.AGREES: "for it", Verdict.TOO_CLOSE: "too close"}


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One comparison that a claim rests on."""

    verdict: Verdict
    numbers: str
    num_seeds: int = 0


def comparison(better: Sample, worse: Sample, *, numbers: str, close: float = CLOSE_POINTS) -> Finding:
    """The finding on two samples that the paper puts in this order."""
    return Finding(
        verdict=order_verdict(better, worse, close=close),
        numbers=numbers,
        # A certain value, such as chance, needs no seeds.
        num_seeds=min(len(each.values) for each in (better, worse) if each.variance),
    )


def untested(reason: str) -> Finding:
    """For numbers that are there, but decide nothing."""
    return Finding(verdict=Verdict.NOT_TESTED, numbers=reason)


def in_order(first: tuple[str, Sample], second: tuple[str, Sample], *, number: str = ".1f") -> str:
    """ "Default 70.2 > Sep Emb 65.7"."""
    (a_label, a), (b_label, b) = first, second
    sign = ">" if a.mean > b.mean else "<" if a.mean < b.mean else "="
    return f"{a_label} {a.mean:{number}} {sign} {b_label} {b.mean:{number}}"


def decided(findings: Sequence[Finding], *, needs: str) -> tuple[Verdict, str, int]:
    """The verdict, its numbers in a sentence, and how many seeds it stands on."""
    verdict = joint_verdict([each.verdict for each in findings])
    if verdict is Verdict.NOT_TESTED:
        return verdict, "; ".join(dict.fromkeys(each.numbers for each in findings)) or f"needs {needs}", 0
    tested = [each for each in findings if each.verdict is not Verdict.NOT_TESTED]
    unlisted = dict.fromkeys(each.numbers for each in findings if each.verdict is Verdict.NOT_TESTED)
    return verdict, "; ".join([_summary(tested), *unlisted]), min(each.num_seeds for each in tested)


def _summary(findings: Sequence[Finding]) -> str:
    """Findings against a claim come first, and are never left out."""
    groups = {verdict: [each.numbers for each in findings if each.verdict is verdict] for verdict in HEADINGS}
    return "; ".join(
        (f"{HEADINGS[verdict]}: " if len(groups[verdict]) < len(findings) else "")
        + _listed(groups[verdict], whole=verdict is Verdict.DISAGREES)
        for verdict in HEADINGS
        if groups[verdict]
    )


def _listed(numbers: Sequence[str], *, whole: bool) -> str:
    if whole or len(numbers) <= MOST_LISTED:
        return "; ".join(numbers)
    return f"{len(numbers)} comparisons, such as {'; '.join(numbers[: MOST_LISTED // 2])}"
