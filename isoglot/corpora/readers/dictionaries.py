"""Bilingual dictionaries in the formats people have them in: MUSE pairs, weighted rows, tables as of PanLex.

- MUSE: `source target` with one tab or one space between; every weight is 1.
- Weighted rows: `source<TAB>target<TAB>weight`, and perhaps a fourth column that is not read.
- Tables: a header names the columns, separated by tabs or commas, fields in double quotes where needed. Two columns are
  called by the languages (`en`, `eng`, PanLex's `eng-000`, `txt_eng`), one is `trans_quality`, `quality`, `weight` or
  `votes`; others are not read. Where the two columns are all there is, every weight is 1.
"""

import csv
from collections.abc import Callable
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


def read_dictionary(path: Path | str, *, languages: Languages) -> list[DictionaryEntry]:
    """Every pair once, at the place it first stands and with the largest of its weights."""
    row_of: Callable[[str], Row] | None = None
    weights: dict[tuple[str, str], float] = {}
    with LineFile(path) as file:
        for line in filter(str.strip, file):
            try:
                if row_of is None:
                    is_header, row_of = _layout(line, languages)
                    if is_header:
                        continue
                pair, weight = _pair_and_weight(row_of(line))
            except IsoglotError as error:
                raise file.error(str(error)) from None
            # U+FFFD stands where letters were lost before the file was made; MUSE zh-en has such a row.
            if UNREADABLE not in "".join(pair):
                weights[pair] = max(weight, weights.get(pair, weight))
    if not weights:
        raise IsoglotError(f"{path}: no entries; {FORMATS}")
    return [DictionaryEntry(source=a, target=b, weight=weight) for (a, b), weight in weights.items()]


def _pair_and_weight(row: Row) -> tuple[tuple[str, str], float]:
    source, target, weight = (field.strip() for field in row)
    if not source or not target:
        raise IsoglotError(f"the {'target' if source else 'source'} is empty; give the word or drop the row")
    number = number_of(weight)
    if number is None or not isfinite(number) or number <= 0:
        raise IsoglotError(f"the weight must be a number above 0, not {weight[:40]!r}; correct it or drop the row")
    return (source, target), number


def _layout(first_line: str, languages: Languages) -> tuple[bool, Callable[[str], Row]]:
    """Whether the first line is a header, and how to take the rows apart."""
    delimiter = "\t" if "\t" in first_line else ","
    names = [name.strip().lower().strip('"') for name in first_line.split(delimiter)]
    has_languages = all(language_columns(names, language=language) for language in languages)
    # "weight" may also be an entry of a dictionary, but then a number or nothing stands behind it and its translation.
    has_weight = len(names) > 2 and not set(names).isdisjoint(WEIGHT_COLUMNS) and number_of(names[2]) is None
    if has_languages or has_weight:
        return True, _table_layout(_quoted_fields(first_line, delimiter), delimiter, languages)
    return False, _weighted_row if first_line.count("\t") in (2, 3) else _muse_row


def _muse_row(line: str) -> Row:
    words = line.strip().split("\t" if "\t" in line.strip() else " ")
    if len(words) != 2:
        raise IsoglotError(f"two words with one tab or one space between expected, not {line[:40]!r}; {FORMATS}")
    return words[0], words[1], "1"


def _weighted_row(line: str) -> Row:
    fields = line.split("\t")
    if len(fields) not in (3, 4):
        raise IsoglotError(f"{len(fields)} columns where source, target and weight were expected, with tabs between")
    return fields[0], fields[1], fields[2]


def _table_layout(names: list[str], delimiter: str, languages: Languages) -> Callable[[str], Row]:
    source, target = (language_column(names, language=language) for language in languages)
    known = [place for place, name in enumerate(names) if name.strip().lower() in WEIGHT_COLUMNS]
    weight = None if len(names) == 2 else single_column(known, " or ".join(WEIGHT_COLUMNS), names=names)

    def row_of(line: str) -> Row:
        fields = _quoted_fields(line, delimiter)
        if len(fields) != len(names):
            raise IsoglotError(f"{len(fields)} columns where the header has {len(names)}")
        return fields[source], fields[target], "1" if weight is None else fields[weight]

    return row_of


def _quoted_fields(line: str, delimiter: str) -> list[str]:
    try:
        (fields,) = csv.reader([line], delimiter=delimiter, strict=True)
    except csv.Error as error:
        raise IsoglotError(f"a field is wrongly quoted ({error}); a quote within quotes is written twice") from None
    return fields
