"""Remarks of a training that still hold when its report is written."""

import json
from pathlib import Path

import pytest
import torch

from isoglot.pretraining.health import HealthLog
from isoglot.pretraining.loss_watch import BlindLosses, Plateau
from isoglot.pretraining.run import UpdateRecord
from isoglot.report.state import last_remark
from tests.pretraining.tiny_runs import tiny_run

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


def test_what_training_remarks_is_read_again_until_it_is_taken_back(tmp_path: Path) -> None:
    run = tiny_run(updates=4000)
    blind = BlindLosses(uniform=9.0, unigram=7.0, unigram_or_kept=6.5)
    plateau = Plateau({"en": blind}, run=run)
    health = HealthLog(tmp_path, run=run, table_sizes={"en": 40}, device=torch.device("cpu"))
    for first, loss in ((1, 7.0), (2001, 3.0)):
        records = [
            UpdateRecord(update=update, losses={"en": loss}, gradient_norm=1.0, learning_rate=1e-3, skipped=False)
            for update in range(first, first + 2000)
        ]
        health(records)
        health.remark(str(plateau.warning_for(records)))
        if first == 1:
            assert "still at the unigram plateau" in str(last_remark(tmp_path))
    assert last_remark(tmp_path) is None
