"""A picture of a report: drawn as wide as it is asked, on the page as in a file of its own."""

import re
from collections.abc import Callable
from dataclasses import dataclass

WIDE, NARROW = 800.0, 380.0
"""For a desk or a sheet of paper, and for a phone, where letters of a wide picture would be too small to read."""


@dataclass(frozen=True, kw_only=True)
class Picture:
    """SVG is drawn only where it is wanted."""

    name: str
    """What it is of, as in "figure-6.en-fr"."""
    draw: Callable[[float], str]
    """A whole SVG document of a width."""
    has_published: bool = False
    """Whether the paper's own numbers are in it."""

    @property
    def file_stem(self) -> str:
        """The name as any disk takes it, whatever languages are called."""
        return re.sub(r"[^\w.-]+", "_", self.name)
