"""Which conditions keep transfer alive: floors, gates, and outcomes of studies whose truth is known."""

from dataclasses import replace

import numpy as np
import pytest

from isoglot.pipeline.cells import FROZEN, TABLE_1, UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.report.findings.comparisons import Comparisons, Outcome
from isoglot.report.findings.headline import budget, headline, refusal_sentences, shares_beside_paper
from isoglot.report.findings.layer_scores import rows
from isoglot.report.findings.published import TABLE_1_SCORES, published_measurements
from isoglot.report.findings.transfer_scores import Model, transfer_scores
from isoglot.report.findings.verdicts import Verdict
from isoglot.report.report_scores import ReportScores
from isoglot.study.scales import DEMO, PAPER
from tests.report.made_up_measurements import measured, scored, transferred, with_open_gates

PAPERS = [each for each in published_measurements() if each.exhibit == TABLE_1]


def comparisons(*found: Measurement) -> Comparisons:
    return ReportScores(found).comparisons


def of_seeds(condition: str, scores: list[float], *, untrained: float, task: str = "ner") -> list[Measurement]:
    return [
        each
        for seed, score in enumerate(scores)
        for each in with_open_gates(scored({condition: score}, task=task, seed=seed), untrained=untrained)
    ]


def test_a_hopeless_study_has_no_verdict_and_says_what_to_do() -> None:
    """The study of issue 20: 2 layers of 32, 300 updates, NER at 5.1 F1 in the source language itself."""
    found = [
        *transferred("default", {"ela": 5.1, "oru": 4.9}),
        *transferred("sep-emb", {"ela": 4.0, "oru": 0.2}),
        *transferred("default", {"ela": 36.0, "oru": 35.0}, task="nli", metric="accuracy"),
        *transferred("sep-emb", {"ela": 35.0, "oru": 33.5}, task="nli", metric="accuracy"),
        *(each for name in ("default", "sep-emb") for each in measured(name, [3.0, 5.0])),
        *(each for name in ("default", "sep-emb") for each in measured(name, [3.1, 5.2], variant=UNTRAINED)),
    ]
    baselines = with_open_gates(found, source=5.0, untrained=3.0)
    baselines = [each for each in baselines if each in found or each.variant]
    for measurements in (found, baselines):
        scores = ReportScores(measurements)
        assert headline(scores.comparisons).startswith("No verdict: ")
        assert {*scores.comparisons.outcomes.values()} == {Outcome.NONE}
        assert {claim.verdict for claim in scores.claims} == {Verdict.NOT_TESTED}
        assert scores.table_1 is not None
        assert scores.table_1.lost == frozenset()
    without, learned = list(refusal_sentences(comparisons(*found))), list(refusal_sentences(comparisons(*baselines)))
    assert without == [
        "No verdict, as models were not scored without pretraining: NER, NLI in oru. What to do: add "
        '"baselines" to the exhibits of the study, for all its tasks. Until then floors are chance, '
        "the most frequent label or 0 alone."
    ]
    assert learned[0].startswith(
        "No verdict, as the task was not learned in the source language: NER in oru (Default 5.1 "
    )
    assert learned[0].endswith(
        "What to do: train longer, give more labelled examples, or see that change.task_norm is true."
    )
    # Retrieval alone gains nothing by training either.
    alone = comparisons(*(each for each in found if each.task is None))
    assert headline(alone).startswith(
        "No verdict: pretraining lifts Default above its floor by no more than noise (pretrain longer"
    )


def test_the_order_of_models_that_learned_nothing_is_no_agreement_with_the_paper() -> None:
    """The paper's order by chance: one point apart, around what the same models reach without pretraining."""
    names = ("default", "no-anchors", "sep-l1-3", "sep-emb", "sep-emb-l1-6")

    def ranks(first: float, *, untrained: float) -> list[float | None]:
        leads = zip(names, (first - place for place in range(len(names))), strict=True)
        found = [each for name, score in leads for each in of_seeds(name, [score] * 3, untrained=untrained)]
        table = ReportScores(found).table_1
        assert table is not None
        return [each.rho for each in table.ranks]

    (rho,) = ranks(60.0, untrained=5.0)
    assert rho is not None
    assert rho > 0.8
    assert ranks(6.0, untrained=5.0) == []


