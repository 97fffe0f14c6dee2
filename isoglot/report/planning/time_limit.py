"""A study cut to the time there is: the last exhibits are left out where they need models of their own."""

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
from isoglot.report.planning.plan_costs import costs_here, speed_here
from isoglot.report.quantities import duration
from isoglot.store import PlannedStage, State, Store
from isoglot.store import plan as plan_of
from isoglot.study.study import Study

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
    """The study without its last exhibits, as far as these train models of their own and all would take longer here."""
    # Exhibits of the same models stay: they cost little, and some are the floors without which scores say nothing.
    planned = plan_of(targets(study), store)
    workers = min(workers, max(_num_models(planned), 1))
    slowness = _slowness(planned, store, workers=workers, speed=speed)
    shorter = study
    while (estimate := _estimate(planned, store, slowness=slowness) / workers) > seconds and len(shorter.exhibits) > 1:
        without = shorter.replace(exhibits=shorter.exhibits[:-1])
        planned_without = plan_of(targets(without), store)
        if _num_models(planned_without) == _num_models(planned):
            break
        shorter, planned = without, planned_without
    if left_out := ", ".join(study.exhibits[len(shorter.exhibits) :]):
        say(f"left out to be done in {duration(seconds)}: {left_out}; {add_them}")
    say(f"about {duration(estimate)} in all with {workers} side by side on {machine_in_brief()}")
    if estimate > seconds and any(each.state is not State.DONE for each in planned):
        say(f"that is more than {duration(seconds)}: for less, ask for fewer conditions, seeds or tasks")
    return shorter


def _num_models(planned: Sequence[PlannedStage]) -> int:
    return sum(isinstance(each.stage, PretrainedEncoder) for each in planned)


def _estimate(planned: Sequence[PlannedStage], store: Store, *, slowness: float) -> float:
    # What is done counts with the time it took: a second run must come to the same exhibits as the first.
    total = 0.0
    for each in planned:
        done = store.lookup(each.stage, read=()) if each.state is State.DONE else None
        guess = (each.seconds_estimate or 0.0) * (slowness if each.guessed else 1.0)
        total += guess if done is None else done.record.seconds
    return total


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
