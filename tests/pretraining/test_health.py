"""The health log: whole lines with the right numbers, through kills and resumes; and the same for TensorBoard."""

import json
import math
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest
import torch

from isoglot.errors import IsoglotError
from isoglot.pretraining import health
from isoglot.pretraining.health import HEALTH, HealthLog, measured_matmul_peak, useful_operations_per_token
from isoglot.pretraining.run import UpdateRecord
from isoglot.pretraining.tensorboard import EVENTS, VARIABLE
from tests.pretraining.tiny_runs import tiny_run

RUN = tiny_run()
TOKENS = RUN.batch * RUN.window
SIZES = {"en": 40, "fr": 60}
CPU = torch.device("cpu")


def record(update: int, *, skipped: bool = False, norm: float = 1.0, **losses: float) -> UpdateRecord:
    return UpdateRecord(
        update=update, losses=losses or {"en": 5.0}, gradient_norm=norm, learning_rate=update / 1000, skipped=skipped
    )


def records(first: int, last: int) -> list[UpdateRecord]:
    return [record(update) for update in range(first, last + 1)]


def log_in(folder: Path | None, *, processes: int = 1) -> HealthLog:
    return HealthLog(folder, run=RUN, table_sizes=SIZES, device=CPU, processes=processes)


def lines_in(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / HEALTH).read_text().splitlines()]


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """A clock that a test sets."""
    now = [100.0]
    monkeypatch.setattr(health, "monotonic", lambda: now[0])
    return now


