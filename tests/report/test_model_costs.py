"""What models will cost: gathered by size, and held against memory and disk."""

import os
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from commands import Workplace
from study_texts import TINY_STUDY
from torch import nn

from isoglot.errors import IsoglotError
from isoglot.hardware import FreeMemory
from isoglot.model.checkpoints import CHECKPOINTS, write_checkpoint
from isoglot.pipeline.exhibits import targets
from isoglot.pipeline.stages.models import PretrainedEncoder, UntrainedEncoder
from isoglot.pretraining.footprint import MICRO_BATCH_VARIABLE, DiskUse, Footprint
from isoglot.pretraining.loop import TrainState
from isoglot.pretraining.run import LOG
from isoglot.report.model_costs import DiskNeed, ModelCost, model_costs, timed, with_measured_times
from isoglot.report.plan_tables import costs_in_full, outlook, plan_table
from isoglot.report.quantities import short_number
from isoglot.store import PlannedStage, State, Store, inputs_first, plan
from isoglot.study.study import Study, parse_study

PLENTY = FreeMemory(device="cuda", free_bytes=10**12)


@pytest.fixture
def study() -> Study:
    return parse_study(TINY_STUDY, origin="tiny.toml")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "not" / "yet" / "there")


@pytest.fixture
def planned(study: Study, store: Store) -> tuple[PlannedStage, ...]:
    return plan(targets(study), store)


@pytest.fixture(autouse=True)
def no_choice_of_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(MICRO_BATCH_VARIABLE, raising=False)


def labels(cost: ModelCost) -> list[str]:
    return [encoder.label for encoder in cost.encoders]


def test_models_of_one_size_are_one_row(planned: tuple[PlannedStage, ...], store: Store) -> None:
    shared, separate = model_costs(planned, store, free=PLENTY)
    assert sorted(labels(shared)) == [
        *("default, ela-oru, seed 0", "default, ela-oru, seed 1"),
        *("no-anchors, ela-oru, seed 0", "no-anchors, ela-oru, seed 1"),
    ]
    assert {label.partition(",")[0] for label in labels(separate)} == {"sep-emb-l1-6"}
    assert separate.footprint.parameters > shared.footprint.parameters
    assert shared.fits
    assert shared.footprint.rows == shared.run.batch
    assert shared.seconds is None


def test_only_what_is_left_costs_anything(finished: Workplace) -> None:
    planned = plan(targets(finished.study), finished.store)
    assert model_costs(planned, finished.store, free=PLENTY) == []
    need = DiskNeed.of(planned, finished.store, costs=[])
    assert (need.finished_bytes, need.passing_bytes, need.least_bytes, need.is_short) == (0, 0, 0, False)
    need.refuse_if_hopeless()


def test_tables_that_are_built_are_taken_as_they_are(finished: Workplace, tmp_path: Path) -> None:
    store = Store(Path(shutil.copytree(finished.folder / "store", tmp_path / "copy")))
    stages = inputs_first(targets(finished.study)).values()
    lost = next(stage for stage in stages if isinstance(stage, PretrainedEncoder))
    size = sum(path.stat().st_size for path in store.folder(lost).rglob("*") if path.is_file())
    size -= (store.folder(lost) / "record.json").stat().st_size
    shutil.rmtree(store.folder(lost))
    (cost,) = model_costs(plan([lost], store), store, free=PLENTY)
    assert cost.tables.are_known
    assert cost.disk.finished_bytes == pytest.approx(size, rel=0.05)


def test_time_is_of_the_whole_budget(planned: tuple[PlannedStage, ...], store: Store) -> None:
    told: list[object] = []

    def speed(footprint: Footprint) -> float:
        told.append(footprint)
        return 512.0

    costs = timed(model_costs(planned, store, free=PLENTY), speed=speed, say=told.append)
    assert told == ["timing 2 sizes of model here ...", *(cost.footprint for cost in costs)]
    assert [cost.seconds for cost in costs] == [80 * 8 * 16 / 512] * 2


