"""Two processes that check how they reach each other: run under torchrun with --nproc-per-node=2."""

import pytest
import torch
import torch.distributed as dist

from isoglot.errors import IsoglotError
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
    pair, matrix = torch.tensor([1.0, own.rank]), torch.full((2, 3), 10.0**own.rank)
    # A view, as gradients are, of which the rest belongs to others.
    own.add_up([pair, matrix[1]])
    assert pair.tolist() == [2, 1]
    assert matrix.tolist() == [[10.0**own.rank] * 3, [11.0] * 3]


def main() -> None:
    dist.init_process_group("gloo")
    own = Ranks(rank=dist.get_rank(), count=dist.get_world_size())
    check_words(own)
    check_sums(own)
    # One write: under python -u, as torchrun starts it, print writes a line and its end apart, and ranks get mixed up.
    print(f"rank {own.rank} found all as it should be\n", end="")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
