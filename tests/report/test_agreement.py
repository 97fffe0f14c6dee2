"""Orders of conditions: where the paper has one, a study agrees, disagrees or cannot tell; and Spearman's rho."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from isoglot.pipeline.cells import TABLE_1, UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.report.findings.agreement import (
    RankCorrelation,
    agreement_lines,
    agreements,
    rank_correlations,
    rank_sentences,
    spearman,
)
from isoglot.report.findings.noise import Noise, Spread
from isoglot.report.findings.published import TABLE_1_SCORES, TARGETS, TASKS, published_measurements
from isoglot.report.findings.transfer_scores import transfer_scores
from isoglot.report.findings.verdicts import Finding, Sample, Verdict
from isoglot.report.report_scores import ReportScores
from tests.report.made_up_measurements import scored, with_open_gates

PAPERS = [each for each in published_measurements() if each.exhibit == TABLE_1]
FIRST = list(TABLE_1_SCORES)
CONSTANT = Noise()


def judged_gains(**values: tuple[float, ...]) -> list[Finding]:
    """The orders of conditions by points that training gained, seed by seed."""
    gains = {name.replace("_", "-"): Sample.of(dict(enumerate(of_seeds))) for name, of_seeds in values.items()}
    noise = Noise.of_leads((None, name, gain) for name, gain in gains.items())
    return agreements({name: replace(gain, close=noise.points(None, name)) for name, gain in gains.items()})


@pytest.mark.parametrize(
    ("default", "separate", "line"),
    [
        ((83.14,), (21.0,), "Default +83.1 > Sep Emb + L1-6 +21.0: agrees with the paper in this run"),
        # The third seed of one side has no match.
        ((21, 22), (83, 83.2, 84), "Default +21.5 < Sep Emb + L1-6 +83.1: disagrees with the paper in these two runs"),
        ((80.0,), (77.0,), "Default +80.0 > Sep Emb + L1-6 +77.0: too close to call in this run"),
        # Three seeds that agree say more than one.
        ((80.0, 80.1, 80.2), (77.9, 78.0, 78.1), "Default +80.1 > Sep Emb + L1-6 +78.0: agrees with the paper"),
        # One seed is on the other side.
        ((80, 60), (50, 61), "Default +70.0 > Sep Emb + L1-6 +55.5: too close to call in these two runs"),
    ],
)
def test_an_order_of_the_paper_is_judged(default: tuple[float, ...], separate: tuple[float, ...], line: str) -> None:
    for first, second in (("default", "sep-emb-l1-6"), ("sep-emb-l1-6", "default")):
        by_name = {"default": default, "sep-emb-l1-6": separate}
        assert [each.line for each in judged_gains(**{name: by_name[name] for name in (first, second)})] == [line]


def test_an_order_that_floors_alone_make_is_too_close() -> None:
    """Default starts higher, as it shares words: it gains less where both end alike."""
    scores = {"default": (87.0, 22.0), "no-anchors": (87.5, 3.0), "sep-emb-l1-6": (4.0, 3.0)}
    gains = {
        name: Sample.of(dict.fromkeys(range(3), end)).above(start, variance=0.0)
        for name, (end, start) in scores.items()
    }
    found = {each.numbers: each.verdict for each in agreements(gains)}
    assert found["Default +65.0 < No anchors +84.5"] is Verdict.TOO_CLOSE
    assert found["Default +65.0 > Sep Emb + L1-6 +1.0"] is Verdict.AGREES


def test_only_orders_of_the_paper_are_judged() -> None:
    # The paper's tasks disagree about the first two, and it has no row of the third.
    assert judged_gains(no_anchors=(50.0,), default_anchors=(80.0,), anchors_25=(2.0,)) == []
    three = judged_gains(default=(80.0,), sep_emb=(50.0,), sep_emb_l1_6=(20.0,))
    assert [each.numbers for each in three] == [
        "Default +80.0 > Sep Emb +50.0",
        "Default +80.0 > Sep Emb + L1-6 +20.0",
        "Sep Emb +50.0 > Sep Emb + L1-6 +20.0",
    ]


def test_many_are_counted_and_only_those_that_the_paper_has_otherwise_have_a_line() -> None:
    close = dict.fromkeys(("default", "sep_l1_6", "sep_emb_l1_6", "sep_emb_l1_3", "no_anchors"), (10.0,) * 3)
    found = judged_gains(**close, sep_emb=(1.0, 1.0, 1.0))
    against = [each for each in found if each.verdict is Verdict.DISAGREES]
    (first, overall), *rest = agreement_lines(found)
    num_for = sum(each.verdict is Verdict.AGREES for each in found)
    assert first.startswith(f"of {len(found)} pairs {num_for} agree with the paper, {len(against)} disagree, ")
    assert overall is Verdict.DISAGREES
    assert rest == [(each.line, Verdict.DISAGREES) for each in against] != []
    assert list(agreement_lines(found, most=len(found))) == [(each.line, each.verdict) for each in found]


def test_nothing_is_judged_where_training_gained_default_nothing() -> None:
    assert judged_gains(default=(2.0,), sep_emb=(30.0,)) == []
    assert len(judged_gains(default=(2.2,), sep_emb=(30.0,))) == 1


def test_verdicts_of_few_seeds_have_no_colour() -> None:
    for seeds, colour in ((2, None), (3, Verdict.AGREES)):
        found = judged_gains(default=(80.0,) * seeds, sep_emb=(50.0,) * seeds)
        assert [verdict for _, verdict in agreement_lines(found)] == [colour]
        assert [verdict for _, verdict in agreement_lines(found, most=0)] == [colour]


def test_transfer_is_judged_where_the_same_task_of_the_paper_is_clear() -> None:
    def judged(task: str, languages: tuple[str, str] = ("ela", "oru"), *, apart: float = 1.0) -> list[str]:
        scores = {"sep-emb": 70.0, "default": 50.0, "anchors-25": 40.0}
        found = [
            each
            for seed in range(3)
            for each in scored(
                {name: score + apart * seed for name, score in scores.items()},
                **{"task": task, "target": languages[1], "languages": languages, "seed": seed},
            )
        ]
        table = ReportScores(with_open_gates(found)).table_1
        assert table is not None
        return [line for line, _ in table.agreement]

    # Over its languages the paper has Default 4.5 points above Sep Emb in XNLI, 1.8 in parsing, and in French 0.9.
    assert judged("nli") == ["NLI, ela-oru: Default +17.7 < Sep Emb +37.7: disagrees with the paper"]
    assert judged("parsing") == judged("pos") == judged("nli", ("en", "fr")) == []
    # Default's three seeds are 12 points apart: by themselves they do not show that it is above its floor.
    assert judged("nli", apart=12.0) == []


def ranked(found: Sequence[Measurement], *, noise: Noise = CONSTANT) -> dict[str, RankCorrelation]:
    return {each.title: each for each in rank_correlations(list(transfer_scores(found)), noise=noise)}


def sentences(found: Sequence[Measurement]) -> list[str]:
    return list(rank_sentences(list(ranked(found).values())))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=12))
def test_rho_is_that_of_scipy_ties_among_them(pairs: list[tuple[int, int]]) -> None:
    ours, theirs = zip(*pairs, strict=True)
    if len(set(ours)) == 1 or len(set(theirs)) == 1:
        assert spearman(ours, theirs) is None
    else:
        assert spearman(ours, theirs) == pytest.approx(spearmanr(ours, theirs).statistic)


def test_the_papers_own_numbers_are_in_the_papers_order() -> None:
    found = ranked(PAPERS)
    assert list(found) == ["NLI", "NER", "Parsing", "mean of tasks"]
    assert all(each.rho == pytest.approx(1.0) and each.num_conditions == 10 for each in found.values())
    assert sentences(PAPERS) == [
        "Spearman's rho with the paper's order of conditions: NLI 1.00, NER 1.00, Parsing 1.00, mean of tasks 1.00 "
        "(10 conditions; fr, ru, zh).",
        "Scores that differ from the paper's by noise alone would have, 9 times of 10: NLI 0.94 to 1.00, "
        "NER 0.96 to 1.00, Parsing 0.89 to 1.00, mean of tasks 0.95 to 1.00.",
    ]


def test_noise_alone_would_change_the_papers_order_as_scipy_finds() -> None:
    """Models of one seed in French, where seven of the paper's rows lie within 2.1 points in NLI."""
    of_french = [each for each in PAPERS if each.language == "fr"]
    again = [replace(each, seed=1) for each in of_french]
    papers = [scores["XNLI"][TARGETS.index("fr")] for scores in TABLE_1_SCORES.values()]
    generator = np.random.default_rng(1)
    by_task = {"nli": Spread.assumed(6.0), "ner": Spread.assumed(40.0)}
    own_points = [60.0 if name == "no-anchors" else 3.0 for name in TABLE_1_SCORES]
    by_condition = {
        ("nli", name): Spread.assumed(points) for name, points in zip(TABLE_1_SCORES, own_points, strict=True)
    }
    for found, noise, deviation in (
        (of_french, Noise(), 3 / 1.96 / 2**0.5),
        ([*of_french, *again], Noise(), 3 / 1.96 / 2),
        (of_french, Noise(of_all=Spread.assumed(9.0)), 9 / 1.96 / 2**0.5),
        (of_french, Noise(of_all=Spread.assumed(30.0), by_task=by_task), 6 / 1.96 / 2**0.5),
        (of_french, Noise(by_task=by_task, by_condition=by_condition), np.array(own_points) / 1.96 / 2**0.5),
    ):
        rhos = [spearmanr(papers, papers + generator.normal(0, deviation, 10)).statistic for _ in range(2000)]
        assert ranked(found, noise=noise)["NLI"].by_noise == pytest.approx(np.quantile(rhos, [0.05, 0.95]), abs=0.03)
    # The mean of three tasks has less noise than one of them.
    assert ranked(of_french)["mean of tasks"].by_noise > ranked(of_french)["NLI"].by_noise


