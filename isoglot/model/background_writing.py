"""Tensors written off the training thread: copied at once, then put on disk in order."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Condition, Thread
from types import TracebackType

import torch
from safetensors import SafetensorError
from torch import Tensor

from isoglot.errors import IsoglotError
from isoglot.files import write_tensors

ALIGNMENT = 64


class BackgroundWriter:
    """Writes one file after the other in a thread of its own, strictly in the order in which they were handed over.

    So a checkpoint is never on disk before the models that it knows of. Leaving the context waits until all is on
    disk; leaving it by an error, or Ctrl-C, finishes the file being written and drops the others, as a kill would.
    """

    def __init__(self) -> None:
        self._jobs: list[_Job] = []
        """The first is being written, and stays until it is on disk."""
        self._changed = Condition()
        self._error: BaseException | None = None
        self._is_closed = False
        self._thread: Thread | None = None

    def outbox(self) -> "BackgroundWriter":
        """A way to hand files over, with memory for one of them."""
        return BackgroundWriter(self)

    def finish(self) -> None:
        """Wait until all is on disk."""
        with self._changed:
            self._changed.wait_for(lambda: not self._jobs)
        self._raise_error()

    def __enter__(self) -> "BackgroundWriter":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        with self._changed:
            if kind is not None:
                del self._jobs[1:]
            self._is_closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()
        if kind is None:
            self._raise_error()

    def _wait_for_room(self, outbox: "BackgroundWriter") -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._has_room(outbox))
        self._raise_error()

    def _has_room(self, outbox: "BackgroundWriter") -> bool:
        return all(job.outbox is not outbox for job in self._jobs)

    def _add(self, job: "_Job") -> None:
        with self._changed:
            # Again, as there may have been an error while the tensors were copied.
            self._raise_error()
            self._jobs.append(job)
            self._changed.notify_all()
        if self._thread is None:
            # A daemon, so that a second Ctrl-C need not wait for a slow disk.
            self._thread = Thread(target=self._work, name="isoglot-writer", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while self._write_first():
            pass

    def _write_first(self) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: bool(self._jobs) or self._is_closed)
            if not self._jobs:
                return False
            job = self._jobs[0]
        error = job.error_of_writing()
        with self._changed:
            self._error = error
            # What was handed over later may build on what is missing now.
            del self._jobs[: 1 if error is None else None]
            self._changed.notify_all()
        return True

    def _raise_error(self) -> None:
        if self._error is not None:
            raise self._error


class BackgroundWriter:
    """Called like `write_tensors`: copies the tensors as they are now and returns, and they are written later.

    Its memory holds one file's tensors, and is used again for the next. A call waits while the last one's file is
    not on disk; whoever would rather come back later asks first whether it `is_free`.
    """

    def __init__(self, writer: BackgroundWriter):
        self._writer = writer
        self._memory = torch.empty(0, dtype=torch.uint8)

    @property
    def is_free(self) -> bool:
        """Whether a call would not wait."""
        with self._writer._changed:
            return self._writer._has_room(self)

    def __call__(self, tensors: Mapping[str, Tensor], path: Path, *, metadata: Mapping[str, str] | None = None) -> None:
        """Hand one file over; an error of any file before it is raised here."""
        self._writer._wait_for_room(self)
        self._writer._add(_Job(self, self._copied(tensors), path, dict(metadata) if metadata is not None else None))

    @torch.no_grad()
    def _copied(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        starts, size = {}, 0
        for name, tensor in tensors.items():
            starts[name] = size
            size += -(-tensor.nbytes // ALIGNMENT) * ALIGNMENT
        devices = {tensor.device for tensor in tensors.values() if tensor.device.type == "cuda"}
        if self._memory.nbytes < size:
            self._memory = torch.empty(0, dtype=torch.uint8)  # lest both are held at once
            self._memory = torch.empty(size, dtype=torch.uint8, pin_memory=bool(devices))
        copies = {}
        with _one_thread():
            for name, tensor in tensors.items():
                place = self._memory[starts[name] : starts[name] + tensor.nbytes]
                copies[name] = place.view(tensor.dtype).view(tensor.shape)
                copies[name].copy_(tensor, non_blocking=True)
        # On the stream that trains, which so cannot change a weight before it is copied, and waited for here: into
        # pinned memory a GB takes tens of ms, and the other thread need not call CUDA, which could spoil a graph that
        # is being recorded. A clone on the device would save those milliseconds and take a checkpoint's worth of its
        # memory.
        for device in devices:
            torch.cuda.current_stream(device).synchronize()
        return copies


@contextmanager
def _one_thread() -> Iterator[None]:
    """Where another program has a core, threads that share small copies wait for each other at every one of them."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@dataclass(frozen=True)
class _Job:
    outbox: BackgroundWriter
    tensors: Mapping[str, Tensor]
    path: Path
    metadata: Mapping[str, str] | None

    def error_of_writing(self) -> BaseException | None:
        try:
            write_tensors(self.tensors, self.path, metadata=self.metadata)
        except (OSError, SafetensorError) as error:
            told = IsoglotError(
                f"{self.path} could not be written ({error}): see that its disk has room and may be written to, "
                "and run again; what was saved before is kept"
            )
            told.__cause__ = error
            return told
        except BaseException as error:
            return error
        return None
