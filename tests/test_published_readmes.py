"""Numbers that READMEs of results repeat are those of the measurements beside them."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from itertools import product
from statistics import fmean

import pytest
from published_records import LANGUAGES, METRICS, RESULTS, report_data
from scipy.stats import spearmanr

from isoglot.report.claims import claims
from isoglot.report.claims.layer_rules import LayerEvidence
from isoglot.report.findings.comparisons import Comparisons
from isoglot.report.findings.noise import Noise
from isoglot.report.findings.published import TABLE_1_SCORES, TARGETS
from isoglot.report.findings.trials import Trial
from isoglot.report.findings.verdicts import Verdict
from isoglot.report.growth.fits import prediction_text
from isoglot.report.growth.rows import Growth, growths, times_behind
from isoglot.report.quantities import listed
from isoglot.report.report_scores import ReportScores
from isoglot.study.conditions import DEFAULT, TABLE_1
from isoglot.study.scales import PAPER

LONG = RESULTS / "replication-1g"
CHANCE_IN_NLI = 100 / 3


@pytest.fixture(scope="module")
def readme() -> str:
    """With the page of what was tested."""
    return "".join((LONG / name).read_text() for name in ("README.md", "tested.md"))


def test_the_shorter_one_has_tables_and_points_as_they_were_written() -> None:
    readme = (RESULTS / "replication/README.md").read_text()
    for part in ("table-1.md", "claims.md"):
        assert (RESULTS / "replication" / part).read_text().strip() in readme
    for each in ReportScores(report_data("replication").measurements).comparisons.standings:
        if each.condition != "default":
            assert f"{each.points.mean:+.1f} ({each.share:z.0%})" in readme


def test_it_says_what_is_left_of_transfer(readme: str) -> None:
    """Mean scores; points above the floor, in all languages and in the paper's; and there shares above chance."""
    of_all = report_data("replication-1g").measurements
    of_papers = [each for each in of_all if each.languages[1] in TARGETS]
    standings = [
        {each.condition: each for each in ReportScores(found).comparisons.standings} for found in (of_all, of_papers)
    ]
    papers = [language for language in LANGUAGES if language in TARGETS]

    def mean(condition: str, languages: Iterable[str]) -> float:
        return fmean(scores_by_row(task, each)[condition] for task in METRICS for each in languages)

    def papers_mean(condition: str) -> float:
        return fmean(TABLE_1_SCORES[condition][task][TARGETS.index(each)] for task in METRICS for each in papers)

    chance = CHANCE_IN_NLI / len(METRICS)
    for row in TABLE_1:
        points = [f"{each[row.name].points.mean:+.1f} ({each[row.name].share:z.0%})" for each in standings]
        ours = (mean(row.name, papers) - chance) / (mean("default", papers) - chance)
        theirs = (papers_mean(row.name) - chance) / (papers_mean("default") - chance)
        cells = [f"{mean(row.name, LANGUAGES):.1f}", *points, f"{ours:.0%}", f"{theirs:.0%}"]
        assert f"| {row.label} | {' | '.join(cells)} |" in readme


@cache
def scores_by_seed(papers_task: str, language: str) -> dict[str, dict[int | None, float]]:
    """By condition, and then by seed."""
    found: dict[str, dict[int | None, float]] = {}
    for each in report_data("replication-1g").measurements:
        if (each.exhibit, each.task, each.metric, each.language) == ("table-1", *METRICS[papers_task], language):
            found.setdefault(each.condition, {})[each.seed] = each.value
    return found


def scores_by_row(papers_task: str, language: str) -> dict[str, float]:
    """Means over the seeds that are there."""
    return {condition: fmean(by_seed.values()) for condition, by_seed in scores_by_seed(papers_task, language).items()}


def above_chance(condition: str, language: str, *, seed: int | None = None) -> float:
    """The sum over tasks, with one seed or of the means over seeds."""
    of_tasks = [scores_by_seed(task, language)[condition] for task in METRICS]
    return sum(fmean(each.values()) if seed is None else each[seed] for each in of_tasks) - CHANCE_IN_NLI


def rho(language: str, papers_task: str, *, without: str | None = None, changed: dict[str, float] | None = None) -> str:
    """Spearman's rho of rows with the paper's, or with means over its languages where this one is not among them."""
    ours = scores_by_row(papers_task, language) | (changed or {})
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
    # Other rows have one seed there.
    alone = rho("ru", "NER", changed={"default": scores_by_seed("NER", "ru")["default"][0]})
    assert f"in Russian NER {alone} with the first seed of Default alone" in readme
    # Parts drawn apart, of results/recipe.
    apart = {"NER": {"sep-emb": 51.0, "sep-l1-3": 51.4}, "Parsing": {"sep-emb": 43.7, "sep-l1-3": 25.4}}
    drawn_apart = [rho("de", task, changed=scores) for task, scores in apart.items()]
    assert "rho in German is {} in NER and {} in parsing. The paper".format(*drawn_apart) in readme


