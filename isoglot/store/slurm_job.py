"""What runs in a Slurm job: one stage, and a file that says how it goes, for the run that waits for it elsewhere."""

import json
import os
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isoglot.errors import IsoglotError
from isoglot.store.engine import Event, Failed, Held, Made, Progressed, Reused, make_telling
from isoglot.store.stage import Stage
from isoglot.store.store import Store

if TYPE_CHECKING:
    from submitit.core.utils import DelayedSubmission

SECONDS_BETWEEN_REPORTS = 1.0
PATIENCE_SECONDS = 60.0
"""For whoever holds the stage: a node that went down leaves its locks for a while."""


@dataclass(frozen=True, kw_only=True)
class StageJob:
    """Makes a stage when called, in the first turn of a job and in every later one."""

    root: Path
    stage: Stage

    def __call__(self) -> None:
        store = Store(self.root)
        log = _Log(store.log_folder(self.stage), job_id=os.environ["SLURM_JOB_ID"])
        # It is of an earlier turn, and a job that is given another one has not failed.
        log.path.unlink(missing_ok=True)
        try:
            with log.of_warnings():
                self._make(store, log)
        except Exception as error:
            log.tell(Failed(self.stage.digest, IsoglotError(f"{_told(error)}; {log.reference}")))
            raise
        if isinstance(log.latest, Failed):
            print(f"isoglot: {log.latest.error}", file=sys.stderr)
            # For those who look at it with sacct.
            sys.exit(1)

    def _make(self, store: Store, log: "_Log") -> None:
        patience = time.monotonic() + PATIENCE_SECONDS
        while True:
            make_telling(self.stage, store=store, tell=log.tell)
            if not isinstance(log.latest, Held) or time.monotonic() > patience:
                return
            time.sleep(1)

    def checkpoint(self) -> "DelayedSubmission":
        """What submitit is to call in the next turn, asked for when this one is about to end: the stage goes on."""
        from submitit.core.utils import DelayedSubmission

        return DelayedSubmission(self)


@dataclass(frozen=True, kw_only=True)
class News:
    """What a job has told so far in this turn."""

    event: Event | None = None
    """The latest."""
    warnings: tuple[str, ...] = ()
    """All of them."""


def _told(error: Exception) -> str:
    from submitit.core.utils import UncompletedJobError

    if isinstance(error, UncompletedJobError):
        return "it ran out of time turn after turn: run again to go on, with --slurm-option time=2-00:00:00 or so"
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


class _Log:
    def __init__(self, folder: Path, *, job_id: str) -> None:
        self.path = news_path(folder, job_id)
        self.reference = f"the traceback is in {error_log(folder, job_id)}"
        self.latest: Event | None = None
        self._warnings: tuple[str, ...] = ()
        self._next_report = 0.0

    def tell(self, event: Event) -> None:
        self.latest = event
        if not isinstance(event, Progressed):
            self._write()
        elif event.done >= event.total or time.monotonic() >= self._next_report:
            self._next_report = time.monotonic() + SECONDS_BETWEEN_REPORTS
            # A disk that is full just now is told of by what the stage itself writes.
            with suppress(OSError):
                self._write()

    @contextmanager
    def of_warnings(self) -> Iterator[None]:
        """The run shows them as its own."""

        def show(message: Warning | str, *_: Any, **__: Any) -> None:
            print(f"isoglot: {message}", file=sys.stderr)
            self._warnings = (*self._warnings, str(message))
            with suppress(OSError):
                self._write()

        with warnings.catch_warnings():
            warnings.showwarning = show
            yield

    def _write(self) -> None:
        write_news(self.path, News(event=self.latest, warnings=self._warnings))


def news_path(folder: Path, job_id: str) -> Path:
    """Where a job tells the latest."""
    return folder / f"{job_id}_news.json"


def error_log(folder: Path, job_id: str) -> Path:
    """Where submitit has a job's only task write its errors."""
    return folder / f"{job_id}_0_log.err"


def write_news(path: Path, news: News) -> None:
    """In the place of the news before; readers see the one or the other."""
    told: dict[str, Any] = {"event": None, "warnings": news.warnings}
    if news.event is not None:
        # An error has no JSON of its own.
        fields = {name: str(value) if name == "error" else value for name, value in vars(news.event).items()}
        told["event"] = {"is": type(news.event).__name__} | fields
    draft = path.with_name(f"{path.name}.partial")
    draft.write_text(json.dumps(told) + "\n", encoding="utf-8")
    draft.replace(path)


def read_news(path: Path) -> News:
    """What was told up to now."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        event = None if told["event"] is None else _event(**told["event"])
        return News(event=event, warnings=tuple(told["warnings"]))
    # A network file system may show a file before its content.
    except (OSError, ValueError, TypeError, KeyError):
        return News()


def _event(**fields: Any) -> Event:
    kinds = {kind.__name__: kind for kind in (Progressed, Made, Reused, Held)}
    name = fields.pop("is")
    if name == Failed.__name__:
        return Failed(fields["digest"], IsoglotError(fields["error"]))
    return kinds[name](**fields)
