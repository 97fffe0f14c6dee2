"""Every number of a study is found in its store, and no other; so are those of a condition made in Python."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from commands import Workplace
from study_texts import TINY_STUDY

from isoglot.errors import IsoglotError
from isoglot.pipeline.cells import EMERGENCE
from isoglot.pipeline.exhibits import cells, targets
from isoglot.pipeline.measurements import measurements, with_variant
from isoglot.pipeline.model_names import named_artifact
from isoglot.pipeline.stages.emergence import Emergence
from isoglot.pipeline.stages.models import PretrainedEncoder
from isoglot.report.report_files import read_report_data
from isoglot.report.writing import write_current_report
from isoglot.store import Store, run_plan
from isoglot.study.conditions import CONDITIONS, DEFAULT, SEPARATED, Separate, read_condition, written
from isoglot.study.study import parse_study, with_conditions, with_exhibits, with_seeds

STUDY = parse_study(TINY_STUDY, origin="tiny.toml")


@pytest.fixture
def store_copy(finished: Workplace, tmp_path: Path) -> Store:
    shutil.copytree(finished.store.root, tmp_path / "store")
    return Store(tmp_path / "store")


def test_measurements_are_the_scores_of_every_cell(finished: Workplace) -> None:
    found, damage = measurements(STUDY, finished.store)
    expected = [
        (cell.condition, cell.seed, score["metric"], cell.variant, score["layer"], score["value"])
        for cell in cells(STUDY)
        for score in json.loads((finished.store.folder(cell.stage) / "scores.json").read_text())
        if score["layer"] is not None or not cell.variant
    ]
    of_cells = [each for each in found if each.stage in {cell.stage.digest for cell in cells(STUDY)}]
    assert [
        (each.condition, each.seed, each.metric, each.variant, each.layer, each.value) for each in of_cells
    ] == expected
    assert {(each.study, each.exhibit, each.language, each.task) for each in of_cells} == {
        ("tiny", "emergence", "oru", None),
        ("tiny", "vocabulary", "oru", None),
        ("tiny", "vocabulary", "ela", None),
        ("tiny", "table-1", "oru", "parsing"),
        ("tiny", "table-1", "ela", "parsing"),
    }
    assert damage == []


def test_the_chosen_model_brings_its_perplexity(finished: Workplace) -> None:
    found, _ = measurements(STUDY, finished.store)
    for cell in cells(STUDY):
        if cell.variant or not isinstance(cell.stage, Emergence):
            continue
        log = (finished.store.folder(cell.stage.encoder) / "log.jsonl").read_text().splitlines()
        best = min((json.loads(line) for line in log), key=lambda row: row["perplexity"]["ela"])
        own = {
            (each.metric, each.language): each.value
            for each in found
            if (each.condition, each.seed) == (cell.condition, cell.seed) and each.layer is None
        }
        assert own["dev_perplexity", "ela"] == best["perplexity"]["ela"]
        assert own["dev_perplexity", "oru"] == best["perplexity"]["oru"]
        assert own["chosen_update", "oru"] == best["update"]


def test_a_study_half_done_yields_what_is_there(store_copy: Store) -> None:
    whole, _ = measurements(STUDY, store_copy)
    gone = [cell for cell in cells(STUDY) if cell.exhibit == EMERGENCE][3]
    shutil.rmtree(store_copy.folder(gone.stage))
    left, _ = measurements(STUDY, store_copy)
    of_layers = [each for each in whole if each.layer is not None and each.stage != gone.stage.digest]
    assert [each for each in left if each.layer is not None] == of_layers
    assert len(left) < len(whole)
    assert measurements(STUDY, Store(store_copy.root / "nowhere")) == ([], [])


def test_other_seeds_and_conditions_are_not_shown(finished: Workplace) -> None:
    selected = with_seeds(with_conditions(STUDY, ["no-anchors", "sep-emb"]), [1, 2])
    found, _ = measurements(selected, finished.store)
    # The vocabulary of separate embeddings serves every row that has them.
    assert {(each.condition, each.seed) for each in found} == {
        ("no-anchors", 1),
        ("no-anchors", None),
        ("sep-emb", None),
    }


def test_a_score_changed_on_the_disk_is_not_believed(store_copy: Store) -> None:
    changed = next(cell for cell in cells(STUDY) if cell.exhibit == EMERGENCE)
    path = store_copy.folder(changed.stage) / "scores.json"
    path.write_text(path.read_text().replace('"value": 5.0', '"value": 9.0'))
    found, (damage,) = measurements(STUDY, store_copy)
    assert re.search(rf"{path} is corrupted .* delete the folder {path.parent}", str(damage))
    assert {each.seed for each in found} == {None, 0, 1}, "the sound ones are shown all the same"
    assert changed.stage.digest not in {each.stage for each in found}


@pytest.mark.parametrize(
    ("metric", "split"),
    [
        ("cka", ("cka", None)),
        ("cka_untrained", ("cka", "untrained")),
        ("las_without_punctuation_untrained_frozen", ("las_without_punctuation", "untrained-frozen")),
        ("las_mapped", ("las", "mapped")),
    ],
)
def test_measurements_published_before_there_were_variants_are_read(metric: str, split: tuple[str, str | None]) -> None:
    row = with_variant({"metric": metric})
    assert (row["metric"], row.get("variant")) == split
    assert with_variant({"metric": metric, "variant": "mapped"}) == {"metric": metric, "variant": "mapped"}


OWN = replace(SEPARATED, name="sep-l3-4", label="Sep L3-4", separate=Separate(layers=frozenset({3, 4})))
OWN_STUDY = parse_study(TINY_STUDY, origin="tiny.toml").with_conditions(DEFAULT, OWN)


def test_its_models_have_their_own_cells_and_settings(tmp_path: Path) -> None:
    assert {cell.condition for cell in cells(OWN_STUDY)} == {"default", "sep-l3-4"}
    model = named_artifact("sep-l3-4:ela-oru:1", study=OWN_STUDY, store=Store(tmp_path))
    assert isinstance(model, PretrainedEncoder)
    assert model.run.separate == OWN.separate.at_depth(OWN_STUDY.scale.shape.layers)
    assert model.title == "pretraining, sep-l3-4, ela-oru, seed 1"


def test_it_is_measured_and_stands_in_the_report(tmp_path: Path) -> None:
    study, store = with_exhibits(OWN_STUDY, ["vocabulary"]), Store(tmp_path / "store")
    assert run_plan(targets(study), store).failed == {}
    found, damage = measurements(study, store)
    assert damage == []
    assert {each.condition for each in found} == {"default", "sep-l3-4"}
    page = write_current_report(study, store).page
    assert "sep-l3-4" in page.read_text(encoding="utf-8")
    again = read_report_data(page.parent)
    assert again.measurements == tuple(found)
    settings = json.loads((page.parent / "provenance.json").read_text(encoding="utf-8"))["settings"]
    assert settings["conditions"][0] == "default"
    assert read_condition(settings["conditions"][1]) == OWN


def test_a_report_holds_all_of_its_settings() -> None:
    assert written(CONDITIONS["sep-emb"]) == "sep-emb"
    for condition in (OWN, replace(CONDITIONS["sep-emb"], section="mine")):
        assert read_condition(json.loads(json.dumps(written(condition)))) == condition
    with pytest.raises(IsoglotError, match="no condition: anchors: Input should be 'natural'"):
        read_condition({"name": "mine", "label": "Mine", "section": "", "anchors": "many"})
