"""How much of Default's transfer is left, and what that is called."""

import pytest

from isoglot.pipeline.cells import UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.report.published import TABLE_1_SCORES, published_measurements
from isoglot.report.report_scores import ReportScores
from isoglot.report.survival import Outcome, Survivals
from tests.report.made_up_measurements import measured, transferred


def survivals(found: list[Measurement]) -> Survivals:
    known = ReportScores(found).survivals
    assert known is not None
    return known


def test_the_papers_own_numbers_tell_the_papers_story() -> None:
    found = survivals(list(published_measurements()))
    assert [each.condition for each in found.with_outcome(Outcome.DIES)] == ["sep-emb-l1-6"]
    assert [each.condition for each in found.with_outcome(Outcome.SUFFERS)] == ["sep-l1-6"]
    assert len(found.with_outcome(Outcome.SURVIVES)) == len(TABLE_1_SCORES) - 3
    for each in found.conditions:
        assert each.share == pytest.approx(each.published)


def test_the_share_is_above_chance_and_every_task_counts_alike() -> None:
    found = survivals(
        [
            *transferred("default", {"oru": 100 / 3 + 60}, task="nli", metric="accuracy"),
            *transferred("sep-emb", {"oru": 100 / 3 + 30}, task="nli", metric="accuracy"),
            *transferred("default", {"oru": 80.0}),
            *transferred("sep-emb", {"oru": 80.0}),
            *transferred("default", {"tem": 40.0}, languages=("ela", "tem")),
            *transferred("sep-emb", {"tem": 20.0}, languages=("ela", "tem")),
        ]
    )
    (sep_emb,) = (each for each in found.conditions if each.condition == "sep-emb")
    assert sep_emb.by_group == pytest.approx({"NLI": 0.5, "NER": 0.75})
    assert sep_emb.share == pytest.approx(0.625)
    assert sep_emb.outcome is Outcome.SUFFERS


def test_what_a_model_reaches_without_pretraining_is_no_transfer() -> None:
    scores = [*transferred("default", {"oru": 60.0}), *transferred("sep-emb", {"oru": 42.0})]
    of_default = transferred("default", {"oru": 40.0}, variant=UNTRAINED)
    of_both = [*of_default, *transferred("sep-emb", {"oru": 37.0}, variant=UNTRAINED)]
    shares = [survivals([*scores, *each]).conditions[1].share for each in ([], of_default, of_both)]
    # Default's says nothing of the other one, which may reach less without pretraining.
    assert shares == pytest.approx([0.7, 0.7, 0.25])


def test_a_seed_without_all_scores_counts_in_those_it_has_and_is_no_seed_of_the_whole() -> None:
    found = [
        *transferred("default", {"oru": 80.0}),
        *transferred("default", {"oru": 50.0}, task="parsing", metric="las"),
        *transferred("sep-emb", {"oru": 8.0}),
        *transferred("sep-emb", {"oru": 10.0}, task="parsing", metric="las"),
        *transferred("sep-emb", {"oru": 50.0}, task="parsing", metric="las", seed=1),
    ]
    sep_emb = survivals(found).conditions[1]
    assert sep_emb.by_group == pytest.approx({"NER": 0.1, "Parsing": 0.6})
    assert sep_emb.share == pytest.approx(0.35)
    assert sep_emb.of_seeds == pytest.approx((0.15,))
    no_seed_of_both = survivals([*found[:3], found[4]]).conditions[1]
    assert no_seed_of_both.of_seeds == pytest.approx((0.55,)), "the mean alone"


def test_a_test_that_default_itself_fails_decides_nothing() -> None:
    found = survivals(
        [
            *transferred("default", {"oru": 2.0}),
            *transferred("sep-emb", {"oru": 0.0}),
            *transferred("default", {"oru": 90.0}, task="parsing", metric="las"),
            *transferred("sep-emb", {"oru": 81.0}, task="parsing", metric="las"),
        ]
    )
    assert found.undecided == ("NER in oru",)
    assert found.conditions[1].by_group == pytest.approx({"Parsing": 0.9})


def test_without_tasks_retrieval_decides_by_what_training_gains() -> None:
    found = survivals(
        [
            *measured("default", [10.0, 90.0]),
            *measured("default", [10.0, 10.0], variant=UNTRAINED),
            *measured("no-anchors", [10.0, 30.0]),
            *measured("no-anchors", [10.0, 10.0], variant=UNTRAINED),
        ]
    )
    assert not found.is_of_transfer
    assert found.conditions[1].share == pytest.approx(0.25)


def test_nothing_is_said_without_default_or_of_default_alone() -> None:
    for found in ([], transferred("sep-emb", {"oru": 4.0}), transferred("default", {"oru": 40.0})):
        assert ReportScores(found).survivals is None
