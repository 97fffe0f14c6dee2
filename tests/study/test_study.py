"""Study files that are right, and where they are found."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from study_texts import SMALLEST, study_text

from isoglot.errors import IsoglotError
from isoglot.study.conditions import CONDITIONS, DEFAULT, MONOLINGUAL, TABLE_1
from isoglot.study.scales import DEMO, Decay, Start
from isoglot.study.searches import Schedule
from isoglot.study.separate import Separate
from isoglot.study.study import with_lists
from isoglot.study.study_file import builtin_study_names, parse_study, read_study
from isoglot.study.synthetic_languages import Script, Side, Synthetic, SyntheticLanguage, WordOrder, World


def test_the_smallest_study_takes_every_default(monkeypatch: pytest.MonkeyPatch) -> None:
    # One of your own in CONDITIONS (docs/adding.md) is asked for by its name alone.
    monkeypatch.setitem(CONDITIONS, "mine", replace(DEFAULT, name="mine"))
    study = parse_study(SMALLEST, origin="mine.toml")
    assert study.conditions == TABLE_1
    assert study.exhibits == ("emergence",)
    assert study.tasks == ("nli", "ner", "parsing")
    assert study.seeds == (0,)
    assert study.scale == DEMO
    assert study.pairs == (("ela", "oru"),)
    assert isinstance(study.text, Synthetic)
    assert study.text.world == World()
    assert study.text.languages == (SyntheticLanguage(name="ela"), SyntheticLanguage(name="oru"))
    assert (study.text.sentences, study.text.parallel_sentences) == (4000, 500)
    assert (study.text.train_examples, study.text.dev_examples, study.text.test_examples) == (6000, 500, 1000)


def test_knobs_of_worlds_languages_and_scales() -> None:
    change = 'change.updates = 300\nchange.shape.layers = 6\nchange.optimization.decay = "inverse-square-root"'
    study = parse_study(
        study_text(
            f'{change}\nchange.optimization.learning_rate = 1\nchange.own_parts_start = "equal"',
            world="seed = 7\nnouns = 12\nzipf_exponent = 1",
            ela='order = "sov"\nadpositions = "after"\nscript = "han"\ncognates = 0.5\nshared_symbols = false',
        ),
        origin="mine.toml",
    )
    assert (study.scale.updates, study.scale.shape.layers, study.scale.shape.width) == (300, 6, DEMO.shape.width)
    assert study.scale.optimization.decay is Decay.INVERSE_SQUARE_ROOT
    assert study.scale.own_parts_start is Start.EQUAL
    assert isinstance(study.scale.optimization.learning_rate, float)
    assert isinstance(study.text, Synthetic)
    assert study.text.world == World(seed=7, nouns=12, zipf_exponent=1.0)
    assert study.text.languages[0] == SyntheticLanguage(
        name="ela", order=WordOrder.SOV, adpositions=Side.AFTER, script=Script.HAN, cognates=0.5, shared_symbols=False
    )


def test_tasks_exhibits_and_how_they_are_fine_tuned() -> None:
    study = parse_study(
        study_text(
            'tasks = ["pos", "ner"]\nexhibits = ["table-1", "baselines"]\n'
            'change.word_tasks.epochs = 2\nchange.word_tasks.schedule = "constant"\n'
            "change.pair_tasks.learning_rates = [1e-4]\nchange.pair_tasks.epoch_examples = 30",
            world="train_examples = 20\ndev_examples = 3\ntest_examples = 2",
        ),
        origin="mine.toml",
    )
    assert (study.tasks, study.exhibits) == (("pos", "ner"), ("table-1", "baselines"))
    assert study.scale.word_tasks == replace(DEMO.word_tasks, epochs=2, schedule=Schedule.CONSTANT)
    assert study.scale.pair_tasks == replace(DEMO.pair_tasks, learning_rates=(1e-4,), epoch_examples=30)
    assert isinstance(study.text, Synthetic)
    assert (study.text.train_examples, study.text.dev_examples, study.text.test_examples) == (20, 3, 2)


def test_a_setting_that_may_have_no_value_can_be_left_without_one() -> None:
    """TOML has no word for it, and a scale may have a number there."""
    change = 'change.shape.token_init_std = "none"\nchange.word_tasks.epoch_examples = "none"'
    study = parse_study(study_text(change), origin="mine.toml")
    assert DEMO.shape.token_init_std is not None
    assert study.scale == replace(
        DEMO,
        shape=replace(DEMO.shape, token_init_std=None),
        word_tasks=replace(DEMO.word_tasks, epoch_examples=None),
    )
    assert study.replace(change={"shape": {"token_init_std": None}}).scale == study.scale
    with pytest.raises(IsoglotError, match=r"change\.batch: should be a whole number, not the string 'none'"):
        parse_study(study_text('change.batch = "none"'), origin="mine.toml")


@pytest.mark.parametrize("name", builtin_study_names())
def test_builtin_studies_are_right(name: str) -> None:
    study = read_study(name)
    assert study.name == name
    assert name in study.origin


def test_a_study_is_read_from_its_path(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(SMALLEST)
    assert read_study(path) == read_study(str(path))
    assert read_study(path).origin == str(path)


def test_a_missing_study_is_named_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(IsoglotError, match=r"^dmeo: no such study; .*'demo'.*; did you mean 'demo'\?$"):
        read_study("dmeo")
    (tmp_path / "mine.toml").write_text(SMALLEST)
    with pytest.raises(IsoglotError, match=r"mine: no such study; .*; did you mean '.*mine.toml'\?$"):
        read_study(tmp_path / "mine")


def test_what_is_no_text_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(IsoglotError, match=f"^{re.escape(str(tmp_path))}: cannot be read"):
        read_study(tmp_path)
    (tmp_path / "mine.toml").write_bytes(b"name = '\xff'")
    with pytest.raises(IsoglotError, match=r"mine.toml: not UTF-8 text \(byte 8\)"):
        read_study(tmp_path / "mine.toml")


def test_a_study_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(SMALLEST, encoding="utf-8-sig", newline="\r\n")
    assert read_study(tmp_path / "mine.toml").languages == parse_study(SMALLEST, origin="mine.toml").languages


def test_lists_may_come_from_the_command_line() -> None:
    study = parse_study(SMALLEST, origin="mine.toml")
    changed = with_lists(study, {"seeds": [3, 1], "conditions": ["sep-emb", "default"], "tasks": ["parsing", "pos"]})
    assert (changed.seeds, changed.tasks) == ((3, 1), ("parsing", "pos"))
    assert [row.name for row in changed.conditions] == ["sep-emb", "default"]
    assert with_lists(study, {"exhibits": ["table-1"], "seeds": None}).exhibits == ("table-1",)


@pytest.mark.parametrize(
    ("key", "values", "problem"),
    [
        ("tasks", ["parsnig"], r"'parsnig' is not one of .* did you mean 'parsing'\?"),
        ("seeds", [3, 3], r"3 stands there twice.*"),
        ("conditions", ["defualt"], r"'defualt' is not one of .* did you mean 'default'\?"),
        ("targets", ["en"], r"'en' is not one of 'oru'"),
        ("targets", [], r"needs at least 1, and has 0.*"),
    ],
)
def test_a_wrong_list_of_the_command_line_is_named(key: str, values: list[object], problem: str) -> None:
    with pytest.raises(IsoglotError, match=rf"^--{key}: {problem}$"):
        with_lists(parse_study(SMALLEST, origin="mine.toml"), {key: values})


def test_a_study_is_changed_in_python_as_in_its_file() -> None:
    study = parse_study(SMALLEST, origin="mine.toml")
    mine = DEFAULT.replace(name="sep-l4", label="Sep L4", separate=Separate(layers={4}))
    changed = study.replace(
        name="other", conditions=["default", mine], tasks=("ner",), seeds=range(2), change={"shape": {"width": 64}}
    )
    assert (changed.name, changed.tasks, changed.seeds) == ("other", ("ner",), (0, 1))
    assert (changed.scale.shape.width, changed.scale.updates) == (64, study.scale.updates)
    assert changed.conditions == (DEFAULT, mine) == study.with_conditions("default", mine).conditions
    assert study.replace() == study
    assert changed.replace(conditions=["sep-l4"]).conditions == (mine,)


OWN = DEFAULT.replace(name="sep-l5", label="Sep L5", separate=Separate(layers={5}))
TWIN = OWN.replace(name="sep-l6", label="Sep L6", separate=Separate(layers={6}))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"seeds": []}, "seeds: needs at least 1, and has 0"),
        ({"seeds": 3}, r"seeds: should be a list in brackets, not a whole number \(3\)"),
        ({"exhibits": "table-1"}, "exhibits: should be a list in brackets, not the string 'table-1'"),
        ({"tasks": ["nerr"]}, "tasks: 'nerr' is not one of .* did you mean 'ner'"),
        ({"conditions": []}, "conditions: needs at least 1, and has 0"),
        ({"conditions": [3]}, r"conditions: should be a string in quotes, not a whole number \(3\)"),
        ({"conditions": [OWN, OWN]}, "conditions: 'sep-l5' stands there twice"),
        ({"conditions": [OWN.replace(name="sep-emb")]}, "conditions: 'sep-emb' is the name of another condition"),
        ({"conditions": [MONOLINGUAL]}, "conditions: 'monolingual' is the name of another condition"),
        ({"conditions": [OWN.replace(name="anchors-25")]}, "conditions: 'anchors-25' is the name of another"),
        ({"conditions": [OWN.replace(name="Sep L5")]}, "conditions: 'Sep L5' should be lower-case letters, digits"),
        ({"conditions": [OWN.replace(label="Default")]}, "conditions: 'sep-l5' has the label of another condition"),
        ({"conditions": [OWN, OWN.replace(name="b")]}, "conditions: 'b' has the label of another condition, 'Sep L5'"),
        ({"conditions": [OWN], "change": {"shape": {"layers": 1}}}, "conditions: 'sep-l5': a model of 1 layers is too"),
        (
            {"conditions": [OWN, TWIN]},
            "conditions: 'sep-l6': at scale demo, with 4 layers, this is the model of 'sep-l5'; leave one",
        ),
        # The scale says how parts start; a row that says the same is the same model.
        (
            {"conditions": ["sep-emb", "sep-emb-independent"]},
            "conditions: 'sep-emb-independent': .* the model of 'sep-emb'",
        ),
        ({"change": {"update": 3}}, "change.update: unknown key.* did you mean 'updates'"),
        ({"change": {"window": 65}}, "change.window: should be at most shape.positions, 64, not 65"),
        ({"change": {"dev_lines": 4000}}, "synthetic.sentences: should be above 5000"),
        ({"name": "My study"}, "name: 'My study' should be lower-case letters"),
    ],
)
def test_mistakes_in_python_are_named_as_in_a_file(change: dict[str, Any], problem: str) -> None:
    with pytest.raises(IsoglotError, match=f"^Study.replace: {problem}"):
        parse_study(SMALLEST, origin="mine.toml").replace(**change)
