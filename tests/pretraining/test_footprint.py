"""Predictions against what is counted: parameters one by one, memory tensor by tensor, files byte by byte."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch._C._profiler import _EventType
from torch.profiler import ProfilerActivity, profile

from isoglot.corpora.streams import TokenStream
from isoglot.corpora.vocabulary import PAD
from isoglot.errors import IsoglotError
from isoglot.hardware import SHARE_VARIABLE, FreeMemory
from isoglot.machine import Machine, this_machine
from isoglot.model.checkpoints import write_checkpoint
from isoglot.model.cloze import ClozeModel, write_model
from isoglot.pretraining import perplexity
from isoglot.pretraining.calibration import made_up_stream
from isoglot.pretraining.flat_weights import FlatWeights
from isoglot.pretraining.footprint import (
    MICRO_BATCH_VARIABLE,
    USABLE_SHARE,
    DiskUse,
    Footprint,
    TooLargeError,
    micro_batch,
    num_parameters,
    num_read,
)
from isoglot.pretraining.loop import Trainer
from isoglot.pretraining.run import EVALUATED_AT_ONCE, PretrainingRun
from isoglot.study.conditions import DEFAULT
from isoglot.study.scales import DEMO, PAPER, SMALL, NormPlacement, Scale
from isoglot.study.separate import Separate
from tests.pretraining import tiny_runs
from tests.pretraining.tiny_runs import CPU, EVERYTHING, RUN, pretrained, tiny_run

SIZES = {"en": 80_000, "fr": 80_000}


def peak_allocated(act: Callable[[], object]) -> int:
    """The most bytes that an act on the CPU has allocated and not yet freed at any moment, beside what was there."""
    return max(_allocated(act))


def left_allocated(act: Callable[[], object]) -> int:
    """Bytes that an act on the CPU leaves allocated in what it gives."""
    return _allocated(act)[-1]


def _allocated(act: Callable[[], object]) -> list[int]:
    """Bytes after each allocation and each freeing in an act, while what it gives is still there."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as found:
        result = act()
    allocations = sorted(
        _allocations(found.profiler.kineto_results.experimental_event_tree()), key=lambda each: each[0]
    )
    del result
    sizes: dict[int, int] = {}
    now = [0]
    for _, address, size in allocations:
        # The profiler may know a wrong size, from an earlier use, of a block that was there before.
        now.append(now[-1] + (size if size > 0 else -sizes.pop(address, 0)))
        if size > 0:
            sizes[address] = size
    return now


def _allocations(events: Iterable[Any]) -> Iterator[tuple[int, int, int]]:
    """Moment, address and size, which is negative where a block is freed."""
    for event in events:
        if event.tag == _EventType.Allocation:
            yield event.start_time_ns, event.extra_fields.ptr, event.extra_fields.alloc_size
        yield from _allocations(event.children)


@given(
    embeddings=st.booleans(),
    layers=st.frozensets(st.integers(1, 2)),
    bias=st.booleans(),
    norm=st.sampled_from(NormPlacement),
    sizes=st.lists(st.integers(20, 40), min_size=3, max_size=3),
)
def test_parameters_are_those_of_the_model(
    embeddings: bool, layers: frozenset[int], bias: bool, norm: NormPlacement, sizes: list[int]
) -> None:
    table_sizes = dict(zip(("en", "fr", "de"), sizes if embeddings else sizes[:1] * 3, strict=True))
    run = replace(
        RUN,
        languages=tuple(table_sizes),
        separate=Separate(embeddings=embeddings, layers=layers, output_bias=bias and not embeddings),
        shape=replace(RUN.shape, norm=norm),
    )
    model = ClozeModel(run.shape, table_sizes=table_sizes, separate=run.separate, pad_id=PAD)
    assert num_parameters(run, table_sizes=table_sizes) == sum(each.numel() for each in model.parameters())
    largest = max(table_sizes, key=lambda language: table_sizes[language])
    for gradient in FlatWeights(model).gradients_of([largest]):
        gradient.fill_(1)
    counted = sum(int(parameter.grad.sum()) for parameter in model.parameters())
    assert num_read(run, table_sizes=table_sizes) == counted


