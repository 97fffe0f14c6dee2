import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from isoglot.store import Stage, Work
from isoglot.store.store import ignore_progress
from tests.store.toy_stages import Count, Joined, Text

ONE, TWO = Text(word="one"), Text(word="two")


def test_inputs_are_named_by_field_and_place() -> None:
    assert Joined(texts=(ONE, TWO)).inputs == {"texts.0": ONE, "texts.1": TWO}
    assert Joined(texts={"fr": ONE, "en": TWO}).inputs == {"texts.fr": ONE, "texts.en": TWO}
    assert Count(joined=Joined(texts=(ONE,))).inputs == {"joined": Joined(texts=(ONE,))}
    assert Joined(texts=(ONE,), separator="-").settings == {"separator": "-"}


def test_digest_follows_settings_inputs_and_version_alone() -> None:
    joined = Joined(texts={"fr": ONE, "en": TWO})
    same = Joined(texts={"en": replace(TWO, log=Path("log")), "fr": ONE}, separator=" ")
    others = [
        Joined(texts={"fr": TWO, "en": ONE}),
        Joined(texts=(ONE, TWO)),
        Joined(texts={"fr": ONE, "en": replace(TWO, lines=3)}),
        replace(joined, separator="-"),
        NewerJoined(texts=joined.texts),
    ]
    assert same.digest == joined.digest
    assert len({stage.digest for stage in [joined, *others]}) == 1 + len(others)


@dataclass(frozen=True, kw_only=True)
class NewerJoined(Joined):
    kind = Joined.kind
    version = Joined.version + 1


def test_a_stage_may_not_hide_in_settings() -> None:
    mixed: Any = (ONE, "two")
    nested: Any = {"fr": {"train": ONE}}
    for texts in (mixed, nested):
        with pytest.raises(TypeError, match=r"Joined\.texts\.\w+.* holds a stage"):
            _ = Joined(texts=texts).digest


def test_only_inputs_have_a_path() -> None:
    inputs = {ONE.digest: Path("one")}
    work = Work(folder=Path(), input_folders=inputs, progress=ignore_progress, log_folder=Path())
    assert work.path(replace(ONE)) == Path("one")
    with pytest.raises(ValueError, match=r"text of two .* is no input"):
        work.path(TWO)


# Their digest could be that of another artifact.
class Undecorated(Text):
    kind = "undecorated"


@dataclass(frozen=True, kw_only=True)
class Inherited(Text):
    pass


@dataclass(frozen=True, kw_only=True)
class Shouting(Text):
    kind = "Loud/Text"


@dataclass(frozen=True, kw_only=True)
class FieldForVersion(Text):
    kind = "field-for-version"
    version: int = 2  # type: ignore[misc]


@dataclass(frozen=True, kw_only=True)
class FieldForLeaves(Text):
    kind = "field-for-leaves"
    leaves: tuple[str, ...] = ()  # type: ignore[misc]


@pytest.mark.parametrize("stage", [Undecorated, Inherited, Shouting, FieldForVersion, FieldForLeaves])
def test_classes_whose_digest_could_lie_are_refused(stage: type[Text]) -> None:
    with pytest.raises(TypeError, match=stage.__name__):
        _ = stage().digest


def test_mapping_and_tuple_of_no_stages_are_settings() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Empty(Stage):
        kind = "empty"
        texts: tuple[Text, ...] = ()
        by_language: Mapping[str, Text | None]

        def make(self, work: Work) -> None: ...

    assert Empty(by_language={}).settings == {"texts": [], "by_language": {}}
    assert Empty(by_language={}).inputs == {}


def test_importing_the_package_is_cheap() -> None:
    code = "import sys, isoglot.store; print(*sys.modules)"
    loaded = set(subprocess.check_output([sys.executable, "-c", code], text=True).split())
    assert loaded.isdisjoint({"torch", "numpy", "subprocess", "importlib.metadata", "statistics"})
