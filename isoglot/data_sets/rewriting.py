"""Official tables as our readers take them: one language, the columns that count, no header."""

from collections.abc import Iterable, Iterator

from isoglot.errors import IsoglotError

NO_LABEL = "-"
"""What MultiNLI and XNLI put where their annotators did not agree."""


def nli_pairs(
    lines: Iterable[str], *, columns: tuple[str, ...], language: str | None = None, source: str = ""
) -> Iterator[str]:
    """Premise, hypothesis and label of an official NLI table, and where they are from if that is asked for.

    Of a table of many languages, only the rows of one.
    """
    rows = (line.split("\t") for line in lines)
    header = next(rows, [])
    wanted = [*columns, *(["language"] if language else [])]
    if missing := [name for name in wanted if name not in header]:
        raise IsoglotError(f"line 1: the header has no column {missing[0]!r}: this is not the table it should be")
    places = [header.index(name) for name in wanted]
    for number, row in enumerate(rows, start=2):
        if len(row) <= max(places):
            raise IsoglotError(f"line {number}: {len(row)} columns where the header has {len(header)}")
        fields = [row[place] for place in places]
        if (language is None or fields.pop() == language) and fields[-1] != NO_LABEL:
            yield "\t".join([*fields, source] if source else fields)


def wikiann_words(lines: Iterable[str], *, language: str) -> Iterator[str]:
    """`en:Paris<TAB>B-LOC` becomes `Paris<TAB>B-LOC`."""
    prefix = f"{language}:"
    for number, line in enumerate(lines, start=1):
        if line and not line.startswith(prefix):
            raise IsoglotError(f"line {number}: {line!r} should begin with {prefix!r}")
        yield line.removeprefix(prefix)
