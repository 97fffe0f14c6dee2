"""Where text of a real language comes from."""

import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class TextFiles:
    """Files of text, one sentence or paragraph a line, or a Wikipedia dump."""

    paths: tuple[Path, ...]

    @property
    def is_wikipedia(self) -> bool:
        """Whether there is a dump among them."""
        return any(map(is_dump, self.paths))


def is_dump(path: Path) -> bool:
    """By its name, as in enwiki-latest-pages-articles.xml.bz2 or ...-pages-articles1.xml-p1p41242.bz2."""
    return re.search(r"\.xml(-p\d+p\d+)?(\.\w+)?$", path.name) is not None


@dataclass(frozen=True, kw_only=True)
class HubDataset:
    """A Hugging Face data set with a column of text."""

    dataset: str
    """Its name on the hub, or a folder of JSON lines, Parquet or other files that the library knows."""
    config: str | None = None
    split: str = "train"
    column: str = "text"
    revision: str | None = None


TextSource = TextFiles | HubDataset
