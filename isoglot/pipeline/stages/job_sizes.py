"""What stages ask of the node of a cluster, by the size of the text or of the model they are about.

These are upper bounds for a scheduler and no estimates of time; docs/cluster.md has them as a table.
"""

from isoglot.store import Resources
from isoglot.study.scales import EncoderShape

LARGE_PARAMETERS = 1_000_000
"""Outside the token tables. A smaller model, as the demo's, is no faster on a GPU."""
GPU_SPEEDUP = 1000
"""Over the two CPU cores that stages guess for: what a V100 does, and newer ones do better."""
UNKNOWN_HOURS = 12.0
"""For training on files, whose examples are not counted before they are read."""
LITTLE_GIGABYTES = 0.1


def for_text(gigabytes: float) -> Resources:
    """To go through so much text, as large as its files are."""
    if gigabytes < LITTLE_GIGABYTES:
        return Resources()
    return Resources(cpus=8, gigabytes=8 + 2 * gigabytes, hours=2 + gigabytes / 2)


def for_reading(*shapes: EncoderShape) -> Resources:
    """To have models read some thousand sentences and compare what they make of them."""
    return Resources(gpus=1, cpus=8, gigabytes=32, hours=4) if _one_is_large(*shapes) else Resources()


def for_training(shape: EncoderShape, *, guessed_seconds: float | None) -> Resources:
    """To train a model, or to fine-tune it, for what would take so long on two CPU cores."""
    if not _one_is_large(shape):
        return Resources(cpus=2, hours=1 + 4 * (guessed_seconds or 0) / 3600)
    if guessed_seconds is None:
        return Resources(gpus=1, cpus=8, gigabytes=32, hours=UNKNOWN_HOURS)
    return Resources(gpus=1, cpus=8, gigabytes=32, hours=4 + guessed_seconds / GPU_SPEEDUP / 3600)


def _one_is_large(*shapes: EncoderShape) -> bool:
    return any(shape.num_parameters(table_size=0) >= LARGE_PARAMETERS for shape in shapes)
