"""Scores of transfer by task, model, language and seed, Δ as in the paper, and the notes under Table 1."""

import pytest

from isoglot.pipeline.cells import FROZEN, UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.report.findings.comparisons import Comparisons
from isoglot.report.findings.published import TABLE_1_SCORES, TARGETS, published_delta, published_measurements
from isoglot.report.findings.transfer_scores import DEFAULT, Delta, Model, TaskScores, transfer_scores
from isoglot.report.tables.transfer_notes import notes
from tests.report.made_up_measurements import scored, transferred, with_open_gates

SEPARATE = Model(condition="sep-emb")


def scores_of(found: list[Measurement]) -> TaskScores:
    (scores,) = transfer_scores(found)
    return scores


def test_delta_is_that_of_the_papers_table() -> None:
    scores = scores_of([each for each in published_measurements() if each.task == "ner"])
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
    scores = scores_of(
        [
            *scored({"default": 60, "sep-emb": 50}),
            *scored({"default": 20}, target="tem"),
            *scored({"no-anchors": 50}, target="zuk"),
        ]
    )
    assert scores.delta(SEPARATE) == Delta(points=-10.0, is_partial=True)
    assert scores.delta(Model(condition="no-anchors")) is None
    assert scores_of(scored({"sep-emb": 50})).delta(SEPARATE) is None


def test_models_stand_in_the_studys_order_whatever_a_pair_lacks_and_baselines_below() -> None:
    names = ("default", "wiki-cc", "no-anchors", "sep-emb", "sep-l1-3")
    scores = scores_of(
        [
            *scored({"default": 3}, variant=FROZEN),
            *scored({"default": 4}, variant=UNTRAINED),
            *scored({"default": 60, "sep-emb": 5}),
            *scored(dict.fromkeys(names, 50.0), target="tem"),
        ]
    )
    assert [model.label for model in scores.models] == [
        *("Default", "Wiki-CC", "No anchors", "Sep Emb", "Sep L1-3"),
        *("Default, untrained and frozen", "Default, untrained"),
    ]
    assert [scores.of_target(model, "oru") for model in scores.models] == [(60,), (), (), (5,), (), (3,), (4,)]


def sentences(found: list[Measurement]) -> list[str]:
    tasks = list(transfer_scores(found))
    return list(notes(tasks, Comparisons.of_tasks(tasks)))


def test_scores_where_transfer_dies_are_named_by_task_and_target() -> None:
    def found(*, seeds: int) -> list[Measurement]:
        of_oru = {"default": 60.0, "sep-emb": 3.0, "sep-l1-3": 40.0}
        return with_open_gates(
            [
                each
                for seed in range(seeds)
                for target in ("oru", "tem")
                for each in (*scored(of_oru, target=target, seed=seed), *scored({"sep-emb-l1-6": 1.0}, seed=seed))
            ]
        )

    left = ", clearly less than 33% of Default's points being left: NER: Sep Emb (oru, tem), Sep Emb + L1-6 (oru)."
    for seeds, runs in enumerate((" in this run", " in these two runs", ""), start=1):
        first, second, *_ = sentences(found(seeds=seeds))
        assert "ies under Sep Emb and Sep Emb + L1-6." in first
        assert second == f"Single scores under which transfer dies{runs}{left}"
    assert sentences(transferred("default", {"ela": 90, "oru": 60}))[0].startswith(
        "No verdict, as models were not scored without"
    )


def test_what_is_cut_or_cannot_be_predicted_is_told_with_its_shares() -> None:
    found = [
        *transferred("default", {"ela": 90, "oru": 60}),
        *transferred("default", {"ela": 0.0, "oru": 12.25}, metric="in_parts"),
        *transferred("sep-emb", {"ela": 0.01, "oru": 15.0}, metric="in_parts"),
        *transferred("default", {"ela": 0.0, "oru": 2.5}, metric="unseen_labels"),
        *transferred("default", {"ela": 1.0, "oru": 0.0}, metric="in_parts", task="nli"),
    ]
    assert sentences(found)[-3:] == [
        "NER: less than 0.1% of ela and 12.2% to 15.0% of oru test examples are longer than a window of pretraining, "
        "and were labelled in parts that overlap.",
        "NER: 2.5% of oru gold labels never occur in ela's training set, so that no model can predict them.",
        "NLI: 1.0% of ela test examples were cut to fit a window of pretraining.",
    ]
    nothing = transferred("default", {"ela": 0.0, "oru": 0.0}, metric="in_parts")
    assert not any("window" in line for line in sentences(nothing))
