"""Every claim of the paper that measurements can decide, and what a study's measurements say of it."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from isoglot.pipeline.measurements import Measurement
from isoglot.report.claims.evidence import Layers, Transfer
from isoglot.report.claims.layer_claims import LAYER_CLAIMS
from isoglot.report.claims.question import Question, decided
from isoglot.report.claims.transfer_claims import TRANSFER_CLAIMS
from isoglot.report.published import published_measurements
from isoglot.report.verdicts import Claim, Verdict

NOT_PRINTED = "the paper prints no numbers of it"
QUESTIONS: tuple[Question[Any], ...] = (*TRANSFER_CLAIMS, *LAYER_CLAIMS)


def claims(measurements: Sequence[Measurement]) -> list[Claim]:
    """All of them, in the order of the paper."""
    of_paper = _of_the_papers_numbers()
    return [
        Claim(
            key=question.key,
            sentence=question.sentence,
            source=question.source,
            test=question.test,
            verdict=verdict,
            numbers=numbers,
            num_seeds=num_seeds,
            papers_verdict=of_paper[question.key][0],
            papers_numbers=of_paper[question.key][1],
        )
        for question, verdict, numbers, num_seeds in _decided(measurements)
    ]


@cache
def _of_the_papers_numbers() -> Mapping[str, tuple[Verdict, str]]:
    return {
        question.key: (verdict, NOT_PRINTED if verdict is Verdict.NOT_TESTED else numbers)
        for question, verdict, numbers, _ in _decided(list(published_measurements()))
    }


def _decided(measurements: Sequence[Measurement]) -> Iterator[tuple[Question[Any], Verdict, str, int]]:
    transfer, layers = Transfer.of(measurements), Layers.of(measurements)
    for of_transfer in TRANSFER_CLAIMS:
        yield of_transfer, *decided(of_transfer.findings(transfer), needs=of_transfer.needs)
    for of_layers in LAYER_CLAIMS:
        yield of_layers, *decided(of_layers.findings(layers), needs=of_layers.needs)
