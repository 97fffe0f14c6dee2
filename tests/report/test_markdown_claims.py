"""The claims as Markdown: one line each, and none that was not tested."""

from dataclasses import replace

from isoglot.cells import TABLE_1
from isoglot.report.claims import claims
from isoglot.report.markdown_claims import markdown_claims
from isoglot.report.noise import Noise
from isoglot.report.published_measurements import published_measurements
from isoglot.report.verdicts import Verdict

OF_TABLE_1 = claims([each for each in published_measurements() if each.exhibit == TABLE_1])


def test_every_claim_that_was_tested_has_a_line_with_its_verdict_and_numbers() -> None:
    written = markdown_claims(OF_TABLE_1, noise=Noise())
    lines = [line for line in written.splitlines() if line.startswith("| ")][2:]
    tested = [claim for claim in OF_TABLE_1 if claim.verdict is not Verdict.NOT_TESTED]
    assert len(lines) == len(tested) < len(OF_TABLE_1)
    for line, claim in zip(lines, tested, strict=True):
        sentence, word, numbers = line.strip("| ").split(" | ")
        assert sentence == f"{claim.sentence} ({claim.source})"
        assert claim.verdict.value.startswith(word)
        assert numbers.startswith(claim.numbers)
        assert numbers.endswith(", on 1 seed only")
    counts = {verdict: sum(claim.verdict is verdict for claim in OF_TABLE_1) for verdict in Verdict}
    assert f"Agrees: {counts[Verdict.AGREES]}, disagrees: {counts[Verdict.DISAGREES]}, " in written
    assert f", not tested: {counts[Verdict.NOT_TESTED]}.\n" in written


def test_noise_is_told_where_seeds_measured_it_and_marks_do_no_harm() -> None:
    claim = replace(OF_TABLE_1[0], sentence="a|b", num_seeds=3)
    written = markdown_claims([claim], noise=Noise(points=5.6, num_scores=30))
    assert "5.6 points are taken for noise in place of 3: " in written
    assert r"| a\|b (" in written
    assert "seeds only" not in written
