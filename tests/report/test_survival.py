"""How much of Default's transfer is left, and what that is called."""

from statistics import fmean

import pytest

from isoglot.pipeline.cells import UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.report.published import TABLE_1_SCORES, published_measurements
from isoglot.report.report_scores import ReportScores
from isoglot.report.survival import Outcome, Survivals
from tests.report.made_up_measurements import measured, scored


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
            *scored({"default": 100 / 3 + 60, "sep-emb": 100 / 3 + 30}, task="nli"),
            *scored({"default": 80.0, "sep-emb": 80.0}),
            *scored({"default": 40.0, "sep-emb": 20.0}, target="tem"),
            # A test that Default itself fails decides nothing.
            *scored({"default": 2.0, "sep-emb": 0.0}, task="parsing"),
        ]
    )
    assert found.undecided == ("Parsing in oru",)
    (sep_emb,) = (each for each in found.conditions if each.condition == "sep-emb")
    assert sep_emb.by_group == pytest.approx({"NLI": 0.5, "NER": 0.75})
    assert (sep_emb.share, sep_emb.outcome) == (pytest.approx(0.625), Outcome.SUFFERS)
    # Of the paper as well; where it lacks our languages, the mean over its own stands in.
    shares = []
    for task, chance in (("XNLI", 100 / 3), ("NER", 0.0)):
        pairs = zip(TABLE_1_SCORES["sep-emb"][task], TABLE_1_SCORES["default"][task], strict=True)
        shares.append(fmean((ours - chance) / (default - chance) for ours, default in pairs))
    assert sep_emb.published == pytest.approx(fmean(shares))


def test_what_a_model_reaches_without_pretraining_is_no_transfer() -> None:
    scores = scored({"default": 60.0, "sep-emb": 42.0})
    untrained = scored({"default": 40.0, "sep-emb": 37.0}, variant=UNTRAINED)
    shares = [survivals([*scores, *untrained[:number]]).conditions[1].share for number in (0, 1, 2)]
    # Default's says nothing of the other one, which may reach less without pretraining.
    assert shares == pytest.approx([0.7, 0.7, 0.25])


def test_a_seed_without_all_scores_counts_in_those_it_has_and_is_no_seed_of_the_whole() -> None:
    found = [
        *scored({"default": 80.0, "sep-emb": 8.0}),
        *scored({"default": 50.0, "sep-emb": 10.0}, task="parsing"),
        *scored({"sep-emb": 50.0}, task="parsing", seed=1),
    ]
    sep_emb = survivals(found).conditions[1]
    assert sep_emb.by_group == pytest.approx({"NER": 0.1, "Parsing": 0.6})
    assert sep_emb.share == pytest.approx(0.35)
    assert sep_emb.of_seeds == pytest.approx((0.15,))
    no_seed_of_both = survivals([*found[:3], found[4]]).conditions[1]
    assert no_seed_of_both.of_seeds == pytest.approx((0.55,)), "the mean alone"


def test_without_tasks_retrieval_decides_by_what_training_gains() -> None:
    best = {"default": 90.0, "no-anchors": 30.0}
    trained = [each for name, score in best.items() for each in measured(name, [10.0, score])]
    untrained = [each for name in best for each in measured(name, [10.0, 10.0], variant=UNTRAINED)]
    found = survivals([*trained, *untrained])
    assert not found.is_of_transfer
    assert found.conditions[1].share == pytest.approx(0.25)


def test_nothing_is_said_without_default_or_of_default_alone() -> None:
    for found in ([], scored({"sep-emb": 4.0}), scored({"default": 40.0})):
        assert ReportScores(found).survivals is None
