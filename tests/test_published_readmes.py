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

LONG = RESULTS / "replication"
CHANCE_IN_NLI = 100 / 3
TIMES = "\N{MULTIPLICATION SIGN}"


@pytest.fixture(scope="module")
def readme() -> str:
    """With the pages of seeds and of what was tested."""
    return "".join((LONG / name).read_text() for name in ("README.md", "seeds.md", "tested.md"))


def test_it_says_what_is_left_of_transfer(readme: str) -> None:
    """Mean scores; points above the floor, in all languages and in the paper's; and there shares above chance."""
    of_all = report_data("replication").measurements
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
    for each in report_data("replication").measurements:
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
    found = [scores_by_row(*place) for place in product(METRICS, LANGUAGES)]
    assert sum(max(each, key=each.__getitem__) == "sep-emb" for each in found) == 8
    assert "Sep Emb is first in eight of these twelve" in readme
    # Parts drawn apart, of results/recipe.
    apart = {"NER": {"sep-emb": 51.0, "sep-l1-3": 51.4}, "Parsing": {"sep-emb": 43.7, "sep-l1-3": 25.4}}
    drawn_apart = [rho("de", task, changed=scores) for task, scores in apart.items()]
    assert "rho in German is {} in NER and {} in parsing. The paper".format(*drawn_apart) in readme


@cache
def grown() -> dict[tuple[str, str, str], Growth]:
    """By condition, target language and measure."""
    data = report_data("replication")
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
    comparisons = ReportScores(report_data("replication").measurements).comparisons
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


def test_it_says_what_other_noise_would_leave_of_the_claims(readme: str) -> None:
    measurements = report_data("replication").measurements
    measured = ReportScores(measurements).comparisons
    own = measured.noise
    found, by_task, in_common, assumed = (
        Counter(each.verdict for each in claims(measurements, measured.with_noise(noise)))
        for noise in (own, replace(own, by_condition={}), Noise(of_all=own.of_all), Noise())
    )
    agree, disagree, close = (found[each] for each in (Verdict.AGREES, Verdict.DISAGREES, Verdict.TOO_CLOSE))
    assert f"{agree} agree in this run, {disagree} disagree and {close} are too close to call" in readme
    ends = {
        task: sorted((spread.points, name) for (where, name), spread in own.by_condition.items() if where == task)
        for task in ("nli", "ner", "parsing")
    }
    assert {each[-1][1] for each in ends.values()} == {"no-anchors"}
    low, high = zip(*((f"{each[0][0]:.1f}", f"{each[-1][0]:.1f}") for each in ends.values()), strict=True)
    sizes = "{} to {} points between two single scores in NLI, {} to {} in NER and {} to {} in parsing"
    assert sizes.format(*(size for pair in zip(low, high, strict=True) for size in pair)) in readme
    one = "With one noise for all conditions of a task {} claims would agree and {} disagree."
    same = "With one for all tasks too, {:.1f} points, {} and {}, and {}."
    numbers = [each[verdict] for each in (by_task, in_common) for verdict in (Verdict.AGREES, Verdict.DISAGREES)]
    assert one.format(*numbers[:2]) in readme
    three = f"with 3 points in tasks {assumed[Verdict.AGREES]} and {assumed[Verdict.DISAGREES]}"
    assert same.format(own.of_all.points, *numbers[2:], three) in readme
    layers = LayerEvidence(measurements=measurements, noise=own)
    assert f"In CKA it is {layers.noise_in_cka:.2g}, by 33 models" in readme
    assert "by 33 models" in next(layers.remarks())


def test_it_says_where_the_order_of_three_languages_lies(readme: str) -> None:
    table = ReportScores(report_data("replication").measurements).table_1
    assert table is not None
    *of_tasks, mean = (f"{each.rho:.2f}" for each in table.ranks)
    assert f"have {listed(of_tasks)}, and {mean} for the mean of tasks" in readme
    nli, ner, parsing, of_mean = (f"{low:.2f} to {high:.2f}" for low, high in (each.by_noise for each in table.ranks))
    assert f"rho would be {nli} in NLI, {ner} in NER, {parsing} in parsing and {of_mean} for the mean" in readme
    names = [name for name in TABLE_1_SCORES if name != "sep-emb"]
    ours, papers = (
        {task: [fmean(of(task, name)) for name in names] for task in METRICS}
        for of in (
            lambda task, name: [scores_by_row(task, each)[name] for each in TARGETS],
            lambda task, name: TABLE_1_SCORES[name][task],
        )
    )
    sides = [(ours[task], papers[task]) for task in METRICS]
    sides.append(tuple([sum(each) for each in zip(*side.values(), strict=True)] for side in (ours, papers)))
    text = "without it rho is {:.2f} in NLI, {:.2f} in NER, {:.2f} in parsing and {:.2f} for the mean."
    assert text.format(*(spearmanr(*both).statistic for both in sides)) in readme


def test_it_says_what_a_second_seed_changes(readme: str) -> None:
    of_german = {"default", "wiki-cc", "no-anchors"}
    places = [(row, each) for row, each in product(TABLE_1, LANGUAGES) if each != "de" or row.name in of_german]
    most = {}
    for row, language in places:
        of_tasks = [scores_by_seed(task, language)[row.name] for task in METRICS]
        both = grown()[row.name, language, "retrieval"]
        of_seeds = [both.of_seeds({seed}) for seed in both.by_seed]
        scores = [*([each[0], each[1]] for each in of_tasks), both.finished]
        cells = [", ".join(f"{value:.1f}" for value in each) for each in scores]
        assert f"| {row.label} | {' | '.join(cells)} | {times_behind(*of_seeds)} |" in readme
        if min(both.finished) > 4:
            most.setdefault(row.name, {})[language] = f"{max(both.finished) / min(both.finished):.1f}"
    text = "has {fr}, {de}, {ru} and {zh} times what the other has in French, German, Russian and Chinese"
    assert text.format(**most.pop("no-anchors")) in readme
    assert most.pop("sep-emb") == {"fr": "1.1", "ru": "1.2", "zh": "1.5"}
    assert max(ratio for of_row in most.values() for ratio in of_row.values()) == "1.2"
    shares = [
        ratio
        for language in LANGUAGES
        for seed in (0, 1)
        for ratio in [above_chance("no-anchors", language, seed=seed) / above_chance("default", language, seed=seed)]
    ]
    pairs = [f"{100 * a:.0f} and {100 * b:.0f}%" for a, b in zip(shares[::2], shares[1::2], strict=True)]
    assert (
        "the two seeds of No anchors keep {} in French, {} in German, {} in Russian and {} in Chinese".format(*pairs)
        in readme
    )


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