@cache
def grown() -> dict[tuple[str, str, str], Growth]:
    """By condition, target language and measure."""
    data = report_data("replication-1g")
    found = growths(data.measurements, scale=data.study.scale)
    return {(each.condition, each.languages[1], each.measure.key): each for each in found}


def test_it_says_how_structure_grows(readme: str) -> None:
    for row in TABLE_1:
        cells = []
        for language in LANGUAGES:
            growth = grown()[row.name, language, "retrieval"]
            behind = times_behind(growth, grown()["default", language, "retrieval"])
            cells += [f"{fmean(growth.finished):.1f}", behind, prediction_text(*growth.at(PAPER.tokens), decimals=1)]
        assert f"| {row.label} | {' | '.join(cells)} |" in readme


def test_it_says_what_single_languages_keep(readme: str) -> None:
    of_sep_emb = {each: above_chance("sep-emb", each) / above_chance("default", each) for each in LANGUAGES}
    texts = [f"{of_sep_emb[each]:.0%} in {name}" for each, name in LANGUAGES.items()]
    assert f"Sep Emb keeps {listed(texts)}; the paper's" in readme
    alone = above_chance("sep-emb", "ru") / above_chance("default", "ru", seed=0)
    assert f"(In Russian, of the first seed of Default alone, {alone:.0%}.)" in readme
    comparisons = ReportScores(report_data("replication-1g").measurements).comparisons
    trials = comparisons.trials

    def points(condition: str, language: str, *tasks: str) -> float:
        of_tasks = [each for each in trials if each.languages[1] == language and each.task in tasks]
        assert len(of_tasks) == len(tasks)
        return fmean(each.leads[condition].mean for each in of_tasks)

    open_trials = comparisons.keeps("sep-l1-3", 1.0).trials

    def share(of_trials: Callable[[Trial], str], which: str) -> str:
        found = [each for each in open_trials if of_trials(each) == which]
        ours, defaults = (fmean(each.leads[name].mean for each in found) for name in ("sep-l1-3", "default"))
        return f"{ours / defaults:.0%}"

    kept = {each: share(lambda trial: trial.languages[1], each) for each in LANGUAGES}
    of_tasks = {each: share(lambda trial: str(trial.task), each) for each, _ in METRICS.values()}
    text = (
        "{de} of Default's points in German, {zh} in Chinese, {fr} in French and {ru} in Russian; "
        "{nli} in NLI, {ner} in NER and {parsing} in parsing."
    )
    assert text.format(**kept, **of_tasks) in readme

    def lost(*languages: str) -> tuple[float, float]:
        """Points that Default has, and what the rows with separate parts lose of them."""
        tasks = ("ner", "parsing")
        default = fmean(points("default", each, *tasks) for each in languages)
        rows = [row.name for row in TABLE_1 if row.separate != DEFAULT.separate]
        left = fmean(points(name, each, *tasks) for name in rows for each in languages)
        return default, 1 - left / default

    (far, of_far), (near, of_near), (russian, of_russian) = lost("zh"), lost("fr", "de"), lost("ru")
    assert (
        f"Chinese loses {of_far:.0%} of its {far:.1f} points, French and German {of_near:.0%} of {near:.1f}, "
        f"Russian {of_russian:.0%} of {russian:.1f}"
    ) in readme


def test_it_says_what_less_noise_would_leave_of_the_claims(readme: str) -> None:
    measurements = report_data("replication-1g").measurements
    measured = ReportScores(measurements).comparisons
    others = [
        replace(each, leads={name: lead for name, lead in each.leads.items() if name != "no-anchors"})
        if each.languages[1] == "zh"
        else each
        for each in measured.trials
    ]
    less = Comparisons.of(others).noise
    in_common = Noise(of_all=measured.noise.of_all)
    found, other, without, with_one = (
        Counter(each.verdict for each in claims(measurements, measured.with_noise(noise)))
        for noise in (measured.noise, Noise(), less, in_common)
    )
    agree, disagree, close = (found[each] for each in (Verdict.AGREES, Verdict.DISAGREES, Verdict.TOO_CLOSE))
    assert f"{agree} agree in this run, {disagree} disagree and {close} are too close to call" in readme
    sizes = "{:.1f} points between two single scores in NLI, {:.1f} in NER and {:.1f} in parsing"
    assert sizes.format(*(measured.noise.points(task) for task in ("nli", "ner", "parsing"))) in readme
    assert f"{other[Verdict.AGREES]} would agree and {other[Verdict.DISAGREES]} would disagree" in readme
    text = f"it would be {less.points('ner'):.1f}, and {without[Verdict.AGREES]} would agree"
    assert f"{text} and {without[Verdict.DISAGREES]} disagree" in readme
    counts = [with_one[each] for each in (Verdict.AGREES, Verdict.DISAGREES, Verdict.TOO_CLOSE)]
    assert f"one for all, {in_common.of_all:.1f} points, would give {listed([*map(str, counts)])}" in readme
    layers = LayerEvidence(measurements=measurements, noise=measured.noise)
    assert f"In CKA it is {layers.noise_in_cka:.2g}, by 23 models" in readme
    assert "by 23 models" in next(layers.remarks())