def test_what_does_not_fit_is_told_and_not_tried(planned: tuple[PlannedStage, ...], store: Store) -> None:
    def no_speed(_: object) -> float:
        raise AssertionError("it would run out of memory")

    said: list[str] = []
    costs = model_costs(planned, store, free=FreeMemory(device="cpu", free_bytes=10_000))
    assert timed(costs, speed=no_speed, say=said.append) == costs
    assert [(cost.fits, cost.footprint.rows, cost.seconds) for cost in costs] == [(False, 1, None)] * 2
    assert said == []
    timed([replace(costs[0], fits=True), costs[1]], speed=lambda _: 1.0, say=said.append)
    assert said == ["timing 1 size of model here ..."]


def test_measured_times_take_the_place_of_guesses(
    study: Study, planned: tuple[PlannedStage, ...], store: Store
) -> None:
    shared, separate = model_costs(planned, store, free=PLENTY)
    measured = with_measured_times(planned, [replace(shared, tokens_per_second=1.0), separate])
    four = {encoder.digest for encoder in shared.encoders}
    for before, after in zip(planned, measured, strict=True):
        if before.stage.digest in four:
            assert before.guessed
            assert after == replace(before, seconds_estimate=80 * 8 * 16, guessed=False)
        else:
            assert after == before
    table = plan_table(measured, store)
    estimates = dict(zip(table.columns[0].cells, table.columns[3].cells, strict=True))
    assert estimates["pretraining, default, ela-oru, seed 0"] == "2 h 51 min"
    assert str(estimates["pretraining, sep-emb-l1-6, ela-oru, seed 0"]).startswith("? ")
    (guess,), (line,) = outlook(study, planned), outlook(study, measured)
    assert re.search(r"about \d+ s one after the other, guessed for two CPU cores, without", guess)
    assert re.search(r"about 11 h \d\d min one after the other, \d+ s of it guessed for two CPU cores, without", line)


def test_a_line_of_measured_times_alone_tells_of_no_guess(
    study: Study, planned: tuple[PlannedStage, ...], store: Store
) -> None:
    models = [each for each in planned if isinstance(each.stage, PretrainedEncoder)]
    costs = [replace(cost, tokens_per_second=1.0) for cost in model_costs(models, store, free=PLENTY)]
    (line,) = outlook(study, with_measured_times(models, costs))
    assert line.endswith("61k tokens of training, about 17 h 04 min one after the other")
    (line,) = outlook(study, with_measured_times(models[:1], costs))
    assert line.endswith("10k tokens of training, about 2 h 51 min")


def test_the_disk_must_hold_trained_and_untrained_models(planned: tuple[PlannedStage, ...], store: Store) -> None:
    costs = model_costs(planned, store, free=PLENTY)
    need = DiskNeed.of(planned, store, costs=costs)
    stages = [each.stage for each in planned if isinstance(each.stage, UntrainedEncoder | PretrainedEncoder)]
    assert len(stages) == 12
    shared, separate = (cost.disk for cost in costs)
    assert need.finished_bytes == (
        4 * (shared.finished_bytes + shared.model_bytes) + 2 * (separate.finished_bytes + separate.model_bytes)
    )
    assert need.passing_bytes == separate.passing_bytes > shared.passing_bytes
    assert need.least_bytes == shared.finished_bytes + shared.passing_bytes
    status = os.statvfs(store.root.parents[2])
    assert need.free_bytes == pytest.approx(status.f_bavail * status.f_frsize, rel=0.05)
    assert not need.is_short
    need.refuse_if_hopeless()


