"""Costs as people read them."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from study_texts import TINY_STUDY

from isoglot.artifacts import Store, plan
from isoglot.exhibits import targets
from isoglot.pretraining.free_memory import FreeMemory
from isoglot.pretraining.micro_batch import MICRO_BATCH_VARIABLE
from isoglot.report.cost_table import cost_lines, told_costs
from isoglot.report.model_costs import DiskNeed, ModelCost, model_costs
from isoglot.study import parse_study

Costs = tuple[list[ModelCost], DiskNeed]


@pytest.fixture
def costs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Costs:
    monkeypatch.delenv(MICRO_BATCH_VARIABLE, raising=False)
    store = Store(tmp_path)
    planned = plan(targets(parse_study(TINY_STUDY, origin="tiny.toml")), store)
    found = model_costs(planned, store, free=FreeMemory(device="cpu", free_bytes=10**9))
    return found, replace(DiskNeed.of(planned, store, costs=found), free_bytes=10**9)


def printed(costs: Costs) -> list[str]:
    console = Console(width=240)
    with console.capture() as capture:
        for part in told_costs(*costs):
            console.print(part)
    return [line.rstrip() for line in capture.get().splitlines()]


def test_a_table_has_a_row_for_each_size(costs: Costs) -> None:
    header, shared, separate, total = printed(costs)
    assert header.split()[:3] == ["Models", "Conditions", "Subwords"]
    assert "Time" not in header
    cells = re.split(r" {2,}", shared.strip())
    assert cells[:7] == ["4", "default, no-anchors", "about 334", "16k", "10k", "80", "8 of 8 windows"]
    assert re.split(r" {2,}", separate.strip())[:3] == ["2", "sep-emb-l1-6", "about 174+174"]
    assert re.fullmatch(r"6 models: \d\.\d MB on disk, \d+ kB more while one is made", total)


def test_time_comes_with_a_calibration(costs: Costs) -> None:
    (shared, separate), need = costs
    timed = [replace(shared, tokens_per_second=100.0), separate]
    header, first, second, total = printed((timed, need))
    assert header.endswith("Time here")
    assert first.endswith("102 s (100 tokens/s)")
    assert second.endswith("B")
    assert total.endswith("about 7 min of pretraining here")


def test_one_line_before_a_run(costs: Costs) -> None:
    (line,) = cost_lines(*costs)
    assert re.fullmatch(
        r"  6 models of 16k to 24k parameters, 10k tokens each: \d\.\d MB of memory at most, \d\.\d MB on disk", line
    )
    one = replace(costs[0][0], encoders=costs[0][0].encoders[:1])
    (line,) = cost_lines([one], costs[1])
    assert line.startswith("  1 model of 16k parameters, 10k tokens each: ")


def test_nothing_is_told_of_nothing(costs: Costs) -> None:
    assert list(cost_lines([], costs[1])) == list(told_costs([], costs[1])) == []


def test_too_little_memory_or_disk_is_told_in_both(costs: Costs) -> None:
    (shared, separate), need = costs
    short = replace(need, free_bytes=1000)
    found = [replace(shared, fits=False), separate]
    assert ", too much here" in printed((found, short))[1]
    for lines in (printed((found, short))[-2:], list(cost_lines(found, short))[-2:]):
        assert lines == [
            "  not all of them fit into the memory that is free here now",
            f"  only 1 kB are free in {need.store}, too little for all of them: "
            "free some, or choose a store on another disk with --store",
        ]
