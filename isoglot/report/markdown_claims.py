"""The claims of the paper for a README: Markdown, one line each, with the verdict and its numbers."""

from collections.abc import Sequence

from isoglot.report.markdown import markdown_row
from isoglot.report.noise import Noise
from isoglot.report.verdicts import Claim, Verdict, said_of_seeds


def markdown_claims(claims: Sequence[Claim], *, noise: Noise) -> str:
    """A heading, how many there are of each verdict, and those that were tested, in the paper's order."""
    tested = [claim for claim in claims if claim.verdict is not Verdict.NOT_TESTED]
    of_all, of_each = said_of_seeds(tested)
    lines = [
        markdown_row([f"{claim.sentence} ({claim.source})", claim.verdict.word, claim.numbers + of_each[claim.key]])
        for claim in tested
    ]
    table = "\n".join([markdown_row(["The paper", "We", "Numbers"]), markdown_row(["---"] * 3), *lines])
    counts = {verdict: sum(claim.verdict is verdict for claim in claims) for verdict in Verdict}
    tally = ", ".join(f"{verdict.word}: {count}" for verdict, count in counts.items() if count)
    said = [f"{tally[0].upper()}{tally[1:]}.", noise.sentence(), of_all]
    return "\n\n".join(["## What the paper claims, and what we find", " ".join(filter(None, said)), table]) + "\n"
