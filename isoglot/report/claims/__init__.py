"""The claims of the paper (claims.toml), and what measurements say of each."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from isoglot.pipeline.measurements import Measurement
from isoglot.report.claims import layer_rules, transfer_rules
from isoglot.report.claims.evidence import TransferEvidence, decided
from isoglot.report.published import published_measurements
from isoglot.report.transfer_scores import transfer_scores
from isoglot.report.verdicts import Claim, Verdict

__all__ = ["Claim", "TransferEvidence", "claims"]
QUESTIONS: Mapping[str, Mapping[str, Any]] = tomllib.loads(files(__name__).joinpath("claims.toml").read_text("utf-8"))
NOT_PRINTED = "the paper prints no numbers of it"


def claims(measurements: Sequence[Measurement], transfer: TransferEvidence | None = None) -> list[Claim]:
    """All claims, in the order of the paper; `transfer` is given where it is computed already."""
    printed, ours = _papers_own(), _verdicts(measurements, transfer)
    return [
        Claim(
            key=key,
            sentence=question["sentence"],
            source=question["source"],
            test=question["test"],
            verdict=ours[key][0],
            numbers=ours[key][1],
            num_seeds=ours[key][2],
            papers_verdict=printed[key][0],
            papers_numbers=NOT_PRINTED if printed[key][0] is Verdict.NOT_TESTED else printed[key][1],
        )
        for key, question in QUESTIONS.items()
    ]


@cache
def _papers_own() -> Mapping[str, tuple[Verdict, str, int]]:
    """The same tests on the numbers that the paper prints."""
    return _verdicts(list(published_measurements()), None)


def _verdicts(
    measurements: Sequence[Measurement], transfer: TransferEvidence | None
) -> Mapping[str, tuple[Verdict, str, int]]:
    """By key: the verdict, its numbers and its seeds."""
    rules_and_evidence = {
        "transfer": (transfer_rules, transfer or TransferEvidence.of(transfer_scores(measurements))),
        "layers": (layer_rules, measurements),
    }
    found = {}
    for key, question in QUESTIONS.items():
        kind, _, name = question["rule"].partition(".")
        rules, evidence = rules_and_evidence[kind]
        findings = getattr(rules, name)(evidence, **question.get("with", {}))
        found[key] = decided(list(findings), needs=question["needs"])
    return found
