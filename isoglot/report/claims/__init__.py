"""The claims of the paper, and what measurements say of each."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from isoglot.pipeline.measurements import Measurement
from isoglot.report.claims.evidence import LayerEvidence, TransferEvidence, decided
from isoglot.report.claims.questions import QUESTIONS, Evidence, Question
from isoglot.report.published import published_measurements
from isoglot.report.transfer_scores import transfer_scores
from isoglot.report.verdicts import Claim, Verdict

__all__ = ["QUESTIONS", "Claim", "TransferEvidence", "claims"]
NOT_PRINTED = "the paper prints no numbers of it"


def claims(measurements: Sequence[Measurement], transfer: TransferEvidence | None = None) -> list[Claim]:
    """All claims, in the order of the paper; `transfer` is given where it is computed already."""
    printed = _papers_own()
    return [
        Claim(
            key=question.key,
            sentence=question.sentence,
            source=question.source,
            test=question.test,
            verdict=verdict,
            numbers=numbers,
            num_seeds=num_seeds,
            papers_verdict=printed[question.key][0],
            papers_numbers=printed[question.key][1],
        )
        for question, verdict, numbers, num_seeds in _decided(measurements, transfer)
    ]


@cache
def _papers_own() -> Mapping[str, tuple[Verdict, str]]:
    """The same tests on the numbers that the paper prints."""
    return {
        question.key: (verdict, NOT_PRINTED if verdict is Verdict.NOT_TESTED else numbers)
        for question, verdict, numbers, _ in _decided(list(published_measurements()), None)
    }


def _decided(
    measurements: Sequence[Measurement], transfer: TransferEvidence | None
) -> Iterator[tuple[Question, Verdict, str, int]]:
    evidence = Evidence(
        transfer=transfer or TransferEvidence.of(transfer_scores(measurements)), layers=LayerEvidence.of(measurements)
    )
    for question in QUESTIONS:
        yield question, *decided(list(question.findings(evidence)), needs=question.needs)
