"""Memory counted tensor by tensor, which the size of a process only blurs."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from torch._C._profiler import _EventType
from torch.profiler import ProfilerActivity, profile


def peak_allocated(act: Callable[[], object]) -> int:
    """The most bytes that an act on the CPU has allocated and not yet freed at any moment, beside what was there."""
    return max(_allocated(act))


def left_allocated(act: Callable[[], object]) -> int:
    """Bytes that an act on the CPU leaves allocated in what it gives."""
    return _allocated(act)[-1]


def _allocated(act: Callable[[], object]) -> list[int]:
    """Bytes after each allocation and each freeing in an act, while what it gives is still there."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as found:
        result = act()
    allocations = sorted(
        _allocations(found.profiler.kineto_results.experimental_event_tree()), key=lambda each: each[0]
    )
    del result
    sizes: dict[int, int] = {}
    now = [0]
    for _, address, size in allocations:
        # The profiler may know a wrong size, from an earlier use, of a block that was there before.
        now.append(now[-1] + (size if size > 0 else -sizes.pop(address, 0)))
        if size > 0:
            sizes[address] = size
    return now


def _allocations(events: Iterable[Any]) -> Iterator[tuple[int, int, int]]:
    """Moment, address and size, which is negative where a block is freed."""
    for event in events:
        if event.tag == _EventType.Allocation:
            yield event.start_time_ns, event.extra_fields.ptr, event.extra_fields.alloc_size
        yield from _allocations(event.children)
