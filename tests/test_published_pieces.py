"""Nothing published breaks: today's digests of the studies are those of the artifacts under results/*/pieces."""

import csv
import json
from importlib import import_module
from itertools import chain
from pathlib import Path
from statistics import fmean

import pytest
from published_records import RECIPE, RESULTS, ROOT, packed_records, published_part, with_published_files

from isoglot.pipeline.exhibits import gaps, targets
from isoglot.pipeline.measurements import measurements
from isoglot.report.growth.predictions import growth_csv, held_back, inside_text
from isoglot.report.growth.rows import growths
from isoglot.report.growth.trends import prediction_text
from isoglot.store import State, Store, inputs_first
from isoglot.store import plan as plan_of
from isoglot.store.unpacking import unpack
from isoglot.study.study import Study
from isoglot.study.study_file import read_study

STUDIES = sorted(folder.parent.name for folder in ROOT.glob("results/*/pieces") if folder.parent != RECIPE)


def published_study(name: str) -> Study:
    return published_part(with_published_files(ROOT / "studies" / f"{name}.toml", ROOT / "results" / name), name)


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
    rows = growths(measurements(study, recipes)[0], scale=study.scale)
    ours = csv.DictReader(growth_csv(rows).splitlines())
    with (RECIPE / "growth.csv").open(newline="") as lines:
        for our, written in zip(ours, csv.DictReader(lines), strict=True):
            assert our.keys() == written.keys()
            for key, value in written.items():
                # Other processors may round the last digit otherwise.
                number = key in ("per_doubling", "per_doubling_low", "per_doubling_high", "predicted", "low", "high")
                assert our[key] == value or (number and float(our[key]) == pytest.approx(float(value), abs=2e-4)), key
    page = (RECIPE / "README.md").read_text()
    tokens = read_study(ROOT / "studies/control-growth.toml").scale.tokens
    found = {(row.condition, row.measure.key): row for row in rows if row.measure.key != "cka"}
    for condition in ("sep-emb", "sep-l1-3", "no-anchors"):
        of_both = [found[condition, key] for key in ("retrieval", "words")]
        cells = [(f"{fmean(row.finished):.1f}", prediction_text(*row.at(tokens), decimals=1)) for row in of_both]
        assert f"| {of_both[0].line.label} | {' | '.join(chain(*cells))} |" in page
    said = []
    for held in (held_back([*found.values()], moments=moments) for moments in (1, 2)):
        off = [each.interval.value - score for each in held if each.interval for score in each.longer.finished]
        said += [inside_text(held), f"{-fmean(off):.1f}"]
    assert "{0} scores lie inside their interval one doubling ahead and {2} two".format(*said) in page
    assert "predictions are {1} and {3} points too low".format(*said) in page
    assert f"({said[0]} inside)" in (RESULTS / "replication/growth.md").read_text()
