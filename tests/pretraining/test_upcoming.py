"""Batches that are read ahead are those that would be read on time."""

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from isoglot.corpora.streams import TokenStream
from isoglot.machine import Machine, this_machine
from isoglot.pretraining.batches import Batches, share_of
from isoglot.pretraining.prefetching import READ_AHEAD, Batch, Prefetcher
from tests.pretraining.tiny_runs import CPU, tiny_run, trainer_of

Streams = dict[str, TokenStream]
RUN = tiny_run(language_draws=3)


@pytest.fixture
def batches(streams: Streams, folder: Path) -> Batches:
    return trainer_of(RUN, streams, folder=folder).batches


def upcoming_of(batches: Batches, *, machine: Machine = CPU, update: int = 0, at_most: int = 2) -> Prefetcher:
    return Prefetcher(batches, update=update, rows=(1, 7), at_most=at_most, machine=machine)


def described(batch: Batch) -> dict[str, Any]:
    return {
        "pieces": [(piece.language, piece.first_row, piece.token_BL.tolist()) for piece in batch.pieces],
        "languages": batch.languages,
        "positions": dict(batch.positions),
    }


def read_by_hand(batches: Batches, update: int) -> dict[str, Any]:
    parts = batches.next_parts(update)
    own = share_of(parts, first_row=1, end_row=7, at_most=2)
    return {
        "pieces": [(part.language, part.first_row, batches.tokens(part).tolist()) for part in own],
        "languages": frozenset(part.language for part in parts),
        "positions": dict(batches.positions),
    }


class Broken:
    """Windows on a disk that fails after some of them."""

    def __init__(self, sound: Any, *, after: int):
        self.sound, self.after = sound, after

    def take(self, position: int, count: int) -> np.ndarray:
        if position >= self.after:
            raise OSError("the disk is gone")
        taken: np.ndarray = self.sound.take(position, count)
        return taken


def test_batches_come_in_order_with_the_positions_after_each(
    batches: Batches, streams: Streams, tmp_path: Path
) -> None:
    by_hand = trainer_of(RUN, streams, folder=tmp_path / "by hand").batches
    upcoming = upcoming_of(batches)
    found = [next(upcoming) for _ in range(12)]
    for update, batch in enumerate(found, start=1):
        assert described(batch) == read_by_hand(by_hand, update)


def test_languages_are_those_of_the_whole_batch_though_others_read_some(batches: Batches) -> None:
    """All processes must agree on which gradients they exchange."""
    upcoming = Prefetcher(batches, update=0, rows=(0, 1), at_most=8, machine=CPU)
    found = [next(upcoming) for _ in range(20)]
    assert all(len(batch.pieces) == 1 for batch in found)
    assert any(batch.languages == {"en", "fr"} for batch in found)


def test_a_resumed_run_reads_what_comes_next(batches: Batches, streams: Streams, tmp_path: Path) -> None:
    first = upcoming_of(batches)
    for _ in range(5):
        positions = next(first).positions
    later = trainer_of(RUN, streams, folder=tmp_path / "later").batches
    later.positions.update(positions)
    resumed = upcoming_of(later, update=5)
    for _ in range(3):
        assert described(next(resumed)) == described(next(first))


def test_on_a_cpu_nothing_is_read_before_it_is_wanted(batches: Batches) -> None:
    threads = set(threading.enumerate())
    with upcoming_of(batches) as upcoming:
        batch = next(upcoming)
        assert batches.positions == batch.positions
        assert set(threading.enumerate()) <= threads


def test_an_error_of_the_disk_comes_out_where_the_batch_is_wanted(batches: Batches) -> None:
    batches.sources = {name: Broken(source, after=20) for name, source in batches.sources.items()}
    with pytest.raises(OSError, match="the disk is gone"):
        read_all(upcoming_of(batches))


def read_all(upcoming: Prefetcher) -> None:
    for _ in range(30):
        next(upcoming)


def readers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "isoglot-reader"]


@pytest.mark.gpu
def test_a_gpu_gets_the_same_batches(batches: Batches, streams: Streams, tmp_path: Path) -> None:
    by_hand = trainer_of(RUN, streams, folder=tmp_path / "by hand").batches
    with upcoming_of(batches, machine=this_machine()) as upcoming:
        for update in range(1, 5 * READ_AHEAD):
            batch = next(upcoming)
            assert all(piece.token_BL.is_cuda for piece in batch.pieces)
            assert described(batch) == read_by_hand(by_hand, update)


@pytest.mark.gpu
def test_a_gpus_reader_is_gone_once_nobody_wants_more(batches: Batches) -> None:
    """Though its queue is full."""
    with upcoming_of(batches, machine=this_machine()) as upcoming:
        next(upcoming)
        (reader,) = readers()
        time.sleep(1)
        assert reader.is_alive()
        start = time.monotonic()
    assert time.monotonic() - start < 1
    assert readers() == []


@pytest.mark.gpu
def test_a_gpus_reader_stays_within_its_queue(batches: Batches) -> None:
    with upcoming_of(batches, machine=this_machine()) as upcoming:
        batch = next(upcoming)
        time.sleep(1)
        given = sum(batches.positions.values()) - sum(batch.positions.values())
    assert given <= (READ_AHEAD + 1) * RUN.batch


@pytest.mark.gpu
def test_a_gpu_hears_of_an_error_after_the_batches_before_it(batches: Batches) -> None:
    batches.sources = {name: Broken(source, after=20) for name, source in batches.sources.items()}
    with upcoming_of(batches, machine=this_machine()) as upcoming:
        next(upcoming)
        for _ in range(2):
            with pytest.raises(OSError, match="the disk is gone"):
                read_all(upcoming)
    assert readers() == []


@pytest.mark.gpu
def test_one_that_was_never_asked_closes_at_once(batches: Batches) -> None:
    with upcoming_of(batches, machine=this_machine()):
        pass
    assert readers() == []
    assert not any(torch.tensor(list(batches.positions.values())))
