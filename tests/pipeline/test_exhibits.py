"""A study's cells, and how two of them differ."""

from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path

from commands import Workplace
from real_studies import write_real_study
from study_texts import TINY_STUDY, study_text

from isoglot.pipeline.cells import EMERGENCE, UNTRAINED, VOCABULARY, Cell
from isoglot.pipeline.exhibits import cells, targets
from isoglot.pipeline.model_names import known_artifacts, named_artifact
from isoglot.pipeline.stages.emergence import Emergence
from isoglot.store import Stage, differences, inputs_first
from isoglot.study.study import Study, parse_study, read_study, with_exhibits, with_seeds

STUDY = parse_study(TINY_STUDY, origin="tiny.toml")


def emergence_cells(study: Study) -> list[Cell]:
    return [cell for cell in cells(study) if cell.exhibit == EMERGENCE]


def test_each_model_has_a_cell_before_and_one_after_training() -> None:
    filled = emergence_cells(STUDY)
    expected = list(product(["default", "no-anchors", "sep-emb-l1-6"], [0, 1], [UNTRAINED, None]))
    assert [(cell.condition, cell.seed, cell.variant) for cell in filled] == expected
    assert len({cell.stage.digest for cell in filled}) == len(filled)


def test_every_target_language_has_its_cells() -> None:
    text = study_text('conditions = ["default"]').replace('["ela", "oru"]', '["ela", "oru", "tem"]')
    filled = cells(parse_study(text + "\n[synthetic.languages.tem]\n", origin="mine.toml"))
    assert Counter((cell.exhibit, cell.languages) for cell in filled) == {
        (VOCABULARY, ("ela", "oru")): 1,
        (EMERGENCE, ("ela", "oru")): 2,
        (VOCABULARY, ("ela", "tem")): 1,
        (EMERGENCE, ("ela", "tem")): 2,
    }


def test_vocabularies_alone_need_no_model() -> None:
    filled = cells(with_exhibits(STUDY, [VOCABULARY]))
    assert [(cell.exhibit, cell.condition, cell.seed) for cell in filled] == [
        (VOCABULARY, "default", None),
        (VOCABULARY, "no-anchors", None),
        (VOCABULARY, "sep-emb-l1-6", None),
    ]
    kinds = {stage.kind for stage in inputs_first(cell.stage for cell in filled).values()}
    assert "token-streams" in kinds
    assert not any("encoder" in kind for kind in kinds)


def test_an_artifact_of_another_study_can_be_compared(finished: Workplace) -> None:
    warmer = parse_study(TINY_STUDY.replace("batch = 8", "batch = 9"), origin="warmer.toml")
    ours = named_artifact("default", study=warmer, store=finished.store)
    scored = emergence_cells(STUDY)[1].stage
    assert isinstance(scored, Emergence)
    theirs = finished.store.find(scored.encoder.digest[:16])
    assert isinstance(ours, Stage)
    (found,) = differences(ours, theirs, known_artifacts(warmer, finished.store))
    assert (found.path, found.a, found.b) == ("run.batch", 9, 8)


def test_examples_in_files_are_read_before_anything_is_trained(tmp_path: Path) -> None:
    study = read_study(write_real_study(tmp_path))
    with_ner = replace(study, exhibits=("emergence", "table-1"), tasks=("ner",))
    kinds = [stage.kind for stage in inputs_first(targets(with_ner)).values()]
    assert kinds.count("examples") == 4
    assert kinds.index("pretrained-encoder") > max(place for place, kind in enumerate(kinds) if kind == "examples")


def test_cells_are_kept_for_each_study() -> None:
    first, second = (with_seeds(STUDY, [seed]) for seed in (3, 4))
    for _ in range(2):
        assert {cell.seed for cell in cells(first)} == {None, 3}
        assert {cell.seed for cell in cells(second)} == {None, 4}
    assert cells(first)[0].stage is cells(first)[0].stage, "its digest is worked out once"
