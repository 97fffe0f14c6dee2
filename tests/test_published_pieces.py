"""Nothing published breaks: today's digests of the studies are those of the artifacts under results/*/pieces."""

import csv
import json
import re
from functools import cache
from importlib import import_module
from itertools import product
from math import sqrt
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

import pytest
from published_records import CHANCE_IN_NLI, METRICS, RESULTS, packed_records, published_part, report_data
from scipy.stats import ttest_1samp

from isoglot.pipeline.exhibits import gaps, targets
from isoglot.pipeline.measurements import Measurement, measurements
from isoglot.pipeline.stages.source_files import SourceFile
from isoglot.report.findings.comparisons import Outcome
from isoglot.report.findings.verdicts import Verdict, order_verdict
from isoglot.report.growth.rows import growth_csv, growths
from isoglot.report.report_scores import ReportScores
from isoglot.store import State, Store, inputs_first
from isoglot.store import plan as plan_of
from isoglot.store.unpacking import unpack
from isoglot.study.real_text import RealText
from isoglot.study.study import Study
from isoglot.study.study_file import read_study

ROOT = Path(__file__).parents[1]
RECIPE = ROOT / "results/recipe"
STUDIES = sorted(folder.parent.name for folder in ROOT.glob("results/*/pieces") if folder.parent != RECIPE)


def published_study(name: str) -> Study:
    return published_part(with_published_files(ROOT / "studies" / f"{name}.toml", ROOT / "results" / name), name)


def with_published_files(file: Path, folder: Path) -> Study:
    """The study with the files it was published with: their hashes are in its provenance, so no data is needed."""
    study = read_study(file, data=Path("data"))
    assert isinstance(study.text, RealText)
    provenance = json.loads((folder / "provenance.json").read_text(encoding="utf-8"))
    for each in provenance["data_files"]:
        path = Path("data", each["name"])
        file = SourceFile(sha256=each["digest"].removeprefix("sha256:"), path=path, num_bytes=each["num_bytes"])
        # Studies may name a file without the ending of its compression.
        study.text.known_files[path] = study.text.known_files[path.with_suffix("")] = file
    return study


@pytest.mark.parametrize("name", STUDIES)
def test_every_stage_of_a_published_study_has_the_digest_it_was_published_with(name: str) -> None:
    study, pieces = published_study(name), RESULTS.glob(f"{name}/pieces/*.tar.xz")
    published = {record["digest"] for piece in pieces for record in packed_records(piece)}
    # Of a study that is made in several stretches the page says what is not there yet.
    pending = json.loads((RESULTS / name / "state.json").read_text())["pending"]
    assert not [each.title for each in targets(study) if each.title in pending and each.digest in published]
    stages = inputs_first(each for each in targets(study) if each.title not in pending)
    assert gaps(study) == []
    assert len(stages) > 40
    assert [stage.title for digest, stage in stages.items() if digest not in published] == []


