"""Models by name: what a person may write, and what they are told otherwise."""

from pathlib import Path
from textwrap import dedent

import pytest
from commands import Workplace
from study_texts import TINY_STUDY

from isoglot.errors import IsoglotError
from isoglot.pipeline.model_names import named_side
from isoglot.pipeline.model_pairs import Side
from isoglot.store import Store


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