def test_what_an_interrupted_attempt_wrote_needs_no_room_again(study: Study, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    encoder = next(each.stage for each in plan(targets(study), store) if isinstance(each.stage, PretrainedEncoder))
    partial = Path(f"{store.folder(encoder)}.partial")
    (partial / "checkpoints").mkdir(parents=True)
    (partial / "checkpoints" / "latest.safetensors").write_bytes(b"0" * 1234)
    planned = plan(targets(study), store)
    assert {each.state for each in planned if each.stage.digest == encoder.digest} == {State.INTERRUPTED}
    assert DiskNeed.of(planned, store, costs=model_costs(planned, store, free=PLENTY)).present_bytes == 1234


@pytest.fixture
def three_quarters(study: Study, store: Store) -> tuple[PlannedStage, ...]:
    """Of one model are done, as its checkpoint says."""
    encoder = next(each.stage for each in plan(targets(study), store) if isinstance(each.stage, PretrainedEncoder))
    write_checkpoint(
        store.partial_folder(encoder) / CHECKPOINTS,
        model=nn.Linear(1, 1),
        optimizer=torch.optim.SGD([nn.Parameter(torch.ones(1))]),
        progression=TrainState(update=60),
    )
    return plan(targets(study), store)


def test_an_interrupted_model_costs_what_is_left_of_it(
    study: Study, store: Store, three_quarters: tuple[PlannedStage, ...]
) -> None:
    interrupted = next(each for each in three_quarters if each.state is State.INTERRUPTED)
    assert interrupted.share_done == 0.75
    assert interrupted.seconds_estimate == pytest.approx((interrupted.stage.guessed_seconds() or 0) / 4)
    shared, separate = model_costs(three_quarters, store, free=PLENTY)
    assert (shared.models_left, separate.models_left) == (3.25, 2.0)
    measured = with_measured_times(three_quarters, [replace(shared, tokens_per_second=1.0), separate])
    seconds = {each.stage.title: each.seconds_estimate for each in measured}
    assert seconds[interrupted.stage.title] == 80 * 8 * 16 / 4
    assert seconds["pretraining, default, ela-oru, seed 1"] == 80 * 8 * 16
    assert f", {short_number(5.25 * 80 * 8 * 16)} tokens of training, " in next(outlook(study, three_quarters))
    table = plan_table(three_quarters, store)
    states = dict(zip(table.columns[0].cells, table.columns[1].cells, strict=True))
    assert states[interrupted.stage.title] == "interrupted, 75% done"
    *_, line = costs_in_full(
        [replace(shared, tokens_per_second=100.0)], DiskNeed.of(three_quarters, store, costs=[shared])
    )
    assert line == "about 6 min of pretraining here, one after the other, without what was done before"


def test_a_model_that_lacks_its_end_alone_costs_nothing(study: Study, store: Store) -> None:
    encoder = next(each.stage for each in plan(targets(study), store) if isinstance(each.stage, PretrainedEncoder))
    store.partial_folder(encoder).mkdir(parents=True)
    (store.partial_folder(encoder) / LOG).touch()
    (planned,) = (each for each in plan(targets(study), store) if each.state is State.INTERRUPTED)
    assert planned.seconds_estimate == 0


def test_a_disk_is_short_for_all_or_hopeless_for_any() -> None:
    enough = DiskNeed(
        store=Path("/s"), finished_bytes=900, passing_bytes=100, least_bytes=300, present_bytes=200, free_bytes=800
    )
    assert not enough.is_short
    short = replace(enough, free_bytes=799)
    assert short.is_short
    replace(short, free_bytes=100).refuse_if_hopeless()
    with pytest.raises(IsoglotError, match=re.escape("needs 0 kB while it is made, and the store /s has 0 kB free")):
        replace(short, free_bytes=99).refuse_if_hopeless()


def test_costs_are_those_of_the_run(planned: tuple[PlannedStage, ...], store: Store) -> None:
    for cost in model_costs(planned, store, free=PLENTY):
        assert cost.disk == DiskUse(run=cost.run, table_sizes=cost.tables.by_language)
        assert cost.footprint.run is cost.run
