"""Settings that were written as JSON come back as they were, of the same types."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from study_texts import TINY_STUDY

from isoglot.errors import IsoglotError
from isoglot.report.provenance import Provenance, provenance
from isoglot.report.report_files import asked_in, read_as
from isoglot.report.study_settings import study_settings
from isoglot.store import Store
from isoglot.study.scales import SCALES, Scale
from isoglot.study.searches import NewVectors, Subwords
from isoglot.study.study import Study, builtin_study_names, parse_study, read_study
from isoglot.study.toml_tables import FileKey

STUDY = parse_study(TINY_STUDY, origin="tiny.toml")
PLACE = FileKey(file="some.json")
ODD = replace(
    SCALES["small"],
    alignment=replace(
        SCALES["small"].alignment,
        new_vectors=NewVectors.ROTATED,
        subwords=Subwords.MEAN,
        aligner=("my aligner", "-v"),
        has_fasttext=False,
    ),
)


@pytest.mark.parametrize("scale", [*SCALES.values(), STUDY.scale, ODD], ids=lambda scale: scale.name)
def test_every_scale_comes_back(scale: Scale) -> None:
    written = json.dumps(study_settings(replace(STUDY, scale=scale))["scale"])
    assert read_as(Scale, json.loads(written), place=PLACE) == scale


@pytest.mark.parametrize("study", [STUDY, *map(read_study, builtin_study_names())], ids=lambda study: study.name)
def test_what_a_study_asked_is_known_from_its_provenance(study: Study, tmp_path: Path) -> None:
    told = provenance(study, Store(tmp_path))
    read = read_as(Provenance, json.loads(told.json_text()), place=PLACE)
    assert read == told
    asked = asked_in(read)
    assert (asked.name, asked.languages, asked.conditions) == (study.name, study.languages, study.conditions)
    assert (asked.exhibits, asked.seeds, asked.scale) == (study.exhibits, study.seeds, study.scale)
    assert asked.is_made_up


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (int, 1.0, "should be a whole number, not 1.0"),
        (int, True, "should be a whole number, not True"),
        (float, "1", "should be a number, not '1'"),
        (str | None, 3, "should be a string, not 3"),
        (tuple[str, ...], "ab", "should be a list, not 'ab'"),
        (tuple[str, str], ["a"], "should have 2 entries, not 1"),
        (tuple[int, ...], [1, "b"], "some.json: 1: should be a whole number, not 'b'"),
        (dict[str, int], {"a": None}, "some.json: a: should be a whole number, not None"),
        (Subwords, "last", "'last' is not one of 'first', 'mean'"),
    ],
)
def test_values_of_other_kinds_are_refused(kind: object, value: object, message: str) -> None:
    with pytest.raises(IsoglotError, match=message):
        read_as(kind, value, place=PLACE)


def test_a_whole_number_stays_one_where_any_number_may_be() -> None:
    assert repr(read_as(float, 40, place=PLACE)) == "40"
    assert read_as(frozenset[int], [3, 1], place=PLACE) == frozenset((1, 3))
