"""Exhibits are left out where the machine is too slow for all of them, and the same ones each time."""

from dataclasses import replace
from pathlib import Path

from commands import Workplace
from hypothesis import given
from hypothesis import strategies as st
from study_texts import TINY_STUDY

from isoglot.hardware import machine_in_brief
from isoglot.pipeline.exhibits import targets
from isoglot.pipeline.stages.models import PretrainedEncoder
from isoglot.pretraining.footprint import Footprint
from isoglot.report.planning.plan_costs import costs_here
from isoglot.report.planning.time_limit import cut_to, speed_side_by_side
from isoglot.report.quantities import duration
from isoglot.store import Store, inputs_first, plan
from isoglot.study.study import Study
from isoglot.study.study_file import parse_study

EXHIBITS = ("emergence", "table-1", "growth", "figure-6", "figure-7")
CHEAP = EXHIBITS[:3]  # all of the same models
STUDY = replace(parse_study(TINY_STUDY, origin="tiny.toml"), exhibits=EXHIBITS)


def cut(store: Store, *, seconds: float, tokens_per_second: float, said: list[str] | None = None) -> tuple[str, ...]:
    """The exhibits that are left on a machine of that speed, one process at a time."""
    say = ([] if said is None else said).append
    add = "add what is left out with: isoglot run tiny.toml"
    kept = cut_to(STUDY, store, seconds=seconds, workers=1, add_them=add, say=say, speed=lambda *_: tokens_per_second)
    return kept.exhibits


def trained_models(study: Study) -> int:
    return sum(isinstance(stage, PretrainedEncoder) for stage in inputs_first(targets(study)).values())


def test_models_that_only_the_last_exhibits_need_are_not_trained_where_that_takes_too_long(tmp_path: Path) -> None:
    models, with_figure_6, fewest = (trained_models(STUDY.replace(exhibits=EXHIBITS[:n])) for n in (5, 4, 3))
    assert models > with_figure_6 > fewest
    # So slow that nothing but the training of models counts: 80 updates of 8 windows of 16 tokens, a second each.
    said: list[str] = []
    store = Store(tmp_path / "store")
    a_model = 80 * 8 * 16
    assert cut(store, seconds=a_model * 2 * models, tokens_per_second=1.0, said=said) == EXHIBITS
    assert len(said) == 1
    # Of what trains no further model nothing is left out, however little time there is.
    assert cut(store, seconds=1.0, tokens_per_second=1.0, said=said) == CHEAP
    assert said[1].endswith("figure-6, figure-7; add what is left out with: isoglot run tiny.toml")
    assert said[3] == "that is more than 1 s: for less, ask for fewer conditions, seeds or tasks"
    assert trained_models(STUDY.replace(exhibits=CHEAP)) == trained_models(STUDY.replace(exhibits=CHEAP[:1]))


@given(seconds=st.floats(1, 1e5), more=st.floats(1, 1e5), speed=st.floats(1, 1e5), faster=st.floats(1, 1e5))
def test_more_time_and_a_faster_machine_never_show_less(
    seconds: float, more: float, speed: float, faster: float
) -> None:
    store = Store(Path("never made"))
    kept = cut(store, seconds=seconds, tokens_per_second=speed)
    assert kept == EXHIBITS[: len(kept)]
    assert len(kept) >= len(CHEAP)
    assert len(cut(store, seconds=seconds + more, tokens_per_second=speed)) >= len(kept)
    assert len(cut(store, seconds=seconds, tokens_per_second=speed + faster)) >= len(kept)


def test_what_is_done_counts_with_the_time_it_took(finished: Workplace) -> None:
    def never(footprint: Footprint, workers: int) -> float:
        raise AssertionError(f"{footprint} with {workers} was timed, though models of this study are in the store")

    study = finished.study.replace(exhibits=("emergence", "table-1"))
    spent = sum(finished.store.record(stage).seconds for stage in inputs_first(targets(study)).values())
    said: list[str] = []
    cut_to(study, finished.store, seconds=0.0, workers=1, add_them="", say=said.append, speed=never)
    assert said == [f"about {duration(spent)} in all with 1 side by side on {machine_in_brief()}"]


def test_processes_are_timed_side_by_side(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    costs, _ = costs_here(plan(targets(STUDY), store), store)
    # It would wait for ever if the two did not meet.
    assert speed_side_by_side(costs[0].footprint, 2) > 0
