"""Every number of a study is found in its store, and no other."""

import json

from commands import Workplace
from study_texts import TINY_STUDY

from isoglot.errors import IsoglotError
from isoglot.pipeline.exhibits import cells
from isoglot.pipeline.measurements import Damage, damage_sentences, measurements
from isoglot.pipeline.stages.emergence import Emergence
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


def test_damage_that_several_cells_share_is_said_once() -> None:
    cell, *_ = cells(STUDY)
    damage = [Damage(cell, IsoglotError(text)) for text in ("a is damaged", "b is damaged", "a is damaged")]
    assert damage_sentences(damage) == ["a is damaged", "b is damaged"]


def test_other_seeds_and_conditions_are_not_shown(finished: Workplace) -> None:
    selected = STUDY.replace(conditions=["no-anchors", "sep-emb"], seeds=[1, 2])
    found, _ = measurements(selected, finished.store)
    # The vocabulary of separate embeddings serves every row that has them.
    assert {(each.condition, each.seed) for each in found} == {
        ("no-anchors", 1),
        ("no-anchors", None),
        ("sep-emb", None),
    }