def test_averages_are_over_targets_and_seeds_and_the_mean_of_tasks_is_of_scores() -> None:
    """One of two seeds is the paper's, and one turns its order of Russian about."""
    turned = [replace(each, seed=1, value=40 - each.value if each.language == "ru" else each.value) for each in PAPERS]
    found = ranked([*PAPERS, *turned])
    scores = np.array([[of_tasks[task] for task in TASKS] for of_tasks in TABLE_1_SCORES.values()])
    papers, ours = scores.mean(axis=2), (scores[:, :, 0] + 20 + scores[:, :, 2]) / 3
    for place, title in enumerate(("NLI", "NER", "Parsing")):
        assert found[title].rho == pytest.approx(spearmanr(ours[:, place], papers[:, place]).statistic)
    assert found["mean of tasks"].rho == pytest.approx(spearmanr(ours.mean(axis=1), papers.mean(axis=1)).statistic)
    assert found["NER"].rho < 1


def test_only_languages_and_conditions_that_both_have_whole_count() -> None:
    of_french = [each for each in PAPERS if each.language == "fr"]
    german = [replace(each, language="de", languages=("en", "de"), value=-each.value) for each in of_french]
    # The first score in Russian must not take all conditions away.
    first = next(each for each in PAPERS if each.language == "ru")
    found = ranked([*of_french, *german, first])
    assert {title: each.targets for title, each in found.items()} == dict.fromkeys(ranked(PAPERS), ("fr",))
    # Two conditions are alike in French NLI: they share their rank.
    assert all(each.rho == pytest.approx(1.0) for each in found.values())
    lacking = [each for each in PAPERS if (each.condition, each.language, each.task) != ("sep-emb-l1-6", "zh", "nli")]
    numbers = {title: each.num_conditions for title, each in ranked(lacking).items()}
    assert numbers == {"NLI": 9, "NER": 10, "Parsing": 10, "mean of tasks": 9}
    assert "NLI 1.00 (9 conditions; fr, ru, zh), NER 1.00 (10 conditions; fr, ru, zh)" in sentences(lacking)[0]


