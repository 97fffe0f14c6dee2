"""A condition that is made in Python, and is no row of Table 1, is run and reported like the others."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from study_texts import TINY_STUDY

from isoglot.errors import IsoglotError
from isoglot.pipeline.exhibits import cells, targets
from isoglot.pipeline.measurements import measurements
from isoglot.pipeline.model_names import named_artifact
from isoglot.pipeline.stages.models import PretrainedEncoder
from isoglot.report.report_files import read_report_data
from isoglot.report.writing import write_current_report
from isoglot.store import Store, run_plan
from isoglot.study.conditions import CONDITIONS, DEFAULT, SEPARATED, Separate, read_condition, written
from isoglot.study.study import parse_study, with_exhibits

OWN = replace(SEPARATED, name="sep-l3-4", label="Sep L3-4", separate=Separate(layers=frozenset({3, 4})))
STUDY = parse_study(TINY_STUDY, origin="tiny.toml").with_conditions([DEFAULT, OWN])


def test_its_models_have_their_own_cells_and_settings(tmp_path: Path) -> None:
    assert {cell.condition for cell in cells(STUDY)} == {"default", "sep-l3-4"}
    model = named_artifact("sep-l3-4:ela-oru:1", study=STUDY, store=Store(tmp_path))
    assert isinstance(model, PretrainedEncoder)
    assert model.run.separate == OWN.separate.at_depth(STUDY.scale.shape.layers)
    assert model.title == "pretraining, sep-l3-4, ela-oru, seed 1"


def test_it_is_measured_and_stands_in_the_report(tmp_path: Path) -> None:
    study, store = with_exhibits(STUDY, ["vocabulary"]), Store(tmp_path / "store")
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
