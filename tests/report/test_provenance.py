"""Where numbers come from: what was read, made and spent, the settings, and departures from the paper."""

import hashlib
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from commands import Workplace
from real_studies import write_real_study
from study_texts import TINY_STUDY

from isoglot.hardware import hardware
from isoglot.pipeline.exhibits import cells
from isoglot.pipeline.stages.models import PretrainedEncoder
from isoglot.report.difference import difference
from isoglot.report.provenance import Budget, departures, marked_sentences, provenance, study_settings
from isoglot.report.report_files import ReportContent
from isoglot.report.state import study_state
from isoglot.store import Store, inputs_first
from isoglot.study.scales import Start
from isoglot.study.study_file import parse_study, read_study

ROOT = Path(__file__).parents[2]


def test_all_that_was_made_is_told_with_what_made_it(finished: Workplace) -> None:
    found = provenance(finished.study, finished.store)
    stages = inputs_first(cell.stage for cell in cells(finished.study)).values()
    records = [finished.store.record(stage) for stage in stages]
    assert (found.artifacts, found.artifacts_done) == (len(records), len(records))
    assert found.seconds == pytest.approx(sum(record.seconds for record in records))
    (making,) = found.makings
    assert making.artifacts == len(records)
    assert making.hardware == hardware()
    assert making.versions == records[0].versions
    moments = sorted(record.finished for record in records)
    assert (making.first_finished, making.last_finished) == (moments[0], moments[-1])
    by_kind = {each.kind: each for each in found.spent}
    of_models = [record for record in records if record.kind == "pretrained-encoder"]
    assert by_kind["pretrained-encoder"].artifacts == len(of_models) == 6
    assert by_kind["pretrained-encoder"].seconds == pytest.approx(sum(record.seconds for record in of_models))
    assert [each.seconds for each in found.spent] == sorted((each.seconds for each in found.spent), reverse=True)


def test_budget_and_vocabularies_are_those_of_the_models(finished: Workplace) -> None:
    found = provenance(finished.study, finished.store)
    amounts = {"models": 6, "models_done": 6, "updates": 80, "batch": 8, "window": 16, "tokens_per_model": 80 * 8 * 16}
    assert found.budget == Budget(**amounts, tokens=6 * 80 * 8 * 16, tokens_done=6 * 80 * 8 * 16)
    sizes = {each.condition: each for each in found.vocabularies}
    assert sizes["default"].merges == {"ela": 200, "oru": 200}
    assert sizes["no-anchors"].merges == {"ela": 100, "oru": 100}
    for cell in cells(finished.study):
        for stage in inputs_first([cell.stage]).values():
            if isinstance(stage, PretrainedEncoder):
                shape = json.loads((finished.store.folder(stage) / "best" / "model.json").read_text())
                assert sizes[cell.condition].types == shape["table_sizes"]


def test_half_a_store_tells_half(finished: Workplace, tmp_path: Path) -> None:
    store = Store(Path(shutil.copytree(finished.store.root, tmp_path / "store")))
    models = sorted(store.root.glob("pretrained-encoder-*"))
    shutil.rmtree(models[0])
    # Damaged: it tells nothing, and is no reason to tell nothing of the rest.
    (models[1] / "record.json").write_text("{")
    for stream in store.root.glob("token-streams-*"):
        shutil.rmtree(stream)
    found = provenance(finished.study, store)
    assert found.budget is not None
    assert (found.budget.models, found.budget.models_done) == (6, 4)
    assert found.budget.tokens_done == 4 * found.budget.tokens_per_model
    assert found.artifacts_done < found.artifacts
    assert all(size.types == {} and size.merges for size in found.vocabularies)
    nothing = provenance(finished.study, Store(tmp_path / "nowhere"))
    assert (nothing.artifacts_done, nothing.makings, nothing.seconds) == (0, (), 0)


