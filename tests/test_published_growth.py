"""Numbers that pages of results give of growth are those of the measurements beside them."""

from statistics import fmean

import pytest
from published_records import LANGUAGES, grown, pages_by_hand

from isoglot.report.growth.fits import prediction_text
from isoglot.report.growth.rows import times_behind
from isoglot.study.conditions import TABLE_1
from isoglot.study.scales import PAPER

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
