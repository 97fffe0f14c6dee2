"""Names of models and cells: what a person may write, and the errors otherwise."""

from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest
from commands import Workplace
from study_texts import TINY_STUDY

from isoglot.errors import IsoglotError
from isoglot.pipeline.cells import BASELINES, EMERGENCE, TABLE_1, UNTRAINED, VOCABULARY, Cell
from isoglot.pipeline.exhibits import cells
from isoglot.pipeline.model_names import named_artifact, named_side, same_of_default
from isoglot.pipeline.model_pairs import Side
from isoglot.pipeline.stages.layer_transfer import LayerTransfer
from isoglot.store import Stage, Store
from isoglot.study.study import parse_study


def side(name: str, finished: Workplace, *, language: str | None = None) -> Side:
    study, colon, rest = name.partition(":")
    return named_side(f"{finished.folder / study}{colon}{rest}", store=finished.store, language=language)


@pytest.mark.parametrize(
    "name", ["tiny.toml:default:oru:1", "tiny.toml:default:1:oru", "tiny.toml:default:ela-oru:oru:1"]
)
def test_words_after_the_condition_come_in_any_order(name: str, finished: Workplace) -> None:
    found = side(name, finished)
    assert (found.language, found.graph.seed, found.graph.languages) == ("oru", 1, ("ela", "oru"))
    assert found.encoder.kind == "pretrained-encoder"


def test_the_language_may_stand_beside_the_name(finished: Workplace) -> None:
    beside = side("tiny.toml:sep-emb-l1-6", finished, language="ela")
    assert beside == side("tiny.toml:sep-emb-l1-6:ela", finished)
    assert beside.graph.seed == 0


def test_two_languages_are_one_too_many(finished: Workplace) -> None:
    with pytest.raises(IsoglotError, match="the name says oru and --language ela; drop one of them"):
        side("tiny.toml:default:oru", finished, language="ela")


def test_an_untrained_model_has_a_name(finished: Workplace) -> None:
    assert side("tiny.toml:default:ela:untrained", finished).encoder.kind == "untrained-encoder"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("tiny.toml", "names no model; write a model as STUDY:CONDITION:LANGUAGE"),
        ("tiny.toml:sep-em:oru", "'sep-em' is no condition; tiny has default, no-anchors, sep-emb-l1-6, monolingual"),
        ("tiny.toml:sep-emb:oru", "make it with: isoglot run"),
        (
            "tiny.toml:default:ela-prime",
            "second model is trained alone (monolingual) or with the first under",
        ),
        ("tiny.toml:default", "say one language, ela or oru"),
        ("tiny.toml:default:ela:oru", "say one language, ela or oru"),
        ("tiny.toml:default:fr", "'fr' is no language, pair or seed of tiny (ela, oru, ela-oru)"),
        ("tiny.toml:default:oru:7", "this model is not in"),
        ("tiny.toml:monolingual:oru", "make it with: isoglot run"),
    ],
)
def test_what_is_no_model_is_said(name: str, told: str, finished: Workplace) -> None:
    with pytest.raises(IsoglotError) as raised:
        side(name, finished)
    assert told in str(raised.value)


def test_the_command_that_makes_a_model_asks_for_what_shows_it(finished: Workplace, tmp_path: Path) -> None:
    with pytest.raises(IsoglotError) as raised:
        named_side(f"{finished.folder}/tiny.toml:monolingual:oru", store=Store(tmp_path))
    assert "--exhibits figure-7" in str(raised.value)
    for name, words in {
        "sep-emb:ela-prime": "--exhibits figure-7 --seeds 0",
        "extra-anchors:oru:1": "--exhibits emergence --conditions extra-anchors --seeds 1",
    }.items():
        with pytest.raises(IsoglotError) as raised:
            named_side(f"{finished.folder}/tiny.toml:{name}", store=Store(tmp_path))
        assert str(raised.value).endswith(words)


def test_and_asks_for_nothing_that_the_study_narrows_away(tmp_path: Path) -> None:
    narrowed = """
    [only.emergence]
    conditions = ["default"]
    seeds = [0]
    [only.table-1]
    seeds = [0]
    [change]
    """
    text = TINY_STUDY.replace("[change]", dedent(narrowed))
    (tmp_path / "tiny.toml").write_text(text)

    def told(name: str) -> str:
        with pytest.raises(IsoglotError) as raised:
            named_side(f"{tmp_path}/tiny.toml:{name}", store=Store(tmp_path / "store"))
        return str(raised.value)

    assert told("default:oru").endswith("--exhibits emergence --conditions default --seeds 0")
    assert told("sep-emb:oru").endswith("--exhibits table-1 --conditions sep-emb --seeds 0")
    assert told("default:oru:1").endswith("--exhibits training --conditions default --seeds 1")
    more = ("training", "figure-6", "figure-7")
    exhibits = ", ".join(f'"{name}"' for name in ("emergence", "table-1", *more))
    text = text.replace('"emergence", "table-1"', exhibits)
    tables = "".join(f"[only.{name}]\nseeds = [0]\n" for name in more)
    (tmp_path / "tiny.toml").write_text(text.replace("[change]", f"{tables}[change]"))
    assert told("default:oru:1").endswith("does not ask for it: the tables [only] in it leave it out")
    assert told("monolingual:oru:1").endswith("--exhibits figure-4 --seeds 1")
    assert told("monolingual:ela-prime:1").endswith("leave it out")


