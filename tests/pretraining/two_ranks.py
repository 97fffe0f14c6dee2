"""What two processes under torchrun find of each other; each says so when it has: run with --nproc-per-node=2."""

import pytest
import torch
import torch.distributed as dist
from torch import nn

from isoglot.errors import IsoglotError
from isoglot.pretraining import ranks
from isoglot.pretraining.ranks import Ranks


def check_words(own: Ranks) -> None:
    assert own.heard_from_first(own.rank == 0) is True
    assert own.heard_from_first(own.rank == 1) is False
    own.check_agreement({"update": 7})
    with pytest.raises(
        IsoglotError, match=r"different checkpoints \(process 0: {'update': 0}; process 1: {'update': 1}"
    ):
        own.check_agreement({"update": own.rank})


def check_sums(own: Ranks) -> None:
    total = torch.tensor([1.0, own.rank])
    own.add_up(total)
    assert total.tolist() == [2, 1]
    for bucket in (1, 5, 1 << 23):
        ranks.BUCKET_NUMBERS = bucket
        parameters = [nn.Parameter(torch.zeros(shape)) for shape in ((2, 3), (4,), (1,))]
        for place, parameter in enumerate(parameters):
            if (own.rank, place) != (1, 1):
                parameter.grad = torch.full_like(parameter, 10.0**own.rank + place)
        own.add_up_gradients(parameters)
        found = [parameter.grad.unique().tolist() for parameter in parameters]
        assert found == [[11.0], [2.0], [15.0]], found


def main() -> None:
    dist.init_process_group("gloo")
    own = Ranks(rank=dist.get_rank(), count=dist.get_world_size())
    check_words(own)
    check_sums(own)
    print(f"rank {own.rank} found all as it should be")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
