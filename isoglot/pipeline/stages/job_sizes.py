"""Cluster resources of a stage, by the size of its text or model."""

# These are upper bounds for a scheduler, not estimates of time; docs/cluster.md has them as a table.

from isoglot.store import Resources
from isoglot.study.scales import EncoderShape

LARGE_PARAMETERS = 1_000_000  # token tables excluded. A smaller model, such as the demo's, is no faster on a GPU.
GPU_SPEEDUP = 1000  # the speed of a V100 relative to the two CPU cores that stages guess for; newer GPUs are faster
UNKNOWN_HOURS = 12.0  # the limit for training on files, whose examples are not counted before they are read
LITTLE_GIGABYTES = 0.1


def for_text(gigabytes: float) -> Resources:
    """Going through text whose files have this size."""
    if gigabytes < LITTLE_GIGABYTES:
        return Resources()
    return Resources(cpus=8, gigabytes=8 + 2 * gigabytes, hours=2 + gigabytes / 2)


def for_reading(*shapes: EncoderShape) -> Resources:
    """Letting models read a few thousand sentences and comparing their vectors."""
    return Resources(gpus=1, cpus=8, gigabytes=32, hours=4) if _one_is_large(*shapes) else Resources()


def for_training(shape: EncoderShape, *, guessed_seconds: float | None) -> Resources:
    """Training or fine-tuning that would take this long on two CPU cores."""
    if not _one_is_large(shape):
        return Resources(cpus=2, hours=1 + 4 * (guessed_seconds or 0) / 3600)
    hours = UNKNOWN_HOURS if guessed_seconds is None else 4 + guessed_seconds / GPU_SPEEDUP / 3600
    return Resources(gpus=1, cpus=8, gigabytes=32, hours=hours)


def _one_is_large(*shapes: EncoderShape) -> bool:
    return any(shape.num_parameters(table_size=0) >= LARGE_PARAMETERS for shape in shapes)
