"""Numbers that pages of results give of growth are those of the measurements beside them."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from statistics import fmean

import pytest
from published_records import LANGUAGES, ROOT, grown, pages_by_hand, report_data

from isoglot.pipeline.cells import UNTRAINED
from isoglot.report.growth.fits import prediction_text
from isoglot.report.growth.rows import Growth, times_behind
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


def untrained_best(condition: str, language: str) -> float:
    """Retrieval at the best layer of models before training, mean over seeds."""
    by_seed: dict[int | None, float] = {}
    for each in report_data("replication").measurements:
        of = each.exhibit, each.variant, each.metric, each.condition, each.languages[1]
        if of == ("emergence", UNTRAINED, "retrieval_p1", condition, language):
            by_seed[each.seed] = max(each.value, by_seed.get(each.seed, 0.0))
    return fmean(by_seed.values())


def from_untrained(row: Growth) -> Growth:
    return replace(row, floor=untrained_best(row.condition, row.languages[1]))


def of_retrieval() -> list[Growth]:
    return [each for each in grown().values() if each.measure.key == "retrieval"]


def errors_ahead(rows: Sequence[Growth], *, doublings: int) -> list[tuple[bool, float]]:
    """Whether intervals hold what comes later, and how much too high forecasts are, before the learning rate falls."""
    found = []
    for row in rows:
        *earlier, end = sorted(row.steady)
        known = {*earlier[: 1 - doublings or None]}
        by_seed = {seed: {at: value for at, value in of.items() if at in known} for seed, of in row.by_seed.items()}
        predicted, _ = replace(row, by_seed=by_seed, annealed=frozenset(), budget=end).at(end)
        if predicted:
            truth = [of_seed[end] for of_seed in row.by_seed.values()]
            found += [(predicted.low <= each <= predicted.high, predicted.value - each) for each in truth]
    return found


def test_it_says_how_well_curves_forecast_what_came(readme: str) -> None:
    text = (
        "of {} scores of rows that grow {:.0f}% lie inside intervals of 90%, and the forecast is {:.1f} points too "
        "high on the mean. Two doublings ahead, from moments up to 126M, {:.0f}% lie inside, and it is {:.1f} points"
    )
    one, two = (errors_ahead(of_retrieval(), doublings=each) for each in (1, 2))
    assert len(one) == len(two)
    shares, points = ([fmean(column) for column in zip(*of, strict=True)] for of in (one, two))
    assert text.format(len(one), 100 * shares[0], shares[1], 100 * points[0], points[1]) in readme
    rows = [from_untrained(each) for each in of_retrieval()]
    others = [fmean(error for _, error in errors_ahead(rows, doublings=each)) for each in (1, 2)]
    assert "Then the forecast is {:.1f} and {:.1f} points too high".format(*others) in readme


def test_it_says_what_curves_from_the_untrained_model_would_predict(readme: str) -> None:
    tokens = read_study(ROOT / "studies/control-growth.toml").scale.tokens
    for condition in ("default", "sep-emb", "no-anchors", "sep-l1-3"):
        row = grown()[condition, "de", "retrieval"]
        intervals = (each.at(tokens)[0] for each in (row, from_untrained(row)))
        cells = [f"{each.value:.1f} ({each.low:.1f} to {each.high:.1f})" for each in intervals if each]
        assert f"| {row.line.label} | {' | '.join(cells)} |" in readme
    own = {"no-anchors", "sep-emb", "sep-emb-l1-3", "sep-emb-l1-6"}
    apart, shared = (
        [untrained_best(name, language) for name in names for language in LANGUAGES]
        for names in (own, {row.name for row in TABLE_1} - own)
    )
    text = "has {:.1f} to {:.1f}% without shared words and {:.1f} to {:.1f}% with them"
    assert text.format(min(apart), max(apart), min(shared), max(shared)) in readme


def test_it_says_how_often_the_curve_of_one_seed_holds_the_other(readme: str) -> None:
    inside: dict[str, list[bool]] = {}
    for row in of_retrieval():
        for seed, other in permutations(row.by_seed):
            fit, reason = row.of_seeds({seed}).fit_and_reason
            if fit is None or reason:
                continue
            for tokens, value in row.by_seed[other].items():
                predicted = fit.predicted(tokens, is_annealed=tokens in row.annealed)
                inside.setdefault(row.condition, []).append(predicted.low <= value <= predicted.high)
    shares = {condition: 100 * fmean(of_row) for condition, of_row in inside.items()}
    few = [shares.pop(each) for each in ("no-anchors", "sep-emb")]
    text = "holds {:.0f}% of the other seed's moments under No anchors and {:.0f}% under Sep Emb, in the other six rows"
    assert text.format(*few) in readme
    assert len(shares) == 6
    assert f"in the other six rows that grow {min(shares.values()):.0f} to {max(shares.values()):.0f}%." in readme