@pytest.mark.parametrize("values", [(nan,), (inf,), (1.0, nan)])
def test_a_score_that_is_no_number_has_no_rank(values: tuple[float, ...]) -> None:
    spoilt = [each for each in PAPERS if (each.condition, each.task, each.language) == ("sep-emb", "ner", "ru")]
    others = [each for each in PAPERS if each not in spoilt]
    more = [replace(each, value=value, seed=seed) for each in spoilt for seed, value in enumerate(values)]
    assert ranked([*others, *more]) == ranked(others)
    assert ranked(others)["NER"].num_conditions == 9


def test_beside_languages_that_the_paper_lacks_stands_its_mean_and_is_said_to() -> None:
    scores = {name: float(place) for place, name in enumerate(FIRST[:6])}
    expected = spearmanr(list(scores.values()), [sum(TABLE_1_SCORES[name]["NER"]) for name in scores]).statistic
    # One task has no mean of tasks.
    assert sentences(scored(scores)) == [
        f"Spearman's rho with the paper's order of conditions: NER {expected:.2f} (6 conditions; oru).",
        "Scores that differ from the paper's by noise alone would have, 9 times of 10: NER 0.71 to 1.00.",
        "The paper has no such pairs of languages; the mean over its own, en to fr, ru, zh, stands on its side.",
    ]


def test_few_conditions_have_no_order_worth_a_number() -> None:
    scores = dict(zip(FIRST, range(10), strict=True))
    few, enough = ({name: scores[name] for name in FIRST[:number]} for number in (3, 4))
    assert sentences(scored(few)) == []
    assert ranked(scored(enough))["NER"].num_conditions == 4
    # Neither what the paper has no row of counts, nor models before training, nor tasks that are not in it.
    more = [*scored({"anchors-25": 1.0}), *scored({"default": 1.0}, variant=UNTRAINED)]
    assert ranked([*scored(few), *more]) == {}
    assert ranked(scored(scores, task="pos")) == {}
