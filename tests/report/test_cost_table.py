"""Costs as people read them."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from study_texts import TINY_STUDY

from isoglot.hardware import FreeMemory
from isoglot.pipeline.exhibits import targets
from isoglot.pretraining.footprint import MICRO_BATCH_VARIABLE
from isoglot.report.model_costs import DiskNeed, ModelCost, model_costs
from isoglot.report.plan_tables import cost_lines, costs_in_full
from isoglot.store import Store, plan
from isoglot.study.study import parse_study

Costs = tuple[list[ModelCost], DiskNeed]


@pytest.fixture
def costs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Costs:
    monkeypatch.delenv(MICRO_BATCH_VARIABLE, raising=False)
    store = Store(tmp_path)
    planned = plan(targets(parse_study(TINY_STUDY, origin="tiny.toml")), store)
    found = model_costs(planned, store, free=FreeMemory(device="cpu", free_bytes=10**9))
    return found, replace(DiskNeed.of(planned, store, costs=found), free_bytes=10**9)


def test_a_block_for_each_size(costs: Costs) -> None:
    lines = list(costs_in_full(*costs))
    assert lines[:4] == [
        "4 models: default, no-anchors",
        "  size       about 334 subwords, 16k parameters",
        "  training   10k tokens each in 80 updates",
        "  at once    8 of 8 windows",
    ]
    assert re.fullmatch(r"  memory     \d\.\d MB", lines[4])
    assert re.fullmatch(r"  disk       \d+ kB each; a checkpoint \d+ kB", lines[5])
    assert lines[6:8] == ["2 models: sep-emb-l1-6", "  size       about 174+174 subwords, 24k parameters"]
    assert re.fullmatch(r"6 models in all: \d\.\d MB on disk, \d+ kB more while one is made", lines[12])
    assert len(lines) == 13


def test_one_model_is_not_each(costs: Costs) -> None:
    one = replace(costs[0][0], encoders=costs[0][0].encoders[:1], tokens_per_second=100.0)
    lines = list(costs_in_full([one], costs[1]))
    assert lines[0] == "1 model: default"
    assert lines[2] == "  training   10k tokens in 80 updates"
    assert lines[-1] == "about 102 s of pretraining here"
    assert not any("each" in line for line in lines)


def test_blocks_fit_a_narrow_terminal(costs: Costs) -> None:
    (shared, separate), need = costs
    names = [f"a-condition-with-a-name-{number}" for number in range(12)]
    many = replace(shared, encoders=tuple(replace(shared.encoders[0], label=f"{name}, ela-oru") for name in names))
    lines = "\n".join(costs_in_full([replace(many, fits=False, tokens_per_second=1e-6), separate], need)).splitlines()
    assert max(map(len, lines)) <= 80
    title = " ".join(line.strip() for line in lines[: lines.index("  size       about 334 subwords, 16k parameters")])
    assert title == f"12 models: {', '.join(names)}"


def test_time_comes_with_a_calibration(costs: Costs) -> None:
    (shared, separate), need = costs
    assert not any("time here" in line for line in costs_in_full(*costs))
    slow, fast = replace(shared, tokens_per_second=100.0), replace(separate, tokens_per_second=1000.0)
    lines = list(costs_in_full([slow, fast], need))
    assert lines[6] == "  time here  102 s each (100 tokens/s)"
    assert lines[13] == "  time here  10 s each (1.0k tokens/s)"
    assert lines[-1] == "about 7 min of pretraining here, one after the other"
    lines = list(costs_in_full([shared, fast], need))
    assert lines[-1] == "about 20 s of pretraining here for 2 of them, one after the other"


def test_one_line_before_a_run(costs: Costs) -> None:
    (line,) = cost_lines(*costs)
    assert re.fullmatch(
        r"  6 models of 16k to 24k parameters, 10k tokens each: \d\.\d MB of memory at most, \d\.\d MB on disk", line
    )
    one = replace(costs[0][0], encoders=costs[0][0].encoders[:1])
    (line,) = cost_lines([one], costs[1])
    assert line.startswith("  1 model of 16k parameters, 10k tokens: ")


def test_nothing_is_told_of_nothing(costs: Costs) -> None:
    assert list(cost_lines([], costs[1])) == list(costs_in_full([], costs[1])) == []


def test_too_little_memory_or_disk_is_told_in_both(costs: Costs) -> None:
    (shared, separate), need = costs
    short = replace(need, free_bytes=1000)
    found = [replace(shared, fits=False), separate]
    full = list(costs_in_full(found, short))
    assert [line.endswith(" MB, too much here") for line in full if line.startswith("  memory ")] == [True, False]
    for lines in (full, list(cost_lines(found, short))):
        assert lines[-2:] == [
            "  not all of them fit into the memory that is free here now",
            f"  only 1 kB are free in {need.store}, too little for all of them: "
            "free some, or choose a store on another disk with --store",
        ]
