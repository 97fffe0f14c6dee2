"""Pages say what the controls of results/replication have found, and no more than that."""

import re
from itertools import product
from math import sqrt
from pathlib import Path
from statistics import fmean

import pytest
from published_records import (
    CHANCE_IN_NLI,
    CONTROLLED,
    METRICS,
    RECIPE,
    RESULTS,
    by_place,
    with_control,
    with_published_files,
)
from scipy.stats import ttest_1samp

from isoglot.pipeline.measurements import measurements
from isoglot.report.findings.comparisons import Outcome
from isoglot.report.findings.verdicts import Verdict, order_verdict
from isoglot.report.report_scores import ReportScores
from isoglot.store import Store
from isoglot.store.unpacking import unpack

CONTROLS = {
    "control-starts": {"sep-l1-3": "equal starts", "sep-l1-3-independent": "drawn apart"},
    "control-softmax": {
        "default": "Default as it is",
        "default-own-bias": "Default with own biases",
        "no-anchors": "No anchors as it is",
        "no-anchors-own-bias": "No anchors with own biases",
    },
}
"""Conditions of each control that are there, and what a page calls their models."""


@pytest.mark.parametrize("name", CONTROLS)
def test_a_page_says_what_a_control_has_found_so_far(name: str) -> None:
    found: dict[tuple[str, int, str], dict[str, dict[int | None, float]]] = {}
    for each in with_control(name):
        if each.exhibit in ("table-1", "emergence") and each.seed is not None and each.variant is None:
            where = "en" if each.language == "en" else "target"
            model = found.setdefault((each.condition, each.seed, each.languages[1]), {})
            model.setdefault(f"{each.metric} {where}", {})[each.layer] = each.value
    page = (RESULTS / "replication/tested.md").read_text()
    rows = 0
    for (condition, seed, _), values in found.items():
        if condition in CONTROLS[name]:
            by_layer, raw = values["retrieval_p1 target"], values["retrieval_p1_uncentred target"]
            scores = [values[metric][None] for metric in ("accuracy target", "f1 target", "las target")]
            more = [values["las en"][None]] if name == "control-starts" else [by_layer[8], raw[8]]
            cells = " | ".join(f"{value:.1f}" for value in (*scores, max(by_layer.values()), *more))
            assert f"| {CONTROLS[name][condition]}, seed {seed} | {cells} |" in page
            rows += 1
    assert rows == sum(page.count(f"| {label}, seed ") for label in CONTROLS[name].values()) > 2


def test_a_page_says_how_much_transfer_each_kind_of_start_keeps() -> None:
    comparisons = ReportScores(with_control("control-starts")).comparisons
    page = (RESULTS / "replication/tested.md").read_text()

    def above_chance(condition: str, *languages: str) -> str:
        trials = [each for each in comparisons.trials if each.languages[1] in languages]
        ours, defaults = (
            sum(each.leads[name].mean + each.floors[name].points for each in trials) - len(languages) * CHANCE_IN_NLI
            for name in (condition, "default")
        )
        return f"{ours / defaults:.0%}"

    for condition, label in CONTROLS["control-starts"].items():
        cells = []
        for task, _ in METRICS.values():
            leads = [each.leads for each in comparisons.trials if each.task == task]
            ours, defaults = (sum(each[name].mean for each in leads) for name in (condition, "default"))
            cells.append(f"{ours / defaults:.0%}")
        cells += [above_chance(condition, language) for language in CONTROLLED["control-starts"]]
        assert f"| {label} | {' | '.join(cells)} |" in page
    apart, equal = (above_chance(condition, "fr", "ru", "zh") for condition in ("sep-l1-3-independent", "sep-l1-3"))
    assert f"that is {apart} drawn apart (five models) and {equal} with equal starts" in page
    scores = [by_place(with_control("control-starts"), metric) for metric in ("accuracy", "f1", "las")]
    shares = []
    for seed, condition in product((0, 1), ("sep-l1-3-independent", "sep-l1-3")):
        ours, defaults = (
            sum(of_task[name, each, seed] for of_task in scores for each in ("fr", "zh")) - 2 * CHANCE_IN_NLI
            for name in (condition, "default")
        )
        shares.append(f"{ours / defaults:.0%}")
    text = "French and Chinese together keep {} with seed 0 (equal starts {}) and {} with seed 1 ({})."
    assert text.format(*shares) in page
    ner = [each for each in comparisons.trials if each.task == "ner"]
    from_other_floors = sum(
        each.leads["sep-l1-3-independent"].mean
        + each.floors["sep-l1-3-independent"].points
        - each.floors["sep-l1-3"].points
        for each in ner
    ) / sum(each.leads["default"].mean for each in ner)
    assert f"from the floors of equal starts they would be {from_other_floors:.0%}" in page
    assert comparisons.outcomes["sep-l1-3-independent"] is Outcome.OPEN
    assert comparisons.outcomes["sep-l1-3"] is Outcome.SUFFERS


