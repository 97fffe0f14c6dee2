"""A plan before a long run: what models will cost in memory, disk and time, what is next, what is missing."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from real_studies import write_real_study
from rich.table import Table
from study_texts import TINY_STUDY
from torch import nn

from isoglot.errors import IsoglotError
from isoglot.files import lease
from isoglot.hardware import FreeMemory, machine_in_brief
from isoglot.model.checkpoints import write_checkpoint
from isoglot.model.work_files import CHECKPOINTS
from isoglot.pipeline.exhibits import cells, targets
from isoglot.pipeline.stages.models import PretrainedEncoder, UntrainedEncoder
from isoglot.pretraining.footprint import MICRO_BATCH_VARIABLE, Footprint
from isoglot.pretraining.train_state import TrainState
from isoglot.report.planning.plan_costs import (
    DiskNeed,
    cost_lines,
    costs_in_full,
    disk_need,
    model_costs,
    outlook,
    plan_parts,
    timed,
    with_measured_times,
)
from isoglot.report.quantities import short_number, size_in_bytes
from isoglot.store import PlannedStage, State, Store, plan
from isoglot.study.study import Study
from isoglot.study.study_file import parse_study, read_study

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


def column(heading: str, planned: Sequence[PlannedStage], store: Store) -> dict[str, str]:
    """A column of the table of a plan, by the title of each stage."""
    *_, table = plan_parts(planned, store)
    assert isinstance(table, Table)
    columns = {str(each.header): [*map(str, each.cells)] for each in table.columns}
    return dict(zip(columns["Stage"], columns[heading], strict=True))


def test_models_of_one_size_are_one_row(planned: tuple[PlannedStage, ...], store: Store) -> None:
    shared, separate = model_costs(planned, store, free=PLENTY)
    assert sorted(encoder.label for encoder in shared.encoders) == [
        *("default, ela-oru, seed 0", "default, ela-oru, seed 1"),
        *("no-anchors, ela-oru, seed 0", "no-anchors, ela-oru, seed 1"),
    ]
    assert {encoder.label.partition(",")[0] for encoder in separate.encoders} == {"sep-emb-l1-6"}
    assert separate.footprint.parameters > shared.footprint.parameters
    assert (shared.fits, shared.footprint.rows, shared.seconds) == (True, shared.footprint.run.batch, None)


def test_time_is_of_the_whole_budget_and_only_of_models_that_fit(
    planned: tuple[PlannedStage, ...], store: Store
) -> None:
    steps: list[object] = []

    def speed(footprint: Footprint) -> float:
        steps.append(footprint)
        return 512.0

    costs = timed(model_costs(planned, store, free=PLENTY), speed=speed, say=steps.append)
    assert steps == [f"timing 2 sizes of model here ({machine_in_brief()}) ...", *(cost.footprint for cost in costs)]
    assert [cost.seconds for cost in costs] == [80 * 8 * 16 / 512] * 2
    too_large = model_costs(planned, store, free=FreeMemory(device="cpu", free_bytes=10_000))
    assert [(cost.fits, cost.footprint.rows, cost.seconds) for cost in too_large] == [(False, 1, None)] * 2
    assert timed(too_large, speed=speed, say=steps.append) == too_large
    assert len(steps) == 3


def test_measured_times_take_the_place_of_guesses(
    study: Study, planned: tuple[PlannedStage, ...], store: Store
) -> None:
    shared, separate = model_costs(planned, store, free=PLENTY)
    measured = with_measured_times(planned, [replace(shared, tokens_per_second=1.0), separate])
    four = {encoder.digest for encoder in shared.encoders}
    for before, after in zip(planned, measured, strict=True):
        is_measured = before.stage.digest in four
        assert before.guessed or not is_measured
        assert after == (replace(before, seconds_estimate=80 * 8 * 16, guessed=False) if is_measured else before)
    estimates = column("Estimate", measured, store)
    assert estimates["pretraining, default, ela-oru, seed 0"] == "2 h 51 min"
    assert estimates["pretraining, sep-emb-l1-6, ela-oru, seed 0"].startswith("? ")
    (guess,), (line,) = outlook(study, planned), outlook(study, measured)
    assert guess.startswith(f"{next(outlook(study, planned, is_timed=True))}, about ")
    assert re.search(r"about \d+ s one after the other, guessed for two CPU cores, without", guess)
    assert re.search(r"about 11 h \d\d min one after the other, \d+ s of it guessed for two CPU cores, without", line)


def test_the_disk_must_hold_trained_and_untrained_models(planned: tuple[PlannedStage, ...], store: Store) -> None:
    costs = model_costs(planned, store, free=PLENTY)
    need = disk_need(planned, store, costs=costs)
    stages = [each.stage for each in planned if isinstance(each.stage, UntrainedEncoder | PretrainedEncoder)]
    assert len(stages) == 12
    shared, separate = (cost.disk for cost in costs)
    four, two = (each.finished_bytes + each.model_bytes for each in (shared, separate))
    assert need.finished_bytes == 4 * four + 2 * two
    assert need.passing_bytes == separate.passing_bytes > shared.passing_bytes
    assert need.least_bytes == shared.finished_bytes + shared.passing_bytes
    need.refuse_if_hopeless()


def test_an_interrupted_model_costs_what_is_left_of_it(
    study: Study, planned: tuple[PlannedStage, ...], store: Store
) -> None:
    encoder = next(each.stage for each in planned if isinstance(each.stage, PretrainedEncoder))
    write_checkpoint(
        store.partial_folder(encoder) / CHECKPOINTS,
        model=nn.Linear(1, 1),
        optimizer=torch.optim.SGD([nn.Parameter(torch.ones(1))]),
        state=TrainState(update=60),
    )
    later = plan(targets(study), store)
    interrupted = next(each for each in later if each.state is State.INTERRUPTED)
    assert interrupted.share_done == 0.75
    assert interrupted.seconds_estimate == pytest.approx((interrupted.stage.guessed_seconds() or 0) / 4)
    shared, separate = model_costs(later, store, free=PLENTY)
    measured = with_measured_times(later, [replace(shared, tokens_per_second=1.0), separate])
    seconds = {each.stage.title: each.seconds_estimate for each in measured}
    assert seconds[interrupted.stage.title] == 80 * 8 * 16 / 4
    assert seconds["pretraining, default, ela-oru, seed 1"] == 80 * 8 * 16
    assert f", {short_number(5.25 * 80 * 8 * 16)} tokens of training, " in next(outlook(study, later))
    assert column("State", later, store)[interrupted.stage.title] == "interrupted, 75% done"


def test_a_disk_without_room_for_any_model_is_refused() -> None:
    need = DiskNeed(store=Path("/s"), finished_bytes=900, passing_bytes=100, least_bytes=300, free_bytes=300)
    need.refuse_if_hopeless()
    with pytest.raises(IsoglotError, match=re.escape("needs 0 kB while it is made, and the store /s has 0 kB free")):
        replace(need, free_bytes=299).refuse_if_hopeless()


def test_costs_are_shown_for_each_size_and_in_all(planned: tuple[PlannedStage, ...], store: Store) -> None:
    shared, separate = model_costs(planned, store, free=FreeMemory(device="cpu", free_bytes=10**9))
    need = replace(disk_need(planned, store, costs=[shared, separate]), free_bytes=10**9)
    lines = "\n".join(costs_in_full([replace(shared, tokens_per_second=100.0), separate], need))
    text = " ".join(lines.split())
    assert "4 models: default, no-anchors each about 334 subwords, 16k parameters, 10k tokens in 80 updates, " in text
    assert "102 s here (100 tokens/s)" in text
    assert "2 models: sep-emb-l1-6 each about 174+174 subwords, 24k parameters, " in text
    (line,) = cost_lines([shared, separate], need)
    assert re.fullmatch(
        r"  6 models of 16k to 24k parameters, 10k tokens each: \d\.\d MB of memory at most, \d\.\d MB on disk", line
    )
    assert lines.endswith(line)
    assert list(costs_in_full([], need)) == []
    enough = replace(need, free_bytes=need.finished_bytes + need.passing_bytes)
    assert [*cost_lines([shared, separate], enough)] == [line]
    short = replace(enough, free_bytes=enough.free_bytes - 1)
    _, *warnings = cost_lines([replace(shared, fits=False), separate], short)
    assert warnings == [
        "  not all of them fit into the memory that is free here now",
        f"  only {size_in_bytes(short.free_bytes)} are free in {need.store}, too little for all of them: "
        "free some, or choose a store on another disk with store=",
    ]


def lines(study: Study, folder: Path) -> list[str]:
    return list(outlook(study, plan([cell.stage for cell in cells(study)], Store(folder / "store"))))


def test_real_languages_are_told_with_their_splitters_and_gaps(tmp_path: Path) -> None:
    path = write_real_study(tmp_path)
    text = path.read_text().replace('"fr"]', '"fr", "sw", "th"]').replace("[text]\n", '[text]\nsw = "a"\nth = "b"\n')
    path.write_text(text + '[words]\nlowercase = true\nfr = "whitespace"\n')
    first, *rest = lines(read_study(path), tmp_path)
    of_words, of_gaps = rest[:4], rest[4:]
    assert first.startswith("real: 0 artifacts done, 32 to make; how long that takes is seen when it has run once")
    splitters = {"en": "moses", "fr": "whitespace", "sw": "moses", "th": "characters"}
    assert [line.split(" (")[0] for line in of_words] == [f"  words of {code}: {by}" for code, by in splitters.items()]
    assert all(", in lower case" in line for line in of_words)
    assert of_words[2].endswith("; not registered: the rules of Moses for this code, or else for English")
    assert len(of_gaps) == 4
    assert of_gaps[0].startswith("  no data for default, no-anchors, default-anchors,")
    assert "en-sw (vocabulary): " in of_gaps[0]
    of_one_pair = "\n".join(lines(read_study(path).replace(targets=["th"]), tmp_path))
    assert "words of th" in of_one_pair
    assert not re.search(r"words of (fr|sw)|en-sw", of_one_pair)
    assert of_gaps[0].endswith("/a: No such file or directory")
    assert of_gaps[1].endswith("text.other-domain.sw is missing: add a file of another domain")


def test_exhibits_that_the_command_line_leaves_nothing_of_are_told(tmp_path: Path) -> None:
    narrowed = "[only.table-1]\nseeds = [0]\n[only.emergence]\nseeds = [0]\n[change]"
    study = parse_study(TINY_STUDY.replace("[change]", narrowed), origin="tiny.toml")
    assert len(lines(study, tmp_path)) == 1
    _, line = lines(study.replace(seeds=[1]), tmp_path)
    assert line == "  left out by seeds: emergence, table-1 ([only] has seeds 0 there)"


def test_a_plan_tells_what_is_next_and_what_is_in_work(tmp_path: Path) -> None:
    study = parse_study(TINY_STUDY, origin="tiny.toml").replace(exhibits=["vocabulary"])
    store = Store(tmp_path / "store")
    stages = {each.stage.title: each.stage for each in plan(targets(study), store)}

    def states() -> dict[str, str]:
        return column("State", plan(targets(study), store), store)

    text, words = "text of ela, main domain", "words of ela, ela, main domain"
    assert {title for title, state in states().items() if state == "next"} == {text, "text of oru, main domain"}
    store.ensure(stages[text])
    later = states()
    assert text not in later, "what is done is folded"
    assert (later[words], later["words of oru, oru, main domain"]) == ("next", "to do")
    assert next(plan_parts(plan(targets(study), store), store)) == "done: 1 text"
    with lease(Path(f"{store.folder(stages[words])}.lease"), waiting=lambda _: None):
        # A lock of this very process counts as another's: each opens the file anew.
        assert states()[words] == "in work"
    Path(f"{store.folder(stages[words])}.partial").mkdir()
    assert states()[words] == "interrupted"
