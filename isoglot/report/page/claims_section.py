"""What the paper says, and what this study says of it: one line a claim."""

from collections.abc import Mapping, Sequence

from isoglot.report.page.explanations import CLAIMS
from isoglot.report.page.markup import Html, folded, joined, tag
from isoglot.report.page.section import Section
from isoglot.report.report_scores import ReportScores
from isoglot.report.verdicts import Claim, Verdict, seed_remarks

MARKS = {Verdict.AGREES: "✓", Verdict.DISAGREES: "✕", Verdict.TOO_CLOSE: "≈", Verdict.NOT_TESTED: "○"}

OF_PAPER = {
    Verdict.AGREES: "The same test on the paper's numbers agrees",
    Verdict.DISAGREES: "The same test on the paper's numbers disagrees",
    Verdict.TOO_CLOSE: "The same test on the paper's numbers is too close to call",
    Verdict.NOT_TESTED: "The same test on the paper's numbers",
}
CONTRADICTED = "The numbers that the paper itself prints disagree with this."


def claims_section(scores: ReportScores) -> Section:
    found = scores.claims
    tested = [claim for claim in found if claim.verdict is not Verdict.NOT_TESTED]
    untested = [claim for claim in found if claim.verdict is Verdict.NOT_TESTED]
    of_all, of_each = seed_remarks(tested)
    return Section(
        anchor="claims",
        title="What the paper claims, and what we find",
        short_title="Claims",
        explanation=CLAIMS,
        body=joined(
            [
                _tally(found),
                tag("p", said) if (said := scores.transfer_evidence.noise.sentence()) else Html(),
                tag("p", of_all) if of_all else Html(),
                _list(tested, seeds=of_each),
                folded(f"{len(untested)} claims that this study does not test", _list(untested, seeds={}))
                if untested
                else Html(),
            ]
        ),
        has_published=True,
    )


def _tally(found: Sequence[Claim]) -> Html:
    chips = (
        tag("li", _chip(verdict), f" {sum(claim.verdict is verdict for claim in found)}")
        for verdict in Verdict
        if any(claim.verdict is verdict for claim in found)
    )
    return tag("ul", *chips, class_="tally", aria_label="How many claims")


def _list(found: Sequence[Claim], *, seeds: Mapping[str, str]) -> Html:
    lines = (_line(claim, seeds=seeds.get(claim.key, "")) for claim in found)
    return tag("ul", *lines, class_="claims") if found else Html()


def _line(claim: Claim, *, seeds: str) -> Html:
    return tag(
        "li",
        _chip(claim.verdict),
        tag(
            "div",
            tag("p", claim.sentence, " ", tag("small", claim.source), class_="sentence"),
            tag("p", claim.numbers, seeds, class_="found"),
            tag("p", CONTRADICTED, class_="published") if claim.papers_verdict is Verdict.DISAGREES else Html(),
            folded(
                "How it was decided",
                tag("p", tag("b", "Test: "), claim.test),
                tag("p", tag("b", OF_PAPER[claim.papers_verdict], ": "), claim.papers_numbers, class_="published"),
            ),
        ),
        id=f"claim-{claim.key}",
    )


def _chip(verdict: Verdict) -> Html:
    mark = tag("span", MARKS[verdict], aria_hidden="true")
    return tag("span", mark, f" {verdict.word}", class_=f"chip {verdict.name.lower()}")
