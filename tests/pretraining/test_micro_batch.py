"""The micro-batch that fits."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.errors import IsoglotError
from isoglot.hardware import SHARE_VARIABLE, FreeMemory
from isoglot.pretraining.footprint import (
    MICRO_BATCH_VARIABLE,
    USABLE_SHARE,
    Footprint,
    TooLargeError,
    fitting_micro_batch,
    micro_batch,
)
from isoglot.pretraining.run import PretrainingRun
from isoglot.study.conditions import DEFAULT
from isoglot.study.scales import PAPER, SMALL

PAPER_RUN = PretrainingRun.of(DEFAULT, scale=PAPER, languages=("en", "fr"), seed=0)
SMALL_RUN = PretrainingRun.of(DEFAULT, scale=SMALL, languages=("en", "fr"), seed=0)
SIZES = {"en": 80_000, "fr": 80_000}


def free(gigabytes: float, device: str = "cuda") -> FreeMemory:
    return FreeMemory(device=device, free_bytes=int(gigabytes * 1e9))


def peak(run: PretrainingRun, windows: int, *, device: str = "cuda", processes: int = 1) -> int:
    return Footprint.of(run, table_sizes=SIZES, device=device, micro_batch=windows, processes=processes).peak_bytes


def test_everything_of_one_language_is_read_at_once_if_it_fits() -> None:
    assert fitting_micro_batch(PAPER_RUN, table_sizes=SIZES, free=free(140)) == 96
    assert fitting_micro_batch(SMALL_RUN, table_sizes=SIZES, free=free(140)) == 512
    assert fitting_micro_batch(PAPER_RUN, table_sizes=SIZES, free=free(140), processes=16) == 48


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
    try:
        chosen = fitting_micro_batch(run, table_sizes=SIZES, free=room, processes=processes)
    except TooLargeError:
        assert peak(run, 1, device=device, processes=processes) > usable
        return
    whole = Footprint.of(run, table_sizes=SIZES, device=device, micro_batch=run.batch, processes=processes).rows
    assert peak(run, chosen, device=device, processes=processes) <= usable
    assert chosen <= whole
    if chosen < whole:
        twice = min(whole, 2 * chosen)
        assert peak(run, twice, device=device, processes=processes) > usable


def test_the_whole_batch_is_cut_into_halves_of_halves() -> None:
    chosen = {fitting_micro_batch(SMALL_RUN, table_sizes=SIZES, free=free(tenths / 10)) for tenths in range(13, 200)}
    assert chosen <= {512 >> halvings for halvings in range(10)}
    assert len(chosen) > 4


def test_a_model_without_room_for_a_window_is_refused_with_what_to_change() -> None:
    with pytest.raises(
        IsoglotError,
        match=r"needs 4\.\d\d GB of the cuda's memory .* one window of 256 tokens .* of 2\.00 GB that are free 1\.80 .*"
        r" lower window, merges, shape\.width or shape\.layers in the table \[change\]",
    ):
        fitting_micro_batch(PAPER_RUN, table_sizes=SIZES, free=free(2))


def test_the_environment_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MICRO_BATCH_VARIABLE, "7")
    assert micro_batch(PAPER_RUN, table_sizes=SIZES, free=free(1)) == 7
    monkeypatch.setenv(MICRO_BATCH_VARIABLE, "")
    assert micro_batch(PAPER_RUN, table_sizes=SIZES, free=free(140)) == 96


@pytest.mark.parametrize("wanted", ["0", "-1", "many", "1.5"])
def test_the_environment_must_give_a_number_of_windows(wanted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MICRO_BATCH_VARIABLE, wanted)
    with pytest.raises(IsoglotError, match=f"ISOGLOT_MICRO_BATCH='{wanted}' is no number of windows"):
        micro_batch(PAPER_RUN, table_sizes=SIZES, free=free(140))


def test_a_worker_that_has_a_share_of_the_memory_names_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    for share, is_named in (("1", False), ("0.5", True)):
        monkeypatch.setenv(SHARE_VARIABLE, share)
        with pytest.raises(TooLargeError) as refused:
            fitting_micro_batch(PAPER_RUN, table_sizes=SIZES, free=free(0.1))
        assert ("give fewer --workers" in str(refused.value)) is is_named
