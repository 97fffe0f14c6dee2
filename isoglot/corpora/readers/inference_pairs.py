"""Premises and hypotheses as XNLI has them: rows of one language, or the official table of all languages."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from isoglot.corpora.readers.language_codes import language_columns
from isoglot.corpora.readers.line_files import tab_columns
from isoglot.errors import IsoglotError

# The training sets that were made for XNLI by machine spell the last label otherwise.
LABELS = {label: label for label in ("entailment", "neutral", "contradiction")} | {"contradictory": "contradiction"}
LABEL_HEADER = "label"
OFFICIAL_COLUMNS = ("language", "gold_label", "sentence1", "sentence2", "pairID")


@dataclass(frozen=True, kw_only=True)
class InferencePair:
    premise: str
    hypothesis: str
    label: str


def is_inference_row(line: str) -> bool:
    """Whether a line is `premise<TAB>hypothesis<TAB>label`, or a header of that form."""
    fields = line.split("\t")
    return len(fields) in (3, 4) and (fields[2].strip() in LABELS or fields[2].strip().lower() == LABEL_HEADER)


def inference_pairs(lines: Sequence[str], *, path: Path) -> dict[int, InferencePair]:
    """Each pair by the number of its line; a fourth column, such as one of sources, is not read."""
    pairs = {}
    for number, line in enumerate(lines, start=1):
        where = f"{path}:{number}"
        fields = tab_columns(line, (3, 4), where=where, expected="premise, hypothesis and label were expected")
        premise, hypothesis, label = map(str.strip, fields[:3])
        if number > 1 or label.lower() != LABEL_HEADER:
            pairs[number] = _inference_pair(premise, hypothesis, label, where=where)
    return pairs


def is_official_header(line: str) -> bool:
    """Whether a line is the first one of xnli.dev.tsv or xnli.test.tsv."""
    return set(OFFICIAL_COLUMNS) <= set(line.split("\t"))


def official_pairs(lines: Sequence[str], *, path: Path, language: str) -> dict[str, InferencePair]:
    """Each pair of one language by its id."""
    header = lines[0].split("\t")
    places = [header.index(column) for column in OFFICIAL_COLUMNS]
    codes: dict[str, bool] = {}
    pairs: dict[str, InferencePair] = {}
    for number, line in enumerate(lines[1:], start=2):
        where = f"{path}:{number}"
        fields = tab_columns(line, [len(header)], where=where, expected=f"the header has {len(header)}")
        code, label, premise, hypothesis, pair_id = (fields[place].strip() for place in places)
        # Looked up once a code, as the table has a hundred thousand rows of fifteen.
        if code not in codes:
            codes[code] = bool(language_columns([code], language=language))
        if codes[code]:
            if pair_id in pairs:
                raise IsoglotError(f"{where}: a second pair {pair_id!r} of {code!r}; pairIDs should differ")
            pairs[pair_id] = _inference_pair(premise, hypothesis, label, where=where)
    if not pairs:
        raise IsoglotError(f"{path}: no rows of the language {language!r}; it has {', '.join(codes) or 'no rows'}")
    return pairs


def _inference_pair(premise: str, hypothesis: str, label: str, *, where: str) -> InferencePair:
    if label not in LABELS:
        raise IsoglotError(f"{where}: the label is {label[:40]!r}, none of {', '.join(LABELS)}; drop the row")
    if not premise or not hypothesis:
        raise IsoglotError(f"{where}: the {'hypothesis' if premise else 'premise'} is blank; drop the row")
    return InferencePair(premise=premise, hypothesis=hypothesis, label=LABELS[label])
