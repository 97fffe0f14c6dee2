"""Where text of a real language comes from."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class TextFiles:
    """Files of text, one sentence or paragraph a line, or a Wikipedia dump."""

    paths: tuple[Path, ...]

    @property
    def is_wikipedia(self) -> bool:
        """Whether it is a dump in XML, compressed or not."""
        return any(".xml" in path.suffixes for path in self.paths)


@dataclass(frozen=True, kw_only=True)
class HubDataset:
    """A Hugging Face data set with a column of text."""

    path: str
    """Its name on the hub, or a folder of JSON lines, Parquet or other files that the library knows."""
    config: str | None = None
    split: str = "train"
    column: str = "text"
    revision: str | None = None


TextSource = TextFiles | HubDataset
