"""What tables in Markdown are made of."""

from collections.abc import Sequence


def markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(markdown_escaped, cells))} |"


def markdown_escaped(text: str) -> str:
    """So that it is shown as it is."""
    return text.replace("|", r"\|").replace("*", r"\*")
