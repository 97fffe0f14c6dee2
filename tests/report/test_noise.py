"""Noise: what the seeds of a study say of each task, and where nothing but a constant is known."""

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from isoglot.pipeline.cells import FIGURE_5, FIGURE_7, UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.report.claims.layer_rules import LayerEvidence
from isoglot.report.findings.comparisons import Comparisons
from isoglot.report.findings.noise import LEAST_REPEATS, BySeed, Noise, Spread, in_common
from isoglot.report.findings.samples import CLOSE_CKA, CLOSE_POINTS, Sample
from isoglot.report.findings.transfer_scores import transfer_scores
from isoglot.report.findings.verdicts import Verdict, order_verdict
from tests.report.made_up_measurements import measured, scored


def of_scores(*scores: BySeed) -> Noise:
    """The noise of one condition in one task."""
    return Noise.of_leads((None, "default", Sample.of(by_seed)) for by_seed in scores)


def test_two_models_of_different_seeds_lie_further_apart_in_one_case_of_twenty() -> None:
    """Against many pairs of models drawn at random, whose spread is known."""
    random = np.random.default_rng(0)
    scores = 50.0 + 20.0 * random.standard_normal((2000, 1)) + 4.0 * random.standard_normal((2000, 3))
    noise = of_scores(*(dict(enumerate(row)) for row in scores.tolist()))
    differences = scores[:, 0] - scores[:, 1]
    assert noise.points(None) == pytest.approx(1.96 * 4.0 * np.sqrt(2.0), rel=0.03)
    assert np.mean(np.abs(differences) > noise.points(None)) == pytest.approx(0.05, abs=0.015)


def test_few_repeats_and_lucky_ones_leave_the_constant() -> None:
    far_apart, once = {0: 10.0, 1: 40.0}, {0: 10.0}
    assert of_scores(*[far_apart] * (LEAST_REPEATS - 1), *[once] * 50) == Noise()
    assert of_scores(*[far_apart] * LEAST_REPEATS).num_scores == LEAST_REPEATS
    lucky = of_scores(*[{0: 10.0, 1: 10.5}] * 50)
    assert (lucky.points(None), lucky.num_scores) == (pytest.approx(CLOSE_POINTS), 50)


@pytest.mark.parametrize(
    ("by_seed", "words"),
    [
        (
            {0: 10.0},
            "Noise is taken to be 3 points for two single scores, as fewer than 5 that show transfer",
        ),
        ({0: 10.0, 1: 10.5}, "Noise is 3 points for two single scores, and seeds say no more (50 scores"),
        ({0: 10.0, 1: 13.0}, "Noise is 6.0 points for two single scores, in place of 3: models that differ in"),
    ],
)
def test_a_page_says_whether_noise_is_known(by_seed: dict[int | None, float], words: str) -> None:
    assert words in of_scores(*[by_seed] * 50).sentence()


@settings(max_examples=10)
@given(
    common=st.floats(1.0, 100.0),
    lent=st.sampled_from([1, 3, 10, 1000]),
    seed=st.integers(0, 1000),
    degrees=st.lists(st.integers(1, 8), min_size=4, max_size=10),
)
def test_what_conditions_have_in_common_is_likeliest(common: float, lent: int, seed: int, degrees: list[int]) -> None:
    """Against scipy's F distribution, which a variance has beside the common one, over a grid of both."""
    random = np.random.default_rng(seed)
    true = common * lent / random.chisquare(lent, len(degrees))
    found = true * [random.chisquare(each) / each for each in degrees]
    common_now, lent_now = in_common([Spread(float(each), degrees[n]) for n, each in enumerate(found)])

    def log_likelihood(lent: int, common: float) -> float:
        return float(sum(scipy.stats.f.logpdf(found / common, degrees, lent) - np.log(common)))

    best = max(
        log_likelihood(lent, common) for lent in range(1, 101) for common in np.geomspace(found.min(), found.max(), 60)
    )
    assert log_likelihood(lent_now, common_now) >= best - 1e-3


@pytest.mark.parametrize("languages", [1, 4])
@pytest.mark.parametrize("unlike", [1.0, 4.0])
def test_few_seeds_call_chance_a_difference_in_few_cases(languages: int, unlike: float) -> None:
    """Five conditions of two seeds, whose scores have a known spread: two new models of one are within noise."""
    random = np.random.default_rng(0)
    deviations = np.geomspace(3.0, 3.0 * unlike, 5)
    outside = []
    for _ in range(200):
        scores = 60.0 + deviations[:, None, None] * random.standard_normal((5, languages, 2))
        noise = Noise.of_leads(
            ("ner", str(number), Sample.of(dict(enumerate(each))))
            for number, of_condition in enumerate(scores.tolist())
            for each in of_condition
        )
        assert len(noise.by_condition) == 5
        # The difference of two new models has twice the variance of one.
        ends = [
            noise.points("ner", str(number)) / (math.sqrt(2) * deviation) for number, deviation in enumerate(deviations)
        ]
        outside += (2 * scipy.stats.norm.sf(ends)).tolist()
    assert 0.03 < np.mean(outside) < 0.09


