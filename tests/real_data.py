"""Where tests on real languages find their data; where it is not, they skip and say so."""

import os
from pathlib import Path

DATA = Path(os.environ.get("ISOGLOT_DATA") or Path(__file__).parents[2] / "shared/data")
