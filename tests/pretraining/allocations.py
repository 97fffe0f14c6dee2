"""Memory counted tensor by tensor, which the size of a process only blurs."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch._C._profiler import _EventType
from torch.profiler import ProfilerActivity, profile


def peak_allocated(act: Callable[[], object]) -> int:
    """The most bytes that an act on the CPU has allocated and not yet freed at any moment, beside what was there."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as found:
        act()
    allocations = sorted(
        _allocations(found.profiler.kineto_results.experimental_event_tree()), key=lambda each: each[0]
    )
    sizes: dict[int, int] = {}
    now = most = 0
    for _, address, size in allocations:
        # Of a block that was there before the profiler may know a wrong size, from an earlier use of it.
        now += size if size > 0 else -sizes.pop(address, 0)
        most = max(most, now)
        if size > 0:
            sizes[address] = size
    return most


def _allocations(events: Iterable[Any]) -> Iterator[tuple[int, int, int]]:
    """Moment, address and size, which is below nought where a block is freed."""
    for event in events:
        if event.tag == _EventType.Allocation:
            yield event.start_time_ns, event.extra_fields.ptr, event.extra_fields.alloc_size
        yield from _allocations(event.children)


def kept_for_the_way_back(act: Callable[[], object], *, but: torch.nn.Module) -> int:
    """Bytes of all that autograd saves in an act, each storage once, without the parameters of a module."""
    known = {parameter.untyped_storage().data_ptr() for parameter in but.parameters()}
    saved: dict[int, torch.UntypedStorage] = {}

    def save(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in known:
            saved[storage.data_ptr()] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(save, lambda tensor: tensor):
        result = act()
    assert result is not None, "it must be alive while it is counted"
    return sum(storage.nbytes() for storage in saved.values())