def test_it_says_where_the_order_of_three_languages_lies(readme: str) -> None:
    table = ReportScores(report_data("replication-1g").measurements).table_1
    assert table is not None
    *of_tasks, mean = (f"{each.rho:.2f}" for each in table.ranks)
    assert f"have {listed(of_tasks)}, and {mean} for the mean of tasks" in readme
    nli, ner, parsing, of_mean = (f"{low:.2f} to {high:.2f}" for low, high in (each.by_noise for each in table.ranks))
    assert f"rho would be {nli} in NLI, {ner} in NER, {parsing} in parsing and {of_mean} for the mean" in readme
    names = [name for name in TABLE_1_SCORES if name != "sep-emb"]
    without = {}
    for task in METRICS:
        ours = [fmean(scores_by_row(task, each)[name] for each in TARGETS) for name in names]
        papers = [fmean(TABLE_1_SCORES[name][task]) for name in names]
        without[task] = f"{spearmanr(ours, papers).statistic:.2f}"
    assert "without it rho is {XNLI}. In parsing, without it, {Parsing}.".format(**without) in readme


def test_it_says_what_a_second_seed_changes(readme: str) -> None:
    for row, language in product(TABLE_1, ("fr", "zh")):
        of_tasks = [scores_by_seed(task, language)[row.name] for task in METRICS]
        both = grown()[row.name, language, "retrieval"]
        of_seeds = [both.of_seeds({seed}) for seed in both.by_seed]
        scores = [*([each[0], each[1]] for each in of_tasks), both.finished]
        cells = [", ".join(f"{value:.1f}" for value in each) for each in scores]
        assert f"| {row.label} | {' | '.join(cells)} | {times_behind(*of_seeds)} |" in readme

    def shares(language: str) -> list[float]:
        """Scores of No anchors above chance, by those of Default."""
        rows = [[above_chance(name, language, seed=seed) for seed in (0, 1)] for name in ("no-anchors", "default")]
        return [ours / defaults for ours, defaults in zip(*rows, strict=True)]

    text = "keeps {:.0%} of Default's in Chinese and the other {:.0%}; in French {:.0%} and {:.0%}"
    assert f"above chance one seed of No anchors {text}".format(*shares("zh"), *shares("fr")) in readme


def test_it_says_how_far_no_anchors_has_come(readme: str) -> None:
    of_german = [grown()["no-anchors", "de", key] for key in ("retrieval", "ner", "parsing")]
    for tokens in of_german[0].tokens[-4:]:
        found = [each.line.at(tokens) for each in of_german]
        assert f"| {tokens / 1e6:.0f}M | {' | '.join(f'{fmean(each):.1f}' for each in found)} |" in readme
    both, default = (grown()[name, "zh", "retrieval"] for name in ("no-anchors", "default"))
    of_seeds = [both.of_seeds({seed}) for seed in both.by_seed]
    for of_seed in of_seeds:
        for tokens in of_seed.tokens[-3:]:
            assert f"| {tokens / 1e6:.0f}M | {fmean(of_seed.line.at(tokens)):.1f} | " in readme
    behind = [times_behind(each, default).removeprefix("\N{MULTIPLICATION SIGN}") for each in of_seeds]
    assert "one seed is {} times behind and the other {}".format(*behind) in readme
    prediction, _ = of_seeds[0].at(4 * both.budget)
    assert prediction is not None
    low, high = prediction.low, prediction.high
    assert f"finds {prediction.value:.1f}% of sentences ({low:.1f} to {high:.1f}) after 4 G tokens" in readme


def test_it_says_how_tasks_grow(readme: str) -> None:
    of_tasks = [each for each in grown().values() if each.measure.task]
    assert len(of_tasks) == 6
    for each in of_tasks:
        name = {"ner": "NER", "parsing": "parsing"}[str(each.measure.task)]
        at_moments = " | ".join(f"{fmean(each.line.at(tokens)):.1f}" for tokens in each.tokens)
        assert f"| {each.line.label}, {name} | {each.floor:.1f} | {at_moments} |" in readme
