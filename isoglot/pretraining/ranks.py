"""Processes that train one model together, each on its rows of every batch."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn

from isoglot.errors import IsoglotError

BUCKET_NUMBERS = 1 << 23


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
        """What the first of them found, for all."""
        if self.count == 1:
            return is_so
        heard = [is_so]
        dist.broadcast_object_list(heard, src=0)
        return heard[0]

    def check_agreement(self, state: Mapping[str, object]) -> None:
        """Wait until all have come this far, and refuse to go on from different places."""
        if self.count == 1:
            return
        states: list[Mapping[str, object]] = [{}] * self.count
        dist.all_gather_object(states, state)
        if any(other != state for other in states):
            told = "; ".join(f"process {rank}: {other}" for rank, other in enumerate(states))
            raise IsoglotError(f"processes that train together found different checkpoints ({told}); run again")

    def add_up(self, tensor: Tensor) -> None:
        """Make it the sum over all processes."""
        if self.count > 1:
            dist.all_reduce(tensor)

    def add_up_gradients(self, parameters: Sequence[nn.Parameter]) -> None:
        """Sum the gradients of parameters that any process may have used; one without a gradient adds nothing.

        torch's DistributedDataParallel sorts its buckets anew after the first update of each start, so that a resumed
        run would add in another order than one that was never stopped; these buckets are always the same.
        """
        if self.count == 1:
            return
        for parameter in parameters:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        sums = [(bucket, torch.cat([each.flatten() for each in bucket])) for bucket in _buckets(gradients)]
        for pending in [dist.all_reduce(total, async_op=True) for _, total in sums]:
            pending.wait()
        for bucket, total in sums:
            summed = torch.split(total, [each.numel() for each in bucket])
            for gradient, numbers in zip(bucket, summed, strict=True):
                gradient.copy_(numbers.view_as(gradient))


ALONE = Ranks()


def _buckets(gradients: Sequence[Tensor]) -> Iterator[list[Tensor]]:
    """Small ones together, since each exchange costs the same few microseconds at least."""
    bucket: list[Tensor] = []
    for each in gradients:
        if bucket and sum(other.numel() for other in bucket) + each.numel() > BUCKET_NUMBERS:
            yield bucket
            bucket = []
        bucket.append(each)
    if bucket:
        yield bucket