def test_a_model_that_knows_only_how_frequent_words_are_is_compared_with_none() -> None:
    found = [*of_seeds("default", [60, 61, 62], untrained=5), *of_seeds("sep-emb", [2, 1, 3], untrained=1)]
    assert comparisons(*found).outcomes["sep-emb"] is Outcome.DIES
    mark = replace(found[0], condition="sep-emb", language="oru", metric="perplexity_over_unigram", value=1.2)
    blind = comparisons(*found, mark)
    assert blind.outcomes["sep-emb"] is Outcome.NONE
    (sentence,) = refusal_sentences(blind)
    assert sentence.startswith("No verdict, as a model knows no more of a language than how frequent its words are: ")
    assert "Sep Emb" in sentence


def test_nor_is_its_structure() -> None:
    found = [
        each
        for name, top in (("default", 60.0), ("sep-emb", 2.0))
        for seed in range(3)
        for variant, score in ((None, top + seed), (UNTRAINED, 1.0))
        for each in measured(name, [score, score, 0.5], seed=seed, variant=variant)
    ]
    assert ReportScores(found).comparisons.outcomes["sep-emb"] is Outcome.DIES
    mark = replace(found[0], condition="sep-emb", metric="perplexity_over_unigram", layer=None, value=1.2)
    blind = ReportScores([*found, mark])
    assert blind.comparisons.outcomes["sep-emb"] is Outcome.NONE
    ((_, marked),) = rows([*found, mark], metric="retrieval_p1")
    assert [row.unlearned for row in marked] == [[], [mark.language]]


@pytest.mark.parametrize("draw", range(8))
def test_a_planted_study_is_told_as_it_was_planted(draw: int) -> None:
    """Leads that are known, above floors that differ by condition, with noise of one point a seed."""
    random = np.random.default_rng(draw)
    leads = {"default": 40.0, "no-anchors": 38.0, "sep-l1-3": 20.0, "sep-emb-l1-6": 1.0}
    # Shared spelling gives Default more without pretraining than No anchors has in all.
    floors = {"default": 50.0, "no-anchors": 5.0, "sep-l1-3": 30.0, "sep-emb-l1-6": 2.0}
    found = [
        each
        for task in ("ner", "parsing")
        for name, lead in leads.items()
        for each in of_seeds(name, list(floors[name] + lead + random.normal(size=3)), untrained=floors[name], task=task)
    ]
    scores = ReportScores(found)
    assert headline(scores.comparisons) == (
        "Transfer survives under No anchors. It suffers under Sep L1-3. It dies under Sep Emb + L1-6."
    )
    verdicts = {claim.key: claim.verdict for claim in scores.claims}
    assert verdicts["no-anchors-transfer"] is verdicts["chance"] is verdicts["sharing-above-all"] is Verdict.AGREES
    assert scores.table_1 is not None
    assert scores.table_1.lost == {(task, "sep-emb-l1-6", "oru") for task in ("ner", "parsing")}
    shares = {each.condition: each.share for each in scores.comparisons.standings}
    assert shares == pytest.approx(
        {"default": 1.0, "no-anchors": 0.95, "sep-l1-3": 0.5, "sep-emb-l1-6": 0.025}, abs=0.07
    )


def test_the_papers_own_numbers_by_the_same_rule() -> None:
    """French keeps more than a third under Sep Emb + L1-6, so that the paper's "random" is no death."""
    found = Comparisons.of_tasks(list(transfer_scores(PAPERS))).without_gates
    by_outcome = {outcome: {each.condition for each in found.with_outcome(outcome)} for outcome in Outcome}
    assert by_outcome[Outcome.SUFFERS] == {"sep-l1-6", "sep-emb-l1-6"}
    assert len(by_outcome[Outcome.SURVIVES]) == len(TABLE_1_SCORES) - 3
    for each in found.standings:
        beside = shares_beside_paper(each)
        assert beside is not None
        assert beside.ours == pytest.approx(beside.papers)
        assert beside.targets == (), "they are all of the study's"


