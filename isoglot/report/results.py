"""A study run from Python, and its results as rows, a data frame, a report or an archive."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from rich.console import Console

from isoglot.errors import IsoglotError
from isoglot.pipeline.exhibits import gap_sentences, left_out_sentences, targets
from isoglot.pipeline.measurements import (
    READ_BY_REPORTS,
    Measurement,
    damage_sentences,
    measurements,
    pending_cells,
)
from isoglot.pretraining.health import check_tensorboard
from isoglot.report.planning.progress import Watch, failures_in_brief
from isoglot.report.writing import rewrite_report, write_current_report
from isoglot.store import Engine, Outcome, Stage, Store, inputs_first, run_plan
from isoglot.store import plan as plan_of
from isoglot.store.engine import Event, Failed, Reused
from isoglot.store.local_engine import local_engine
from isoglot.store.packing import archive_path, write_pack
from isoglot.study.study import Study
from isoglot.study.study_file import read_study

if TYPE_CHECKING:
    import pandas

MEGABYTE = 10**6


@dataclass(frozen=True, kw_only=True)
class Made:
    """The end of a run: what became of every stage, and the title and cause of each failure."""

    outcome: Outcome
    failures: Sequence[tuple[str, str]]

    @property
    def failures_in_full(self) -> list[str]:
        """For a report: the title and the cause of each."""
        return [": ".join(failure) for failure in self.failures]

    @property
    def trouble(self) -> str | None:
        """The failures in a few lines; None where there are none."""
        return (
            failures_in_brief(self.failures, skipped=[stage.title for stage in self.outcome.skipped])
            if self.failures
            else None
        )


class LiveReport:
    """Writes the report when a run begins and now and then while it goes on; the run writes the last one itself."""

    def __init__(self, study: Study, store: Store, *, seconds_between: float = 30.0, rest: float = 20.0) -> None:
        self._study, self._store = study, store
        # A new report waits `rest` times as long as the last one took, so that it does not hold up the study.
        self._seconds_between, self._rest = seconds_between, rest
        self._failures: list[str] = []
        self._due_at = 0.0
        self._has_warned = False

    def __call__(self, stage: Stage, event: Event) -> None:
        if isinstance(event, Failed):
            self._failures.append(f"{stage.title}: {event.error}")
        # Curves of models in training grow with every step, so that progress counts as well. What was there before
        # changes nothing.
        if not isinstance(event, Reused):
            self._write_if_due()

    def _write_if_due(self) -> None:
        begun = monotonic()
        if begun < self._due_at:
            return
        try:
            write_current_report(self._study, self._store, failures=self._failures)
        except IsoglotError:
            # A full disk, for example; the last report names it, or can be written after all.
            pass
        except Exception as error:
            # Whatever it is: days of training must not end because a page could not be drawn half-way.
            if not self._has_warned:
                warnings.warn(f"the report could not be written meanwhile ({error}); the run goes on", stacklevel=2)
            self._has_warned = True
        ended = monotonic()
        self._due_at = ended + max(self._seconds_between, self._rest * (ended - begun))


def make_study(study: Study, store: Store, *, engine: Engine, console: Console | None) -> Made:
    """Make what a study lacks and its report meanwhile; progress goes to the console."""
    wanted, live = targets(study), LiveReport(study, store)
    with nullcontext() if console is None else Watch(console) as watch:
        outcome = run_plan(wanted, store, *([] if watch is None else [watch]), live, engine=engine)
    failed = [stage for stage in inputs_first(wanted).values() if stage.digest in outcome.failed]
    return Made(outcome=outcome, failures=[(stage.title, str(outcome.failed[stage.digest])) for stage in failed])


def run(
    study: Study | str | Path,
    *,
    store: str | Path = "store",
    data: str | Path | None = None,
    workers: int | None = None,
    progress: bool = True,
) -> Results:
    """Make what a study still lacks in the store, as `isoglot run` does, and give its results.

    `data` is the folder that the paths in a study's file start from, as in `Study.load`. `workers` is the number of
    processes that work side by side; without it this machine decides, and 1 is this process alone. `progress` shows
    bars on standard error. Stop it when you like: the next run goes on from there.

    >>> results = ig.run("demo", store="store", workers=1, progress=False)
    >>> results.pending
    0
    """
    if workers is not None and (not isinstance(workers, int) or workers < 1):
        raise IsoglotError(f"workers: is {workers!r}; give a whole number from 1 on, or leave it out")
    results = Results(study, store=store, data=data)
    chosen, place, wanted = results.study, results.store, results._targets()
    check_tensorboard()
    engine = local_engine(place, plan_of(wanted, place), workers=workers)
    console = Console(stderr=True, markup=False, highlight=False, emoji=False, soft_wrap=True) if progress else None
    made = make_study(chosen, place, engine=engine, console=console)
    damage = write_current_report(chosen, place, failures=made.failures_in_full).damage
    if console is not None:
        for sentence in gap_sentences(chosen):
            console.print(sentence)
    if troubles := [*filter(None, [made.trouble]), *damage]:
        where = f"isoglot.Results(study, store={str(place.root)!r}) has all that was made"
        raise IsoglotError("\n".join([*troubles, where]))
    return results


class Numbers(ABC):
    """Measurements as rows or as a data frame."""

    @property
    @abstractmethod
    def measurements(self) -> Sequence[Measurement]:
        """The numbers, in the order in which a report shows them."""

    def to_dicts(self) -> list[dict[str, Any]]:
        """A dictionary for each number: exhibit, condition, languages, language, task, metric, layer, seed, value.

        >>> rows = ig.Results("demo", store="store").to_dicts()
        >>> {row["language"] for row in rows}
        {...'oru'...}
        """
        return [asdict(each) for each in self.measurements]

    def to_pandas(self) -> pandas.DataFrame:
        """The same as a data frame with a row for each number; needs pandas, which isoglot does not install.

        >>> frame = ig.Results("demo", store="store").to_pandas()
        >>> means = frame.query("task == 'ner'").groupby("condition").value.mean()
        >>> "default" in means.index
        True
        """
        try:
            import pandas
        except ImportError:
            raise IsoglotError("to_pandas needs pandas: pip install pandas; to_dicts does without") from None
        return pandas.DataFrame(self.to_dicts())


class Results(Numbers):
    """Every number that a store has of a study, whoever made them; this makes nothing.

    They are read once, when they are first needed: after another run, make another object. Of parts whose data is not
    found there are none, and a warning says so; `data` is the folder that the paths in a study's file start from.

    >>> results = ig.Results("demo", store="store")
    >>> results
    Results('demo', ... numbers, 0 cells pending)
    """

    def __init__(
        self, study: Study | str | Path, *, store: str | Path = "store", data: str | Path | None = None
    ) -> None:
        if isinstance(study, Study) and data is not None:
            raise IsoglotError("data=: goes with the file of a study; load it with isoglot.Study.load(file, data=...)")
        self.study = study if isinstance(study, Study) else read_study(study, data=data)
        self.store = Store(Path(store))

    def __repr__(self) -> str:
        return f"Results({self.study.name!r}, {len(self.measurements)} numbers, {self.pending} cells pending)"

    @cached_property
    def measurements(self) -> tuple[Measurement, ...]:
        """The numbers, in the order in which a report shows them."""
        self._targets()
        if gaps := gap_sentences(self.study):
            warnings.warn("; ".join(gaps), stacklevel=3)
        found, damage = measurements(self.study, self.store)
        if damage:
            raise IsoglotError("; ".join(damage_sentences(damage)))
        return tuple(found)

    @property
    def pending(self) -> int:
        """How many cells of tables and figures the store has nothing for yet."""
        self._targets()
        return len(pending_cells(self.study, self.store))

    def report(self, folder: str | Path | None = None) -> Path:
        """Write the report, and give the path of its page; without a folder it lies in the store.

        >>> ig.Results("demo", store="store").report("my-report").name
        'report.html'
        """
        self._stages()
        page = write_current_report(self.study, self.store).page
        return page if folder is None else rewrite_report(page.parent, to=Path(folder)).page

    def pack(self, file: str | Path, *, largest_file: int = MEGABYTE) -> Path:
        """Write all that is made of the study into one archive, as `isoglot pack` does; `isoglot unpack` reads it.

        Files of more than `largest_file` bytes stay behind, unless reports read them.

        >>> ig.Results("demo", store="store").pack("results.tar.xz").name
        'results.tar.xz'
        """
        if not isinstance(largest_file, int) or largest_file < 0:
            raise IsoglotError(f"largest_file: is {largest_file!r}; give a number of bytes, as in 1_000_000")
        path, stages = archive_path(file, option="pack"), self._stages()
        write_pack(path, stages, self.store, largest_file=largest_file, always=READ_BY_REPORTS)
        return path

    def _stages(self) -> list[Stage]:
        stages = [*inputs_first(self._targets()).values()]
        if all(self.store.find_folder(stage) is None for stage in stages):
            raise IsoglotError(f"nothing of {self.study.name} is in {self.store.root} yet; make it with isoglot.run")
        return stages

    def _targets(self) -> list[Stage]:
        if wanted := targets(self.study):
            return wanted
        reasons = "; ".join((*left_out_sentences(self.study), *gap_sentences(self.study)))
        raise IsoglotError(f"{self.study.name}: nothing of it can be made: {reasons}")
