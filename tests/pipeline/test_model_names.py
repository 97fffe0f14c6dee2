"""Names of models and cells: what a person may write, and the errors otherwise."""

import re
from dataclasses import replace
from pathlib import Path

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
from isoglot.study.study_file import parse_study


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
    assert side("tiny.toml:default:untrained", finished, language="ela").encoder.kind == "untrained-encoder"
    with pytest.raises(IsoglotError, match="the name says oru, and ela is to be read; leave oru out"):
        side("tiny.toml:default:oru", finished, language="ela")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tiny.toml", "names no model; write a model as STUDY:CONDITION:LANGUAGE"),
        ("tiny.toml:sep-em:oru", "'sep-em' is no condition; tiny has default, no-anchors, sep-emb-l1-6, monolingual"),
        ("tiny.toml:sep-emb:oru", "make it with: isoglot run"),
        ("tiny.toml:default:ela-prime", "second model is trained alone (monolingual) or with the first under"),
        ("tiny.toml:default", "name one language, ela or oru"),
        ("tiny.toml:default:ela:oru", "name one language, ela or oru"),
        ("tiny.toml:default:ela:0:1", "names the seeds 0 and 1; leave one of them"),
        ("tiny.toml:default:fr", "'fr' is no language, pair or seed of tiny (ela, oru, ela-oru)"),
        ("tiny.toml:default:oru:7", "this model is not in"),
        ("tiny.toml:monolingual:oru", "make it with: isoglot run"),
    ],
)
def test_a_name_of_no_model_is_an_error(name: str, message: str, finished: Workplace) -> None:
    with pytest.raises(IsoglotError, match=re.escape(message)):
        side(name, finished)


def error_for_a_missing_model(name: str, *, folder: Path) -> str:
    with pytest.raises(IsoglotError) as raised:
        named_side(f"{folder}/tiny.toml:{name}", store=Store(folder / "nowhere"))
    return str(raised.value)


def test_the_error_for_a_missing_model_has_a_command_that_makes_it(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(TINY_STUDY)
    for name, words in {
        "monolingual:oru": "--exhibits figure-7 --seeds 0",
        "sep-emb:ela-prime": "--exhibits figure-7 --seeds 0",
        "extra-anchors:oru:1": "--exhibits emergence --conditions extra-anchors --seeds 1",
    }.items():
        assert error_for_a_missing_model(name, folder=tmp_path).endswith(words)


def test_that_command_has_no_exhibit_that_the_study_narrows_away(tmp_path: Path) -> None:
    def text(*seed_0_only: str) -> str:
        tables = "".join(f"[only.{name}]\nseeds = [0]\n" for name in seed_0_only)
        exhibits = ", ".join(f'"{name}"' for name in {"emergence": 0, **dict.fromkeys(seed_0_only)})
        study = TINY_STUDY.replace('"emergence", "table-1"', exhibits)
        return study.replace("[change]", f'{tables}[only.emergence]\nconditions = ["default"]\nseeds = [0]\n[change]')

    (tmp_path / "tiny.toml").write_text(text("table-1"))
    for name, words in {
        "default:oru": "--exhibits emergence --conditions default --seeds 0",
        "sep-emb:oru": "--exhibits table-1 --conditions sep-emb --seeds 0",
        "default:oru:1": "--exhibits growth --conditions default --seeds 1",
    }.items():
        assert error_for_a_missing_model(name, folder=tmp_path).endswith(words)
    (tmp_path / "tiny.toml").write_text(text("table-1", "growth", "figure-6", "figure-7"))
    for name, words in {
        "default:oru:1": "does not ask for it: the tables [only] in it leave it out",
        "monolingual:oru:1": "--exhibits figure-4 --seeds 1",
        "monolingual:ela-prime:1": "leave it out",
    }.items():
        assert error_for_a_missing_model(name, folder=tmp_path).endswith(words)


STUDY = replace(
    parse_study(TINY_STUDY, origin="tiny.toml"),
    exhibits=("table-1", "baselines", "emergence", "growth", "figure-5", "figure-7"),
    tasks=("nli", "parsing"),
)
CELLS = cells(STUDY)


def cell(condition: str, exhibit: str, *, layer: int = 0, seed: int | None = 0, **fields: str) -> Cell:
    place = {"task": None, "variant": None, "languages": ("ela", "oru"), **fields}
    place |= {"condition": condition, "exhibit": exhibit, "seed": seed}
    (only,) = (
        each
        for each in CELLS
        if vars(each) | place == vars(each)
        and (not isinstance(each.stage, LayerTransfer) or each.stage.heads[0].layer == layer)
    )
    return only


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("default nli", cell("default", TABLE_1, task="nli")),
        ("  no-anchors:1  parsing ", cell("no-anchors", TABLE_1, seed=1, task="parsing")),
        ("no-anchors table-1 parsing 1", cell("no-anchors", TABLE_1, seed=1, task="parsing")),
        # A model that was never pretrained is meant only where the name has it.
        ("default nli untrained", cell("default", BASELINES, task="nli", variant=UNTRAINED)),
        ("default baselines nli", cell("default", BASELINES, task="nli", variant=UNTRAINED)),
        ("default emergence", cell("default", EMERGENCE)),
        ("default emergence untrained", cell("default", EMERGENCE, variant=UNTRAINED)),
        ("default:1 growth", cell("default", "growth", seed=1)),
        ("sep-emb-l1-6 figure-7", cell("sep-emb-l1-6", "figure-7")),
        # And not the cell of a language and its second model.
        ("monolingual:1 figure-7", cell("monolingual", "figure-7", seed=1)),
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


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("default:7 nli", r"^'default:7 nli' is none of tiny's .*default:ela-oru:1 table-1 nli, "),
        ("default:7", r"'default:7' is none of tiny's default:ela-oru:0, default:ela-oru:1$"),
        ("default:7 vocabulary", r"^'default:7 vocabulary' is none of tiny's "),
        ("default figure-4", r"'default figure-4': figure-4 is no exhibit of tiny, which has .*table-1"),
        ("no-anchor:1 nli", r"; did you mean 'no-anchors'\?$"),
    ],
)
def test_an_error_lists_what_could_be_meant(name: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(IsoglotError, match=message):
        named_artifact(name, study=STUDY, store=Store(tmp_path))


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("sep-emb-l1-6 figure-7", "default:ela-oru:0 figure-7"),
        ("no-anchors:1 parsing", "default:ela-oru:1 table-1 parsing"),
        # For a model it is Default's first, so that "default:1" differs from it by the seed.
        ("default:1", "default"),
        ("no-anchors:1", "default"),
        ("monolingual:ela", "default"),
        ("fine-tuning-0123", "default"),
    ],
)
def test_a_cell_is_compared_with_the_same_cell_of_default(name: str, same: str) -> None:
    assert same_of_default(name, study=STUDY) == same


def test_a_cell_that_default_lacks_has_nothing_to_be_compared_with() -> None:
    with pytest.raises(IsoglotError, match="nothing of its like in Default; say with what to compare it"):
        same_of_default("monolingual:ela-ela-prime figure-7", study=STUDY)
