"""Remarks of a training that still hold when its report is written."""

import json
from pathlib import Path

import pytest

from isoglot.pretraining import health
from isoglot.report import logs
from isoglot.report.logs import last_remark

STUCK, FREE = "still at the unigram plateau after 2,000 updates", "left the unigram plateau at update 2,100"


def write(folder: Path, *lines: dict) -> Path:
    (folder / "health.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param([], None, id="empty"),
        pytest.param([{"attempt": 1, "update": 100}], None, id="nothing to remark"),
        pytest.param([{"attempt": 1, "remark": STUCK}, {"attempt": 1, "update": 9}], STUCK, id="stuck"),
        pytest.param([{"attempt": 1, "remark": STUCK}, {"attempt": 1, "remark": FREE}], None, id="free again"),
        pytest.param([{"attempt": 1, "remark": STUCK}, {"attempt": 2, "update": 9}], None, id="of an earlier attempt"),
    ],
)
def test_the_last_remark_of_the_latest_attempt_counts(tmp_path: Path, lines: list[dict], expected: str | None) -> None:
    assert last_remark(write(tmp_path, *lines)) == expected


def test_a_torn_or_missing_log_has_none(tmp_path: Path) -> None:
    assert last_remark(tmp_path) is None
    (tmp_path / "health.jsonl").write_text('{"attempt": 1, "remark": "st')
    assert last_remark(tmp_path) is None


def test_it_is_the_file_that_training_writes() -> None:
    assert logs.HEALTH == health.HEALTH
