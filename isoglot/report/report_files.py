"""What a report says of itself to programs: the files beside its page, read back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from isoglot.artifacts.canonical import Json
from isoglot.errors import IsoglotError
from isoglot.measurements import Measurement

MEASUREMENTS = "measurements.jsonl"
PROVENANCE = "provenance.json"


@dataclass(frozen=True, kw_only=True)
class ReportContent:
    """Every number of a report, and where they come from."""

    measurements: Sequence[Measurement]
    provenance: Mapping[str, Json]
    """Empty where it is not told."""


def read_report(folder: str | Path) -> ReportContent:
    """Of the folder that `isoglot report` wrote, or any other with a measurements.jsonl."""
    place = Path(folder)
    if not (place / MEASUREMENTS).is_file():
        raise IsoglotError(f"{place}: no {MEASUREMENTS} in it; give the folder of a report that isoglot wrote")
    provenance = place / PROVENANCE
    return ReportContent(
        measurements=list(_measurements(place / MEASUREMENTS)),
        provenance=_provenance(provenance) if provenance.exists() else {},
    )


def _measurements(path: Path) -> Iterator[Measurement]:
    known = {field.name for field in fields(Measurement)}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            content = json.loads(line)
            source, target = content.pop("languages")
            # A later isoglot may tell more of a number than this one knows.
            told = {name: value for name, value in content.items() if name in known}
            yield Measurement(**told, languages=(source, target))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise IsoglotError(
                f"{path}:{number}: not a measurement as `isoglot results --json` prints it ({error!r})"
            ) from None


def _provenance(path: Path) -> dict[str, Json]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise IsoglotError(f"{path}: not JSON ({error}); write the report again") from None
    if not isinstance(content, dict):
        raise IsoglotError(f"{path}: not a table of settings; write the report again")
    return content