def test_files_are_told_by_their_content_and_what_they_are_for(tmp_path: Path) -> None:
    study = replace(read_study(write_real_study(tmp_path)), exhibits=("emergence",))
    found = provenance(study, Store(tmp_path / "store"))
    by_name = {Path(each.name).name: each for each in found.data_files}
    assert {"en.txt.xz", "muse.txt"} <= by_name.keys()
    for file in by_name.values():
        content = (tmp_path / file.name).read_bytes()
        assert file.digest == f"sha256:{hashlib.sha256(content).hexdigest()}"
        assert file.num_bytes == len(content)
        assert file.used_for
    assert any(title.startswith("dictionary of en and fr") for title in by_name["muse.txt"].used_for)
    assert not found.is_made_up
    assert [(each.language, each.splitter) for each in found.words] == [("en", "moses"), ("fr", "moses")]
    assert found.words[0].version.startswith("sacremoses ")


def test_two_machines_with_the_same_files_tell_the_same(tmp_path: Path) -> None:
    """Wherever their data lie; of what lacks as well."""
    seen = []
    for machine in ("here", "there"):
        path = write_real_study(tmp_path / machine)
        (path.parent / "muse.txt").unlink()
        study = replace(read_study(path), exhibits=("emergence",))
        store = Store(tmp_path / "store")
        state = study_state(study, store=store, folder=store.root / "reports", failures=[], lacking=[])
        seen.append((provenance(study, store).json_text(), state.no_data, [cell.stage.digest for cell in cells(study)]))
    here, there = seen
    assert here == there
    assert "muse.txt: No such file" in here[1][0]
    assert str(tmp_path) not in here[0] + "".join(here[1])
    content = json.loads(here[0])
    assert content["settings"]["text"]["main"]["fr"]["paths"] == ["text/fr-1.txt.gz", "text/fr-2.txt"]
    assert "text/fr-2.txt" in {file["name"] for file in content["data_files"]}
    assert content["origin"] == "real.toml"


def test_settings_tell_what_an_exhibit_is_narrowed_to() -> None:
    study = parse_study(TINY_STUDY, origin="tiny.toml")
    assert "only" not in study_settings(study)
    narrowing = {"conditions": ("default",), "seeds": (1,)}
    narrowed = replace(study, only={"table-1": narrowing, "emergence": {"targets": ("oru",)}})
    assert study_settings(narrowed)["only"] == {
        "table-1": {"conditions": ["default"], "seeds": [1]},
        "emergence": {"targets": ["oru"]},
    }
    assert study_settings(narrowed.replace(exhibits=["emergence"]))["only"] == {"emergence": {"targets": ["oru"]}}
    other = replace(study, only={"table-1": {**narrowing, "seeds": (0,)}})
    ours, theirs = (
        ReportContent(measurements=[], provenance={"settings": study_settings(each)}) for each in (narrowed, other)
    )
    assert [each.sentence() for each in difference(ours, theirs)] == [
        "only.table-1.seeds: 1 -> 0",
        "only.emergence: targets oru -> nothing",
    ]


def test_settings_tell_how_separate_parts_start_where_it_is_not_as_it_always_was() -> None:
    """Reports from before the switch do not have it, and are no different for that."""
    study = parse_study(TINY_STUDY, origin="tiny.toml")
    equal = replace(study, scale=replace(study.scale, own_parts_start=Start.EQUAL))
    today, other = (
        ReportContent(measurements=[], provenance={"settings": study_settings(each)}) for each in (study, equal)
    )
    assert "own_parts_start" not in study_settings(study)["scale"]
    assert [each.sentence() for each in difference(today, other)] == ["scale.own_parts_start: independent -> equal"]


MARKED = """
class A:
    # Departure: one sentence,
    # in two lines.
    b = 1  # Departure: is no comment of its own
    # A reason.
    # Departure: first.
    # Departure: second; so
    c = 2
# Departure: last."""


def test_every_departure_that_is_argued_is_listed_and_no_other() -> None:
    argued = re.findall(r"^\*\*`(isoglot/[\w/]+\.py)`\*\*", (ROOT / "docs/departures.md").read_text(), re.MULTILINE)
    assert sorted(each.file for each in departures()) == sorted(argued)
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "isoglot").rglob("*.py"))
    assert code.count("# Departure:") == len(argued), "a mark beside code begins no comment"
    assert all(re.search(r"\.$", each.sentence) for each in departures())
    assert len({each.sentence for each in departures()}) > 60
    assert marked_sentences(MARKED) == ["one sentence, in two lines.", "first.", "second; so", "last."]
