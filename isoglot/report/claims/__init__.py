"""The claims of the paper (claims.toml), and what measurements say of each."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from isoglot.pipeline.measurements import Measurement
from isoglot.report.claims import layer_rules, transfer_rules
from isoglot.report.claims.transfer_rules import TransferEvidence
from isoglot.report.published import published_measurements
from isoglot.report.transfer_scores import transfer_scores
from isoglot.report.verdicts import Claim, Finding, Verdict, joint_verdict

__all__ = ["Claim", "TransferEvidence", "claims"]
QUESTIONS: Mapping[str, Mapping[str, Any]] = tomllib.loads(files(__name__).joinpath("claims.toml").read_text("utf-8"))
HEADINGS = {Verdict.DISAGREES: "against it", Verdict.AGREES: "for it", Verdict.TOO_CLOSE: "too close"}
MOST_LISTED = 6
NOT_PRINTED = "the paper prints no numbers of it"


def claims(measurements: Sequence[Measurement], transfer: TransferEvidence | None = None) -> list[Claim]:
    """All claims, in the order of the paper; `transfer` is given where it is computed already."""
    ours = _findings(measurements, transfer or TransferEvidence.of(transfer_scores(measurements)))
    papers = _papers_own()
    return [
        Claim(
            key=key,
            **{field: question[field] for field in ("sentence", "source", "test")},
            **vars(ours[key]),
            papers_verdict=papers[key].verdict,
            papers_numbers=NOT_PRINTED if papers[key].verdict is Verdict.NOT_TESTED else papers[key].numbers,
        )
        for key, question in QUESTIONS.items()
    ]


@cache
def _papers_own() -> Mapping[str, Finding]:
    """The same tests on the numbers that the paper prints."""
    measurements = list(published_measurements())
    return _findings(measurements, TransferEvidence.of(transfer_scores(measurements)))


def _findings(measurements: Sequence[Measurement], transfer: TransferEvidence) -> Mapping[str, Finding]:
    rules_and_evidence = {"transfer": (transfer_rules, transfer), "layers": (layer_rules, measurements)}
    found = {}
    for key, question in QUESTIONS.items():
        kind, _, name = question["rule"].partition(".")
        rules, evidence = rules_and_evidence[kind]
        findings = getattr(rules, name)(evidence, **question.get("with", {}))
        found[key] = decided(list(findings), needs=question["needs"])
    return found


def decided(findings: Sequence[Finding], *, needs: str) -> Finding:
    """All findings in one; a claim without any says what it needs."""
    verdict = joint_verdict([each.verdict for each in findings])
    if verdict is Verdict.NOT_TESTED:
        reasons = "; ".join(dict.fromkeys(each.numbers for each in findings))
        return Finding(verdict=verdict, numbers=reasons or f"needs {needs}")
    tested = [each for each in findings if each.verdict is not Verdict.NOT_TESTED]
    parts = []
    for of_verdict, heading in HEADINGS.items():
        numbers = [each.numbers for each in tested if each.verdict is of_verdict]
        title = f"{heading}: " if len(numbers) < len(tested) else ""
        # Findings against a claim come first, and are never left out.
        if len(numbers) > MOST_LISTED and of_verdict is not Verdict.DISAGREES:
            title += f"{len(numbers)} comparisons, such as "
            numbers = numbers[: MOST_LISTED // 2]
        parts += [title + "; ".join(numbers)] if numbers else []
    unlisted = dict.fromkeys(each.numbers for each in findings if each.verdict is Verdict.NOT_TESTED)
    num_seeds = min(each.num_seeds for each in tested)
    return Finding(verdict=verdict, numbers="; ".join([*parts, *unlisted]), num_seeds=num_seeds)
