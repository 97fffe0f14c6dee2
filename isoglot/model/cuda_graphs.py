"""Many small steps of a GPU launched as one: recorded as a CUDA graph, then replayed."""

from collections.abc import Callable, Hashable

import torch
from torch import Tensor


class GraphReplay:
    """Calls functions; on a GPU it records a function when it is called a second time, and later only replays it."""

    # Many small steps leave a GPU waiting for Python. A graph replays the same operations on the same addresses. So a
    # function must depend on its key and on tensors alone: its inputs, of one shape for a key, and tensors that stay.

    def __init__(self, device: torch.device):
        self.is_used = device.type == "cuda"
        self.met: set[Hashable] = set()
        self.graphs: dict[Hashable, tuple[torch.cuda.CUDAGraph, tuple[Tensor, ...], Tensor]] = {}
        self.pool = torch.cuda.graph_pool_handle() if self.is_used else None

    def __call__(self, key: Hashable, function: Callable[..., Tensor], *inputs: Tensor) -> Tensor:
        if not self.is_used:
            return function(*inputs)
        if key in self.met:
            if key not in self.graphs:
                self._record(key, function, inputs)
            return self._replay(key, inputs)
        self.met.add(key)
        # The first call warms up libraries; CUDA wants that on a stream of its own before anything is recorded.
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            output = function(*inputs)
        torch.cuda.current_stream().wait_stream(stream)
        return output

    def _record(self, key: Hashable, function: Callable[..., Tensor], inputs: tuple[Tensor, ...]) -> None:
        graph, held = torch.cuda.CUDAGraph(), tuple(each.clone() for each in inputs)
        # Other threads may go on with what they do, such as copying the next batch.
        with torch.cuda.graph(graph, pool=self.pool, capture_error_mode="thread_local"):
            output = function(*held)
        self.graphs[key] = graph, held, output

    def _replay(self, key: Hashable, inputs: tuple[Tensor, ...]) -> Tensor:
        graph, held, output = self.graphs[key]
        for own, given in zip(held, inputs, strict=True):
            own.copy_(given)
        graph.replay()
        return output.clone()
