"""Numbers that READMEs of results repeat are those of the measurements beside them."""

import re
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import product
from statistics import fmean

import pytest
from published_records import CHANCE_IN_NLI, LANGUAGES, METRICS, RESULTS, grown, pages_by_hand, report_data
from scipy.stats import spearmanr

from isoglot.report.claims import claims
from isoglot.report.claims.layer_rules import LayerEvidence
from isoglot.report.findings.headline import shares_beside_paper
from isoglot.report.findings.noise import Noise
from isoglot.report.findings.published import TABLE_1_SCORES, TARGETS
from isoglot.report.findings.verdicts import Verdict
from isoglot.report.growth.rows import times_behind
from isoglot.report.report_scores import ReportScores
from isoglot.study.conditions import CONDITIONS, DEFAULT, TABLE_1

LONG = RESULTS / "replication"
TIMES = "\N{MULTIPLICATION SIGN}"


@pytest.fixture(scope="module")
def readme() -> str:
    return pages_by_hand()


def test_it_says_what_is_left_of_transfer(readme: str) -> None:
    """Shares above chance, and with each seed; mean scores; points above the floor, here and in the paper's."""
    of_all = report_data("replication").measurements
    of_papers = [each for each in of_all if each.languages[1] in TARGETS]
    standings = [
        {each.condition: each for each in ReportScores(found).comparisons.standings} for found in (of_all, of_papers)
    ]

    def share(condition: str, *languages: str, seed: int | None = None) -> float:
        ours, defaults = (sum(above_chance(each, at, seed=seed) for at in languages) for each in (condition, "default"))
        return ours / defaults

    def by_seed(condition: str, *languages: str) -> str:
        of_seeds = [f"{100 * share(condition, *languages, seed=seed):.0f}" for seed in seeds_of(condition, *languages)]
        return f"{share(condition, *languages):.0%}" + (f" ({', '.join(of_seeds)})" if len(of_seeds) > 1 else "")

    def papers_share(condition: str) -> float:
        ours, defaults = (
            sum(sum(TABLE_1_SCORES[each][task]) for task in METRICS) - CHANCE_IN_NLI * len(TARGETS)
            for each in (condition, "default")
        )
        return ours / defaults

    for row in TABLE_1:
        score = fmean(scores_by_row(*place)[row.name] for place in product(METRICS, LANGUAGES))
        points = [f"{each[row.name].points.mean:+.1f} ({each[row.name].share:z.0%})" for each in standings]
        ours = "100%" if row is DEFAULT else by_seed(row.name, *TARGETS)
        cells = [ours, f"{papers_share(row.name):.0%}", f"{score:.1f}", *points]
        assert f"| {row.label} | {' | '.join(cells)} |" in readme
    for name in ("wiki-cc", "no-anchors", "sep-emb", "sep-l1-3"):
        cells = [by_seed(name, each) for each in LANGUAGES]
        assert f"| {CONDITIONS[name].label} | {' | '.join(cells)} |" in readme
    opening, first_page = readme.partition("The pages:")[0], (RESULTS.parent / "README.md").read_text()
    beside = shares_beside_paper(standings[0]["sep-l1-6"])
    assert beside
    assert f"it keeps {beside.ours:.0%} above chance, and the paper's {beside.papers:.0%}" in readme
    for name in ("no-anchors", "sep-emb", "sep-l1-3", "sep-emb-l1-3", "wiki-cc"):
        ours, papers = f"{share(name, *TARGETS):.0%}", f"{papers_share(name):.0%}"
        assert ours in opening
        assert papers in opening
        assert re.search(
            rf"^\| {re.escape(CONDITIONS[name].label)}(, .*)? \| {ours} \| {papers} \|$", first_page, re.MULTILINE
        )


