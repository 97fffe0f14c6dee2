"""A function over many items in several processes, and lines in batches: few items in memory at a time."""

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from isoglot.errors import IsoglotError
from isoglot.processes import end_with_parent, script_hidden

Item = TypeVar("Item")
Result = TypeVar("Result")
IN_FLIGHT = 3
"""Items for each worker: one it works on, one that waits for it, one whose result waits for its turn."""
READ_AHEAD = 2
THE_END = object()


def line_batches(lines: Iterable[str], *, characters: int) -> Iterator[list[str]]:
    """Lists of lines, each ended by the line that brings it to so many characters."""
    batch: list[str] = []
    size = 0
    for line in lines:
        batch.append(line)
        size += len(line)
        if size >= characters:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def ordered_map(function: Callable[[Item], Result], items: Iterable[Item], *, workers: int) -> Iterator[Result]:
    """The same results, and then the same exception if there is one, for any number of workers.

    One worker is this process. For more, the function and the items are pickled; closing the iterator ends them.
    """
    if workers == 1:
        yield from map(function, items)
        return
    # Not forked: a caller may have threads, and a lock that one of them holds would stay locked in the copy.
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), initializer=_follow_parent)
    try:
        pending: deque[Future[Result]] = deque()
        for future in _submitted(pool, function, read_ahead(items)):
            pending.append(future)
            if len(pending) == IN_FLIGHT * workers:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    except BrokenProcessPool as error:
        raise IsoglotError("a worker process was killed; if memory ran out, use fewer workers") from error
    finally:
        pool.shutdown(cancel_futures=True)


def read_ahead(items: Iterable[Item]) -> Iterator[Item]:
    """The same items, each read while its reader is still at work on those before: decompression leaves Python free."""
    iterator = iter(items)
    with ThreadPoolExecutor(1) as thread:
        waiting = deque(thread.submit(next, iterator, THE_END) for _ in range(READ_AHEAD))
        while (item := waiting.popleft().result()) is not THE_END:
            waiting.append(thread.submit(next, iterator, THE_END))
            yield item  # type: ignore[misc]


def _submitted(
    pool: ProcessPoolExecutor, function: Callable[[Item], Result], items: Iterable[Item]
) -> Iterator[Future[Result]]:
    try:
        for item in items:
            # The pool starts its processes here, one with each of the first items.
            with script_hidden():
                future = pool.submit(function, item)
            yield future
    except Exception as error:
        # It waits for its turn, after the results of the items before it.
        failed: Future[Result] = Future()
        failed.set_exception(error)
        yield failed


def _follow_parent() -> None:
    """Leave Ctrl-C to the parent, and end when it does, even if it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
