"""An engine of worker processes on this machine, which live as long as the run does.

Neither multiprocessing.Pool nor ProcessPoolExecutor would do: a killed worker hangs the first and breaks the second for
all stages, and neither gives each worker its own environment (GPU, threads, share of the memory).
"""

import multiprocessing
import os
import signal
import time
import warnings
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from multiprocessing import connection, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from isoglot.errors import IsoglotError, option
from isoglot.processes import ctrl_c_blocked, end_with_parent, script_hidden
from isoglot.store.engine import Emit, Engine, Event, Failed, Progressed, make_or_fail
from isoglot.store.stage import Stage
from isoglot.store.store import Store

LONGEST_WAIT_SECONDS = 1.0
SECONDS_BETWEEN_REPORTS = 0.1
SECONDS_TO_END = 5.0
"""For a stage to clean up when it is stopped. A long computation in a C library may take longer."""
MOST_FILLING = 2
"""Stages that fill a GPU and may share it. Two take as long together as one after the other, but the second has the
GPU while the first is set up, evaluated and written."""
ATTEMPTS = 2
"""A worker may be killed for memory that another one took. The second attempt goes on from where it was."""


class LocalProcesses(Engine):
    """One worker for each of `environments`, the variables it gets on top of this process's own.

    `gpus` names the GPU of each worker, in any terms; None means that there are no GPUs.
    """

    def __init__(
        self, store: Store, *, environments: Sequence[Mapping[str, str]], gpus: Sequence[Hashable] | None = None
    ) -> None:
        pairs = zip(environments, gpus or [None] * len(environments), strict=True)
        self.workers = [_Worker(store.root, environment=environment, gpu=gpu) for environment, gpu in pairs]
        self._shown_warnings: set[str] = set()

    def takes(self, stage: Stage) -> bool:
        return bool(self._free(stage))

    def start(self, stage: Stage, emit: Emit) -> None:
        # The least filled GPU comes first, then a worker that has imported its libraries already.
        free = self._free(stage)
        min(free, key=lambda worker: (self._num_filling(worker, stage), not worker.is_running)).begin(stage, emit)

    def _free(self, stage: Stage) -> list["_Worker"]:
        free = [worker for worker in self.workers if worker.stage is None]
        return [worker for worker in free if self._num_filling(worker, stage) < MOST_FILLING]

    def _num_filling(self, worker: "_Worker", stage: Stage) -> int:
        """How many stages in work fill the worker's GPU, if this stage would fill it as well."""
        if worker.gpu is None or not stage.fills_gpu:
            return 0
        return sum(each.stage.fills_gpu for each in self.workers if each.gpu == worker.gpu and each.stage)

    def wait(self) -> None:
        busy = {worker.pipe: worker for worker in self.workers if worker.stage}
        for pipe in connection.wait(list(busy), timeout=LONGEST_WAIT_SECONDS):
            worker = busy[pipe]  # type: ignore[index]
            try:
                message = worker.pipe.recv()
            except (EOFError, OSError):
                worker.begin_again()
                continue
            if not isinstance(message, str):
                worker.handle(message)
            elif message not in self._shown_warnings:
                # Every worker repeats the warnings of the libraries it imports; they are shown once.
                self._shown_warnings.add(message)
                warnings.warn(message, stacklevel=2)

    def __exit__(self, *_: object) -> None:
        running = [worker for worker in self.workers if worker.is_running]
        for worker in running:
            worker.stop()
        deadline = time.monotonic() + SECONDS_TO_END
        try:
            for worker in running:
                worker.process.join(max(0.0, deadline - time.monotonic()))
        finally:
            # This runs after a second Ctrl-C as well.
            for worker in running:
                worker.process.kill()


