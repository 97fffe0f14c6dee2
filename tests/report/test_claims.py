"""All claims together: the paper's numbers, the page that lists them, and a study with nothing yet."""

import re
from pathlib import Path

import pytest

from isoglot.report.claims import QUESTIONS, claims
from isoglot.report.published import published_measurements
from isoglot.report.verdicts import Claim, Verdict

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


def line(claim: Claim) -> str:
    return (
        f"- **`{claim.key}`** ({claim.source}) {claim.sentence} *Test:* {claim.test}. "
        f"*The paper's own numbers:* {WORDS[claim.papers_verdict]}."
    )


def test_the_papers_numbers_agree_with_every_claim_they_decide_but_those_that_the_page_names() -> None:
    found = {claim.key: claim.verdict for claim in claims(list(published_measurements()))}
    assert {key for key, verdict in found.items() if verdict is Verdict.NOT_TESTED} == NEEDS_OTHER_FIGURES
    assert {key for key, verdict in found.items() if verdict is Verdict.DISAGREES} == CONTRADICTED
    assert Verdict.TOO_CLOSE not in found.values()
    contradictions = PAGE.split("## Where the paper's own numbers contradict its prose")[1].split("\n## ")[0]
    assert set(re.findall(r"^- \*\*`([\w-]+)`\*\*", contradictions, flags=re.MULTILINE)) == CONTRADICTED


def test_page_and_code_say_the_same_of_every_claim() -> None:
    listed = re.findall(r"^- \*\*`[\w-]+`\*\* \(section.*$", PAGE, flags=re.MULTILINE)
    assert listed == [line(claim) for claim in claims([])]


def test_every_claim_stands_under_its_section() -> None:
    of_four, of_five = PAGE.split("## Section 4")[1].split("## Sections 5 and 6")
    for claim in claims([]):
        here = of_four if re.match(r"sections? 4", claim.source) else of_five
        assert f"- **`{claim.key}`** ({claim.source})" in here


def test_keys_that_the_page_names_are_claims() -> None:
    keys = {claim.key for claim in claims([])}
    notes = PAGE.split("## Where the paper's own numbers")[1]
    named = set(re.findall(r"^- (?:\*\*)?`([\w-]+)`", notes, flags=re.MULTILINE))
    assert len(named) > 5
    assert named <= keys


def test_without_measurements_nothing_is_tested_and_each_claim_says_what_it_needs() -> None:
    found = claims([])
    assert {claim.verdict for claim in found} == {Verdict.NOT_TESTED}
    assert all(re.match("needs (Table 1|figure-)", claim.numbers) for claim in found)
    assert len({claim.key for claim in found}) == len(found) == len(QUESTIONS)


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("chance", "against it: NLI fr 51.6, chance 33.3"),
        ("distance", "against it: NER: ru 47.1 < zh 49.6"),
        ("similarity-order", "too close: en-zh: bilingual 0.57 > monolingual 0.56"),
        ("middle-layers", "the paper prints no numbers of it"),
    ],
)
def test_a_claim_carries_what_the_papers_own_numbers_say(key: str, told: str) -> None:
    assert told in next(claim for claim in claims([]) if claim.key == key).papers_numbers
