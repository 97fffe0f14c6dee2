"""Where training keeps its checkpoint, and how far it is by that: torch would take seconds to load."""

import json
from pathlib import Path
from typing import Any

CHECKPOINTS = "checkpoints"
"""In the folder of what is trained."""
LATEST = "latest.safetensors"
PROGRESSION = "progression"
"""What changes during training besides weights and moments, in the metadata of the file."""
LENGTH_BYTES = 8
LONGEST_HEADER = 1 << 26


def stored_progression(folder: Path) -> dict[str, Any]:
    """Of training in a folder, up to its checkpoint; empty where it has none, or none that can be read."""
    try:
        with (folder / CHECKPOINTS / LATEST).open("rb") as file:
            length = int.from_bytes(file.read(LENGTH_BYTES), "little")
            header = json.loads(file.read(min(length, LONGEST_HEADER)))
        return dict(json.loads(header["__metadata__"][PROGRESSION]))
    # It may be replaced or removed while it is read; and of a damaged one whoever goes on from it complains.
    except (OSError, ValueError, KeyError, TypeError):
        return {}