def test_its_short_sections_repeat_what_their_pages_say() -> None:
    def section(heading: str) -> str:
        return (LONG / "README.md").read_text().partition(f"## {heading}\n")[2].partition("\n## ")[0]

    for heading, page in (("What agrees with the paper", "verdicts.md"), ("How structure grows", "growth.md")):
        repeated, told = (
            re.findall(r"-?\b\d+(?:\.\d+)?%?", re.sub(r"\]\([^)]*\)", "", text))
            for text in (section(heading), (LONG / page).read_text())
        )
        assert len(repeated) > 5
        assert {*repeated} <= {*told}
    # Three places count the claims.
    counted = r"(\d+) agree in this run, (\d+) disagree and (\d+) are too close to call"
    texts = (LONG / "README.md").read_text(), section("What agrees with the paper"), (LONG / "verdicts.md").read_text()
    counts = {found[0] if (found := re.findall(counted, text)) else None for text in texts}
    assert len(counts - {None}) == 1
    assert None not in counts
    seconds = re.findall(r"^\| \d+ \| \w{7} \| ([\d,]+) \|", (LONG / "cost.md").read_text(), re.MULTILINE)
    in_all = sum(int(each.replace(",", "")) for each in seconds)
    assert len(seconds) == 12
    assert f"{in_all:,} seconds of one H200, {in_all / 3600:.1f} hours, in twelve stretches" in section("What it cost")


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


def seeds_of(condition: str, *languages: str) -> list[int]:
    """The seeds that it has in all of these languages."""
    of_languages = [scores_by_seed("NER", each)[condition].keys() for each in languages]
    return sorted(seed for seed in set.intersection(*map(set, of_languages)) if seed is not None)


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
    for language, name in LANGUAGES.items():
        cells = [f"{rho(language, task)} ({rho(language, task, without='sep-emb')})" for task in METRICS]
        assert f"| {name} | {' | '.join(cells)} |" in readme
    found = [scores_by_row(*place) for place in product(METRICS, TARGETS)]
    assert (sum(max(each, key=each.__getitem__) == "sep-emb" for each in found), len(found)) == (5, 9)
    assert "first in five of the nine tests of the paper's languages" in readme
    # Parts drawn apart: Sep Emb of results/recipe, Sep L1-3 of control-starts.
    apart = {"NER": {"sep-emb": 51.0, "sep-l1-3": 53.4}, "Parsing": {"sep-emb": 43.7, "sep-l1-3": 30.7}}
    drawn_apart = [rho("de", task, changed=scores) for task, scores in apart.items()]
    assert "rho in German is {} in NER and {} in parsing.".format(*drawn_apart) in readme


def test_it_says_what_single_languages_keep(readme: str) -> None:
    comparisons = ReportScores(report_data("replication").measurements).comparisons
    trials = comparisons.trials

    def points(condition: str, language: str, *tasks: str) -> float:
        of_tasks = [each for each in trials if each.languages[1] == language and each.task in tasks]
        assert len(of_tasks) == len(tasks)
        return fmean(each.leads[condition].mean for each in of_tasks)

    open_trials = comparisons.kept("sep-l1-3", 1.0).trials
    shares = []
    for task, _ in METRICS.values():
        found = [each for each in open_trials if each.task == task]
        ours, defaults = (fmean(each.leads[name].mean for each in found) for name in ("sep-l1-3", "default"))
        shares.append(f"{ours / defaults:.0%}")
    text = "Sep L1-3 keeps less than in the paper**: {} of Default's points in NLI, {} in NER and {} in parsing."
    assert text.format(*shares) in readme

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
    assert f"In CKA it is {layers.noise_in_cka:.2g}, by 40 models" in readme
    assert "by 40 models" in next(layers.remarks())


def test_it_says_where_the_order_of_three_languages_lies(readme: str) -> None:
    table = ReportScores(report_data("replication").measurements).table_1
    assert table is not None
    *of_tasks, mean = (f"{each.rho:.2f}" for each in table.ranks)
    *from_noise, of_mean = (f"{low:.2f} to {high:.2f}" for low, high in (each.by_noise for each in table.ranks))
    assert f"| from noise alone, 9 times of 10 | {' | '.join(from_noise)} |" in readme
    assert f"on the mean of tasks: {mean}, where noise alone would give {of_mean}." in readme
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
    *without, mean_without = (f"{spearmanr(*both).statistic:.2f}" for both in sides)
    cells = [f"{rho} ({other})" for rho, other in zip(of_tasks, without, strict=True)]
    assert f"| the paper's three together | {' | '.join(cells)} |" in readme
    assert f"Without it rho on the mean of tasks is {mean_without}." in readme


def test_it_says_what_a_second_seed_changes(readme: str) -> None:
    most = {}
    for row, language in product(TABLE_1, LANGUAGES):
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
    assert most.pop("sep-emb") == {"fr": "1.1", "de": "1.1", "ru": "1.2", "zh": "1.5"}
    assert max(ratio for of_row in most.values() for ratio in of_row.values()) == "1.2"
