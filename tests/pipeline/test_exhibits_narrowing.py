"""The cells of an exhibit that a study narrows are all that its table allows, and no others."""

from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import groupby, product
from pathlib import Path

import pytest
from real_studies import write_real_study
from study_texts import TINY_STUDY

from isoglot.pipeline.cells import VOCABULARY, Cell
from isoglot.pipeline.exhibits import cells, gap_sentences, targets
from isoglot.pipeline.stages.models import PretrainedEncoder
from isoglot.store import inputs_first
from isoglot.study.conditions import CONDITIONS
from isoglot.study.exhibit_names import EXHIBITS, keys_of
from isoglot.study.study import Study
from isoglot.study.study_file import parse_study, read_study

TEXT = TINY_STUDY.replace('["ela", "oru"]', '["ela", "oru", "tem"]') + "languages.tem = { cognates = 0.1 }\n"
STUDY = replace(
    parse_study(TEXT, origin="tiny.toml"), exhibits=tuple(EXHIBITS), file_exhibits=tuple(EXHIBITS), tasks=("ner", "nli")
)
ITEMS = {
    "targets": STUDY.languages[1:],
    "conditions": tuple(condition.name for condition in STUDY.conditions),
    "tasks": STUDY.tasks,
    "seeds": STUDY.seeds,
}


def key(cell: Cell) -> tuple[object, ...]:
    """With its digest, so that what is narrowed is the same artifact as before."""
    place = (cell.exhibit, cell.condition, cell.languages, cell.seed, cell.task, cell.variant)
    return (*place, cell.stage.digest)


def of(study: Study, *exhibits: str) -> list[Cell]:
    return [cell for cell in cells(study) if cell.exhibit in exhibits]


def models(study: Study) -> Counter[tuple[str, ...]]:
    stages = inputs_first(targets(study)).values()
    return Counter(stage.run.languages for stage in stages if isinstance(stage, PretrainedEncoder))


def allows(study: Study, cell: Cell) -> bool:
    """Models of one language, and the source's second model, are no condition or target of the study."""
    keeps, is_second = partial(study.keeps, cell.exhibit), cell.languages[1] == "ela-prime"
    return (
        (is_second or keeps("targets", cell.languages[1]))
        and (is_second or cell.condition == "monolingual" or keeps("conditions", cell.condition))
        and (cell.seed is None or keeps("seeds", cell.seed))
        and (cell.task is None or keeps("tasks", cell.task))
    )


@pytest.mark.parametrize("names", [("targets",), ("conditions",), ("tasks",), ("seeds",), tuple(ITEMS)])
@pytest.mark.parametrize("part", [slice(0, 1), slice(1, None)])
def test_a_table_keeps_the_cells_that_it_allows_in_their_order_and_no_others(names: list[str], part: slice) -> None:
    only = {exhibit: {name: ITEMS[name][part] for name in names if name in keys_of(exhibit)} for exhibit in EXHIBITS}
    narrowed = replace(STUDY, only=only)
    left = [key(cell) for cell in cells(narrowed)]
    assert left == [key(cell) for cell in cells(STUDY) if allows(narrowed, cell)]
    assert 0 < len(left) < len(cells(STUDY))


def test_vocabularies_are_those_of_models_in_other_exhibits() -> None:
    study = replace(
        STUDY.replace(exhibits=["table-1", "figure-7"]),
        only={"table-1": {"targets": ("oru",)}, "figure-7": {"conditions": ("default",)}},
    )
    shown = {("oru", "default"), ("oru", "no-anchors"), ("oru", "sep-emb-l1-6"), ("tem", "default")}
    assert {(cell.languages[1], cell.condition) for cell in of(study, VOCABULARY)} == shown
    alone = replace(study, only={**study.only, VOCABULARY: {"targets": ("tem",)}})
    assert {(cell.languages[1], cell.condition) for cell in of(alone, VOCABULARY)} == {("tem", "default")}
    # Figure 7 has the models of one language for both targets, and those of two that it is left with.
    assert models(study) == {
        ("ela", "oru"): 6,
        ("ela", "tem"): 2,
        **{(language,): 2 for language in ("ela", "oru", "tem", "ela-prime")},
        ("ela", "ela-prime"): 2,
    }


def test_vocabularies_alone_are_those_of_the_models_that_the_file_asks_for() -> None:
    text = TEXT.replace(
        'exhibits = ["emergence", "table-1"]', 'exhibits = ["table-1", "figure-6"]\nonly.table-1.targets = ["oru"]'
    ).replace("[change]", '[only.figure-6]\nconditions = ["default"]\n[change]')
    study = parse_study(text, origin="tiny.toml")
    whole = [key(cell) for cell in of(study, VOCABULARY)]
    assert len(whole) == 4
    assert [key(cell) for cell in cells(study.replace(exhibits=[VOCABULARY]))] == whole
    assert [key(cell) for cell in of(study.replace(exhibits=[VOCABULARY, "table-1"]), VOCABULARY)] == whole
    assert len(of(study.replace(exhibits=["table-1"]), VOCABULARY)) == 3
    one = study.replace(exhibits=[VOCABULARY], conditions=["no-anchors"])
    assert [cell.languages for cell in cells(one)] == [("ela", "oru")]
    by_name = text.replace('["table-1", "figure-6"]', '["vocabulary", "table-1", "figure-6"]')
    assert [key(cell) for cell in of(parse_study(by_name, origin="tiny.toml"), VOCABULARY)] == whole


def test_figures_of_default_alone_bring_its_vocabulary() -> None:
    fifth = STUDY.replace(exhibits=["figure-5"], conditions=["no-anchors"])
    assert {cell.condition for cell in of(fifth, VOCABULARY)} == {"default"}
    assert not of(STUDY.replace(exhibits=["figure-4"]), VOCABULARY)


def test_some_targets_of_a_study_have_the_artifacts_of_the_whole() -> None:
    second = STUDY.replace(targets=["tem"])
    expected = [key(cell) for cell in cells(STUDY) if cell.languages[1] in ("tem", "ela-prime")]
    assert [key(cell) for cell in cells(second)] == expected
    first = replace(STUDY, only={"figure-7": {"targets": ("oru",)}})
    assert {cell.languages[1] for cell in of(first, "figure-7")} == {"oru", "ela-prime"}
    assert not of(first.replace(targets=["tem"]), "figure-7")


def test_data_of_cells_that_a_table_leaves_out_is_not_missing(tmp_path: Path) -> None:
    path = write_real_study(tmp_path)
    study = replace(
        read_study(path), conditions=(CONDITIONS["default"], CONDITIONS["extra-anchors"]), exhibits=("table-1",)
    )
    assert any("resources.nli" in sentence for sentence in gap_sentences(study))
    assert gap_sentences(replace(study, only={"table-1": {"tasks": ("ner",)}})) == []
    path.write_text(path.read_text().replace('dictionary.en-fr = "en-fr.tsv"\n', ""))
    named = replace(study, tasks=("ner",), text=read_study(path).text)
    assert any("extra-anchors" in sentence for sentence in gap_sentences(named))
    assert gap_sentences(replace(named, only={"table-1": {"conditions": ("default",)}})) == []


def test_all_that_one_model_is_for_stands_together() -> None:
    shown = [cell for cell in cells(STUDY) if not cell.exhibit.startswith("figure")]
    order = [(cell.languages, cell.condition) for cell in shown]
    models_in_order = list(product(STUDY.pairs, ITEMS["conditions"]))
    assert [model for model, _ in groupby(order)] == models_in_order
