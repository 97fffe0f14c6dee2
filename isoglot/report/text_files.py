"""Files beside a page to be put into papers, spreadsheets and READMEs: Table 1 and the claims."""

from collections.abc import Sequence

from isoglot.report.grid import markdown_row
from isoglot.report.report_scores import ReportScores
from isoglot.report.table_1 import csv_table, latex_table, markdown_table
from isoglot.report.verdicts import Claim, Noise, Verdict, seed_remarks

CSV, LATEX, MARKDOWN, CLAIMS = "table-1.csv", "table-1.tex", "table-1.md", "claims.md"
ALL = (CSV, LATEX, MARKDOWN, CLAIMS)


def text_files(scores: ReportScores) -> dict[str, str]:
    """The content of each file that the study has something for, by name."""
    files: dict[str, str] = {}
    if table := scores.table_1:
        files |= {CSV: csv_table(table), LATEX: latex_table(table), MARKDOWN: markdown_table(table)}
    if any(claim.verdict is not Verdict.NOT_TESTED for claim in scores.claims):
        files[CLAIMS] = markdown_claims(scores.claims, noise=scores.transfer_evidence.noise)
    return files


def markdown_claims(claims: Sequence[Claim], *, noise: Noise) -> str:
    """A heading, the count of each verdict, and the claims that were tested, in the paper's order."""
    tested = [claim for claim in claims if claim.verdict is not Verdict.NOT_TESTED]
    about_all, about_each = seed_remarks(tested)
    lines = [
        markdown_row([f"{claim.sentence} ({claim.source})", claim.verdict.word, claim.numbers + about_each[claim.key]])
        for claim in tested
    ]
    table = "\n".join([markdown_row(["The paper", "We", "Numbers"]), markdown_row(["---"] * 3), *lines])
    counts = {verdict: sum(claim.verdict is verdict for claim in claims) for verdict in Verdict}
    tally = ", ".join(f"{verdict.word}: {count}" for verdict, count in counts.items() if count)
    summary = filter(None, [f"{tally[0].upper()}{tally[1:]}.", noise.sentence(), about_all])
    return "\n\n".join(["## What the paper claims, and what we find", " ".join(summary), table]) + "\n"
