"""The room on the disk that a model takes, told before it is trained."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from isoglot.pretraining.footprint import FLOAT, MOMENTS
from isoglot.pretraining.parameters import num_flat_tensors, num_in_training, num_parameters, num_tensors
from isoglot.pretraining.run import PretrainingRun

HEADER_BYTES = 140
"""Of a tensor's name, shape and place in a safetensors file."""
DESCRIPTION_BYTES = 500
LOG_LINE_BYTES = 250


@dataclass(frozen=True, kw_only=True)
class DiskUse:
    """Of one run."""

    run: PretrainingRun
    table_sizes: Mapping[str, int]

    @cached_property
    def model_bytes(self) -> int:
        """Of weights alone."""
        tensors = num_tensors(self.run, table_sizes=self.table_sizes)
        weights = FLOAT * num_parameters(self.run, table_sizes=self.table_sizes)
        return weights + tensors * HEADER_BYTES + DESCRIPTION_BYTES

    @cached_property
    def checkpoint_bytes(self) -> int:
        """Of weights, Adam's moments and its counts of updates."""
        numbers = (1 + MOMENTS) * num_in_training(self.run, table_sizes=self.table_sizes)
        tensors = (2 + MOMENTS) * num_flat_tensors(self.run, table_sizes=self.table_sizes)
        return FLOAT * numbers + tensors * HEADER_BYTES

    @property
    def num_kept(self) -> int:
        """Models kept from the course of the training, beside the best."""
        updates = self.run.updates
        return sum(self.run.kept_after(updates >> halvings) for halvings in range(1, updates.bit_length()))

    @property
    def finished_bytes(self) -> int:
        """Of what stays."""
        return (1 + self.num_kept) * self.model_bytes + self.run.evaluations * LOG_LINE_BYTES

    @property
    def passing_bytes(self) -> int:
        """Of what is there during training only: a checkpoint and the next, and a better model than the best."""
        return 2 * self.checkpoint_bytes + self.model_bytes
