"""The files beside a report, read back as they were written."""

import json
from pathlib import Path

import pytest

from isoglot.errors import IsoglotError
from isoglot.report.report_files import MEASUREMENTS, PROVENANCE, read_report
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
