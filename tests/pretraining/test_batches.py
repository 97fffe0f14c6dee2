"""The languages and windows that each update and each process reads, also when they are read ahead."""

import doctest
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from isoglot.corpora.code_switching import SwitchableText
from isoglot.corpora.numbered_text import Split
from isoglot.corpora.streams import TokenStream
from isoglot.machine import Machine, this_machine
from isoglot.pretraining import batches as batches_module
from isoglot.pretraining.batches import READ_AHEAD, Batch, Batches, Prefetcher, window_source
from isoglot.pretraining.loop import NOTHING_SWITCHABLE
from isoglot.pretraining.ranks import Ranks
from isoglot.pretraining.run import language_probabilities
from tests.oracles import windows_one_by_one
from tests.pretraining.tiny_runs import CPU, switchable_texts, tiny_run

Streams = dict[str, TokenStream]
LANGUAGE, FIRST, END = range(3)


def batches_of(
    streams: Streams,
    *,
    switchable: Mapping[str, SwitchableText] = NOTHING_SWITCHABLE,
    rows: tuple[int, int] | None = None,
    micro_batch: int | None = None,
    **changes: Any,
) -> Batches:
    run = tiny_run(**changes)
    return Batches(
        {
            language: window_source(stream, switchable=switchable.get(language), window=12, seed=run.seed)
            for language, stream in streams.items()
        },
        run=run,
        lines={language: stream.lines[Split.TRAIN] for language, stream in streams.items()},
        rows=rows,
        micro_batch=micro_batch,
    )


def described(batch: Batch) -> tuple[object, ...]:
    pieces = [(language, first, batch.rows(first, end).tolist()) for language, first, end in batch.pieces]
    return pieces, batch.languages, dict(batch.positions)


class Broken:
    """Windows on a disk that fails after some of them."""

    def __init__(self, sound: Any, *, after: int):
        self.sound, self.after = sound, after

    def take(self, position: int, count: int) -> np.ndarray:
        if position >= self.after:
            raise OSError("the disk is gone")
        taken: np.ndarray = self.sound.take(position, count)
        return taken


class Counting:
    """Windows that hold their own numbers."""

    def __init__(self, offset: int):
        self.offset = offset

    def take(self, position: int, count: int) -> np.ndarray:
        return self.offset + np.arange(position, position + count)[:, None].repeat(12, axis=1)


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=6), st.floats(0, 1))
def test_the_formula(counts: list[int], exponent: float) -> None:
    num_lines = {str(place): count for place, count in enumerate(counts)}
    probabilities = language_probabilities(num_lines, exponent=exponent)
    assert list(probabilities) == list(num_lines)
    for name, count in num_lines.items():
        assert probabilities[name] == pytest.approx(count**exponent / sum(n**exponent for n in counts))
    assert doctest.testmod(batches_module).failed == 0


@pytest.mark.parametrize(("exponent", "draws"), [(0.0, 4), (0.7, 1), (0.7, 4), (1.0, 1)])
def test_languages_come_as_often_as_the_formula_says(streams: Streams, exponent: float, draws: int) -> None:
    batches = batches_of(streams, language_exponent=exponent, language_draws=draws)
    drawn = Counter(piece[LANGUAGE] for _ in range(2000) for piece in next(batches).pieces)
    english = 300**exponent / (300**exponent + 100**exponent)  # streams of 300 and 100 lines
    assert stats.binomtest(drawn["en"], 2000 * draws, english).pvalue > 1e-6
    assert drawn["en"] + drawn["fr"] == 2000 * draws


def test_parts_of_one_update_draw_independently(streams: Streams) -> None:
    batches = batches_of(streams, language_exponent=0.0, language_draws=2)
    pairs = Counter(tuple(piece[LANGUAGE] for piece in next(batches).pieces) for _ in range(1000))
    assert stats.chisquare([pairs[a, b] for a in ("en", "fr") for b in ("en", "fr")]).pvalue > 1e-6