def test_a_page_says_how_far_the_kinds_of_start_lie_apart() -> None:
    page, found = (RESULTS / "replication/tested.md").read_text(), with_control("control-starts")
    equal, apart = CONTROLS["control-starts"]
    languages = CONTROLLED["control-starts"]

    def more(metric: str, seed: int, *, language: str | None = None) -> list[str]:
        """Points that models drawn apart have more, where both kinds have this seed."""
        scores = by_place(found, metric, language=language)
        here = [each for each in languages if (apart, each, seed) in scores]
        return [f"{scores[apart, each, seed] - scores[equal, each, seed]:.1f}" for each in here]

    *gains, loss = more("las", 0)
    text = "models drawn apart have {}, {} and {} more LAS in French, German and Russian and {} less in Chinese"
    assert text.format(*gains, loss.strip("-")) in page
    in_english = sorted(map(float, more("las", 0, language="en")))
    assert f"and parse English {in_english[0]} to {in_english[-1]} points better" in page
    *gains, loss = more("las", 1)
    text = (
        "With seed 1 they have {} and {} more in French and German and {} less in Chinese, and parse English as before."
    )
    assert text.format(*gains, loss.strip("-")) in page
    assert max(abs(float(each)) for each in more("las", 1, language="en")) < 0.5

    means, p = [], []
    for metric in ("accuracy", "f1", "las", "retrieval_p1"):
        scores = by_place(found, metric)
        means_of_kinds = [
            [fmean(scores[kind, each, seed] for seed in (0, 1) if (kind, each, seed) in scores) for each in languages]
            for kind in (apart, equal)
        ]
        differences = [a - b for a, b in zip(*means_of_kinds, strict=True)]
        means.append(f"{fmean(differences):.1f}")
        p.append(f"{ttest_1samp(differences, 0).pvalue:.2f}")
    text = "models drawn apart have {} points more in NLI, {} in NER, {} in parsing and {} in retrieval"
    assert f"{text} (Student's p = {{}}, {{}}, {{}} and {{}})".format(*means, *p) in page

    def between_seeds(kind: str, metric: str) -> list[float]:
        scores = by_place(found, metric)
        return [abs(scores[kind, each, 0] - scores[kind, each, 1]) for each in ("fr", "de", "zh")]

    las = [f"{each:.0f}" for kind in (apart, equal) for each in between_seeds(kind, "las")]
    text = "in LAS by {}, {} and {} points (French, German, Chinese), with equal starts by {}, {} and {}"
    assert text.format(*las) in page
    assert {f"{each:.0f}" for each in between_seeds(apart, "retrieval_p1")} == {"3"}
    assert f"by about 3, with equal starts by at most {max(between_seeds(equal, 'retrieval_p1')):.1f}" in page


def test_a_page_says_what_is_noise_between_the_kinds_of_start() -> None:
    page = (RESULTS / "replication/tested.md").read_text()
    comparisons = ReportScores(with_control("control-starts")).comparisons
    equal, apart = CONTROLS["control-starts"]
    leads = {(each.task, each.languages[1]): each.leads for each in comparisons.trials}
    verdicts = {place: order_verdict(of[apart].plain, of[equal].plain) for place, of in leads.items()}
    differ = [place for place, verdict in verdicts.items() if verdict is not Verdict.TOO_CLOSE]
    assert differ == [("nli", "fr")]
    assert "By the noise of seeds no test differs but NLI in French." in page
    of_single = {
        (task, kind): comparisons.noise.points(task, kind) for task in ("parsing", "ner") for kind in (equal, apart)
    }
    of_four = [sqrt((of_single[task, equal] ** 2 + of_single[task, apart] ** 2) / 2 / 4) for task in ("parsing", "ner")]
    assert "where means of four may differ by {:.1f} and {:.1f}.".format(*of_four) in page
    assert f"lie 11 LAS apart, where {of_single['parsing', apart] / sqrt(2):.0f} is noise" in page


EARLIER = {
    "equal starts": ("spread-1g-equal-starts", "| equal | | 43.4 | 31.5 |"),
    "drawn apart": ("spread-1g", "| apart | | 51.4 | 25.4 |"),
}
"""By kind of start, two models of the same settings and seeds: their study, and the line of a page with F1 and LAS."""


def test_a_page_counts_earlier_models_of_each_kind_of_start_too(tmp_path: Path) -> None:
    page, recipes = (RESULTS / "replication/tested.md").read_text(), (RECIPE / "README.md").read_text()
    new, means = with_control("control-starts"), {}
    for condition, label in CONTROLS["control-starts"].items():
        name, line = EARLIER[label]
        assert line in recipes
        unpack(RECIPE / f"pieces/{name}.tar.xz", Store(tmp_path / name))
        study = with_published_files(RECIPE / f"{name}.toml", RECIPE).replace(exhibits=["emergence"])
        earlier = by_place(measurements(study, Store(tmp_path / name))[0], "retrieval_p1")
        retrieval = [earlier["sep-l1-3", "de", seed] for seed in (0, 1)]
        f1, las = (float(cell) for cell in re.findall(r"[0-9.]+", line))
        assert (
            f"| {label}, two earlier models | {f1} | {las} | {', '.join(f'{each:.1f}' for each in retrieval)} |" in page
        )
        means[label] = [
            fmean([*before, *(by_place(new, metric)[condition, "de", seed] for seed in (0, 1))])
            for metric, before in (("las", [las, las]), ("f1", [f1, f1]), ("retrieval_p1", retrieval))
        ]
    assert "drawn apart have {:.1f} LAS, {:.1f} F1 and {:.1f}% of sentences".format(*means["drawn apart"]) in page
    assert "those with equal starts {:.1f}, {:.1f} and {:.1f}.".format(*means["equal starts"]) in page
