"""Numbers that pages of results give of growth are those of the measurements beside them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import permutations, product
from statistics import fmean

import numpy as np
import pytest
from numpy.typing import NDArray
from published_records import LANGUAGES, ROOT, grown, pages_by_hand, report_data
from scipy.optimize import minimize
from scipy.special import expit

from isoglot.pipeline.cells import UNTRAINED
from isoglot.report.growth.predictions import Prediction, held_back, inside_text
from isoglot.report.growth.rows import Growth, times_behind
from isoglot.report.growth.trends import prediction_text
from isoglot.study.conditions import TABLE_1
from isoglot.study.scales import PAPER
from isoglot.study.study_file import read_study

TIMES = "\N{MULTIPLICATION SIGN}"


@pytest.fixture(scope="module")
def readme() -> str:
    return pages_by_hand()


def test_it_says_how_structure_grows(readme: str) -> None:
    for row in TABLE_1:
        of_row, at_papers = [], []
        for language in LANGUAGES:
            growth = grown()[row.name, language, "retrieval"]
            behind = times_behind(growth, grown()["default", language, "retrieval"])
            of_row += [f"{fmean(growth.finished):.1f}", behind]
            at_papers.append(prediction_text(*growth.at(PAPER.tokens), decimals=1))
        for cells in (of_row, at_papers):
            assert f"| {row.label} | {' | '.join(cells)} |" in readme

    def share(language: str, moment: int) -> str:
        """A part of Default's retrieval."""
        ours, defaults = (grown()[each, language, "retrieval"] for each in ("sep-l1-3", "default"))
        return f"{fmean(ours.line.at(ours.tokens[moment])) / fmean(defaults.line.at(ours.tokens[moment])):.0%}"

    early, *same, end = (share("fr", moment) for moment in (2, 4, 5, 6, 7))
    assert len({*same}) == 1
    of_default = f"it has {early} of Default's retrieval at 31M tokens, {same[0]} from 126M to 503M"
    assert f"{of_default} and {end} at the end" in readme
    in_russian = [share("ru", moment) for moment in range(1, 8)]
    assert in_russian == sorted(in_russian, key=lambda each: -int(each.removesuffix("%")))
    assert f"In Russian it falls behind throughout, to {in_russian[-1]}." in readme


def test_it_says_when_sep_l1_6_was_best(readme: str) -> None:
    best = {}
    for language in ("fr", "de", "zh"):
        row = grown()["sep-l1-6", language, "retrieval"]
        means = {tokens: fmean(row.line.at(tokens)) for tokens in row.tokens[:-1]}
        best[language] = f"{max(means, key=means.__getitem__) / 1e6:.0f}M"
    assert best["fr"] == best["de"]
    assert f"had its best early, after {best['fr']} tokens in French and German and {best['zh']} in Chinese" in readme


def test_it_says_how_far_rows_are_behind(readme: str) -> None:
    def times(condition: str) -> tuple[str, str]:
        """From the least to the most over languages, by means and by single seeds."""
        of_languages, of_seeds = [], []
        for language in LANGUAGES:
            row, default = (grown()[each, language, "retrieval"] for each in (condition, "default"))
            of_languages.append(times_behind(row, default))
            of_seeds += [times_behind(row.of_seeds({seed}), default) for seed in row.by_seed]
        ends = [sorted((each.removeprefix(TIMES) for each in found), key=float) for found in (of_languages, of_seeds)]
        by_languages, by_seeds = (f"{found[0]} to {found[-1]}" for found in ends)
        return by_languages, by_seeds

    assert "with {} times fewer tokens (single seeds: {} times)".format(*times("sep-emb")) in readme
    assert "No anchors it is {} times ({})".format(*times("no-anchors")) in readme
    assert "Sep L1-3 {} times ({})".format(*times("sep-l1-3")) in readme


