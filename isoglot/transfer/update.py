"""One update of fine-tuning: batch, loss, gradients and Adam, replayed as one CUDA graph where there is a GPU."""

# B = sequences of a batch

import torch
from torch import Tensor

from isoglot.machine import Machine
from isoglot.transfer.model import TaskModel
from isoglot.transfer.resident_sequences import ResidentSequences

FINE_LENGTHS = 32
"""Up to here a batch is padded to an even length on a GPU, beyond to a multiple of COARSE_STEP: a graph serves one."""
FINE_STEP, COARSE_STEP = 2, 8


class Updates:
    """Small batches leave a GPU waiting for Python; the graph of a shape is recorded when it is met a second time."""

    def __init__(
        self,
        model: TaskModel,
        optimizer: torch.optim.Optimizer,
        resident: ResidentSequences,
        *,
        language: str,
        machine: Machine,
    ):
        self.model, self.optimizer, self.resident = model, optimizer, resident
        self.language, self.machine = language, machine
        self.has_graphs = machine.device.type == "cuda"
        self.met: set[tuple[int, int]] = set()
        self.graphs: dict[tuple[int, int], tuple[torch.cuda.CUDAGraph, Tensor, Tensor]] = {}
        self.pool = torch.cuda.graph_pool_handle() if self.has_graphs else None

    def __call__(self, rows_B: Tensor, *, length: int) -> Tensor:
        """The loss of the batch before the update, left on the device."""
        if not self.has_graphs:
            return self._update(rows_B, length=length)
        shape = (len(rows_B), graph_length(length, positions=self.model.encoder.shape.positions))
        if shape in self.graphs:
            graph, graph_rows_B, loss = self.graphs[shape]
            graph_rows_B.copy_(rows_B)
            graph.replay()
            return loss.clone()
        if shape in self.met:
            return self._record(rows_B, shape)
        self.met.add(shape)
        # On a stream of its own, as what is to be recorded must first have run on one.
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            loss = self._update(rows_B, length=shape[1])
        torch.cuda.current_stream().wait_stream(stream)
        return loss

    def _update(self, rows_B: Tensor, *, length: int) -> Tensor:
        token_BL, point_BL, target_CBL = self.resident.batch(rows_B, length=length)
        self.optimizer.zero_grad(set_to_none=True)
        with self.machine.autocast(cache=not self.has_graphs):
            loss = self.model.loss(token_BL, point_BL=point_BL, target_CBL=target_CBL, language=self.language)
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        return loss.detach()

    def _record(self, rows_B: Tensor, shape: tuple[int, int]) -> Tensor:
        graph, graph_rows_B = torch.cuda.CUDAGraph(), rows_B.clone()
        self.optimizer.zero_grad(set_to_none=True)
        with torch.cuda.graph(graph, pool=self.pool):
            loss = self._update(graph_rows_B, length=shape[1])
        self.graphs[shape] = (graph, graph_rows_B, loss)
        graph.replay()
        return loss.clone()


def graph_length(length: int, *, positions: int) -> int:
    """Of the graph that serves batches of a length; a model has no positions beyond its last."""
    step = FINE_STEP if length <= FINE_LENGTHS else COARSE_STEP
    return min(-(-length // step) * step, positions)
