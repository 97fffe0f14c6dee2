"""The claims of the paper (claims.toml), and what measurements say of each."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache, partial
from importlib.resources import files
from itertools import chain
from typing import Any

from isoglot.pipeline.measurements import Measurement
from isoglot.report.claims import layer_rules, transfer_rules
from isoglot.report.claims.layer_rules import LayerEvidence
from isoglot.report.claims.transfer_rules import TransferEvidence
from isoglot.report.findings.comparisons import Comparisons
from isoglot.report.findings.headline import noise_sentence, refusal_sentences
from isoglot.report.findings.published import published_measurements
from isoglot.report.findings.transfer_scores import transfer_scores
from isoglot.report.findings.verdicts import Claim, Finding, Verdict, joint_verdict

__all__ = ["Claim", "claims", "remarks"]
QUESTIONS: Mapping[str, Mapping[str, Any]] = tomllib.loads(files(__name__).joinpath("claims.toml").read_text("utf-8"))
HEADINGS = {Verdict.DISAGREES: "against it", Verdict.AGREES: "for it", Verdict.TOO_CLOSE: "too close"}
RULES = {"transfer": transfer_rules, "layers": layer_rules}
MOST_LISTED = 6
NOT_PRINTED = "the paper prints no numbers of it"


def claims(measurements: Sequence[Measurement], comparisons: Comparisons | None = None) -> list[Claim]:
    """All claims, in the order of the paper; the comparisons of its tasks are given where they are computed already."""
    ours = _findings(measurements, comparisons or _comparisons(measurements))
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


def remarks(measurements: Sequence[Measurement], comparisons: Comparisons) -> list[str]:
    """Sentences on noise and shut gates, which hold for several claims."""
    of_transfer = [noise_sentence(comparisons), *refusal_sentences(comparisons)] if comparisons.trials else []
    return [*of_transfer, *LayerEvidence(measurements=measurements, noise=comparisons.noise).remarks()]


@cache
def _papers_own() -> Mapping[str, Finding]:
    """The same tests on the numbers that the paper prints."""
    measurements = list(published_measurements())
    # The paper prints neither scores in the source language nor untrained models: its gates are taken as open.
    return _findings(measurements, _comparisons(measurements).without_gates)


def _comparisons(measurements: Sequence[Measurement]) -> Comparisons:
    return Comparisons.of_tasks(list(transfer_scores(measurements)))


def _findings(measurements: Sequence[Measurement], comparisons: Comparisons) -> Mapping[str, Finding]:
    transfer = TransferEvidence(comparisons=comparisons)
    layers = LayerEvidence(measurements=measurements, noise=comparisons.noise)
    found = {}
    for key, question in QUESTIONS.items():
        kind, _, name = question["rule"].partition(".")
        rule = partial(getattr(RULES[kind], name), **question.get("with", {}))
        findings = list(rule(transfer if kind == "transfer" else layers))
        needs = f"needs {question['needs']}"
        if kind == "transfer" and not findings and any(rule(TransferEvidence(comparisons=comparisons.without_gates))):
            needs = "no verdict: " + "; ".join(gate.missing for gate in comparisons.refusals)
        found[key] = decided(findings, needs=needs)
    return found


def decided(findings: Sequence[Finding], *, needs: str) -> Finding:
    """All findings in one; a claim without any says what it needs."""
    verdict = joint_verdict([each.verdict for each in findings])
    if verdict is Verdict.NOT_TESTED:
        reasons = "; ".join(dict.fromkeys(each.numbers for each in findings))
        return Finding(verdict=verdict, numbers=reasons or needs)
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
    margins = tuple(chain.from_iterable(each.margins for each in tested))
    return Finding(verdict=verdict, numbers="; ".join([*parts, *unlisted]), num_seeds=num_seeds, margins=margins)