def test_it_says_how_far_no_anchors_has_come(readme: str) -> None:
    of_tasks = [grown()["no-anchors", "de", key] for key in ("retrieval", "ner", "parsing")]
    of_german, later = (grown()["no-anchors", "de", "retrieval"].of_seeds({seed}) for seed in (0, 1))
    for tokens in of_german.tokens[-4:]:
        found = [each.of_seeds({0}).line.at(tokens) for each in of_tasks]
        assert f"| {tokens / 1e6:.0f}M | {' | '.join(f'{fmean(each):.1f}' for each in found)} |" in readme
    both = grown()["no-anchors", "zh", "retrieval"]
    of_chinese = [both.of_seeds({seed}) for seed in both.by_seed]
    for of_seed in (later, *of_chinese):
        for tokens in of_seed.tokens[-3:]:
            assert f"| {tokens / 1e6:.0f}M | {fmean(of_seed.line.at(tokens)):.1f} | " in readme
    prediction, _ = of_chinese[0].at(4 * both.budget)
    assert prediction is not None
    low, high = prediction.low, prediction.high
    assert f"finds {prediction.value:.1f}% of sentences ({low:.1f} to {high:.1f}) after 4 G tokens" in readme
    behind = {
        language: [
            times_behind(
                grown()["no-anchors", language, "retrieval"].of_seeds({seed}), grown()["default", language, "retrieval"]
            ).removeprefix(TIMES)
            for seed in (0, 1)
        ]
        for language in ("ru", "fr", "zh", "de")
    }
    text = "Single seeds are {} and {}, {} and {}, {} and {}, {} and {} times behind."
    assert text.format(*(each for of_seeds in behind.values() for each in of_seeds)) in readme


def test_it_says_how_tasks_grow(readme: str) -> None:
    of_tasks = [each for each in grown().values() if each.measure.task]
    assert len(of_tasks) == 6
    for each in of_tasks:
        name = {"ner": "NER", "parsing": "parsing"}[str(each.measure.task)]
        at_moments = " | ".join(f"{fmean(each.line.at(tokens)):.1f}" for tokens in each.tokens)
        assert f"| {each.line.label}, {name} | {each.floor:.1f} | {at_moments} |" in readme


def of(key: str) -> list[Growth]:
    """All rows of one measure."""
    return [each for each in grown().values() if each.measure.key == key]


def logistic(row: Growth, tokens: int) -> float:
    """The curve that stood here first: odds, from floor to ceiling, times one number a doubling, all points alike."""
    points = [(at, score, at in row.annealed) for by_tokens in row.by_seed.values() for at, score in by_tokens.items()]
    reach = row.ceiling - row.floor
    at_N, score_N, is_annealed_N = np.array(points).T
    rows_NP = np.stack([np.ones(len(points)), np.log2(at_N / tokens), is_annealed_N], axis=1)
    share_N = np.clip((score_N - row.floor) / reach, 0, 1)

    def loss(parameters_P: NDArray[np.float64]) -> float:
        logit_N = rows_NP @ parameters_P
        return float(np.logaddexp(0, logit_N).sum() - share_N @ logit_N)

    at_P = minimize(loss, np.zeros(3), method="BFGS").x
    return float(row.floor + reach * expit(at_P[0] + (at_P[2] if row.annealed else 0.0)))


def errors(found: Sequence[Prediction], said: Callable[[Prediction], float]) -> tuple[float, float]:
    """How much too high, and how far off, on the mean over scores."""
    off = [said(each) - score for each in found for score in each.longer.finished]
    return fmean(off), fmean(map(abs, off))


def by_trend(each: Prediction) -> float:
    assert each.interval is not None
    return each.interval.value


def test_it_says_which_rule_foretells_later_moments(readme: str) -> None:
    held = [held_back(of(key), moments=moments) for key in ("retrieval", "words") for moments in (1, 2)]
    rules: dict[str, Callable[[Prediction], float]] = {
        "a logistic curve through all moments": lambda each: logistic(each.shorter, each.longer.budget),
        "the last two doublings go on": by_trend,
        "nothing is added": lambda each: fmean(each.shorter.finished),
    }
    for name, rule in rules.items():
        cells = [f"{too_high:+.1f} ({off:.1f})" for too_high, off in (errors(found, rule) for found in held)]
        assert f"| {name} | {' | '.join(cells)} |" in readme
    text = "Of retrieval {} scores lie inside one doubling ahead and {} two, of words {} and {}"
    assert text.format(*map(inside_text, held)) in readme
    of_tasks = (inside_text(held_back(of(key))) for key in ("ner", "parsing"))
    assert "Of tasks, one seed each, {} lie inside in NER and {} in parsing".format(*of_tasks) in readme
    assert f"hold {inside_text(held_back(of('cka')))} scores one doubling ahead" in readme


