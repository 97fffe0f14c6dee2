"""Text of Hugging Face data sets, read row by row as it arrives (the extra `hub`)."""

from collections.abc import Iterator
from textwrap import shorten
from typing import Any

from isoglot.corpora.readers.line_files import LONGEST_LINE
from isoglot.errors import IsoglotError
from isoglot.study.real_text import HubDataset

LONGEST_COMPLAINT = 300  # characters of the library's message, which may go on for a page


def dataset_lines(dataset: HubDataset) -> Iterator[str]:
    """The lines of every row's text that are not blank, and one blank line between rows."""
    begun = False
    for number, row in enumerate(_rows(dataset), start=1):
        text = _text(row, dataset=dataset, number=number)
        lines = [line for line in text.replace("\r\n", "\n").split("\n") if line.strip()]
        if lines and begun:
            yield ""
        yield from lines
        begun = begun or bool(lines)
    if not begun:
        raise _error(dataset, f"the column {dataset.column!r} of {dataset.split!r} has no text")


def _error(dataset: HubDataset, problem: str) -> IsoglotError:
    return IsoglotError(f"data set {dataset.dataset!r}: {problem}")


def _text(row: dict[str, Any], *, dataset: HubDataset, number: int) -> str:
    if dataset.column not in row:
        raise _error(dataset, f"no column {dataset.column!r}; it has {', '.join(map(repr, row))}")
    text = row[dataset.column]
    if text is None:
        return ""
    place = f"row {number} of the column {dataset.column!r}"
    if not isinstance(text, str):
        raise _error(dataset, f"{place} is {type(text).__name__}, not text; name a column of text")
    if "\0" in text or any(len(line.encode()) > LONGEST_LINE for line in text.split("\n")):
        problem = f"has a NUL or a line of more than {LONGEST_LINE} bytes"
        raise _error(dataset, f"{place} {problem}; one sentence or paragraph a line is expected")
    return text


def _rows(dataset: HubDataset) -> Iterator[dict[str, Any]]:
    try:
        from datasets import load_dataset  # type: ignore[import-untyped]
    except ImportError:
        raise _error(dataset, "to read it, `pip install datasets`") from None
    # What can go wrong reaches us as the errors of half a dozen libraries: HTTP, file systems, Arrow, JSON, pandas.
    try:
        yield from load_dataset(
            dataset.dataset, dataset.config, split=dataset.split, revision=dataset.revision, streaming=True
        )
    except Exception as error:
        match error:
            case StopIteration():
                raise _error(dataset, "no rows; are its files empty?") from error
            case ConnectionError():
                fix = "check the name, the network and HF_HUB_OFFLINE"
            case FileNotFoundError():
                fix = "name one of https://huggingface.co/datasets"
            case _:
                fix = f"check the config {dataset.config!r}, the split {dataset.split!r} and the files"
        message = shorten(str(error), LONGEST_COMPLAINT) or type(error).__name__
        raise _error(dataset, f"{message}; {fix}") from error
