"""A study cut to the time there is: exhibits are left out, the last first, until the rest can be made here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from statistics import fmean

from isoglot.hardware import machine_in_brief
from isoglot.pipeline.exhibits import targets
from isoglot.pipeline.stages.models import PretrainedEncoder
from isoglot.pretraining.footprint import Footprint
from isoglot.report.plan_costs import costs_here, speed_here
from isoglot.report.quantities import duration
from isoglot.store import PlannedStage, State, Store
from isoglot.store import plan as plan_of
from isoglot.study.study import Study, with_exhibits

Speed = Callable[[Footprint, int], float]  # tokens a second of each of so many processes that train side by side


def speed_side_by_side(footprint: Footprint, workers: int) -> float:
    """The mean over processes that are timed at the same moment: two threads of one core slow each other down."""
    context = get_context("spawn")
    barrier = context.Barrier(workers)
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_ready, initargs=(barrier,)) as pool:
        return fmean(pool.map(speed_here, [footprint] * workers))


def _ready(barrier: Barrier) -> None:
    # Imports take longer than what is timed, so all wait for the last to be done with them.
    import isoglot.pretraining.calibration  # noqa: F401

    barrier.wait()


def cut_to(
    study: Study,
    store: Store,
    *,
    seconds: float,
    workers: int,
    add_them: str,
    say: Callable[[str], None],
    speed: Speed = speed_side_by_side,
) -> Study:
    """The study with those of its exhibits, from the first on, that take no longer here; the first always stays."""
    slowness: float | None = None
    for number in range(len(study.exhibits), 0, -1):
        shorter = with_exhibits(study, study.exhibits[:number])
        planned = plan_of(targets(shorter), store)
        if slowness is None:
            slowness = _slowness(planned, store, workers=workers, speed=speed)
        estimate = _estimate(planned, store, slowness=slowness) / workers
        if estimate <= seconds or number == 1:
            break
    if number < len(study.exhibits):
        left_out = ", ".join(study.exhibits[number:])
        say(f"left out to be done in {duration(seconds)} on {machine_in_brief()}: {left_out}; {add_them}")
    say(f"about {duration(estimate)} in all, with {workers} side by side")
    return shorter


def _estimate(planned: Sequence[PlannedStage], store: Store, *, slowness: float) -> float:
    # What is done counts with the time it took: a second run must come to the same exhibits as the first.
    return sum(
        store.record(each.stage).seconds
        if each.state is State.DONE
        else (each.seconds_estimate or 0.0) * (slowness if each.guessed else 1.0)
        for each in planned
    )


def _slowness(planned: Sequence[PlannedStage], store: Store, *, workers: int, speed: Speed) -> float:
    # Times guessed for two CPU cores are off by the same factor here, whether a model is trained or fine-tuned.
    guessed = {each.stage.digest for each in planned if each.guessed and isinstance(each.stage, PretrainedEncoder)}
    costs, _ = costs_here(planned, store)
    for cost in costs:
        for encoder in cost.encoders if cost.fits else ():
            if encoder.digest in guessed:
                run = cost.footprint.run
                return run.tokens / speed(cost.footprint, workers) / encoder.guessed_seconds()
    return 1.0
