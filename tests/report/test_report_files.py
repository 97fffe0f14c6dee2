"""The files beside a report, read back as they were written, and the study that they describe."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import TypeAdapter
from study_texts import TINY_STUDY

from isoglot.errors import IsoglotError
from isoglot.report.provenance import Provenance, provenance
from isoglot.report.report_files import MEASUREMENTS, PROVENANCE, described_study, read_report
from isoglot.report.state import last_remark
from isoglot.store import Store
from isoglot.study.study_file import builtin_study_names, parse_study, read_study
from tests.report.made_up_measurements import measured, transferred

FOUND = [*transferred("default", {"ela": 90.0, "oru": 50.0}), *measured("default", [1.0, 2.0])]


def write(folder: Path, *, extra: str = "") -> Path:
    (folder / MEASUREMENTS).write_text("".join(each.json_line() + "\n" for each in FOUND) + extra, encoding="utf-8")
    return folder


def test_measurements_come_back_as_they_were(tmp_path: Path) -> None:
    content = read_report(write(tmp_path))
    assert content.measurements == FOUND
    assert content.provenance == {}
    (tmp_path / PROVENANCE).write_text('{"study": "mine"}', encoding="utf-8")
    assert read_report(str(tmp_path)).provenance == {"study": "mine"}


def test_reports_of_other_versions_are_read(tmp_path: Path) -> None:
    line = json.loads(FOUND[0].json_line())
    del line["update"]
    line["a_field_of_later"] = 7
    assert read_report(write(tmp_path, extra="\n" + json.dumps(line) + "\n")).measurements == [*FOUND, FOUND[0]]


@pytest.mark.parametrize("line", ["{", "7", '{"languages": ["en"]}', '{"languages": ["en", "fr"]}', '{"value": 3}'])
def test_a_broken_line_is_named(tmp_path: Path, line: str) -> None:
    with pytest.raises(IsoglotError, match=rf"{MEASUREMENTS}:5: not a measurement"):
        read_report(write(tmp_path, extra=line))


def test_what_is_no_report_is_named(tmp_path: Path) -> None:
    with pytest.raises(IsoglotError, match=rf"{tmp_path.name}: no {MEASUREMENTS} in it"):
        read_report(tmp_path)
    write(tmp_path)
    for broken in ("{", "[]"):
        (tmp_path / PROVENANCE).write_text(broken, encoding="utf-8")
        with pytest.raises(IsoglotError, match=PROVENANCE):
            read_report(tmp_path)


STUCK = '{"attempt": 1, "remark": "still at the unigram plateau after 2,000 updates"}\n'


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        pytest.param("", None, id="empty"),
        pytest.param('{"attempt": 1, "update": 100}\n', None, id="nothing to remark"),
        pytest.param(STUCK + '{"attempt": 1, "update": 9}\n', json.loads(STUCK)["remark"], id="stuck"),
        pytest.param(STUCK + '{"attempt": 1, "remark": "left the unigram plateau"}\n', None, id="free again"),
        pytest.param(STUCK + '{"attempt": 2, "update": 9}\n', None, id="of an earlier attempt"),
        pytest.param('{"attempt": 1, "remark": "st', None, id="torn"),
    ],
)
def test_the_last_remark_of_the_latest_attempt_counts(tmp_path: Path, log: str, expected: str | None) -> None:
    assert last_remark(tmp_path) is None
    (tmp_path / "health.jsonl").write_text(log)
    assert last_remark(tmp_path) == expected


@pytest.mark.parametrize("name", ["tiny", *builtin_study_names()])
def test_a_provenance_describes_the_study_it_was_made_of(name: str, tmp_path: Path) -> None:
    study = parse_study(TINY_STUDY, origin="tiny.toml") if name == "tiny" else read_study(name)
    written = provenance(study, Store(tmp_path)).json_text()
    read = TypeAdapter(Provenance).validate_json(written, strict=True)
    assert read.json_text() == written
    assert described_study(read) == replace(study, origin=read.origin)