@pytest.mark.parametrize("draws", [1, 3, 8, 20])
def test_a_languages_windows_follow_each_other_whatever_comes_between(streams: Streams, draws: int) -> None:
    batches = batches_of(streams, language_draws=draws)
    walks = {
        language: windows_one_by_one(stream.ids(Split.TRAIN).tolist(), length=12, seed=0, name=language)
        for language, stream in streams.items()
    }
    rows: Counter[str] = Counter()
    for _ in range(60):
        batch = next(batches)
        assert [piece[FIRST] for piece in batch.pieces] == sorted({draw * 8 // draws for draw in range(draws)})
        assert batch.languages == {piece[LANGUAGE] for piece in batch.pieces}
        for language, first, end in batch.pieces:
            assert batch.rows(first, end).tolist() == list(islice(walks[language], end - first))
            rows[language] += end - first
        assert dict(batch.positions) == dict(rows) | dict.fromkeys(streams.keys() - rows.keys(), 0)
    assert min(rows.values()) > 0


def test_a_resumed_run_reads_what_comes_next(streams: Streams) -> None:
    first, resumed = (batches_of(streams, language_draws=3) for _ in range(2))
    for _ in range(20):
        positions = next(first).positions
    resumed.go_to(20, positions)
    for _ in range(20):
        assert described(next(resumed)) == described(next(first))


def test_other_seeds_draw_other_languages_and_windows(streams: Streams) -> None:
    zero, one = (
        [described(next(batches)) for _ in range(30)]
        for batches in (batches_of(streams, seed=0), batches_of(streams, seed=1))
    )
    assert [pieces[0][LANGUAGE] for pieces, *_ in zero] != [pieces[0][LANGUAGE] for pieces, *_ in one]
    assert not any(ours == theirs for (ours, *_), (theirs, *_) in zip(zero, one, strict=True))


def test_a_language_that_can_be_switched_is_and_the_other_is_read_as_it_is(streams: Streams) -> None:
    plain, switched = batches_of(streams), batches_of(streams, switchable={"en": switchable_texts()["en"]})
    shares: dict[str, list[float]] = {"en": [], "fr": []}
    for _ in range(100):
        ours, theirs = next(switched), next(plain)
        assert ours.pieces == theirs.pieces
        shares[ours.pieces[0][LANGUAGE]].append((ours.token_BL != theirs.token_BL).float().mean().item())
    assert set(shares["fr"]) == {0.0}
    assert 0.05 < min(shares["en"]) <= max(shares["en"]) <= 0.15


def test_windows_that_are_switched_together_are_those_of_a_piece(streams: Streams) -> None:
    """The share of words that may change is of those taken together, so the bytes of a run depend on it."""
    switchable = switchable_texts()
    batch = next(batches_of(streams, switchable=switchable, micro_batch=3))
    sources = {
        language: window_source(stream, switchable=switchable[language], window=12, seed=0)
        for language, stream in streams.items()
    }
    assert [end - first for _, first, end in batch.pieces] == [3, 3, 2]
    for language, first, end in batch.pieces:
        assert batch.rows(first, end).tolist() == sources[language].take(first, end - first).tolist()


@given(st.integers(1, 5), st.integers(5, 23), st.integers(1, 6), st.integers(1, 9), st.integers(0, 9))
def test_each_row_is_read_once_by_one_process_in_pieces_of_one_language(
    draws: int, batch: int, processes: int, micro_batch: int, seed: int
) -> None:
    """All processes agree on languages and positions, since they exchange gradients by them."""
    run = tiny_run(language_draws=draws, batch=batch, seed=seed)
    sources = {"en": Counting(0), "fr": Counting(1000)}
    ranks = [None, *(Ranks(rank=rank, count=processes).rows(batch) for rank in range(processes))]
    whole, *parts = (
        Batches(sources, run=run, lines={"en": 3, "fr": 2}, rows=rows, micro_batch=micro_batch) for rows in ranks
    )
    for _ in range(3):
        expected, found = next(whole), [next(part) for part in parts]
        languages = {row: language for language, first, end in expected.pieces for row in range(first, end)}
        rows = []
        for each in found:
            assert (each.languages, each.positions) == (expected.languages, expected.positions)
            for language, first, end in each.pieces:
                assert 1 <= end - first <= micro_batch
                assert {languages[row] for row in range(first, end)} == {language}
                assert each.rows(first, end).equal(expected.rows(first, end))
                rows += range(first, end)
        assert rows == list(range(batch))


def prefetcher_of(streams: Streams, machine: Machine, *, fails_after: int | None = None) -> Prefetcher:
    batches = batches_of(streams, language_draws=3, rows=(1, 7), micro_batch=2)
    if fails_after is not None:
        batches.sources = {name: Broken(source, after=fails_after) for name, source in batches.sources.items()}
    return Prefetcher(batches, machine)


def readers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("isoglot-reader")]


def test_on_a_cpu_nothing_is_read_before_it_is_wanted(streams: Streams) -> None:
    prefetcher, by_hand = prefetcher_of(streams, CPU), batches_of(streams, language_draws=3, rows=(1, 7), micro_batch=2)
    for _ in range(5):
        batch = next(prefetcher)
        assert described(batch) == described(next(by_hand))
        assert prefetcher.batches.positions == batch.positions
    assert readers() == []
    prefetcher.close()


@pytest.fixture
def gpu_prefetcher(streams: Streams) -> Iterator[Prefetcher]:
    prefetcher = prefetcher_of(streams, this_machine())
    yield prefetcher
    prefetcher.close()
    assert readers() == []


@pytest.mark.gpu
def test_a_gpu_gets_the_same_batches_and_its_reader_stays_within_its_queue(
    gpu_prefetcher: Prefetcher, streams: Streams
) -> None:
    by_hand = batches_of(streams, language_draws=3, rows=(1, 7), micro_batch=2)
    for _ in range(5 * READ_AHEAD):
        batch = next(gpu_prefetcher)
        assert batch.token_BL.is_cuda
        assert described(batch) == described(next(by_hand))
    time.sleep(1)
    given = sum(gpu_prefetcher.batches.positions.values()) - sum(batch.positions.values())
    assert given <= READ_AHEAD * 8


@pytest.mark.gpu
def test_a_gpu_gets_an_error_after_the_batches_before_it(streams: Streams) -> None:
    prefetcher = prefetcher_of(streams, this_machine(), fails_after=20)
    next(prefetcher)
    for _ in range(2):
        with pytest.raises(OSError, match="the disk is gone"):
            deque(iter(lambda: next(prefetcher), None), maxlen=0)
    prefetcher.close()
    assert readers() == []
