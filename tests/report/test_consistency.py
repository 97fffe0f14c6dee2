"""Headline, claims and Table 1 never contradict each other, whatever a study measures."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from isoglot.pipeline.cells import UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.report.claims import QUESTIONS
from isoglot.report.findings.comparisons import ALIVE, Outcome
from isoglot.report.findings.headline import headline
from isoglot.report.findings.verdicts import Verdict
from isoglot.report.report_scores import ReportScores
from tests.report.made_up_measurements import scored

NAMES = ("default", "no-anchors", "sep-emb", "sep-l1-3", "sep-emb-l1-6", "default-anchors", "extra-anchors")
TASKS = ("nli", "ner", "parsing", "pos")
PAIRS = (("en", "fr"), ("en", "zh"))
# Whole and half scores, so that equal ones and floors above scores come up.
SCORES = st.one_of(st.sampled_from([0.0, 33.5, 40.0, 90.0]), st.floats(0.0, 100.0))


@st.composite
def studies(draw: st.DrawFn) -> list[Measurement]:
    """Any scores at all; here and there a score, a baseline or a task that was learned is missing."""
    found = []
    num_seeds, is_whole = draw(st.integers(1, 4)), draw(st.booleans())
    spread = draw(st.sampled_from([0.5, 5.0, 40.0]))
    names = ["default", *draw(st.lists(st.sampled_from(NAMES[1:]), unique=True, min_size=1))]
    untrained = {name: draw(SCORES) / draw(st.sampled_from([1, 4, 20])) for name in names}
    for task in draw(st.lists(st.sampled_from(TASKS), unique=True, min_size=1)):
        for pair in draw(st.lists(st.sampled_from(PAIRS), unique=True, min_size=1)):
            for name, floor in untrained.items():
                centre = draw(st.floats(50.0, 100.0) if name == "default" else SCORES)
                for seed in range(num_seeds):
                    has_score, has_baseline = (is_whole or draw(st.integers(0, 9)) > 0 for _ in range(2))
                    score = min(max(centre + draw(st.floats(-spread, spread)), 0.0), 100.0)
                    of: dict[str, Any] = {"task": task, "languages": pair, "seed": seed}
                    if has_score:
                        found += scored({name: score}, target=pair[1], **of)
                        learned = 95.0 if is_whole else draw(st.sampled_from([95.0, 95.0, 95.0, 60.0, 5.0]))
                        found += scored({name: learned}, target=pair[0], **of)
                        if has_baseline:
                            found += scored({name: floor}, target=pair[1], variant=UNTRAINED, **of)
    return found


@given(studies())
def test_headline_claims_and_marks_never_contradict_each_other(found: list[Measurement]) -> None:
    scores = ReportScores(found)
    compared, table = scores.comparisons, scores.table_1
    outcomes = {"default": Outcome.SURVIVES, **compared.outcomes}
    sentence = headline(compared)
    verdicts = {claim.key: claim for claim in scores.claims}
    dying = {condition for _, condition, _ in (table.lost if table else ())}
    for name, outcome in compared.outcomes.items():
        assert (name in dying) <= (outcome in (Outcome.DIES, Outcome.SUFFERS, Outcome.NONE, Outcome.OPEN))
        assert outcome is not Outcome.SURVIVES or name not in dying
    for key, question in QUESTIONS.items():
        rule, terms, verdict = question["rule"], question.get("with", {}), verdicts[key].verdict
        if rule == "transfer.kept" and terms["of"] == ["default"]:
            fates = [outcomes.get(name) for name in terms["conditions"] if name in outcomes]
            # Of several conditions, one that loses its transfer refutes the claim.
            assert not (Outcome.DIES in fates and verdict is Verdict.AGREES), verdicts[key].numbers
            all_survive = bool(fates) and {*fates} == {Outcome.SURVIVES}
            assert not (all_survive and terms["share"] <= ALIVE and verdict is Verdict.DISAGREES), verdicts[key].numbers
        if rule == "transfer.at_chance":
            fate = outcomes.get(terms["condition"])
            assert not (fate is Outcome.SURVIVES and verdict is Verdict.AGREES)
            assert not (fate is Outcome.DIES and verdict is Verdict.DISAGREES)
        if key == "softmax-helps":
            fates = [outcomes.get(name) for name in ("no-anchors", "sep-emb")]
            assert not (fates == [Outcome.DIES, Outcome.SURVIVES] and verdict is Verdict.AGREES)
            assert not (fates == [Outcome.SURVIVES, Outcome.DIES] and verdict is Verdict.DISAGREES)
    if sentence.startswith("No verdict"):
        assert {*compared.outcomes.values()} <= {Outcome.NONE}
        assert not dying
    # Few seeds are of these runs, and have no marks.
    assert ("In this run" in sentence or "In these two runs" in sentence) <= (compared.least_seeds < 3)
    for claim in scores.claims:
        assert claim.word.endswith(("in this run", "in these two runs")) is (0 < claim.num_seeds < 3)


@given(studies())
def test_no_verdict_stands_on_a_shut_gate(found: list[Measurement]) -> None:
    """By hand from the measurements: what any verdict on Default needs."""
    of_default = [each for each in found if each.condition == "default"]
    has_baseline = {(each.task, each.languages) for each in of_default if each.variant == UNTRAINED}
    is_weak = {(each.task, each.languages) for each in of_default if each.language == "en" and each.value < 10.0}
    if has_baseline - is_weak:
        return
    scores = ReportScores(found)
    assert {*scores.comparisons.outcomes.values()} <= {Outcome.NONE}
    kept = [claim for claim in scores.claims if QUESTIONS[claim.key]["rule"] in ("transfer.kept", "transfer.at_chance")]
    assert {claim.verdict for claim in kept if "Default " in claim.numbers} <= {Verdict.NOT_TESTED}
