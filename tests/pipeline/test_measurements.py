"""Every number of a study is found in its store, and no other."""

import json
import shutil
from pathlib import Path

from commands import Workplace
from study_texts import TINY_STUDY

from isoglot.pipeline.cells import EMERGENCE
from isoglot.pipeline.exhibits import cells
from isoglot.pipeline.measurements import measurements
from isoglot.pipeline.stages.emergence import Emergence
from isoglot.store import Store
from isoglot.study.study_file import parse_study

STUDY = parse_study(TINY_STUDY, origin="tiny.toml")


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
        ("tiny", "emergence", "ela", None),  # a language that some model knows no more of than frequencies
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


def test_a_study_half_done_yields_what_is_there(finished: Workplace, tmp_path: Path) -> None:
    store_copy = Store(shutil.copytree(finished.store.root, tmp_path / "store"))
    whole, _ = measurements(STUDY, store_copy)
    gone = [cell for cell in cells(STUDY) if cell.exhibit == EMERGENCE][3]
    shutil.rmtree(store_copy.folder(gone.stage))
    left, _ = measurements(STUDY, store_copy)
    of_layers = [each for each in whole if each.layer is not None and each.stage != gone.stage.digest]
    assert [each for each in left if each.layer is not None] == of_layers
    assert len(left) < len(whole)
    assert measurements(STUDY, Store(store_copy.root / "nowhere")) == ([], [])


def test_other_seeds_and_conditions_are_not_shown(finished: Workplace) -> None:
    selected = STUDY.replace(conditions=["no-anchors", "sep-emb"], seeds=[1, 2])
    found, _ = measurements(selected, finished.store)
    # The vocabulary of separate embeddings serves every row that has them.
    assert {(each.condition, each.seed) for each in found} == {
        ("no-anchors", 1),
        ("no-anchors", None),
        ("sep-emb", None),
    }
