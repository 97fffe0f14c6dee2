"""Spearman's rho of the order of conditions with the paper's, and what noise would make of it."""

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
from isoglot.report.findings.noise import Noise, Spread
from isoglot.report.findings.published import TABLE_1_SCORES, TARGETS, TITLE_OF_TASK, published_measurements
from isoglot.report.findings.rank_correlation import (
    RankCorrelation,
    rank_correlations,
    rank_sentences,
    spearman,
)
from isoglot.report.findings.transfer_scores import transfer_scores
from tests.report.made_up_measurements import scored

PAPERS = [each for each in published_measurements() if each.exhibit == TABLE_1]
FIRST = list(TABLE_1_SCORES)
CONSTANT = Noise()


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
    scores = np.array([[of_tasks[task] for task in TITLE_OF_TASK.values()] for of_tasks in TABLE_1_SCORES.values()])
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
