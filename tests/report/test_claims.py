"""All claims together: the paper's numbers, the page that lists them, and the claims as Markdown."""

import re
from dataclasses import replace
from pathlib import Path

from isoglot.pipeline.cells import TABLE_1
from isoglot.report.claims import claims
from isoglot.report.findings.noise import Noise, Spread
from isoglot.report.findings.published import published_measurements
from isoglot.report.findings.verdicts import Claim, Verdict
from isoglot.report.writing import markdown_claims
from tests.report.made_up_measurements import with_open_gates

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "claims.md").read_text(encoding="utf-8")
WORDS = {
    Verdict.AGREES: "agree",
    Verdict.DISAGREES: "disagree",
    Verdict.TOO_CLOSE: "too close to call",
    Verdict.NOT_TESTED: "not printed",
}
CONTRADICTED = {"chance", "distance"}
NEEDS_OTHER_FIGURES = {
    *("embeddings-fasttext", "contextual-words-fasttext", "words-higher-layers", "mapped-transfer", "bilingual-better"),
    *("middle-layers", "entities-harder", "mapped-bilingual", "sentences-lower-layers", "sentences-align"),
    "similarity-retrieval",
}


OF_TABLE_1 = claims(with_open_gates([each for each in published_measurements() if each.exhibit == TABLE_1]))


def line(claim: Claim) -> str:
    return (
        f"- **`{claim.key}`** ({claim.source}) {claim.sentence} *Test:* {claim.test}. "
        f"*The paper's own numbers:* {WORDS[claim.papers_verdict]}."
    )


def test_the_papers_numbers_agree_with_every_claim_they_decide_but_those_that_the_page_names() -> None:
    found = {claim.key: claim.papers_verdict for claim in claims([])}
    assert {key for key, verdict in found.items() if verdict is Verdict.NOT_TESTED} == NEEDS_OTHER_FIGURES
    assert {key for key, verdict in found.items() if verdict is Verdict.DISAGREES} == CONTRADICTED
    assert Verdict.TOO_CLOSE not in found.values()
    contradictions = PAGE.split("## Where the paper's own numbers contradict its prose")[1].split("\n## ")[0]
    assert set(re.findall(r"^- \*\*`([\w-]+)`\*\*", contradictions, flags=re.MULTILINE)) == CONTRADICTED


def test_page_and_code_say_the_same_of_every_claim() -> None:
    listed = re.findall(r"^- \*\*`[\w-]+`\*\* \(section.*$", PAGE, flags=re.MULTILINE)
    assert listed == [line(claim) for claim in claims([])]


def test_without_measurements_nothing_is_tested_and_each_claim_says_what_it_needs() -> None:
    of_four, of_five = PAGE.split("## Section 4")[1].split("## Sections 5 and 6")
    for claim in claims([]):
        assert claim.verdict is Verdict.NOT_TESTED
        assert re.match("needs (Table 1|figure-)", claim.numbers)
        here = of_four if re.match(r"sections? 4", claim.source) else of_five
        assert f"- **`{claim.key}`** ({claim.source})" in here, "it stands under its section"


def test_a_claim_carries_what_the_papers_own_numbers_say() -> None:
    printed = {claim.key: claim.papers_numbers for claim in claims([])}
    assert "clearly more than a third in NLI in fr +18.3, NER in fr +56.5" in printed["chance"]
    assert "against it: NER: ru +47.1 < zh +49.6" in printed["distance"]
    assert "too close: en-zh: bilingual 0.57 > monolingual 0.56" in printed["similarity-order"]
    assert printed["middle-layers"] == "the paper prints no numbers of it"


def test_every_claim_that_was_tested_has_a_line_with_its_verdict_and_numbers() -> None:
    written = markdown_claims(OF_TABLE_1, remarks=())
    lines = [line for line in written.splitlines() if line.startswith("| ")][2:]
    tested = [claim for claim in OF_TABLE_1 if claim.verdict is not Verdict.NOT_TESTED]
    assert len(lines) == len(tested) < len(OF_TABLE_1)
    for line, claim in zip(lines, tested, strict=True):
        sentence, word, numbers = line.strip("| ").split(" | ")
        assert sentence == f"{claim.sentence} ({claim.source})"
        assert (word, claim.num_seeds) == (f"{claim.verdict} in this run", 1)
        assert numbers == claim.numbers
    num_agree = sum(claim.verdict is Verdict.AGREES for claim in OF_TABLE_1)
    assert f"Agrees: {num_agree} in this run, disagrees: " in written
    assert f", not tested: {len(OF_TABLE_1) - len(tested)}.\n" in written


def test_remarks_stand_first_and_marks_do_no_harm() -> None:
    claim = replace(OF_TABLE_1[0], sentence="a|b", num_seeds=3)
    written = markdown_claims(
        [claim], remarks=[Noise(of_all=Spread.assumed(5.6), num_scores=30).sentence(), "No verdict."]
    )
    assert written.index("Noise is 5.6 points for two single scores, in place of 3: ") < written.index("No verdict.")
    assert r"| a\|b (" in written
    assert "run" not in written


def test_verdicts_of_few_seeds_are_counted_apart() -> None:
    kinds = [(Verdict.AGREES, 1), (Verdict.AGREES, 3), (Verdict.DISAGREES, 2), (Verdict.AGREES, 5)]
    found = [
        replace(claim, verdict=verdict, num_seeds=seeds)
        for claim, (verdict, seeds) in zip(OF_TABLE_1, kinds, strict=False)
    ]
    counts = "Agrees: 3 (1 in this run), disagrees: 1 in these two runs.\n"
    assert counts in markdown_claims(found, remarks=())
