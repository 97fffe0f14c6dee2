"""What stands beside a page to be put into papers, spreadsheets and READMEs: Table 1 and the claims."""

from collections.abc import Sequence

from isoglot.pipeline.measurements import Measurement
from isoglot.report.claims import claims
from isoglot.report.claims.transfer_evidence import Transfer
from isoglot.report.csv_table import csv_table
from isoglot.report.latex import latex_table
from isoglot.report.markdown_claims import markdown_claims
from isoglot.report.markdown_table import markdown_table
from isoglot.report.table_1 import table_1
from isoglot.report.verdicts import Verdict

CSV, LATEX, MARKDOWN, CLAIMS = "table-1.csv", "table-1.tex", "table-1.md", "claims.md"
ALL = (CSV, LATEX, MARKDOWN, CLAIMS)


def text_files(measurements: Sequence[Measurement]) -> dict[str, str]:
    """Those that a study has something for, by name."""
    files: dict[str, str] = {}
    if table := table_1(measurements):
        files |= {CSV: csv_table(table), LATEX: latex_table(table), MARKDOWN: markdown_table(table)}
    found = claims(measurements)
    if any(claim.verdict is not Verdict.NOT_TESTED for claim in found):
        files[CLAIMS] = markdown_claims(found, noise=Transfer.of(measurements).noise)
    return files