def test_pieces_that_are_unpacked_are_found_by_a_plan(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    unpack(ROOT / "results/replication/pieces/02.tar.xz", store)
    of_french = {"targets": ["fr"], "seeds": [0], "exhibits": ["emergence", "table-1", "baselines", "growth"]}
    planned = plan_of(targets(published_study("replication").replace(**of_french)), store)
    assert planned
    assert {each.state for each in planned} == {State.DONE}


CONTROLS = {
    "control-starts": {"sep-l1-3": "equal starts", "sep-l1-3-independent": "drawn apart"},
    "control-softmax": {"default": "as it is", "default-own-bias": "own biases"},
}
"""Conditions of each control that are there, and what a page calls their models."""
CONTROLLED = {"control-starts": ["fr", "de", "ru", "zh"], "control-softmax": ["de"]}


@cache
def with_control(name: str) -> list[Measurement]:
    """Findings of a control and of the study that it controls, as what both have lies in that one's pieces."""
    with TemporaryDirectory() as folder:
        store = Store(Path(folder))
        unpack(RESULTS / f"replication/pieces/{name}.tar.xz", store)
        study = with_published_files(ROOT / "studies" / f"{name}.toml", RESULTS / "replication")
        of_control, _ = measurements(study.replace(targets=CONTROLLED[name]), store)
    of_all = [*report_data("replication").measurements, *of_control]
    return [each for each in of_all if each.languages[1] in CONTROLLED[name]]


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


def by_place(
    found: list[Measurement], metric: str, *, language: str | None = None
) -> dict[tuple[str, str, int], float]:
    """Scores in each target, or in the language named, by condition, target and seed; of retrieval the best layer's."""
    scores: dict[tuple[str, str, int], float] = {}
    for each in found:
        target, is_trained = each.languages[1], each.variant is None and each.exhibit in ("table-1", "emergence")
        if (
            each.metric == metric
            and is_trained
            and each.seed is not None
            and each.language in (None, language or target)
        ):
            place = (each.condition, target, each.seed)
            scores[place] = max(scores.get(place, 0.0), each.value)
    return scores


def test_a_page_says_how_far_the_kinds_of_start_lie_apart() -> None:
    page, found = (RESULTS / "replication/tested.md").read_text(), with_control("control-starts")
    equal, apart = CONTROLS["control-starts"]
    languages = CONTROLLED["control-starts"]

    def more(metric: str, seed: int, *, language: str | None = None) -> list[str]:
        """What models drawn apart have more, where both have this seed."""
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
    new = [each for each in with_control("control-starts") if each.languages[1] == "de"]
    means = {}
    for condition, label in CONTROLS["control-starts"].items():
        name, line = EARLIER[label]
        assert line in recipes
        unpack(RECIPE / f"pieces/{name}.tar.xz", Store(tmp_path / name))
        study = with_published_files(RECIPE / f"{name}.toml", RECIPE).replace(exhibits=["emergence"])
        retrieval = best_retrieval(measurements(study, Store(tmp_path / name))[0], "sep-l1-3")
        f1, las = (float(cell) for cell in re.findall(r"[0-9.]+", line))
        assert (
            f"| {label}, two earlier models | {f1} | {las} | {', '.join(f'{each:.1f}' for each in retrieval)} |" in page
        )
        scores = {metric: [earlier, earlier] for metric, earlier in (("las", las), ("f1", f1))}
        for each in new:
            if (each.exhibit, each.condition, each.language) == ("table-1", condition, "de") and each.metric in scores:
                scores[each.metric].append(each.value)
        assert {len(values) for values in scores.values()} == {4}
        means[label] = [*map(fmean, scores.values()), fmean([*retrieval, *best_retrieval(new, condition)])]
    assert "drawn apart have {:.1f} LAS, {:.1f} F1 and {:.1f}% of sentences".format(*means["drawn apart"]) in page
    assert "those with equal starts {:.1f}, {:.1f} and {:.1f}.".format(*means["equal starts"]) in page


def best_retrieval(found: list[Measurement], condition: str) -> list[float]:
    """The best layer's, for each seed."""
    by_seed: dict[int, list[float]] = {}
    for each in found:
        if (each.exhibit, each.metric, each.condition, each.variant) == ("emergence", "retrieval_p1", condition, None):
            assert each.seed is not None
            by_seed.setdefault(each.seed, []).append(each.value)
    return [max(values) for _, values in sorted(by_seed.items())]


@pytest.fixture(scope="module")
def recipes(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """All pieces of the recipes."""
    store = Store(tmp_path_factory.mktemp("recipes"))
    for piece in RECIPE.glob("pieces/*.tar.xz"):
        unpack(piece, store)
    return store


def test_the_grid_of_recipes_is_what_their_pieces_hold(recipes: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "bench")
    recipe = import_module("recipe")
    studies = {name: with_published_files(RECIPE / f"{name}.toml", RECIPE) for name in recipe.RECIPES}
    whole = [each for name, study in studies.items() if name not in recipe.LONG for each in targets(study)]
    assert {each.state for each in plan_of(whole, recipes)} == {State.DONE}
    for name in recipe.LONG:
        assert State.DONE in {each.state for each in plan_of(targets(studies[name]), recipes)}
    found = [{key: str(value) for key, value in row.items()} for row in recipe.rows(studies, store=recipes.root)]
    with (RECIPE / "grid.csv").open(encoding="utf-8", newline="") as file:
        assert found == list(csv.DictReader(file))


def test_predictions_of_longer_runs_follow_from_the_pieces(recipes: Store) -> None:
    """They were written down before a longer run, and must not change after it."""
    study = with_published_files(RECIPE / "spread-1g-equal-starts.toml", RECIPE)
    study = study.replace(exhibits=["growth"], seeds=[0, 1])
    found, _ = measurements(study, recipes)
    ours = csv.DictReader(growth_csv(growths(found, scale=study.scale)).splitlines())
    with (RECIPE / "growth.csv").open(newline="") as lines:
        for our, written in zip(ours, csv.DictReader(lines), strict=True):
            assert our.keys() == written.keys()
            for key, value in written.items():
                # Other processors may round the last digit otherwise.
                number = key in ("odds_per_doubling", "odds_low", "odds_high", "predicted", "low", "high") and value
                assert our[key] == value or (number and float(our[key]) == pytest.approx(float(value), abs=2e-4)), key