def test_a_condition_with_transfer_is_judged_by_no_score_without() -> None:
    """Scores near the floor can hardly differ: they say how firm a condition is only where it transfers nowhere."""

    def noise(*of_last: tuple[float, float | None]) -> Noise:
        apart = {"default": 5.0, "wiki-cc": 15.0, "no-anchors": 40.0}
        rows = {name: [(50.0, 50.0 + points)] * 2 for name, points in apart.items()} | {"sep-l1-6": [*of_last]}
        return Noise.of_leads(
            ("ner", name, Sample.of({0: first} if second is None else {0: first, 1: second}))
            for name, scores in rows.items()
            for first, second in scores
        )

    dead = (0.2, 0.3), (0.1, 0.3), (0.2, 0.1)
    assert noise(*dead).points("ner", "sep-l1-6") < noise(*dead).points("ner", "default")
    # A score of one seed that shows transfer says nothing of noise, and so the task's counts.
    assert noise(*dead, (30.0, None)).points("ner", "sep-l1-6") == noise().points("ner")
    # What is dead does not make the others look firmer.
    assert noise(*dead).points("ner", "default") == noise().points("ner", "default")


def test_conditions_that_vary_alike_share_their_noise_and_one_that_does_not_has_its_own() -> None:
    names = ("default", "wiki-cc", "default-anchors", "extra-anchors", "sep-emb", "no-anchors")

    def noise(apart: float) -> Noise:
        """Seeds of all conditions lie 4 points apart in four languages, those of the last further."""
        return Noise.of_leads(
            ("ner", name, Sample.of({0: 50.0, 1: 50.0 + (apart if name == names[-1] else 4.0)}))
            for name in names
            for _ in range(4)
        )

    alike, unlike = noise(4.0), noise(40.0)
    assert {*alike.by_condition} == {("ner", name) for name in names}
    assert [alike.points("ner", name) for name in names] == [pytest.approx(alike.points("ner"), rel=0.05)] * 6
    # The task's own is that of all, by which the first would look uncertain and the last too certain.
    assert unlike.points("ner", "default") < 11 < 30 < unlike.points("ner") < 80 < unlike.points("ner", "no-anchors")
    assert unlike.deviation("ner", "no-anchors") > 5 * unlike.deviation("ner", "default")
    # One that was trained once is taken to vary as all do.
    assert unlike.points("ner", "sep-l1-3") == unlike.points("ner")
    points = [f"{unlike.points('ner', name):.1f}" for name in ("default", "no-anchors")]
    assert "Noise is {} (Default) to {} (No anchors) points for two".format(*points) in unlike.sentence()


def test_rows_without_transfer_make_no_other_row_more_certain() -> None:
    """Near chance seeds can hardly differ, however many of such scores there are."""
    names = ("default", "wiki-cc", "no-anchors", "default-anchors", "extra-anchors")
    live = list(zip(names, (60.0, 50.0, 40.0, 55.0, 65.0), strict=True))
    dead = {"sep-emb": 1.0, "sep-l1-6": 2.0, "sep-emb-l1-6": 0.5}

    def noise(rows: list[tuple[str, float]], *more: Measurement) -> Noise:
        found = [
            *scored({**dict(rows), **dead}),
            *scored({**{name: score + 6 for name, score in rows}, **dead}, seed=1),
        ]
        return Comparisons.of_tasks(list(transfer_scores([*found, *more]))).noise

    # Student's t for five degrees of freedom, in place of 2.
    assert (noise(live).of_all.points, noise(live).num_scores) == (pytest.approx(12.0 / 2 * 2.571, rel=1e-3), 5)
    # Names that are found without pretraining are no transfer either.
    more = [*live, ("sep-l1-3", 20.0)]
    assert noise(more).num_scores == 6
    assert noise(more, *scored({"sep-l1-3": 21.0}, variant=UNTRAINED)).num_scores == 5
    assert noise([*live, ("sep-l1-3", math.nan)]) == noise(live)


def test_each_task_has_the_noise_of_its_own_seeds() -> None:
    apart = {"nli": 2.0, "ner": 12.0, "parsing": 4.0}
    leads = [
        (task, "default", Sample.of({0: 50.0, 1: 50.0 + points}))
        for task, points in apart.items()
        for _ in range(LEAST_REPEATS)
    ]
    noise = Noise.of_leads(leads)
    # Two values have half the square of their difference as their variance; t is 2.571 for five degrees of freedom.
    expected = {task: max(2.5706 * points, CLOSE_POINTS) for task, points in apart.items()}
    assert {task: noise.points(task) for task in apart} == pytest.approx(expected, rel=1e-3)
    assert noise.points("pos") == noise.of_all.points == pytest.approx(2.131 * math.sqrt((4 + 144 + 16) / 3), rel=1e-3)
    sizes = "Noise is {nli:.1f} points in NLI, {ner:.1f} in NER and {parsing:.1f} in Parsing for two single scores"
    assert sizes.format(**expected) in noise.sentence()
    # Parsing has too few of its own, and is taken to vary as all do.
    few = Noise.of_leads(leads[:-1])
    assert few.points("parsing") == few.of_all.points
    assert few.points("ner") == noise.points("ner")