def test_the_floor_is_the_highest_that_needs_no_pretraining() -> None:
    pos = [
        *scored({"default": 60.0}, task="pos"),
        *transferred("default", {"oru": 21.5}, task="pos", metric="most_frequent_tag"),
        *transferred("default", {"oru": 27.6}, task="pos", metric="accuracy", variant=UNTRAINED),
        *transferred("default", {"oru": 30.0}, task="pos", metric="accuracy", variant=FROZEN),
    ]
    for number, expected in ((1, "floor 0"), (2, "floor 21.5 (most frequent label)"), (4, "floor 30.0 (untrained)")):
        (scores,) = transfer_scores(pos[:number])
        assert scores.floor(Model(condition="default"), ("ela", "oru"), "oru").words == expected
    (nli,) = transfer_scores(with_open_gates(scored({"default": 60.0}, task="nli"), untrained=20.0))
    assert nli.floor(Model(condition="default"), ("ela", "oru"), "oru").words == "floor 33.3 (chance)"


def test_a_measured_floor_adds_its_own_noise() -> None:
    """Chance is certain; an untrained model is one more score of one seed."""
    for untrained, outcome in ((0.0, Outcome.SURVIVES), (1.0, Outcome.OPEN)):
        # 9.6 against two thirds of 10: 2.93 points, where noise is 2.55 without and 3.61 with that of the floors.
        found = [
            *with_open_gates(scored({"default": untrained + 10.0}), untrained=untrained),
            *with_open_gates(scored({"sep-emb": untrained + 9.6}), untrained=untrained),
        ]
        assert comparisons(*found).outcomes == {"sep-emb": outcome}


@pytest.mark.parametrize(
    ("source", "untrained", "is_learned"),
    [
        (9.9, 0.0, False),
        (10.0, 0.0, True),
        (54.9, 50.0, False),
        (55.0, 50.0, True),
        (90.0, 95.0, True),
        (89.0, 95.0, False),
    ],
)
def test_a_task_is_learned_from_a_tenth_of_the_way_on_or_once_it_is_solved(
    source: float, untrained: float, is_learned: bool
) -> None:
    found = with_open_gates(scored({"default": 99.0, "sep-emb": 98.0}), source=source, untrained=0.0)
    of_source = [replace(each, language="ela", value=untrained) for each in found if each.variant]
    assert (comparisons(*found, *of_source).outcomes["sep-emb"] is not Outcome.NONE) is is_learned
    # One seed that did not learn the task is enough.
    spoilt = [
        replace(each, seed=1, value=3.0 if each.language == "ela" and not each.variant else each.value)
        for each in found
    ]
    assert comparisons(*found, *spoilt).outcomes == {"sep-emb": Outcome.NONE}


def test_verdicts_of_few_seeds_are_of_these_runs() -> None:
    for seeds, words in ((1, "In this run, transfer survives"), (2, "In these two runs, transfer"), (3, "Transfer ")):
        found = [
            *of_seeds("default", [60.0] * seeds, untrained=10.0),
            *of_seeds("sep-emb", [58.0] * seeds, untrained=9.0),
        ]
        assert headline(comparisons(*found)).startswith(words)


def test_only_seeds_that_both_have_are_compared() -> None:
    of_default = of_seeds("default", [60.0, 60.0, 90.0], untrained=0.0)
    found = comparisons(*of_default, *of_seeds("sep-emb", [46.0, 46.0], untrained=0.0))
    assert found.outcomes == {"sep-emb": Outcome.SURVIVES}, "Default's third seed is no match of theirs"
    assert found.least_seeds == 2
    apart = [replace(each, seed=7) for each in of_seeds("sep-emb", [58.0], untrained=0.0)]
    assert "there is no seed in common with Default: NER in oru (Sep Emb)" in " ".join(
        refusal_sentences(comparisons(*of_default, *apart))
    )


