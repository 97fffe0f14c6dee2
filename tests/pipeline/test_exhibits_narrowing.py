"""The cells of an exhibit that a study narrows are all that its table allows, and no others."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby, product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from real_studies import write_real_study
from study_texts import TINY_STUDY

from isoglot.pipeline.cells import VOCABULARY, Cell
from isoglot.pipeline.exhibits import cells, gap_sentences, targets
from isoglot.pipeline.stages.models import PretrainedEncoder
from isoglot.store import inputs_first
from isoglot.study.conditions import CONDITIONS
from isoglot.study.exhibit_names import EXHIBITS, ExhibitFilter, keys_of
from isoglot.study.study import Study, parse_study, read_study, with_conditions, with_exhibits, with_seeds

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
Key = tuple[object, ...]


def key(cell: Cell) -> Key:
    """With its digest, so that what is narrowed is the same artifact as before."""
    place = (cell.exhibit, cell.condition, cell.languages, cell.seed, cell.task, cell.variant)
    return (*place, cell.stage.digest)


WHOLE = [key(cell) for cell in cells(STUDY)]


def of(study: Study, *exhibits: str) -> list[Cell]:
    return [cell for cell in cells(study) if cell.exhibit in exhibits]


def models(study: Study) -> Counter[tuple[str, ...]]:
    stages = inputs_first(targets(study)).values()
    return Counter(stage.run.languages for stage in stages if isinstance(stage, PretrainedEncoder))


def parts(exhibit: str) -> Iterator[st.SearchStrategy[tuple[str, tuple[object, ...]]]]:
    for name in keys_of(exhibit):
        lists = st.lists(st.sampled_from(ITEMS[name]), min_size=1, unique=True)
        yield lists.map(lambda items, name=name: (name, tuple(items)))


def narrowings(exhibit: str) -> st.SearchStrategy[ExhibitFilter]:
    return st.lists(st.one_of(*parts(exhibit))).map(lambda lists: ExhibitFilter(**dict(lists)))


@settings(max_examples=5)
@given(only=st.fixed_dictionaries({}, optional={exhibit: narrowings(exhibit) for exhibit in EXHIBITS}))
def test_narrowing_adds_no_cell_and_keeps_their_order_and_identity(only: dict[str, ExhibitFilter]) -> None:
    left = [key(cell) for cell in cells(replace(STUDY, only=only))]
    kept = set(left)
    assert left == [each for each in WHOLE if each in kept]
    # And takes none away that its table allows, but for vocabularies of models that no other exhibit shows.
    for exhibit, condition, languages, seed, task, *_ in set(WHOLE) - kept:
        narrowing = only.get(exhibit, ExhibitFilter())
        is_forbidden = not (
            narrowing.keeps("targets", languages[1])
            and narrowing.keeps("conditions", condition)
            and (seed is None or narrowing.keeps("seeds", seed))
            and (task is None or narrowing.keeps("tasks", task))
        )
        assert is_forbidden or exhibit == VOCABULARY
    for exhibit, condition, languages, seed, task, *_ in kept:
        narrowing = only.get(exhibit, ExhibitFilter())
        assert seed is None or narrowing.keeps("seeds", seed)
        assert task is None or narrowing.keeps("tasks", task)
        assert narrowing.keeps("targets", languages[1]) or languages[1] == "ela-prime"
        assert narrowing.keeps("conditions", condition) or condition == "monolingual" or languages[1] == "ela-prime"


@pytest.mark.parametrize("name", ITEMS)
def test_complementary_parts_make_the_whole(name: str) -> None:
    first, *rest = ITEMS[name]
    both: set[Key] = set()
    for items in ((first,), tuple(rest)):
        only = {exhibit: ExhibitFilter(**{name: items}) for exhibit in EXHIBITS if name in keys_of(exhibit)}
        found = {key(cell) for cell in cells(replace(STUDY, only=only))}
        assert found < set(WHOLE)
        both |= found
    assert both == set(WHOLE)


def test_vocabularies_are_those_of_models_in_other_exhibits() -> None:
    study = replace(
        with_exhibits(STUDY, ["table-1", "figure-7"]),
        only={"table-1": ExhibitFilter(targets=("oru",)), "figure-7": ExhibitFilter(conditions=("default",))},
    )
    shown = {("oru", "default"), ("oru", "no-anchors"), ("oru", "sep-emb-l1-6"), ("tem", "default")}
    assert {(cell.languages[1], cell.condition) for cell in of(study, VOCABULARY)} == shown
    alone = replace(study, only={**study.only, VOCABULARY: ExhibitFilter(targets=("tem",))})
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
    assert [key(cell) for cell in cells(with_exhibits(study, [VOCABULARY]))] == whole
    assert [key(cell) for cell in of(with_exhibits(study, [VOCABULARY, "table-1"]), VOCABULARY)] == whole
    assert len(of(with_exhibits(study, ["table-1"]), VOCABULARY)) == 3
    one = with_conditions(with_exhibits(study, [VOCABULARY]), ["no-anchors"])
    assert [cell.languages for cell in cells(one)] == [("ela", "oru")]
    by_name = text.replace('["table-1", "figure-6"]', '["vocabulary", "table-1", "figure-6"]')
    assert [key(cell) for cell in of(parse_study(by_name, origin="tiny.toml"), VOCABULARY)] == whole


def test_figures_of_default_alone_bring_its_vocabulary() -> None:
    fifth = with_conditions(with_exhibits(STUDY, ["figure-5"]), ["no-anchors"])
    assert {cell.condition for cell in of(fifth, VOCABULARY)} == {"default"}
    assert not of(with_exhibits(STUDY, ["figure-4"]), VOCABULARY)


def test_seeds_of_the_command_line_that_a_table_forbids_are_not_made() -> None:
    study = replace(with_exhibits(STUDY, ["emergence", "figure-7"]), only={"figure-7": ExhibitFilter(seeds=(0,))})
    fifth = with_seeds(study, [5])
    assert {cell.exhibit for cell in cells(fifth)} == {VOCABULARY, "emergence"}
    assert {cell.seed for cell in of(with_seeds(study, [0, 5]), "figure-7")} == {0}
    assert gap_sentences(fifth) == []


def test_data_of_cells_that_a_table_leaves_out_is_not_missing(tmp_path: Path) -> None:
    path = write_real_study(tmp_path)
    study = replace(
        read_study(path), conditions=(CONDITIONS["default"], CONDITIONS["extra-anchors"]), exhibits=("table-1",)
    )
    assert any("resources.nli" in sentence for sentence in gap_sentences(study))
    assert gap_sentences(replace(study, only={"table-1": ExhibitFilter(tasks=("ner",))})) == []
    path.write_text(path.read_text().replace('dictionary.en-fr = "en-fr.tsv"\n', ""))
    named = replace(study, tasks=("ner",), text=read_study(path).text)
    assert any("extra-anchors" in sentence for sentence in gap_sentences(named))
    assert gap_sentences(replace(named, only={"table-1": ExhibitFilter(conditions=("default",))})) == []


def test_all_that_one_model_is_for_stands_together() -> None:
    shown = [cell for cell in cells(STUDY) if not cell.exhibit.startswith("figure")]
    order = [(cell.languages, cell.condition) for cell in shown]
    models_in_order = list(product(STUDY.pairs, ITEMS["conditions"]))
    assert [model for model, _ in groupby(order)] == models_in_order