def test_a_task_is_judged_by_its_own_noise() -> None:
    """Seeds of NER lie 12 points apart, those of parsing nothing; Default leads by 14 in both."""
    scores = {"default": 64.0, "no-anchors": 50.0, "default-anchors": 50.0, "extra-anchors": 50.0, "sep-emb": 50.0}
    found = [
        replace(each, seed=seed, value=each.value + apart * seed)
        for task, apart in (("ner", 12.0), ("parsing", 0.0))
        for each in scored(scores, task=task)
        for seed in (0, 1)
    ]
    comparisons = Comparisons.of_tasks(list(transfer_scores(found)))
    verdicts = {
        trial.task: order_verdict(trial.leads["default"], trial.leads["sep-emb"]) for trial in comparisons.trials
    }
    # 27 / sqrt(2) and 3 / sqrt(2) points for means of two seeds.
    assert verdicts == {"ner": Verdict.TOO_CLOSE, "parsing": Verdict.AGREES}
    again = comparisons.with_noise(Noise(of_all=Spread.assumed(9.0)))
    assert {round(lead.close, 6) for trial in again.trials for lead in trial.leads.values()} == {9.0}
    evidence = LayerEvidence(
        measurements=[replace(each, exhibit=exhibit) for each in found for exhibit in (FIGURE_5, FIGURE_7)],
        noise=comparisons.noise,
    )
    assert [panel.close for panel in evidence.panels(FIGURE_5)] == pytest.approx([12 * 2.5706, CLOSE_POINTS], rel=1e-3)
    assert {panel.close for panel in evidence.panels(FIGURE_7)} == {CLOSE_CKA}


def test_a_condition_that_is_luck_makes_no_other_uncertain() -> None:
    """Seeds of No anchors lie 30 points apart, those of other rows 2: Default leads Sep Emb by 8, in all languages."""
    scores = {"default": 60.0, "wiki-cc": 60.0, "sep-emb": 52.0, "no-anchors": 40.0}
    found = [
        replace(each, seed=seed, value=each.value + seed * (30.0 if each.condition == "no-anchors" else 2.0))
        for target in ("fr", "de", "ru", "zh")
        for each in scored(scores, target=target)
        for seed in (0, 1)
    ]
    comparisons = Comparisons.of_tasks(list(transfer_scores(found)))

    def verdicts(other: str, of: Comparisons = comparisons) -> set[Verdict]:
        return {order_verdict(trial.leads["default"], trial.leads[other]) for trial in of.trials}

    assert (verdicts("sep-emb"), verdicts("no-anchors")) == ({Verdict.AGREES}, {Verdict.TOO_CLOSE})
    for_all = comparisons.with_noise(replace(comparisons.noise, by_condition={}))
    assert verdicts("sep-emb", for_all) == {Verdict.TOO_CLOSE}


def test_retrieval_is_judged_by_the_noise_of_each_condition() -> None:
    gains = {"default": 80.0, "sep-emb": 72.0, "wiki-cc": 80.0, "no-anchors": 30.0}
    found = [
        row
        for pair in ("fr", "de", "ru", "zh")
        for name, gain in gains.items()
        for seed in (0, 1)
        for variant, values in (
            (None, [gain + seed * (60.0 if name == "no-anchors" else 2.0)]),
            (UNTRAINED, [0.0]),
        )
        for row in measured(name, values, languages=("en", pair), seed=seed, variant=variant)
    ]
    comparisons = Comparisons.of_retrieval(found)
    leads = comparisons.trials[0].leads
    assert order_verdict(leads["default"], leads["sep-emb"]) is Verdict.AGREES
    for_all = comparisons.with_noise(replace(comparisons.noise, by_condition={})).trials[0].leads
    assert order_verdict(for_all["default"], for_all["sep-emb"]) is Verdict.TOO_CLOSE
    low, high = (comparisons.noise.points(None, name) for name in ("default", "no-anchors"))
    sentence = comparisons.noise.sentence()
    assert f"{low:.1f} (" in sentence
    assert f"to {high:.1f} (No anchors) points for two single scores, in place of 3: " in sentence


def test_a_page_says_that_one_condition_varies_where_others_do_not() -> None:
    rows = {f"anchors-{number}": 0.3 for number in range(10, 19)} | {"no-anchors": 4.0}
    noise = Noise.of_leads(
        ("ner", name, Sample.of({0: 50.0, 1: 50.0 + points})) for name, points in rows.items() for _ in range(4)
    )
    assert noise.points("ner") == pytest.approx(CLOSE_POINTS)
    assert f"to {noise.points('ner', 'no-anchors'):.1f} (No anchors) points for two single scores, in place of 3: " in (
        noise.sentence()
    )
