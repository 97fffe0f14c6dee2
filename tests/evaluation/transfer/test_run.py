"""The learning rate of each update, and how many updates there are."""

from dataclasses import replace

import pytest

from isoglot.evaluation.transfer.run import FineTuningRun
from isoglot.study.searches import Schedule
from tests.evaluation.transfer.tiny_transfer import RUN

TENTH = replace(RUN, schedule=Schedule.LINEAR, warmup_share=0.1)


def shares(run: FineTuningRun, *, updates: int) -> list[float]:
    return [run.rate_share(update, updates=updates) for update in range(1, updates + 1)]


def test_warm_up_and_decay_by_hand() -> None:
    assert shares(TENTH, updates=20) == pytest.approx([1 / 2, 1.0, *(left / 18 for left in range(18, 0, -1))])
    expected = {1: 0.01, 50: 0.5, 99: 0.99, 100: 1.0, 101: 1.0, 102: 899 / 900, 551: 0.5, 1000: 1 / 900}
    # A warm-up of 2.5 updates ends between two.
    assert shares(TENTH, updates=25)[:5] == pytest.approx([0.4, 0.8, 1.0, 22 / 22.5, 21 / 22.5])
    assert {at: TENTH.rate_share(at, updates=1000) for at in expected} == pytest.approx(expected)


def test_without_a_warm_up_the_rate_falls_from_the_first_update_on() -> None:
    assert shares(replace(TENTH, warmup_share=0.0), updates=4) == pytest.approx([1.0, 0.75, 0.5, 0.25])
    assert shares(TENTH, updates=4) == pytest.approx([1.0, 3 / 3.6, 2 / 3.6, 1 / 3.6])
    assert shares(TENTH, updates=1) == [1.0]
    assert set(shares(replace(TENTH, schedule=Schedule.CONSTANT), updates=30)) == {1.0}


@pytest.mark.parametrize(
    ("epoch_examples", "batch", "size", "examples", "updates"),
    [(None, 16, 100, 100, 7), (None, 16, 96, 96, 6), (20_000, 8, 392_702, 20_000, 2500), (50, 4, 10, 50, 13)],
)
def test_an_epoch_is_all_sequences_or_as_many_as_the_run_says(
    epoch_examples: int | None, batch: int, size: int, examples: int, updates: int
) -> None:
    run = replace(RUN, epoch_examples=epoch_examples, batch=batch)
    assert (run.examples(size), run.epoch_updates(size)) == (examples, updates)
