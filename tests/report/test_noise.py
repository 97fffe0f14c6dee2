"""Noise: what the seeds of a study say of each task, and where nothing but a constant is known."""

import math
from dataclasses import replace

import numpy as np
import pytest

from isoglot.pipeline.cells import FIGURE_5, FIGURE_7, UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.report.claims.layer_rules import LayerEvidence
from isoglot.report.findings.comparisons import Comparisons
from isoglot.report.findings.noise import LEAST_REPEATS, BySeed, Noise
from isoglot.report.findings.transfer_scores import transfer_scores
from isoglot.report.findings.verdicts import CLOSE_CKA, CLOSE_POINTS, Verdict, order_verdict
from tests.report.made_up_measurements import scored


def of_scores(*scores: BySeed) -> Noise:
    return Noise.of((None, by_seed) for by_seed in scores)


def test_two_models_of_different_seeds_lie_further_apart_in_one_case_of_twenty() -> None:
    """Against many pairs of models drawn at random, whose spread is known."""
    random = np.random.default_rng(0)
    scores = 50.0 + 20.0 * random.standard_normal((2000, 1)) + 4.0 * random.standard_normal((2000, 3))
    noise = of_scores(*(dict(enumerate(row)) for row in scores.tolist()))
    differences = scores[:, 0] - scores[:, 1]
    assert noise.points(None) == pytest.approx(2.0 * 4.0 * np.sqrt(2.0), rel=0.03)
    assert np.mean(np.abs(differences) > noise.points(None)) == pytest.approx(0.0455, abs=0.015)
    assert noise.num_scores == 2000


def test_few_repeats_and_lucky_ones_leave_the_constant() -> None:
    far_apart, once = {0: 10.0, 1: 40.0}, {0: 10.0}
    assert of_scores(*[far_apart] * (LEAST_REPEATS - 1), *[once] * 50) == Noise()
    assert of_scores(*[far_apart] * LEAST_REPEATS).num_scores == LEAST_REPEATS
    lucky = of_scores(*[{0: 10.0, 1: 10.5}] * 50)
    assert (lucky.points(None), lucky.num_scores) == (CLOSE_POINTS, 50)


@pytest.mark.parametrize(
    ("by_seed", "words"),
    [
        (
            {0: 10.0},
            "Noise is taken to be 3 points for two single scores, as fewer than 5 that show transfer",
        ),
        ({0: 10.0, 1: 10.5}, "Noise is 3 points for two single scores, and seeds say no more (50 scores"),
        ({0: 10.0, 1: 13.0}, "Noise is 6.0 points for two single scores, in place of 3: twice the standard deviation"),
    ],
)
def test_a_page_says_whether_noise_is_known(by_seed: dict[int | None, float], words: str) -> None:
    assert words in of_scores(*[by_seed] * 50).sentence()


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

    assert (noise(live).of_all, noise(live).num_scores) == (pytest.approx(12.0), 5)
    # Names that are found without pretraining are no transfer either.
    more = [*live, ("sep-l1-3", 20.0)]
    assert noise(more).num_scores == 6
    assert noise(more, *scored({"sep-l1-3": 21.0}, variant=UNTRAINED)).num_scores == 5
    assert noise([*live, ("sep-l1-3", math.nan)]) == noise(live)


def test_each_task_has_the_noise_of_its_own_seeds() -> None:
    apart = {"nli": 2.0, "ner": 12.0, "parsing": 4.0}
    scores = [(task, {0: 50.0, 1: 50.0 + points}) for task, points in apart.items() for _ in range(LEAST_REPEATS)]
    noise = Noise.of(scores)
    # Two values have half the square of their difference as their variance.
    assert {task: noise.points(task) for task in apart} == pytest.approx({task: 2 * apart[task] for task in apart})
    assert noise.points("pos") == noise.of_all == pytest.approx(2 * math.sqrt((4 + 144 + 16) / 3))
    assert "Noise is 4.0 points in NLI, 24.0 in NER and 8.0 in Parsing for two single scores, in place of 3: " in (
        noise.sentence()
    )
    # Parsing has too few of its own, and is taken to vary as all do.
    few = Noise.of(scores[:-1])
    assert few.points("parsing") == few.of_all
    assert few.points("ner") == pytest.approx(24.0)
    assert f"4.0 points in NLI, 24.0 in NER and {few.of_all:.1f} in Parsing for two single scores" in few.sentence()


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
    # 24 / sqrt(2) and 3 / sqrt(2) points for means of two seeds.
    assert verdicts == {"ner": Verdict.TOO_CLOSE, "parsing": Verdict.AGREES}
    again = comparisons.with_noise(Noise(of_all=9.0))
    assert {lead.close for trial in again.trials for lead in trial.leads.values()} == {9.0}
    evidence = LayerEvidence(
        measurements=[replace(each, exhibit=exhibit) for each in found for exhibit in (FIGURE_5, FIGURE_7)],
        noise=comparisons.noise,
    )
    assert [panel.close for panel in evidence.panels(FIGURE_5)] == [pytest.approx(24.0), CLOSE_POINTS]
    assert {panel.close for panel in evidence.panels(FIGURE_7)} == {CLOSE_CKA}
