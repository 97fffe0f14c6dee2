"""Links between the words of two sentences, and the Pharaoh lines that they are written as."""

import re
from collections.abc import Iterable, Sequence

SentencePair = tuple[Sequence[str], Sequence[str]]
"""The words of a sentence and those of its translation."""

Link = tuple[int, int]
"""The place of a word in the source sentence and of one in the target, both from 0."""

PHARAOH_LINE = re.compile(r"\s*(?:\d+-\d+(?:\s+|$))*", flags=re.ASCII)


def pharaoh_line(links: Iterable[Link]) -> str:
    """pharaoh_line([(0, 0), (1, 2)]) is "0-0 1-2"."""
    return " ".join(f"{source}-{target}" for source, target in links)


def pharaoh_links(line: str) -> list[Link]:
    """The links of a Pharaoh line; ValueError where it is none."""
    if not PHARAOH_LINE.fullmatch(line):
        raise ValueError(f'{line!r} is no line such as "0-0 1-2"')
    return [(int(source), int(target)) for source, _, target in (link.partition("-") for link in line.split())]
