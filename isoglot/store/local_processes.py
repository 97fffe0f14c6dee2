"""Makes stages in worker processes of this machine, which live as long as the run does."""

import multiprocessing
import os
import signal
import time
import warnings
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import connection, resource_tracker
from pathlib import Path
from typing import Self

from isoglot.errors import IsoglotError
from isoglot.store.engine import Event, Failed, Progressed, Tell, Waiting
from isoglot.store.stage import Stage
from isoglot.store.store import Store
from isoglot.store.worker_process import SECONDS_TO_END, LastWord, Warned, serve


@contextmanager
def ctrl_c_blocked() -> Iterator[None]:
    """This process, and those it starts meanwhile for good; it hears of it afterwards."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


LONGEST_WAIT_SECONDS = 1.0
MOST_FILLING = 2
"""Stages at once that fill the GPU they share: as many take as long as one after the other, but the second has it while
the first is set up, evaluated and written."""
ATTEMPTS = 2
"""A worker may be killed for the memory that another one took; the second attempt goes on from where it was."""


class LocalProcesses:
    """A worker for each of `environments`, the variables that it gets on top of this process's own.

    `gpus` says which one each of them is at, in any terms; None: there are none.
    """

    def __init__(
        self,
        store: Store,
        *,
        environments: Sequence[Mapping[str, str]],
        gpus: Sequence[Hashable] | None = None,
    ) -> None:
        places = gpus or [None] * len(environments)
        self._desks = [
            _WorkerSlot(store.root, environment=environment, gpu=gpu)
            for environment, gpu in zip(environments, places, strict=True)
        ]
        self._warned: set[str] = set()

    def room(self) -> int:
        return sum(desk.stage is None for desk in self._desks)

    def takes(self, stage: Stage) -> bool:
        return bool(self._free(stage))

    def start(self, stage: Stage, tell: Tell) -> None:
        # A worker that has imported its libraries already is the quicker one, unless its GPU is the busier one.
        min(self._free(stage), key=lambda desk: (self._filling(desk, stage), desk.worker is None)).begin(stage, tell)

    def _free(self, stage: Stage) -> list["_WorkerSlot"]:
        """Desks that may take it."""
        free = [desk for desk in self._desks if desk.stage is None]
        return [desk for desk in free if self._filling(desk, stage) < MOST_FILLING]

    def _filling(self, place: "_WorkerSlot", stage: Stage) -> int:
        """How many stages there are on a desk's GPU that this one would have to share it with."""
        if place.gpu is None or not stage.fills_gpu:
            return 0
        return sum(desk.gpu == place.gpu and desk.stage is not None and desk.stage.fills_gpu for desk in self._desks)

    def wait(self) -> None:
        busy = [(desk, desk.worker.pipe) for desk in self._desks if desk.worker and desk.stage]
        ready = connection.wait([pipe for _, pipe in busy], timeout=LONGEST_WAIT_SECONDS)
        for desk, pipe in busy:
            if pipe in ready:
                try:
                    message = pipe.recv()
                except (EOFError, OSError):
                    desk.begin_again()
                else:
                    self._take(message, desk)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        workers = [desk.worker for desk in self._desks if desk.worker]
        for desk in self._desks:
            desk.stop()
        deadline = time.monotonic() + SECONDS_TO_END
        try:
            for worker in workers:
                worker.process.join(max(0.0, deadline - time.monotonic()))
        finally:
            # Also where Ctrl-C was pressed once more.
            for worker in workers:
                worker.process.kill()

    def _take(self, message: Event | Warned | LastWord, desk: "_WorkerSlot") -> None:
        match message:
            case Warned(text, filename, line):
                # Once, as in one process: a library tells every worker the same when it is imported.
                if text not in self._warned:
                    self._warned.add(text)
                    warnings.showwarning(text, UserWarning, filename, line)
            case LastWord(end):
                desk.dismiss()
                desk.take(end)
            case event:
                desk.take(event)


class _WorkerSlot:
    """Where a worker sits, if one is needed yet, and the stage it is at."""

    def __init__(self, root: Path, *, environment: Mapping[str, str], gpu: Hashable | None) -> None:
        self._root = root
        self._environment = environment
        self.gpu = gpu
        self._attempt = 0
        self._tell: Tell
        self.stage: Stage | None = None
        self.worker: _Worker | None = None

    def begin(self, stage: Stage, tell: Tell) -> None:
        self.stage, self._tell, self._attempt = stage, tell, 1
        self._hand_over(stage)

    def begin_again(self) -> None:
        """With another worker, as this one is gone; or tell that it is no use."""
        code = self.dismiss()
        if self.stage is None:
            return
        if self._attempt < ATTEMPTS:
            self._attempt += 1
            warnings.warn(f"a worker process {_end(code)}; {self.stage.title} goes on from where it was", stacklevel=2)
            self._hand_over(self.stage)
        else:
            self.take(Failed(self.stage.digest, _twice(code)))

    def take(self, event: Event) -> None:
        if not isinstance(event, Progressed | Waiting):
            self.stage = None
        self._tell(event)

    def stop(self) -> None:
        """Tell the worker to end, and not to finish first what it is at."""
        if self.worker:
            self.worker.pipe.close()
            if self.stage:
                self.worker.process.terminate()

    def dismiss(self) -> int | None:
        """The worker's exit code."""
        worker, self.worker = self.worker, None
        return worker.end() if worker else None

    def _hand_over(self, stage: Stage) -> None:
        if self.worker is None:
            self.worker = _Worker(self._root, environment=self._environment)
        # One that was killed while it had nothing to do is noticed by whoever reads from it.
        with suppress(BrokenPipeError, ConnectionResetError):
            self.worker.pipe.send(stage)


class _Worker:
    """A process and the pipe to it."""

    def __init__(self, root: Path, *, environment: Mapping[str, str]) -> None:
        # Not forked: a thread of this process may hold a lock, which would stay locked in the copy.
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        # No daemon: a stage may start processes of its own.
        self.process = context.Process(target=serve, args=(theirs,), kwargs={"root": root}, daemon=False)
        # If it had to be started below, it would unblock Ctrl-C.
        resource_tracker.ensure_running()
        # In a terminal it goes to all of a run, and it is this process that decides.
        with theirs, ctrl_c_blocked(), _variables(environment):
            self.process.start()

    def end(self) -> int | None:
        """See it to its end; returns its exit code."""
        self.pipe.close()
        self.process.join(SECONDS_TO_END)
        self.process.kill()
        self.process.join()
        return self.process.exitcode


@contextmanager
def _variables(environment: Mapping[str, str]) -> Iterator[None]:
    """For processes started meanwhile: some libraries read theirs before any code of a worker runs."""
    before = os.environ.copy()
    os.environ.update(environment)
    try:
        yield
    finally:
        for name in environment:
            if name in before:
                os.environ[name] = before[name]
            else:
                del os.environ[name]


def _end(code: int | None) -> str:
    if code is None or code >= 0:
        return f"ended (exit {code})"
    # The kernel's way with whoever takes too much.
    guess = ", perhaps for want of memory" if code == -signal.SIGKILL else ""
    return f"was killed ({signal.Signals(-code).name}){guess}"


def _twice(code: int | None) -> IsoglotError:
    mend = "give fewer --workers" if code == -signal.SIGKILL else "make it with --workers 1 to see where it ends"
    return IsoglotError(f"its worker process {_end(code)}, {ATTEMPTS} times: {mend}")