class _Worker:
    """A process, started with its first stage and replaced when it dies, and the stage it is making."""

    process: BaseProcess
    pipe: Connection
    _emit: Emit

    def __init__(self, root: Path, *, environment: Mapping[str, str], gpu: Hashable | None) -> None:
        self._root, self._environment, self.gpu = root, environment, gpu
        self.is_running = False
        self.stage: Stage | None = None
        self._attempt = 0

    def begin(self, stage: Stage, emit: Emit) -> None:
        self.stage, self._emit, self._attempt = stage, emit, 1
        self._send(stage)

    def begin_again(self) -> None:
        """Give the stage to a new process, since this one is dead, or report that it failed too often."""
        code = self._end()
        assert self.stage is not None
        if self._attempt < ATTEMPTS:
            self._attempt += 1
            text = f"a worker process {_ending(code)}; {self.stage.title} goes on from where it was"
            warnings.warn(text, stacklevel=2)
            self._send(self.stage)
        else:
            fewer, one = option("workers", python="workers"), option("workers", 1)
            fix = f"give fewer {fewer}" if code == -signal.SIGKILL else f"make it with {one} to see where it ends"
            error = IsoglotError(f"its worker process {_ending(code)}, {ATTEMPTS} times: {fix}")
            self.handle(Failed(self.stage.digest, error))

    def handle(self, event: Event) -> None:
        if not isinstance(event, Progressed):
            self.stage = None
        if isinstance(event, Failed):
            # An error may leave the GPU, or a library, in a state that fails every later stage of the process.
            self._end()
        self._emit(event)

    def stop(self) -> None:
        """Have the process end, without finishing its stage."""
        self.pipe.close()
        if self.stage:
            self.process.terminate()

    def _send(self, stage: Stage) -> None:
        if not self.is_running:
            self._start()
        # A process that was killed while idle is noticed when its pipe is read.
        with suppress(BrokenPipeError, ConnectionResetError):
            self.pipe.send(stage)

    def _start(self) -> None:
        # Spawned, not forked: a lock that a thread of this process holds would stay locked in the copy for ever.
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        # No daemon, since a stage may start processes of its own.
        self.process = context.Process(target=_serve, args=(theirs, self._root), daemon=False)
        # Starting the tracker inside the block below would unblock Ctrl-C.
        resource_tracker.ensure_running()
        before = os.environ.copy()
        # The variables are set here, since libraries read them before any code of a worker runs.
        os.environ.update(self._environment)
        try:
            with theirs, ctrl_c_blocked(), script_hidden():
                self.process.start()
        finally:
            os.environ.clear()
            os.environ.update(before)
        self.is_running = True

    def _end(self) -> int | None:
        """Wait for the process's end and return its exit code."""
        if not self.is_running:
            return None
        self.is_running = False
        self.pipe.close()
        self.process.join(SECONDS_TO_END)
        self.process.kill()
        self.process.join()
        return self.process.exitcode


def _ending(code: int | None) -> str:
    if code is None or code >= 0:
        return f"ended (exit {code})"
    # The kernel sends SIGKILL to a process when memory runs out.
    guess = ", perhaps for lack of memory" if code == -signal.SIGKILL else ""
    return f"was killed ({signal.Signals(-code).name}){guess}"


def _serve(pipe: Connection, root: Path) -> None:
    """Make stages from the pipe until it is closed or a stage fails; SIGTERM stops the one in work."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # Nobody would see, or stop, what an orphan makes.
    end_with_parent(grace_seconds=SECONDS_TO_END)

    def send(message: Event | str) -> None:
        # `end_with_parent` notices a parent that is gone.
        with suppress(OSError):
            pipe.send(message)

    def send_warning(message: Warning | str, *_: Any, **__: Any) -> None:
        send(str(message))

    # The parent shows warnings, where they cannot break the progress bars on the terminal.
    warnings.showwarning = send_warning
    with suppress(KeyboardInterrupt, EOFError):
        try:
            store, end = Store(root), None
            while not isinstance(end, Failed):
                # A stage has to wait while the pipe is full, so it sends few reports.
                end = make_or_fail(pipe.recv(), store=store, emit=send, seconds_between=SECONDS_BETWEEN_REPORTS)
                send(end)
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
