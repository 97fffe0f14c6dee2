"""Spearman's rho against scipy's, and of whose averages it is."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from isoglot.pipeline.cells import TABLE_1, UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.report.agreement import RankCorrelation, rank_correlations, rank_sentences, spearman
from isoglot.report.published import TABLE_1_SCORES, published_measurements
from isoglot.report.transfer_scores import transfer_scores
from tests.report.made_up_measurements import transferred

PAPERS = [each for each in published_measurements() if each.exhibit == TABLE_1]
FIRST = list(TABLE_1_SCORES)


def ranked(found: Sequence[Measurement]) -> dict[str, RankCorrelation]:
    return {each.title: each for each in rank_correlations(list(transfer_scores(found)))}


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
        "(10 conditions; fr, ru, zh)."
    ]


def test_averages_are_over_targets_and_seeds_and_the_mean_of_tasks_is_of_scores() -> None:
    """Of two seeds one is the paper's, and one turns its order of Russian about."""
    turned = [replace(each, seed=1, value=40 - each.value if each.language == "ru" else each.value) for each in PAPERS]
    found = ranked([*PAPERS, *turned])
    averages = {
        task: [(each[0] + 20 + each[2]) / 3 for each in (of_tasks[task] for of_tasks in TABLE_1_SCORES.values())]
        for task in ("XNLI", "NER", "Parsing")
    }
    papers = {task: [sum(of_tasks[task]) / 3 for of_tasks in TABLE_1_SCORES.values()] for task in averages}
    for title, task in (("NLI", "XNLI"), ("NER", "NER"), ("Parsing", "Parsing")):
        assert found[title].rho == pytest.approx(spearmanr(averages[task], papers[task]).statistic)
    means = [[sum(of) / 3 for of in zip(*sides.values(), strict=True)] for sides in (averages, papers)]
    assert found["mean of tasks"].rho == pytest.approx(spearmanr(*means).statistic)
    assert found["NER"].rho < 1


def test_only_languages_that_both_have_count() -> None:
    of_french = [each for each in PAPERS if each.language == "fr"]
    german = [replace(each, language="de", languages=("en", "de"), value=-each.value) for each in of_french]
    found = ranked([*of_french, *german])
    assert {each.targets for each in found.values()} == {("fr",)}
    # Two conditions are alike in French NLI: they share their rank.
    assert all(each.rho == pytest.approx(1.0) for each in found.values())


def test_a_condition_without_all_targets_is_left_out() -> None:
    lacking = [each for each in PAPERS if (each.condition, each.language, each.task) != ("sep-emb-l1-6", "zh", "nli")]
    found = ranked(lacking)
    assert {title: each.num_conditions for title, each in found.items()} == {
        **{"NLI": 9, "NER": 10, "Parsing": 10, "mean of tasks": 9}
    }
    (sentence,) = sentences(lacking)
    assert "NLI 1.00 (9 conditions; fr, ru, zh), NER 1.00 (10 conditions; fr, ru, zh)" in sentence


def test_a_pair_that_baselines_alone_have_takes_no_condition_away() -> None:
    of_french = [each for each in PAPERS if each.language == "fr"]
    untrained = [
        each
        for name in FIRST
        for task, metric in (("nli", "accuracy"), ("ner", "f1"), ("parsing", "las"))
        for each in transferred(
            name, {"en": 30.0, "ru": 1.0}, task=task, metric=metric, variant=UNTRAINED, languages=("en", "ru")
        )
    ]
    assert ranked([*of_french, *untrained]) == ranked(of_french) != {}
    german = [replace(each, language="de", languages=("en", "de")) for each in of_french]
    assert ranked([*german, *untrained]) == ranked(german), "nor is Russian a language that both have"


def test_a_language_counts_once_enough_conditions_have_it() -> None:
    """As while a study runs: the first score of another language must not take the number away."""
    of_french = [each for each in PAPERS if each.language == "fr"]
    russian = [each for each in PAPERS if each.language == "ru"]
    for num_conditions, targets in ((1, ("fr",)), (3, ("fr",)), (4, ("fr", "ru"))):
        begun = ranked([*of_french, *(each for each in russian if each.condition in FIRST[:num_conditions])])
        assert {each.targets for each in begun.values()} == {targets}
        assert {each.num_conditions for each in begun.values()} == {4 if "ru" in targets else 10}
    # Nor the first scores of another task that of the mean of those before it.
    two_tasks = [each for each in PAPERS if each.task != "parsing"]
    third = [each for each in PAPERS if each.task == "parsing" and each.condition == "default"]
    assert ranked([*two_tasks, *third]) == ranked(two_tasks)
    assert "mean of tasks" in ranked(two_tasks)


@pytest.mark.parametrize("values", [(nan,), (inf,), (1.0, nan), (inf, -inf)])
def test_a_score_that_is_no_number_has_no_rank(values: tuple[float, ...]) -> None:
    def spoilt(each: Measurement) -> bool:
        return (each.condition, each.task, each.language) == ("sep-emb", "ner", "ru")

    others = [each for each in PAPERS if not spoilt(each)]
    more = [
        replace(each, value=value, seed=seed) for each in PAPERS if spoilt(each) for seed, value in enumerate(values)
    ]
    assert ranked([*others, *more]) == ranked(others)
    assert ranked(others)["NER"].num_conditions == 9


def of_made_up(scores: Mapping[str, float], **more: str) -> list[Measurement]:
    return [each for name, score in scores.items() for each in transferred(name, {"oru": score, "ela": 9.0}, **more)]


def test_beside_languages_that_the_paper_lacks_stands_its_mean_and_is_said_to() -> None:
    papers = {name: sum(TABLE_1_SCORES[name]["NER"]) for name in FIRST}
    scores = {name: float(place) for place, name in enumerate(FIRST[:6])}
    found = ranked(of_made_up(scores))
    expected = spearmanr(list(scores.values()), [papers[name] for name in scores]).statistic
    assert list(found) == ["NER"], "one task has no mean of tasks"
    assert found["NER"].rho == pytest.approx(expected)
    assert sentences(of_made_up(scores)) == [
        f"Spearman's rho with the paper's order of conditions: NER {expected:.2f} (6 conditions; oru).",
        "The paper has no such pairs of languages; the mean over its own, en to fr, ru, zh, stands on its side.",
    ]


def test_few_conditions_have_no_order_worth_a_number() -> None:
    scores = dict(zip(FIRST, range(10), strict=True))
    assert ranked(of_made_up({name: scores[name] for name in FIRST[:3]})) == {}
    assert sentences(of_made_up({name: scores[name] for name in FIRST[:3]})) == []
    assert ranked(of_made_up({name: scores[name] for name in FIRST[:4]}))["NER"].num_conditions == 4
    # Neither what the paper has no row of counts, nor models before training, nor tasks that are not in it.
    more = [*of_made_up({"anchors-25": 1.0}), *of_made_up({"default": 1.0}, variant=UNTRAINED)]
    assert ranked([*of_made_up({name: scores[name] for name in FIRST[:3]}), *more]) == {}
    assert ranked(of_made_up(scores, task="pos", metric="accuracy")) == {}


def test_conditions_that_are_all_alike_have_none() -> None:
    found = of_made_up(dict.fromkeys(FIRST, 0.1 + 0.2))
    assert ranked(found)["NER"].rho is None
    assert "NER undefined (10 conditions; oru)" in sentences(found)[0]
