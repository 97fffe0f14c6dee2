"""Bilingual dictionaries in the formats people have them in: MUSE pairs, weighted rows, tables as of PanLex.

- MUSE: `source target` with one tab or one space between; every weight is 1.
- Weighted rows: `source<TAB>target<TAB>weight`, and perhaps a fourth column that is not read.
- Tables: a header names the columns, separated by tabs or commas, fields in double quotes where needed. Two columns are
  called by the languages (`en`, `eng`, PanLex's `eng-000`, `txt_eng`), one is `trans_quality`, `quality`, `weight` or
  `votes`; others are not read. Where the two columns are all there is, every weight is 1.
"""

import csv
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from isoglot.corpora.readers.language_codes import language_column, language_columns, single_column
from isoglot.corpora.readers.line_files import LineFile, number_of
from isoglot.errors import IsoglotError

WEIGHT_COLUMNS = ("trans_quality", "quality", "weight", "votes")
UNREADABLE = "\ufffd"
FORMATS = (
    "a dictionary has rows `source target`, or `source<TAB>target<TAB>weight`, or a header that names the columns "
    "of both languages and trans_quality"
)

Languages = tuple[str, str]
Row = tuple[str, str, str]
"""Source, target and weight as they are written."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DictionaryEntry:
    """A translation; the larger the weight, the better it is."""

    source: str
    target: str
    weight: float


class Dictionary(list[DictionaryEntry]):
    """The entries of a file in its order."""

    def __init__(self, entries: Iterable[DictionaryEntry], *, left_out: int) -> None:
        super().__init__(entries)
        self.left_out = left_out
        """Rows with U+FFFD, which stands where letters were lost before the file was made; MUSE zh-en has one."""


def read_dictionary(path: Path | str, *, languages: Languages) -> Dictionary:
    """Every pair once, at the place it first stands and with the largest of its weights."""
    layout: Callable[[str], Row] | None = None
    weights: dict[tuple[str, str], float] = {}
    left_out = 0
    with LineFile(path) as file:
        for line in filter(str.strip, file):
            try:
                if layout is None:
                    is_header, layout = _layout(line, languages)
                    if is_header:
                        continue
                pair, weight = _pair_and_weight(layout(line))
            except IsoglotError as error:
                raise IsoglotError(f"{path}:{file.number}: {error}") from None
            if UNREADABLE in "".join(pair):
                left_out += 1
            else:
                weights[pair] = max(weight, weights.get(pair, weight))
    if not weights:
        raise IsoglotError(f"{path}: no entries; {FORMATS}")
    entries = [DictionaryEntry(source=a, target=b, weight=weight) for (a, b), weight in weights.items()]
    return Dictionary(entries, left_out=left_out)


def _pair_and_weight(row: Row) -> tuple[tuple[str, str], float]:
    source, target, weight = (field.strip() for field in row)
    if not source or not target:
        raise IsoglotError(f"the {'target' if source else 'source'} is empty; give the word or drop the row")
    number = number_of(weight)
    if number is None or not isfinite(number) or number <= 0:
        raise IsoglotError(f"the weight must be a number above 0, not {weight[:40]!r}; correct it or drop the row")
    return (source, target), number


def _layout(first_line: str, languages: Languages) -> tuple[bool, Callable[[str], Row]]:
    """How to take the rows of a file apart, and whether its first line is a header."""
    delimiter = "\t" if "\t" in first_line else ","
    names = [name.strip().lower() for name in first_line.split(delimiter)]
    if _is_header(names, languages):
        return True, _table_layout(_quoted_fields(first_line, delimiter), delimiter, languages)
    match first_line.count("\t"):
        case 2 | 3:
            return False, _weighted_fields
        case 0 | 1 if len(_muse_words(first_line)) == 2:
            return False, _muse_fields
    raise IsoglotError(f"not a row of a dictionary: {first_line[:40]!r}; {FORMATS}")


def _is_header(names: list[str], languages: Languages) -> bool:
    names = [name.strip('"') for name in names]
    if all(language_columns(names, language=language) for language in languages):
        return True
    # "weight" may also be an entry of a dictionary, but then a number or nothing stands behind it and its translation.
    return len(names) > 2 and not set(names).isdisjoint(WEIGHT_COLUMNS) and number_of(names[2]) is None


def _muse_words(line: str) -> list[str]:
    return line.strip().split("\t" if "\t" in line.strip() else " ")


def _muse_fields(line: str) -> Row:
    words = _muse_words(line)
    if len(words) != 2:
        raise IsoglotError(f"two words with one tab or one space between them expected, not {line[:40]!r}")
    return words[0], words[1], "1"


def _weighted_fields(line: str) -> Row:
    fields = line.split("\t")
    if len(fields) not in (3, 4):
        raise IsoglotError(f"source, target and weight expected with tabs between them, not {len(fields)} columns")
    return fields[0], fields[1], fields[2]


def _table_layout(names: list[str], delimiter: str, languages: Languages) -> Callable[[str], Row]:
    source, target = (language_column(names, language=language) for language in languages)
    known = [place for place, name in enumerate(names) if name.strip().lower() in WEIGHT_COLUMNS]
    weight = None if len(names) == 2 else single_column(known, " or ".join(WEIGHT_COLUMNS), names=names)

    def fields(line: str) -> Row:
        row = _quoted_fields(line, delimiter)
        if len(row) != len(names):
            raise IsoglotError(f"{len(row)} columns, but the header has {len(names)}")
        return row[source], row[target], "1" if weight is None else row[weight]

    return fields


def _quoted_fields(line: str, delimiter: str) -> list[str]:
    try:
        (fields,) = csv.reader([line], delimiter=delimiter, strict=True)
    except csv.Error as error:
        raise IsoglotError(f"a field is wrongly quoted ({error}); a quote within quotes is written twice") from None
    return fields
