"""The health log: whole lines with the right numbers, through kills and resumes; the same for TensorBoard."""

import json
import math
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from isoglot.corpora.vocabulary import PAD
from isoglot.errors import IsoglotError
from isoglot.pretraining import health
from isoglot.pretraining.health import (
    EVENTS,
    HEALTH,
    SECONDS_OF_MEASURING,
    TENSORBOARD_VARIABLE,
    HealthLog,
    check_tensorboard,
    measured_matmul_peak,
    useful_operations_per_token,
)
from isoglot.pretraining.loop import untrained_model
from isoglot.pretraining.run import PretrainingRun, UpdateRecord
from isoglot.study.scales import EncoderShape, NormPlacement
from isoglot.study.separate import Separate
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


def log_in(folder: Path, *, processes: int = 1) -> HealthLog:
    return HealthLog(folder, run=RUN, table_sizes=SIZES, device=CPU, processes=processes)


def lines_in(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / HEALTH).read_text().splitlines()]


@pytest.fixture(autouse=True)
def _known_peak(monkeypatch: pytest.MonkeyPatch) -> None:
    """Known numbers, and no time spent on measuring."""
    monkeypatch.setattr(health, "measured_matmul_peak", lambda _: 1e9)


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


def test_what_is_no_number_becomes_none_and_remarks_stand_between_the_lines(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    log([record(update, skipped=True, en=math.nan, norm=math.nan) for update in range(1, 101)])
    log.remark("still at the unigram plateau")
    log(records(101, 200))
    first, remark, _ = lines_in(tmp_path)
    assert first["loss"] is first["gradient_norm"] is first["largest_gradient_norm"] is None
    assert (first["losses"], first["skipped"]) == ({}, 100)
    assert (remark["remark"], remark["update"]) == ("still at the unigram plateau", 100)


def test_a_line_is_due_after_a_hundred_updates_or_ten_seconds_and_has_the_speed_since_the_last(
    tmp_path: Path, time: list[float]
) -> None:
    """The first line's begins with the first news."""
    log, both = log_in(tmp_path), log_in(tmp_path / "both", processes=2)
    time[0] += 1000  # of getting ready
    for last in range(20, 301, 20):
        time[0] += 40.0 if last == 20 else 2.0 if last <= 200 else 1.0
        for each in (log, both):
            each(records(last - 19, last))
    assert [line["update"] for line in lines_in(tmp_path)] == [100, 200, 300]
    speeds = [line["tokens_per_second"] for line in lines_in(tmp_path)]
    assert speeds == pytest.approx([10 * TOKENS, 10 * TOKENS, 20 * TOKENS])
    operations = (useful_operations_per_token(RUN, table_size=40) + useful_operations_per_token(RUN, table_size=60)) / 2
    shares = [speed * operations / 1e9 for speed in speeds]
    assert [line["useful_mfu"] for line in lines_in(tmp_path)] == pytest.approx(shares)
    assert [line["useful_mfu"] for line in lines_in(tmp_path / "both")] == pytest.approx([it / 2 for it in shares])
    for last in (320, 340, 360):
        time[0] += 5
        log(records(last - 19, last))
    assert lines_in(tmp_path)[-1]["update"] == 340
    log([])
    log.close()
    assert [line["update"] for line in lines_in(tmp_path)] == [100, 200, 300, 340, 360]


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
    for length in range(len(first_line), len(whole), 25):
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
    monkeypatch.setenv(TENSORBOARD_VARIABLE, "1")


@pytest.mark.usefixtures("tensorboard")
def test_tensorboard_reads_the_numbers_of_the_lines_and_updates_done_again_once(
    tmp_path: Path, time: list[float]
) -> None:
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
    again = log_in(tmp_path)
    again([record(update, en=1.0) for update in range(151, 251)])
    again.close()
    assert [step for step, _ in events_in(tmp_path)["loss"]] == [100, 250]


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


def test_tensorboard_is_wanted_or_not_and_named_if_it_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TENSORBOARD_VARIABLE, "yes")
    with pytest.raises(IsoglotError, match="ISOGLOT_TENSORBOARD='yes' says neither yes nor no; set it to 1"):
        log_in(tmp_path)
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    for name in [name for name in sys.modules if name.startswith("torch.utils.tensorboard")]:
        monkeypatch.delitem(sys.modules, name)
    for value in ("", "0"):
        monkeypatch.setenv(TENSORBOARD_VARIABLE, value)
        check_tensorboard()
        log_in(tmp_path)(records(1, 100))
        assert not (tmp_path / EVENTS).exists()
    monkeypatch.setenv(TENSORBOARD_VARIABLE, "1")
    for refuse in (check_tensorboard, lambda: log_in(tmp_path)):
        with pytest.raises(IsoglotError, match=r"pip install tensorboard"):
            refuse()


def counted_operations(run: PretrainingRun, *, table_size: int) -> int:
    """Operations of a forward and a backward pass over one batch, as torch counts them."""
    model = untrained_model(run, table_sizes={"en": table_size, "fr": table_size})
    token_BL = torch.randint(PAD + 1, table_size, (run.batch, run.window))
    num_masked = run.batch * run.mask_rate * (run.window - 1)
    masked_M = torch.randperm(token_BL.numel())[: int(num_masked)]
    assert len(masked_M) == num_masked
    # The plain kernel, as others compute attention's scores twice, and are counted so.
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        logits_MV = model.masked_logits(token_BL, masked_M=masked_M, language="fr")
        F.cross_entropy(logits_MV, token_BL.flatten()[masked_M]).backward()  # type: ignore[no-untyped-call]
    return counter.get_total_flops()


@pytest.mark.parametrize(
    ("shape", "window", "batch", "mask_rate", "table_size"),
    [
        (EncoderShape(layers=3, width=24, heads=4, feed_forward=96, norm=NormPlacement.PRE), 17, 5, 0.25, 301),
        (EncoderShape(layers=2, width=64, heads=2, feed_forward=32, dropout=0.0), 65, 4, 0.125, 1000),
    ],
    ids=["pre-norm", "long windows"],
)
@pytest.mark.parametrize("separate", [Separate(), Separate(embeddings=True, layers=frozenset({1}))], ids=str)
def test_operations_are_those_of_a_real_pass(
    shape: EncoderShape, window: int, batch: int, mask_rate: float, table_size: int, separate: Separate
) -> None:
    run = replace(tiny_run(window=window, batch=batch, mask_rate=mask_rate, separate=separate), shape=shape)
    expected = counted_operations(run, table_size=table_size) / (batch * window)
    assert useful_operations_per_token(run, table_size=table_size) == pytest.approx(expected, rel=1e-12)


def test_a_process_that_is_stopped_while_the_peak_is_measured_still_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = count(0.0, 2 * SECONDS_OF_MEASURING)
    monkeypatch.setattr(health, "perf_counter", lambda: next(clock))
    assert measured_matmul_peak(CPU) > 0


@pytest.mark.gpu
def test_a_gpu_has_a_peak_of_operations_and_of_memory(tmp_path: Path) -> None:
    assert measured_matmul_peak(torch.device("cuda")) > 10 * measured_matmul_peak(CPU)
    log = HealthLog(tmp_path, run=RUN, table_sizes=SIZES, device=torch.device("cuda"))
    log(records(1, 100))
    assert lines_in(tmp_path)[0]["peak_memory_bytes"] >= 2 * 8192**2