def test_a_line_says_what_its_updates_came_to(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    log(
        [
            record(5, en=4.0, norm=0.5),
            record(6, en=5.0, fr=8.0, norm=1.5),
            record(7, skipped=True, en=math.nan, norm=math.inf),
            record(8, skipped=True, en=90.0, norm=7.0),
            record(9, fr=7.0, norm=1.0),
        ]
    )
    assert not (tmp_path / HEALTH).exists(), "nothing is due"
    log.close()
    (line,) = lines_in(tmp_path)
    time = datetime.fromisoformat(line.pop("time"))
    assert abs(time - datetime.now(UTC)) < timedelta(minutes=1)
    assert line == {
        "attempt": 1,
        "update": 9,
        "tokens": 9 * TOKENS,
        "loss": (4.0 + 6.5 + 7.0) / 3,
        "losses": {"en": 4.5, "fr": 7.5},
        "gradient_norm": 1.0,
        "largest_gradient_norm": 7.0,
        "learning_rate": 0.009,
        "tokens_per_second": None,
        "useful_mfu": None,
        "skipped": 2,
        "peak_memory_bytes": None,
    }


def test_no_line_has_what_json_has_not(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    log([record(1, skipped=True, en=math.nan, norm=math.nan)])
    log.close()
    (line,) = lines_in(tmp_path)
    assert line["loss"] is line["gradient_norm"] is line["largest_gradient_norm"] is None
    assert (line["losses"], line["skipped"]) == ({}, 1)
    assert "NaN" not in (tmp_path / HEALTH).read_text()


def test_a_line_is_due_after_a_hundred_updates_or_ten_seconds(tmp_path: Path, time: list[float]) -> None:
    log = log_in(tmp_path)
    time[0] += 1000  # of getting ready
    for last in range(20, 201, 20):
        log(records(last - 19, last))
        time[0] += 0.1
    assert [line["update"] for line in lines_in(tmp_path)] == [100, 200]
    for last in (220, 240, 260):
        time[0] += 5
        log(records(last - 19, last))
    assert [line["update"] for line in lines_in(tmp_path)] == [100, 200, 240]
    log([])
    log.close()
    assert [line["update"] for line in lines_in(tmp_path)] == [100, 200, 240, 260]


def test_means_are_since_the_last_line(tmp_path: Path, time: list[float]) -> None:
    log = log_in(tmp_path)
    for update in range(1, 201):
        log([record(update, en=float(update > 100))])
        time[0] += 0.01
    assert [line["losses"] for line in lines_in(tmp_path)] == [{"en": 0.0}, {"en": 1.0}]


def test_speed_is_that_of_updates_since_the_last_line(tmp_path: Path, time: list[float]) -> None:
    """The first line's begins with the first news."""
    log, both = log_in(tmp_path), log_in(tmp_path / "both", processes=2)
    for last in range(20, 301, 20):
        time[0] += 40.0 if last == 20 else 2.0 if last <= 200 else 1.0
        for each in (log, both):
            each(records(last - 19, last))
    speeds = [line["tokens_per_second"] for line in lines_in(tmp_path)]
    assert speeds == pytest.approx([10 * TOKENS, 10 * TOKENS, 20 * TOKENS])
    operations = (useful_operations_per_token(RUN, table_size=40) + useful_operations_per_token(RUN, table_size=60)) / 2
    shares = [speed * operations / measured_matmul_peak(CPU) for speed in speeds]
    assert [line["useful_mfu"] for line in lines_in(tmp_path)] == pytest.approx(shares)
    assert [line["useful_mfu"] for line in lines_in(tmp_path / "both")] == pytest.approx([it / 2 for it in shares])


def test_a_run_that_goes_on_appends_under_its_own_number(tmp_path: Path) -> None:
    for first, last in ((1, 250), (201, 300), (301, 350)):
        log = log_in(tmp_path / "logs" / "of a run")
        for update in range(first, last + 1):
            log([record(update)])
        if last != 250:  # the first is killed
            log.close()
    lines = lines_in(tmp_path / "logs" / "of a run")
    assert [(line["attempt"], line["update"]) for line in lines] == [(1, 100), (1, 200), (2, 300), (3, 350)]


def test_a_line_that_was_torn_by_a_kill_is_cut_off(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    log(records(1, 100))
    log(records(101, 200))
    whole = (tmp_path / HEALTH).read_bytes()
    first_line = whole[: whole.index(b"\n") + 1]
    for length in range(len(first_line), len(whole)):
        (tmp_path / HEALTH).write_bytes(whole[:length])
        assert log_in(tmp_path).attempt == 2
        assert (tmp_path / HEALTH).read_bytes() == first_line
    # A power cut may leave zeros in the place of what was written last.
    (tmp_path / HEALTH).write_bytes(first_line + b"\0" * 100)
    log = log_in(tmp_path)
    log(records(101, 200))
    assert [(line["attempt"], line["update"]) for line in lines_in(tmp_path)] == [(1, 100), (2, 200)]
    (tmp_path / HEALTH).write_bytes(whole)
    assert log_in(tmp_path).attempt == 2
    assert (tmp_path / HEALTH).read_bytes() == whole


def test_remarks_stand_between_the_lines(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    log(records(1, 100))
    log.remark("still at the unigram plateau")
    log(records(101, 200))
    assert [line.get("remark") for line in lines_in(tmp_path)] == [None, "still at the unigram plateau", None]
    assert [line["update"] for line in lines_in(tmp_path)] == [100, 100, 200]


def test_without_a_folder_nothing_is_written_or_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(VARIABLE, "1")
    monkeypatch.setattr(health, "measured_matmul_peak", None)
    log = log_in(None)
    log(records(1, 300))
    log.remark("something")
    log.close()
    assert list(tmp_path.iterdir()) == []


def events_in(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Every scalar as TensorBoard itself reads it."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    accumulator = EventAccumulator(str(folder / EVENTS))
    accumulator.Reload()
    return {
        tag: [(event.step, event.value) for event in accumulator.Scalars(tag)] for tag in accumulator.Tags()["scalars"]
    }


@pytest.fixture
def tensorboard(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tensorboard")
    monkeypatch.setenv(VARIABLE, "1")


@pytest.mark.usefixtures("tensorboard")
def test_tensorboard_reads_the_numbers_of_the_lines(tmp_path: Path, time: list[float]) -> None:
    log = log_in(tmp_path)
    numbers = count(1)
    for last in range(20, 301, 20):
        time[0] += 1
        log([record(update, en=next(numbers) / 10, fr=3.0) for update in range(last - 19, last + 1)])
    events = events_in(tmp_path)
    flat = [
        {**line, **{f"losses/{name}": loss for name, loss in line["losses"].items()}} for line in lines_in(tmp_path)
    ]
    names = {name for line in flat for name in line if isinstance(line[name], int | float)} - {"attempt", "update"}
    assert events.keys() == names >= {"loss", "losses/en", "losses/fr", "useful_mfu", "tokens_per_second", "skipped"}
    for name in names:
        assert events[name] == [(line["update"], pytest.approx(line[name], rel=1e-6)) for line in flat]


@pytest.mark.usefixtures("tensorboard")
def test_tensorboard_shows_updates_that_were_done_again_once(tmp_path: Path) -> None:
    killed = log_in(tmp_path)
    for first in (1, 101, 201):
        killed(records(first, first + 99))
    again = log_in(tmp_path)
    again([record(update, en=1.0) for update in range(151, 251)])
    again.close()
    assert events_in(tmp_path)["loss"] == [(100, 5.0), (250, 1.0)]


@pytest.mark.usefixtures("tensorboard")
def test_a_missing_tensorboard_is_named_before_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    for name in [name for name in sys.modules if name.startswith("torch.utils.tensorboard")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(IsoglotError, match=r"pip install 'isoglot\[tensorboard\]'"):
        log_in(tmp_path)


@pytest.mark.parametrize(("value", "is_there"), [("", False), ("0", False), ("1", True), ("yes", None)])
def test_tensorboard_is_asked_for_by_one(
    value: str, is_there: bool | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, value)
    if is_there is None:
        with pytest.raises(IsoglotError, match="ISOGLOT_TENSORBOARD='yes' says neither yes nor no; set it to 1"):
            log_in(tmp_path)
        return
    pytest.importorskip("tensorboard")
    log = log_in(tmp_path)
    log(records(1, 100))
    assert (tmp_path / EVENTS).exists() == is_there


@pytest.mark.gpu
def test_a_gpu_tells_its_peak_memory(tmp_path: Path) -> None:
    torch.empty(1 << 20, device="cuda")
    log = HealthLog(tmp_path, run=RUN, table_sizes=SIZES, device=torch.device("cuda"))
    log(records(1, 100))
    assert lines_in(tmp_path)[0]["peak_memory_bytes"] >= 1 << 22


def test_processes_that_were_started_again_begin_another_attempt(tmp_path: Path, time: list[float]) -> None:
    log = log_in(tmp_path, processes=2)
    log([*records(1, 59), record(60, skipped=True)])
    time[0] += 3
    log(records(31, 50))
    time[0] += 4
    log(records(51, 70))
    log.close()
    first, second = lines_in(tmp_path)
    assert (first["attempt"], first["update"], first["skipped"]) == (1, 60, 1)
    assert (second["attempt"], second["update"], second["skipped"]) == (2, 70, 0)
    assert second["tokens_per_second"] == pytest.approx(20 * TOKENS / 4)