def bytes_under(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def disk_use(run: PretrainingRun, streams: dict[str, TokenStream]) -> DiskUse:
    return DiskUse(run=run, table_sizes={language: stream.table_size for language, stream in streams.items()})


def test_files_of_models_checkpoints_and_a_finished_run(
    streams: dict[str, TokenStream], separate_streams: dict[str, TokenStream], folder: Path, tmp_path: Path
) -> None:
    for moments in (None, 3, 1):
        run = tiny_run(updates=10, moments=moments)
        pretrained(run, streams, folder=folder / str(moments))
        assert disk_use(run, streams).finished_bytes == pytest.approx(bytes_under(folder / str(moments)), rel=0.05)
    run = tiny_run(separate=EVERYTHING)
    run = replace(run, shape=replace(run.shape, width=96))
    trainer = tiny_runs.trainer_of(run, separate_streams, folder=tmp_path / "other")
    for _ in range(6):  # of both languages
        trainer.advance()
    updates = trainer.updates
    write_model(trainer.model, tmp_path / "model")
    write_checkpoint(tmp_path / "checkpoint", model=updates.weights, optimizer=updates.optimizer, state=trainer.state)
    use = disk_use(run, separate_streams)
    assert use.model_bytes == pytest.approx(bytes_under(tmp_path / "model"), rel=0.05)
    assert use.checkpoint_bytes == pytest.approx(bytes_under(tmp_path / "checkpoint"), rel=0.05)


def run_of(scale: Scale, *, separate: Separate | None = None, **changes: object) -> PretrainingRun:
    """Without evaluations or checkpoints among its first updates."""
    run = PretrainingRun.of(DEFAULT, scale=scale, languages=("en", "fr"), seed=0)
    return replace(run, separate=separate or Separate(), updates=1 << 30, evaluations=1, **changes)


def footprint_of(run: PretrainingRun, table_size: int, *, micro_batch: int, device: str = "cpu") -> Footprint:
    sizes = {"en": table_size, "fr": table_size}
    return Footprint(run=run, table_sizes=sizes, device=device, micro_batch=micro_batch)


def trainer_of(
    run: PretrainingRun, *, table_sizes: Mapping[str, int], folder: Path, machine: Machine, micro_batch: int
) -> Trainer:
    streams = {
        language: made_up_stream(
            folder / language, language=language, table_size=size, window=run.window, num_windows=2 * EVALUATED_AT_ONCE
        )
        for language, size in table_sizes.items()
    }
    return Trainer(run, streams, folder=folder / "model", machine=machine, micro_batch=micro_batch)


SMALL_LOW = replace(SMALL.shape, layers=2, width=128, heads=4, feed_forward=512)
PAPER_LOW = replace(PAPER.shape, layers=4, width=128, heads=4, feed_forward=512)
WIDE = replace(SMALL_LOW, layers=4, width=64, heads=2, feed_forward=2048)
# Run, tokens of each table, windows at once: in the first the softmax is the worst moment, then attention, then GELU.
RUNS = {
    "large vocabulary": (run_of(SMALL, shape=SMALL_LOW, batch=8), 20_000, 8),
    "in pieces": (run_of(SMALL, shape=SMALL_LOW, batch=16, language_draws=2), 300, 4),
    "long windows, dropout": (run_of(PAPER, shape=PAPER_LOW, batch=4, language_draws=1), 200, 4),
    "wide layers": (run_of(SMALL, shape=WIDE, batch=16), 300, 16),
    "separate": (run_of(DEMO, separate=Separate(embeddings=True, layers=frozenset({1}))), 900, 64),
}


@pytest.mark.parametrize("name", RUNS)
def test_updates_and_evaluations_take_the_memory_that_was_predicted(name: str, tmp_path: Path) -> None:
    run, table_size, windows = RUNS[name]
    footprint = footprint_of(run, table_size, micro_batch=windows)
    trainer = trainer_of(run, table_sizes=footprint.table_sizes, folder=tmp_path, machine=CPU, micro_batch=windows)
    if name == "large vocabulary":
        counted = peak_allocated(lambda: perplexity.perplexity(trainer.model, trainer.held_out[0], device=CPU.device))
        assert footprint.evaluation_bytes == pytest.approx(counted, rel=0.05)
    for _ in range(4):  # Adam's moments come with the first updates of a language, and early models are kept
        trainer.advance()
    counted = footprint.state_bytes + peak_allocated(trainer.advance)
    predicted = footprint.state_bytes + footprint.batch_bytes + footprint.piece_bytes
    assert predicted == pytest.approx(counted, rel=0.03)
    if name == "in pieces":
        trainer.advance()
        assert left_allocated(trainer.advance) < 1000, "no tensor of a piece outlives it"


@pytest.mark.gpu
@pytest.mark.parametrize(("scale", "table_size"), [(SMALL, 34_000), (PAPER, 85_000)], ids=["small", "paper"])
def test_a_gpu_takes_the_memory_that_was_predicted(scale: Scale, table_size: int, tmp_path: Path) -> None:
    """By what the allocator has taken: replayed graphs allocate nothing that it could count."""
    run, machine = run_of(scale), this_machine()
    footprint = footprint_of(run, table_size, micro_batch=run.batch, device="cuda")
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_reserved()
    sizes = footprint.table_sizes
    with trainer_of(run, table_sizes=sizes, folder=tmp_path, machine=machine, micro_batch=footprint.rows) as trainer:
        for _ in range(12):
            trainer.advance()
        torch.cuda.synchronize()
        taken = torch.cuda.max_memory_reserved() - before
    assert footprint.peak_bytes == pytest.approx(taken, rel=0.15)


PAPER_RUN, SMALL_RUN = (
    PretrainingRun.of(DEFAULT, scale=each, languages=("en", "fr"), seed=0) for each in (PAPER, SMALL)
)


def free(gigabytes: float, device: str = "cuda") -> FreeMemory:
    return FreeMemory(device=device, free_bytes=int(gigabytes * 1e9))


@given(
    run=st.sampled_from([PAPER_RUN, SMALL_RUN, replace(SMALL_RUN, batch=97)]),
    gigabytes=st.floats(5, 60),
    device=st.sampled_from(["cpu", "cuda"]),
    processes=st.integers(1, 3),
)
def test_it_fits_and_twice_as_much_would_not(
    run: PretrainingRun, gigabytes: float, device: str, processes: int
) -> None:
    room = free(gigabytes, device)
    # The CPU's memory is for all processes, a GPU's for one.
    usable = USABLE_SHARE * room.free_bytes / (processes if device == "cpu" else 1)
    whole = Footprint(run=run, table_sizes=SIZES, device=device, micro_batch=run.batch, processes=processes)
    try:
        chosen = micro_batch(run, table_sizes=SIZES, free=room, processes=processes)
    except TooLargeError:
        assert replace(whole, micro_batch=1).peak_bytes > usable
        return
    assert replace(whole, micro_batch=chosen).peak_bytes <= usable
    assert chosen <= whole.rows
    if chosen < whole.rows:
        assert replace(whole, micro_batch=min(whole.rows, 2 * chosen)).peak_bytes > usable


@pytest.mark.parametrize(("share", "is_named"), [("1", False), ("0.5", True)])
def test_a_model_without_room_for_a_window_is_refused_with_what_to_change(
    share: str, is_named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SHARE_VARIABLE, share)
    with pytest.raises(
        TooLargeError,
        match=r"needs 4\.\d\d GB of the cuda's memory .* one window of 256 tokens .* of 2\.00 GB that are free 1\.80 .*"
        r" lower window, merges, shape\.width or shape\.layers in the table \[change\]",
    ) as refused:
        micro_batch(PAPER_RUN, table_sizes=SIZES, free=free(2))
    assert ("give fewer workers" in str(refused.value)) is is_named


def test_everything_of_one_language_is_read_at_once_if_it_fits_or_the_environment_decides(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert micro_batch(SMALL_RUN, table_sizes=SIZES, free=free(140)) == SMALL.batch
    assert micro_batch(PAPER_RUN, table_sizes=SIZES, free=free(140), processes=16) == 48
    monkeypatch.setenv(MICRO_BATCH_VARIABLE, "7")
    assert micro_batch(PAPER_RUN, table_sizes=SIZES, free=free(1)) == 7
    monkeypatch.setenv(MICRO_BATCH_VARIABLE, "")
    assert micro_batch(PAPER_RUN, table_sizes=SIZES, free=free(140)) == 96
    for wanted in ("0", "-1", "many", "1.5"):
        monkeypatch.setenv(MICRO_BATCH_VARIABLE, wanted)
        with pytest.raises(IsoglotError, match=f"ISOGLOT_MICRO_BATCH='{wanted}' is no number of windows"):
            micro_batch(PAPER_RUN, table_sizes=SIZES, free=free(140))
