"""What a stage asks of the computer that makes it, where a computer is to be found first."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Resources:
    """Rather too much than too little: a job that takes more than it asked for is stopped."""

    gpus: int = 0
    cpus: int = 1
    gigabytes: float = 4
    """Of main memory."""
    hours: float = 1
    """In all; a stage that can go on from where it was stopped may get them in several turns."""
