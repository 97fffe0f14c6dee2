"""Processes that train one model together, each on its rows of every batch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch.distributed as dist
from torch import Tensor

from isoglot.errors import IsoglotError


@dataclass(frozen=True, kw_only=True)
class Ranks:
    """This process's place among them."""

    rank: int = 0
    count: int = 1

    @property
    def is_first(self) -> bool:
        """The first evaluates, writes and reports."""
        return self.rank == 0

    def rows(self, batch: int) -> tuple[int, int]:
        """This process's rows of a batch, from and to; the first processes get no more than the last."""
        return self.rank * batch // self.count, (self.rank + 1) * batch // self.count

    def heard_from_first(self, is_so: bool) -> bool:
        """The answer of the first process, for all."""
        if self.count == 1:
            return is_so
        answer = [is_so]
        dist.broadcast_object_list(answer, src=0)
        return answer[0]

    def check_agreement(self, state: Mapping[str, object]) -> None:
        """Wait until all have come this far, and refuse to go on from different places."""
        if self.count == 1:
            return
        states: list[Mapping[str, object]] = [{}] * self.count
        dist.all_gather_object(states, state)
        if any(other != state for other in states):
            listed = "; ".join(f"process {rank}: {other}" for rank, other in enumerate(states))
            raise IsoglotError(f"processes that train together found different checkpoints ({listed}); run again")

    def add_up(self, tensors: Sequence[Tensor]) -> None:
        """Make each of them the sum over all processes."""
        # torch's DistributedDataParallel sorts its buckets again after the first update of each start. A resumed run
        # would then add in another order than one that was never stopped. Here nothing depends on when it started.
        if self.count > 1:
            for pending in [dist.all_reduce(each, async_op=True) for each in tensors]:
                pending.wait()


ALONE = Ranks()