def test_tasks_of_different_seeds_are_one_run() -> None:
    of_ner = [*of_seeds("default", [60.0] * 3, untrained=0.0), *of_seeds("sep-emb", [58.0] * 3, untrained=0.0)]
    parsing = [replace(each, task="parsing", metric="las", seed=(each.seed or 0) + 3) for each in of_ner]
    assert comparisons(*of_ner).least_seeds == 3
    assert comparisons(*of_ner, *parsing).least_seeds == 1, "no seed has all of the mean"


def test_one_clear_exception_keeps_transfer_from_surviving_and_from_dying() -> None:
    def outcome(*leads: float) -> Outcome:
        tasks = ("ner", "parsing", "pos")
        found = [
            each
            for task, lead in zip(tasks, leads, strict=True)
            for each in with_open_gates(scored({"default": 60.0, "sep-emb": lead}, task=task))
        ]
        return comparisons(*found).outcomes["sep-emb"]

    assert outcome(58.0, 58.0, 58.0) is Outcome.SURVIVES
    assert outcome(60.0, 60.0, 30.0) is Outcome.SUFFERS
    assert outcome(1.0, 1.0, 1.0) is Outcome.DIES
    assert outcome(0.0, 0.0, 30.0) is Outcome.SUFFERS
    assert outcome(40.0, 40.0, 40.0) is Outcome.OPEN


def test_without_tasks_retrieval_decides_by_what_training_gains() -> None:
    best = {"default": 90.0, "no-anchors": 30.0}
    trained = [each for name, score in best.items() for each in measured(name, [10.0, score])]
    untrained = [each for name in best for each in measured(name, [10.0, 10.0], variant=UNTRAINED)]
    found = comparisons(*trained, *untrained)
    assert not found.is_of_transfer
    assert found.standings[1].share == pytest.approx(0.25)
    assert headline(found) == "In this run, cross-lingual structure dies under No anchors."


def test_nothing_is_said_without_default_or_of_default_alone() -> None:
    for found in ([], scored({"sep-emb": 4.0}), scored({"default": 40.0})):
        assert comparisons(*found).conditions == ()


def test_beside_the_paper_stand_common_tasks_alone() -> None:
    both = [*scored({"default": 60.0, "sep-emb": 30.0}), *scored({"default": 90.0, "sep-emb": 10.0}, task="pos")]
    _, of_sep_emb = comparisons(*with_open_gates(both)).standings
    assert of_sep_emb.share == pytest.approx(40 / 150)
    beside = shares_beside_paper(of_sep_emb)
    scores = [sum(TABLE_1_SCORES[name]["NER"]) for name in ("sep-emb", "default")]
    assert beside is not None
    assert (beside.ours, beside.papers) == pytest.approx((0.5, scores[0] / scores[1]))
    assert beside.targets == ()
    # Of a study with languages of the paper and others, only the first are held beside it.
    many = [
        replace(each, languages=("en", target), language={"ela": "en", "oru": target}[each.language])
        for target, score in (("fr", 30.0), ("de", 60.0))
        for each in with_open_gates(scored({"default": 60.0, "sep-emb": score}))
    ]
    _, of_sep_emb = comparisons(*many).standings
    french = [TABLE_1_SCORES[name]["NER"][0] for name in ("sep-emb", "default")]
    beside = shares_beside_paper(of_sep_emb)
    assert beside is not None
    assert (beside.ours, beside.papers) == pytest.approx((0.5, french[0] / french[1]))
    assert beside.targets == ("fr",)
    only_pos = comparisons(*with_open_gates(scored({"default": 90.0, "sep-emb": 10.0}, task="pos")))
    assert [shares_beside_paper(each) for each in only_pos.standings] == [None, None]


def test_the_budget_is_a_share_of_the_papers() -> None:
    assert budget(PAPER) == "82G tokens a model, 100% of the paper's 82G"
    assert budget(replace(PAPER, updates=PAPER.updates // 40)) == "2.0G tokens a model, 2.5% of the paper's 82G"
    assert float(budget(DEMO).split("model, ")[1].split("%")[0]) == pytest.approx(100 * DEMO.tokens / 82e9, rel=0.06)
