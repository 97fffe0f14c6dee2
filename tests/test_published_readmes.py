"""Numbers that READMEs of results repeat are those of the measurements beside them."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from statistics import fmean

import pytest
from scipy.stats import spearmanr

from isoglot.pipeline.cells import UNTRAINED
from isoglot.report.findings.published import TABLE_1_SCORES, TARGETS
from isoglot.report.growth.fits import prediction_text
from isoglot.report.growth.rows import growths, times_behind
from isoglot.report.report_files import ReportData, read_report_data
from isoglot.report.report_scores import ReportScores
from isoglot.study.conditions import TABLE_1
from isoglot.study.scales import PAPER

RESULTS = Path(__file__).parents[1] / "results"
LONG = RESULTS / "replication-1g"
METRICS = {"XNLI": ("nli", "accuracy"), "NER": ("ner", "f1"), "Parsing": ("parsing", "las")}
"""By the paper's name for a task, ours and its metric."""
CHANCE_IN_NLI = 100 / 3
LANGUAGES = {"fr": "French", "de": "German", "ru": "Russian", "zh": "Chinese"}
"""English was trained with these so far."""
MAPPED = ("fr", "ru", "zh")


@cache
def report_data(name: str) -> ReportData:
    return read_report_data(RESULTS / name)


@pytest.fixture(scope="module")
def readme() -> str:
    return (LONG / "README.md").read_text()


@pytest.mark.parametrize("name", ["replication", "replication-1g"])
def test_it_has_tables_and_points_as_they_were_written(name: str) -> None:
    readme = (RESULTS / name / "README.md").read_text()
    for part in ("table-1.md", "claims.md"):
        assert (RESULTS / name / part).read_text().strip() in readme
    for each in ReportScores(report_data(name).measurements).comparisons.standings:
        if each.condition != "default":
            assert f"{each.points.mean:+.1f} ({each.share:.0%})" in readme


def test_it_says_what_is_left_of_transfer(readme: str) -> None:
    """Mean scores; points above the floor, in all languages and in the paper's; and there shares above chance."""
    of_all = report_data("replication-1g").measurements
    of_papers = [each for each in of_all if each.languages[1] in TARGETS]
    standings = [
        {each.condition: each for each in ReportScores(found).comparisons.standings} for found in (of_all, of_papers)
    ]
    papers = [language for language in LANGUAGES if language in TARGETS]

    def mean(condition: str, languages: Iterable[str]) -> float:
        return fmean(scores_by_row(*METRICS[task], each)[condition] for task in METRICS for each in languages)

    def papers_mean(condition: str) -> float:
        return fmean(TABLE_1_SCORES[condition][task][TARGETS.index(each)] for task in METRICS for each in papers)

    chance = CHANCE_IN_NLI / len(METRICS)
    for row in TABLE_1:
        points = [f"{each[row.name].points.mean:+.1f} ({each[row.name].share:.0%})" for each in standings]
        ours = (mean(row.name, papers) - chance) / (mean("default", papers) - chance)
        theirs = (papers_mean(row.name) - chance) / (papers_mean("default") - chance)
        cells = [f"{mean(row.name, LANGUAGES):.1f}", *points, f"{ours:.0%}", f"{theirs:.0%}"]
        assert f"| {row.label} | {' | '.join(cells)} |" in readme


def scores_by_row(task: str, metric: str, language: str) -> dict[str, float]:
    return {
        each.condition: each.value
        for each in report_data("replication-1g").measurements
        if (each.exhibit, each.task, each.metric, each.language) == ("table-1", task, metric, language)
    }


def rho(language: str, papers_task: str, *, without: str | None = None, changed: dict[str, float] | None = None) -> str:
    """Spearman's rho of rows with the paper's, or with means over its languages where this one is not among them."""
    ours = scores_by_row(*METRICS[papers_task], language) | (changed or {})
    ours.pop(without or "", None)
    papers = [TABLE_1_SCORES[name][papers_task] for name in ours]
    theirs = [each[TARGETS.index(language)] if language in TARGETS else fmean(each) for each in papers]
    return f"{spearmanr([*ours.values()], theirs).statistic:.2f}"


def test_it_says_what_sep_emb_does_to_the_order_of_conditions(readme: str) -> None:
    for without in (None, "sep-emb"):
        texts = [
            "{}, {} and {}".format(*(rho(language, task, without=without) for task in METRICS)) + f" in {name}"
            for language, name in LANGUAGES.items()
        ]
        assert ", ".join(texts[:-1]) + f" and {texts[-1]}" in readme
    # Parts drawn apart, of results/recipe.
    apart = {"NER": {"sep-emb": 51.0, "sep-l1-3": 51.4}, "Parsing": {"sep-emb": 43.7, "sep-l1-3": 25.4}}
    drawn_apart = [rho("de", task, changed=scores) for task, scores in apart.items()]
    assert "rho in German is {} in NER and {} in parsing. The paper".format(*drawn_apart) in readme


def test_it_says_how_alike_languages_are_without_and_after_a_map(readme: str) -> None:
    def layers(exhibit: str, metric: str, language: str, model: tuple[str, str | None]) -> list[float]:
        return [
            each.value
            for each in report_data("replication-1g").measurements
            if (each.exhibit, each.metric, each.language) == (exhibit, metric, language)
            and (each.condition, each.variant) == model
            and each.layer is not None
        ]

    models = {row.label: (row.name, None) for row in TABLE_1} | {"Default, untrained": ("default", UNTRAINED)}
    for label, model in models.items():
        cells = []
        for language in MAPPED:
            before = layers("emergence", "retrieval_p1", language, model)
            after = layers("figure-6", "aligned_retrieval_p1", language, model)
            cells += [f"{max(each):.1f}" for each in (before, after)]
        assert f"| {label} | {' | '.join(cells)} |" in readme
    for language in MAPPED:
        means = {key: fmean(layers("figure-7", "cka", language, model)) for key, model in models.items()}
        untrained = means.pop("Default, untrained")
        low, high = min(means.values()), max(means.values())
        place = f"{low:.2f} to {high:.2f} for the ten rows in {LANGUAGES[language]}"
        assert f"{place}, and {untrained:.2f} for Default untrained" in readme


def test_it_says_how_structure_grows(readme: str) -> None:
    data = report_data("replication-1g")
    rows = {
        (each.condition, each.languages[1]): each
        for each in growths(data.measurements, scale=data.study.scale)
        if each.measure.key == "retrieval"
    }
    for row in TABLE_1:
        cells = []
        for language in LANGUAGES:
            growth = rows[row.name, language]
            behind = times_behind(growth, rows["default", language])
            cells += [f"{fmean(growth.finished):.1f}", behind, prediction_text(*growth.at(PAPER.tokens), decimals=1)]
        assert f"| {row.label} | {' | '.join(cells)} |" in readme


def test_it_says_how_tasks_grow(readme: str) -> None:
    data = report_data("replication-1g")
    of_tasks = [each for each in growths(data.measurements, scale=data.study.scale) if each.measure.task]
    assert len(of_tasks) == 6
    for each in of_tasks:
        name = {"ner": "NER", "parsing": "parsing"}[str(each.measure.task)]
        at_moments = " | ".join(f"{fmean(each.line.at(tokens)):.1f}" for tokens in each.tokens)
        assert f"| {each.line.label}, {name} | {each.floor:.1f} | {at_moments} |" in readme