STUDY = replace(
    parse_study(TINY_STUDY, origin="tiny.toml"),
    exhibits=("table-1", "baselines", "emergence", "training", "figure-5", "figure-7"),
    tasks=("nli", "parsing"),
)
CELLS = cells(STUDY)


def cell(
    condition: str,
    exhibit: str,
    *,
    seed: int | None = 0,
    task: str | None = None,
    variant: str | None = None,
    layer: int = 0,
) -> Cell:
    wanted = (condition, exhibit, seed, task, variant)
    found = [
        each
        for each in CELLS
        if (each.condition, each.exhibit, each.seed, each.task, each.variant) == wanted
        and each.languages == ("ela", "oru")
        and (not isinstance(each.stage, LayerTransfer) or each.stage.heads[0].layer == layer)
    ]
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("default:ela-oru:0 nli", cell("default", TABLE_1, task="nli")),
        ("default nli", cell("default", TABLE_1, task="nli")),
        ("  no-anchors:1  parsing ", cell("no-anchors", TABLE_1, seed=1, task="parsing")),
        ("no-anchors:parsing:1", cell("no-anchors", TABLE_1, seed=1, task="parsing")),
        ("no-anchors table-1 parsing 1", cell("no-anchors", TABLE_1, seed=1, task="parsing")),
        # A model that was never pretrained is meant only where that is said.
        ("default nli untrained", cell("default", BASELINES, task="nli", variant=UNTRAINED)),
        ("default baselines nli", cell("default", BASELINES, task="nli", variant=UNTRAINED)),
        ("default emergence", cell("default", EMERGENCE)),
        ("default emergence untrained", cell("default", EMERGENCE, variant=UNTRAINED)),
        ("default:1 training", cell("default", "training", seed=1)),
        ("sep-emb-l1-6 figure-7", cell("sep-emb-l1-6", "figure-7")),
        (
            "monolingual:1 figure-7",
            cell("monolingual", "figure-7", seed=1),
        ),  # and not that of a language and its double
        ("monolingual:ela-oru:1 figure-7", cell("monolingual", "figure-7", seed=1)),
        ("default figure-5 parsing L3", cell("default", "figure-5", task="parsing", layer=3)),
        ("default vocabulary", cell("default", VOCABULARY, seed=None)),
    ],
)
def test_a_cell_is_called_by_words_in_any_order(name: str, meant: Cell, tmp_path: Path) -> None:
    found = named_artifact(name, study=STUDY, store=Store(tmp_path))
    assert isinstance(found, Stage)
    assert (found.title, found.digest) == (meant.stage.title, meant.stage.digest)


def test_without_a_word_of_what_is_measured_the_model_is_meant(tmp_path: Path) -> None:
    for name in ("default", "default:ela-oru:1", "default 1"):
        assert named_artifact(name, study=STUDY, store=Store(tmp_path)).kind == "pretrained-encoder"


def test_a_cell_that_is_not_there_is_told_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(IsoglotError) as told:
        named_artifact("default:7 nli", study=STUDY, store=Store(tmp_path))
    assert str(told.value).startswith("'default:7 nli' is none of tiny's ")
    assert "default:ela-oru:1 table-1 nli, " in str(told.value)
    with pytest.raises(IsoglotError, match=r"'default:7' is none of tiny's default:ela-oru:0, default:ela-oru:1$"):
        named_artifact("default:7", study=STUDY, store=Store(tmp_path))


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("sep-emb-l1-6 figure-7", "default:ela-oru:0 figure-7"),
        ("no-anchors:1 parsing", "default:ela-oru:1 table-1 parsing"),
        # Of models it is Default's first, so that "default:1" is told from it by the seed.
        ("default:1", "default"),
        ("no-anchors:1", "default"),
        ("monolingual:ela", "default"),
        ("fine-tuning-0123", "default"),
    ],
)
def test_a_cell_is_held_against_the_same_cell_of_default(name: str, same: str) -> None:
    assert same_of_default(name, study=STUDY) == same


def test_a_cell_that_default_has_not_needs_another_to_be_held_against() -> None:
    with pytest.raises(IsoglotError, match="nothing of its like in Default; say with what to compare it"):
        same_of_default("monolingual:ela-ela-prime figure-7", study=STUDY)


def test_a_condition_that_is_misspelled_is_guessed(tmp_path: Path) -> None:
    with pytest.raises(IsoglotError, match=r"; did you mean 'no-anchors'\?$"):
        named_artifact("no-anchor:1 nli", study=STUDY, store=Store(tmp_path))