def test_it_says_what_the_end_of_the_learning_rate_seems_to_add(readme: str) -> None:
    said: list[str | int] = []
    for key in ("retrieval", "words"):
        growing = [replace(row, annealed=frozenset()) for row in of(key) if not row.trend_and_reason[1]]
        more = [fmean(each.longer.finished) - by_trend(each) for each in held_back(growing)]
        said += [f"{fmean(more):.1f}", sum(each > 0 for each in more), len(more)]
    text = "find {} points more sentences than the moments up to 503M predict ({} of {} rows more) and {} points more "
    assert (text + "words ({} of {})").format(*said) in readme


def test_it_says_how_often_the_interval_of_one_seed_holds_the_other(readme: str) -> None:
    said = []
    for key, moments in product(("retrieval", "words"), (1, 2)):
        inside = []
        of_seeds = ((row, *seeds) for row in of(key) for seeds in permutations(row.by_seed))
        for row, seed, other in of_seeds:
            for each in held_back([row.of_seeds({seed})], moments=moments):
                assert each.interval is not None
                inside.append(each.interval.low <= row.by_seed[other][each.longer.budget] <= each.interval.high)
        said.append(f"{sum(inside)} of {len(inside)}")
    text = "in {} and {} cases of retrieval, one and two doublings ahead, and in {} and {} of words"
    assert text.format(*said) in readme


def test_it_says_what_becomes_of_rows_without_a_prediction(readme: str) -> None:
    said = {(each.longer.condition, each.longer.languages) for each in held_back(of("retrieval"), moments=2)}
    rest = [row for row in of("retrieval") if (row.condition, row.languages) not in said]
    *_, before, _, end = sorted(rest[0].steady)
    gains = [fmean(row.line.at(end)) - fmean(row.line.at(before)) for row in rest]
    text = "{} rows of retrieval have none two doublings before 503M, and gain {:.1f} points"
    assert text.format(len(rest), max(gains)) in readme
    late = grown()["no-anchors", "de", "ner"]
    assert not any(held_back([late], moments=moments) for moments in (1, 2))
    *_, first, second, last = (fmean(late.line.at(tokens)) for tokens in late.steady)
    text = "has none one and two doublings before, and gains {:.1f} and {:.1f}."
    assert text.format(last - second, last - first) in readme


def test_two_rules_foretell_the_longer_run(readme: str) -> None:
    tokens = read_study(ROOT / "studies/control-growth.toml").scale.tokens
    apart = {}
    for condition in ("sep-emb", "no-anchors", "sep-l1-3"):
        row = grown()[condition, "de", "retrieval"]
        cells = [
            f"{fmean(row.finished):.1f}",
            f"{logistic(row, tokens):.1f}",
            prediction_text(*row.at(tokens), decimals=1),
        ]
        assert f"| {row.line.label} | {' | '.join(cells)} | " in readme
        predicted, _ = row.at(tokens)
        assert predicted is not None
        apart[condition] = logistic(row, tokens) - predicted.value
    text = "differ by {sep-emb:.0f} points of Sep Emb and {no-anchors:.0f} of No anchors"
    assert text.format_map(apart) in readme


def test_it_says_what_cka_has_before_training(readme: str) -> None:
    ends, untrained = [], []
    for language in LANGUAGES:
        ends.append(fmean(grown()["default", language, "cka"].finished))
        layers: dict[int | None, list[float]] = {}
        for each in report_data("replication").measurements:
            if (each.exhibit, each.variant, each.metric, each.condition, each.languages[1]) == (
                *("figure-7", UNTRAINED, "cka"),
                *("default", language),
            ):
                layers.setdefault(each.seed, []).append(each.value)
        untrained.append(fmean(map(fmean, layers.values())))
    text = "Default's is {:.2f} to {:.2f} at the end, and Default untrained has {:.2f} to {:.2f}"
    assert text.format(min(ends), max(ends), min(untrained), max(untrained)) in readme
