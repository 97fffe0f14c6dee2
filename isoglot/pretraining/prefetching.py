"""The batches of the next updates, read ahead of the device that learns from them."""

# B = windows, L = positions

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from queue import Full, Queue
from threading import Event, Thread
from types import TracebackType

from torch import Tensor

from isoglot.machine import Machine
from isoglot.pretraining.batches import Batches, share_of

READ_AHEAD = 4
SECONDS_BETWEEN_LOOKS = 0.1


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Rows of an update's batch that are read at once."""

    language: str
    first_row: int
    token_BL: Tensor


@dataclass(frozen=True, kw_only=True)
class Batch:
    """What one process learns from in one update."""

    pieces: list[Piece]
    languages: frozenset[str]
    """Of the whole batch, over all processes."""
    positions: Mapping[str, int]
    """Windows that each language has given when this batch is done with."""

    def moved(self, move: Callable[[Tensor], Tensor]) -> "Batch":
        """The same, with its tokens elsewhere."""
        pieces = [replace(piece, token_BL=move(piece.token_BL)) for piece in self.pieces]
        return replace(self, pieces=pieces)


class Prefetcher:
    """Gives the batches in order; for a GPU they are read by a thread of their own, into memory it can fetch from."""

    def __init__(self, batches: Batches, *, update: int, rows: tuple[int, int], at_most: int, machine: Machine):
        self.batches, self.rows, self.at_most, self.machine = batches, rows, at_most, machine
        self._source = self._batches(update)
        self._is_closed = Event()
        self._queue: Queue[Batch | BaseException] = Queue(READ_AHEAD)
        self._thread: Thread | None = None

    def __next__(self) -> Batch:
        if self.machine.device.type != "cuda":
            return next(self._source)
        if self._thread is None:
            # A daemon, so that a second Ctrl-C need not wait for a slow disk.
            self._thread = Thread(target=self._read_ahead, name="isoglot-reader", daemon=True)
            self._thread.start()
        batch = self._queue.get()
        if isinstance(batch, BaseException):
            self._queue.put(batch)  # there is nothing else to come for anyone who asks again
            raise batch
        return batch.moved(lambda token_BL: token_BL.to(self.machine.device, non_blocking=True))

    def __enter__(self) -> "Prefetcher":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._is_closed.set()
        if self._thread is not None:
            self._thread.join()

    def _batches(self, update: int) -> Iterator[Batch]:
        first_row, end_row = self.rows
        while True:
            update += 1
            parts = self.batches.next_parts(update)
            pieces = [
                Piece(language=part.language, first_row=part.first_row, token_BL=self.batches.tokens(part))
                for part in share_of(parts, first_row=first_row, end_row=end_row, at_most=self.at_most)
            ]
            languages = frozenset(part.language for part in parts)
            yield Batch(pieces=pieces, languages=languages, positions=dict(self.batches.positions))

    def _read_ahead(self) -> None:
        while not self._is_closed.is_set():
            try:
                read: Batch | BaseException = next(self._source).moved(Tensor.pin_memory)
            except BaseException as error:
                read = error
            self._put(read)
            if isinstance(read, BaseException):
                return

    def _put(self, read: Batch | BaseException) -> None:
        """Wait for room, but not for ever: nobody may want any more."""
        while not self._is_closed.is_set():
            try:
                self._queue.put(read, timeout=SECONDS_BETWEEN_LOOKS)
            except Full:
                continue
            return
