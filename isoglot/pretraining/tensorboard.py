"""The numbers of a run's health for TensorBoard, where the user asks for them."""

import os
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from isoglot.errors import IsoglotError

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

VARIABLE = "ISOGLOT_TENSORBOARD"
EVENTS = "tensorboard"


def is_wanted() -> bool:
    """By the environment variable ISOGLOT_TENSORBOARD."""
    value = os.environ.get(VARIABLE, "")
    if value not in ("", "0", "1"):
        raise IsoglotError(f"{VARIABLE}={value!r} says neither yes nor no; set it to 1, or unset it")
    return value == "1"


def check_tensorboard() -> None:
    """Refuse what would fail when the first model begins to train, without waiting for torch."""
    if is_wanted() and find_spec("tensorboard") is None:
        raise _missing()


class TensorBoard:
    """Event files beside the health log."""

    def __init__(self, folder: Path):
        self.folder = folder / EVENTS
        self.writer: SummaryWriter | None = None
        try:
            import torch.utils.tensorboard  # noqa: F401
        except ImportError:
            raise _missing() from None

    def write(self, numbers: Mapping[str, object], *, update: int, first_update: int) -> None:
        """All that are there; those of languages get names like losses/en."""
        from torch.utils.tensorboard import SummaryWriter

        if self.writer is None:
            # What an attempt that was killed wrote of updates that this one does again is hidden.
            self.writer = SummaryWriter(self.folder, purge_step=first_update)
        for name, value in numbers.items():
            for tag, number in _tagged(name, value):
                self.writer.add_scalar(tag, number, update)
        self.writer.flush()

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()


def _missing() -> IsoglotError:
    return IsoglotError(
        f"{VARIABLE}=1 needs a library; get it with: pip install 'isoglot[tensorboard]', or unset {VARIABLE}"
    )


def _tagged(name: str, value: object) -> list[tuple[str, float]]:
    match value:
        case Mapping():
            return [pair for key, each in value.items() for pair in _tagged(f"{name}/{key}", each)]
        case int() | float():
            return [(name, value)]
    return []
