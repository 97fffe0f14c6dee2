"""The tables [only.EXHIBIT] of a study file: what they leave of a study, and what is wrong with one."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from study_texts import as_toml, study_text

from isoglot.cli.options import StudyOptions
from isoglot.errors import IsoglotError
from isoglot.study.exhibit_names import EXHIBITS, KEYS
from isoglot.study.study import Study
from isoglot.study.study_file import parse_study

LISTS = """
conditions = ["default", "no-anchors", "sep-emb"]
exhibits = ["emergence", "table-1", "figure-5", "figure-7"]
tasks = ["nli", "ner", "parsing"]
seeds = [0, 1, 2]
"""
NARROWED = """
only.table-1.targets = ["tem"]
only.figure-7 = { conditions = ["default"], seeds = [2, 0] }
only.figure-5 = { targets = ["oru"], tasks = ["parsing"] }
"""


def text_of(only: str = "", *, lists: str = LISTS) -> str:
    text = study_text(lists + only).replace('["ela", "oru"]', '["ela", "oru", "tem"]')
    return text + "\n[synthetic.languages.tem]\n"


def study_of(only: str = "") -> Study:
    return parse_study(text_of(only), origin="mine.toml")


def test_an_exhibit_is_narrowed_and_the_others_are_not() -> None:
    study = study_of(NARROWED)
    whole = study_of()
    assert (study.languages, study.conditions, study.tasks, study.seeds) == (
        *(whole.languages, whole.conditions, whole.tasks, whole.seeds),
    )
    assert study.of_exhibit("emergence") == study
    assert study.of_exhibit("table-1").pairs == (("ela", "tem"),)
    assert study.of_exhibit("table-1").seeds == (0, 1, 2)
    seventh = study.of_exhibit("figure-7")
    # As the study orders them.
    assert ([each.name for each in seventh.conditions], seventh.seeds) == (["default"], (0, 2))
    assert (seventh.pairs, seventh.tasks) == (study.pairs, study.tasks)
    fifth = study.of_exhibit("figure-5")
    assert (fifth.pairs, fifth.tasks, fifth.seeds) == ((("ela", "oru"),), ("parsing",), study.seeds)


def test_vocabulary_is_narrowed_though_nobody_asks_for_it_by_name() -> None:
    assert study_of('only.vocabulary.targets = ["oru"]').only == {"vocabulary": {"targets": ("oru",)}}


def test_the_command_line_narrows_further_and_widens_nothing() -> None:
    study = study_of(NARROWED)
    assert study.replace(seeds=[0, 5]).of_exhibit("figure-7").seeds == (0,)
    assert study.replace(seeds=[0, 5]).of_exhibit("table-1").seeds == (0, 5)
    assert study.replace(tasks=["parsing", "pos"]).of_exhibit("figure-5").tasks == ("parsing",)
    assert study.replace(seeds=[5]).shown_exhibits == ("emergence", "table-1", "figure-5")
    assert study.replace(conditions=["sep-emb"]).shown_exhibits == ("emergence", "table-1", "figure-5")
    assert study.replace(tasks=["ner"]).shown_exhibits == ("emergence", "table-1", "figure-7")
    assert study.replace(targets=["tem"]).shown_exhibits == ("emergence", "table-1", "figure-7")
    # What the file does not ask for has no table there.
    assert study.replace(exhibits=["growth"]).of_exhibit("growth").seeds == (0, 1, 2)


def test_where_nothing_is_left_the_reason_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text_of(NARROWED))

    def problem(**flags: str) -> str:
        with pytest.raises(IsoglotError) as raised:
            StudyOptions(study=str(path), **flags).chosen_study()
        return str(raised.value).removeprefix(f"{path}: nothing is left of it: ")

    of_seeds = "left out by seeds: figure-7 ([only] has seeds 2, 0 there)"
    assert problem(exhibits="figure-7", seeds="5") == of_seeds
    of_tasks = "left out by tasks: figure-5 ([only] has tasks parsing there)"
    assert problem(exhibits="figure-5,figure-7", seeds="5", tasks="ner") == f"{of_tasks}; {of_seeds}"
    of_targets = "left out by targets: table-1 ([only] has targets tem there)"
    assert problem(exhibits="table-1", targets="oru") == of_targets
    chosen = StudyOptions(study=str(path), exhibits="figure-5,figure-7", seeds="5").chosen_study()
    assert chosen.shown_exhibits == ("figure-5",)


@pytest.mark.parametrize(
    ("only", "message"),
    [
        ("only = 3", r"only: should be a table, not a whole number \(3\)"),
        ("only.table-1 = 3", r"only.table-1: should be a table"),
        ("only.tabel-1.seeds = [0]", r"only.tabel-1: this exhibit is not in exhibits, .*; did you mean 'table-1'\?"),
        ("only.figure-4.seeds = [0]", r"only.figure-4: this exhibit is not in exhibits, 'emergence', 'table-1', 'fig"),
        ("only.table-1.sedes = [0]", r"only.table-1.sedes: unknown key; .*; did you mean 'seeds'\?"),
        ('only.table-1.exhibits = ["x"]', r"only.table-1.exhibits: unknown key; the keys here are 'targets', 'cond"),
        ("only.table-1.seeds = 0", r"only.table-1.seeds: should be a list in brackets, not a whole number"),
        ("only.table-1.seeds = []", r"only.table-1.seeds: needs at least 1, and has 0"),
        ("only.table-1.seeds = [1, 1]", r"only.table-1.seeds: 1 stands there twice"),
        ("only.table-1.seeds = [3]", r"only.table-1.seeds: 3 is not one of 0, 1, 2"),
        ('only.table-1.targets = ["ela"]', r"only.table-1.targets: 'ela' is not one of 'oru', 'tem'"),
        ('only.figure-7.targets = ["ela-prime"]', r"only.figure-7.targets: 'ela-prime' is not one of 'oru', 'tem'"),
        ('only.table-1.conditions = ["sep-l1-3"]', r"only.table-1.conditions: 'sep-l1-3' is not one of 'default', "),
        ('only.emergence.tasks = ["ner"]', r"only.emergence.tasks: emergence has no tasks to choose from; the keys"),
        ('only.figure-7.tasks = ["ner"]', r"only.figure-7.tasks: figure-7 has no tasks to choose from"),
        ('only.figure-5.conditions = ["default"]', r"only.figure-5.conditions: figure-5 has no conditions to choose"),
        ("only.vocabulary.seeds = [0]", r"only.vocabulary.seeds: vocabulary has no seeds to choose from"),
    ],
)
def test_mistakes_are_named_with_their_table_and_key(only: str, message: str) -> None:
    with pytest.raises(IsoglotError, match=f"^mine.toml: {message}"):
        study_of(only)


ITEMS = st.sampled_from(("oru", "tem", "default", "sep-emb", "ner", "parsing", 0, 1, 2, "ela", "x", 7, True))
TABLES = st.dictionaries(st.sampled_from((*KEYS, "exhibits")), st.lists(ITEMS, max_size=3) | ITEMS, max_size=2)


@given(only=st.dictionaries(st.sampled_from((*EXHIBITS, "other")), TABLES, max_size=2))
def test_whatever_it_says_an_exhibit_keeps_something_or_the_file_is_refused(only: dict[str, dict[str, Any]]) -> None:
    lines = [
        f"only.{exhibit}.{key} = {as_toml(value)}" for exhibit, table in only.items() for key, value in table.items()
    ]
    try:
        study = study_of("\n".join(lines))
    except IsoglotError as error:
        if not str(error).startswith("mine.toml: only."):
            raise
        return
    assert study.shown_exhibits == study.exhibits
    for exhibit, table in only.items():
        part = study.of_exhibit(exhibit)
        kept = {
            "targets": list(part.languages[1:]),
            "conditions": [condition.name for condition in part.conditions],
            "tasks": list(part.tasks),
            "seeds": list(part.seeds),
        }
        assert {key: sorted(kept[key]) for key in table} == {key: sorted(items) for key, items in table.items()}
