"""Scores of transfer are gathered by task, model, language and seed, and Δ is the paper's."""

import pytest

from isoglot.pipeline.cells import FROZEN, UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.report.published import TABLE_1_SCORES, TARGETS, published_delta
from isoglot.report.transfer_scores import DEFAULT, Delta, Model, TaskScores, transfer_scores
from tests.report.made_up_measurements import measured, transferred

SEPARATE = Model(condition="sep-emb")


def scores_of(found: list[Measurement]) -> TaskScores:
    (scores,) = transfer_scores(found)
    return scores


def test_delta_is_that_of_the_papers_table() -> None:
    found = [
        each
        for condition, of_tasks in TABLE_1_SCORES.items()
        for target, score in zip(TARGETS, of_tasks["NER"], strict=True)
        for each in transferred(condition, {"en": 90.0, target: score}, languages=("en", target))
    ]
    scores = scores_of(found)
    assert (scores.source, scores.targets) == ("en", TARGETS)
    for condition in TABLE_1_SCORES:
        delta = scores.delta(Model(condition=condition))
        assert delta is not None
        assert delta.points == pytest.approx(published_delta(condition, task="NER"))
        assert not delta.is_partial


def test_delta_over_seeds_and_targets_by_hand() -> None:
    found = [
        *transferred("default", {"ela": 90, "oru": 60}, seed=0),
        *transferred("default", {"ela": 80, "oru": 70}, seed=1),
        *transferred("default", {"ela": 84, "tem": 40}, seed=0, languages=("ela", "tem")),
        *transferred("sep-emb", {"ela": 90, "oru": 30}, seed=0),
        *transferred("sep-emb", {"ela": 90, "tem": 15}, seed=0, languages=("ela", "tem")),
    ]
    scores = scores_of(found)
    # Default: oru (60 + 70) / 2, tem 40, mean 52.5; Sep Emb: 30 and 15, mean 22.5.
    assert scores.delta(SEPARATE) == Delta(points=-30.0, is_partial=False)
    assert scores.delta(DEFAULT) == Delta(points=0.0, is_partial=False)
    assert scores.of_target(DEFAULT, "oru") == (60, 70)
    # Of seed 0 there are two models; seed 1 lacks one of them.
    assert scores.of_source(DEFAULT) == (87,)
    assert scores.of_language(DEFAULT, "ela") == (87,)
    assert scores.of_source(Model(condition="no-anchors")) == ()
    no_seed_of_all = [each for each in found if (each.seed, each.languages[1]) != (0, "oru")]
    assert scores_of(no_seed_of_all).of_source(DEFAULT) == (82,)
    assert scores.of_language(DEFAULT, "tem") == (40,)


def test_delta_compares_only_targets_that_both_have() -> None:
    found = [
        *transferred("default", {"oru": 60}),
        *transferred("default", {"tem": 20}, languages=("ela", "tem")),
        *transferred("sep-emb", {"oru": 50}),
        *transferred("no-anchors", {"zuk": 50}, languages=("ela", "zuk")),
    ]
    scores = scores_of(found)
    assert scores.delta(SEPARATE) == Delta(points=-10.0, is_partial=True)
    assert scores.delta(Model(condition="no-anchors")) is None
    assert scores_of(transferred("sep-emb", {"oru": 50})).delta(SEPARATE) is None


def test_baselines_are_models_of_their_own_below_the_others() -> None:
    found = [
        *transferred("default", {"oru": 3}, variant=FROZEN),
        *transferred("default", {"oru": 4}, variant=UNTRAINED),
        *transferred("default", {"oru": 60}),
        *transferred("sep-emb", {"oru": 50}),
    ]
    scores = scores_of(found)
    assert [model.label for model in scores.models] == [
        "Default",
        "Sep Emb",
        "Default, untrained and frozen",
        "Default, untrained",
    ]
    assert [scores.of_target(model, "oru") for model in scores.models] == [(60,), (50,), (3,), (4,)]


def test_each_task_is_apart_and_other_exhibits_are_none() -> None:
    found = [
        *measured("default", [10.0]),
        *transferred("default", {"oru": 60}, task="ner", metric="f1"),
        *transferred("default", {"oru": 50}, task="ner", metric="dev_f1"),
        *transferred("default", {"oru": 40}, task="nli", metric="accuracy"),
    ]
    ner, nli = transfer_scores(found)
    assert (ner.title, nli.title) == ("NER (F1)", "NLI (Acc)")
    assert (ner.of_target(DEFAULT, "oru"), nli.of_target(DEFAULT, "oru")) == ((60,), (40,))
    assert (ner.highest("dev_f1"), nli.highest("dev_f1")) == (50, None)
    assert list(transfer_scores(found[:1])) == []


def test_models_stand_in_the_studys_order_whatever_a_pair_lacks() -> None:
    found = [
        *transferred("default", {"oru": 60}),
        *transferred("sep-emb", {"oru": 5}),
        *transferred("default", {"tem": 50}, languages=("ela", "tem")),
        *transferred("wiki-cc", {"tem": 40}, languages=("ela", "tem")),
        *transferred("no-anchors", {"tem": 30}, languages=("ela", "tem")),
        *transferred("sep-emb", {"tem": 2}, languages=("ela", "tem")),
        *transferred("sep-l1-3", {"tem": 1}, languages=("ela", "tem")),
    ]
    order = [model.condition for model in scores_of(found).models]
    assert order == ["default", "wiki-cc", "no-anchors", "sep-emb", "sep-l1-3"]
