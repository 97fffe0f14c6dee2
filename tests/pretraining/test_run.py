"""When a run is evaluated and what it keeps."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tests.pretraining.tiny_runs import tiny_run


@given(st.data())
def test_a_run_is_evaluated_in_equal_parts_and_at_its_end(data: st.DataObject) -> None:
    updates = data.draw(st.integers(1, 300))
    evaluations = data.draw(st.integers(1, updates))
    run = tiny_run(updates=updates, evaluations=evaluations)
    evaluated = [update for update in range(1, updates + 1) if run.evaluated_after(update)]
    assert len(evaluated) == evaluations
    assert evaluated[-1] == updates
    gaps = {after - before for before, after in zip([0, *evaluated], evaluated, strict=False)}
    assert max(gaps) - min(gaps) <= 1


def test_weights_are_kept_at_halves_of_halves() -> None:
    run = tiny_run(updates=100)
    assert run.kept_updates == [1, 3, 6, 12, 25, 50]
    assert tiny_run(updates=1, evaluations=1).kept_updates == []


@given(st.integers(1, 10**6), st.data())
def test_moments_are_doublings_that_end_with_the_run(updates: int, data: st.DataObject) -> None:
    moments = data.draw(st.integers(1, updates.bit_length()))
    kept = [*tiny_run(updates=updates, moments=moments).kept_updates, updates]
    assert len(kept) == moments
    assert all(after in (2 * before, 2 * before + 1) for before, after in pairwise(kept))
