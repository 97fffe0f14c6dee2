"""The claims as Markdown: one line each, and none that was not tested."""

from dataclasses import replace

from isoglot.pipeline.cells import TABLE_1
from isoglot.report.claims import claims
from isoglot.report.published import published_measurements
from isoglot.report.text_files import markdown_claims
from isoglot.report.verdicts import Noise, Verdict

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
        assert numbers == claim.numbers
    assert " Every verdict stands on 1 seed only.\n" in written
    counts = {verdict: sum(claim.verdict is verdict for claim in OF_TABLE_1) for verdict in Verdict}
    assert f"Agrees: {counts[Verdict.AGREES]}, disagrees: {counts[Verdict.DISAGREES]}, " in written
    assert f", not tested: {counts[Verdict.NOT_TESTED]}. " in written


def test_noise_is_told_where_seeds_measured_it_and_marks_do_no_harm() -> None:
    claim = replace(OF_TABLE_1[0], sentence="a|b", num_seeds=3)
    written = markdown_claims([claim], noise=Noise(points=5.6, num_scores=30))
    assert "5.6 points are taken for noise in place of 3, " in written
    assert r"| a\|b (" in written
    assert "seeds only" not in written


def test_what_most_claims_have_is_said_once_and_others_say_what_they_have() -> None:
    seeds = (1, 1, 2)
    found = [replace(claim, num_seeds=number) for claim, number in zip(OF_TABLE_1, seeds, strict=False)]
    written = markdown_claims(found, noise=Noise())
    assert "A verdict that does not say how many seeds it has stands on 1 seed only." in written
    assert [line.endswith("on 2 seeds only |") for line in written.splitlines()[-3:]] == [False, False, True]
    # Where one has enough, silence would be taken for that.
    enough = markdown_claims([*found[:2], replace(found[2], num_seeds=3)], noise=Noise())
    assert enough.count(", on 1 seed only |") == 2
