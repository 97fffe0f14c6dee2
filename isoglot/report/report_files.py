"""What a report says of itself to programs: the files beside its page, from which the page can be made again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from isoglot.errors import IsoglotError
from isoglot.files import write_whole
from isoglot.pipeline.measurements import Measurement
from isoglot.report.asked import Asked, asked_in
from isoglot.report.json_values import read_as
from isoglot.report.provenance import Provenance
from isoglot.report.state import State
from isoglot.report.training_curves import Curve
from isoglot.store.canonical import Json
from isoglot.study.conditions import label_of
from isoglot.study.task_files import task_names
from isoglot.study.toml_tables import Place, known_name

MEASUREMENTS = "measurements.jsonl"
PROVENANCE = "provenance.json"
CURVES = "curves.jsonl"
STATE = "state.json"
ANEW = "write the report anew from its store: isoglot report STUDY --store STORE"


@dataclass(frozen=True, kw_only=True)
class ReportContent:
    """Every number of a report, and where they come from."""

    measurements: Sequence[Measurement]
    provenance: Mapping[str, Json]
    """Empty where it is not told."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """All that a page is made from."""

    measurements: tuple[Measurement, ...]
    provenance: Provenance
    curves: tuple[Curve, ...]
    state: State

    @cached_property
    def asked(self) -> Asked:
        """As its provenance tells it."""
        return asked_in(self.provenance)

    @property
    def content(self) -> ReportContent:
        """As another report would read it."""
        return ReportContent(measurements=self.measurements, provenance=json.loads(self.provenance.json_text()))


def read_report(folder: str | Path) -> ReportContent:
    """Of the folder that `isoglot report` wrote, or any other with a measurements.jsonl."""
    place = Path(folder)
    if not (place / MEASUREMENTS).is_file():
        raise IsoglotError(f"{place}: no {MEASUREMENTS} in it; give the folder of a report that isoglot wrote")
    provenance = place / PROVENANCE
    return ReportContent(
        measurements=list(_measurements(place / MEASUREMENTS)),
        provenance=_table(provenance) if provenance.exists() else {},
    )


def read_found(folder: Path) -> Found:
    """All of a report, wherever it lies by now."""
    measurements = tuple(read_report(folder).measurements)
    try:
        provenance: Provenance = read_as(Provenance, _table(folder / PROVENANCE), place=_place(folder / PROVENANCE))
        # Read here, where what is wrong with it has a file to be looked for in.
        asked_in(provenance, file=str(folder / PROVENANCE))
        curves = (read_as(Curve, line, place=place) for place, line in _lines(folder / CURVES))
        state: State = read_as(State, _table(folder / STATE), place=_place(folder / STATE))
        return Found(measurements=measurements, provenance=provenance, curves=tuple(curves), state=state)
    except IsoglotError as error:
        raise IsoglotError(f"{error}; {ANEW}") from None


def write_found(found: Found, folder: Path) -> None:
    write_whole(folder / MEASUREMENTS, "".join(each.json_line() + "\n" for each in found.measurements))
    write_whole(folder / PROVENANCE, found.provenance.json_text())
    curves = (json.dumps(asdict(each), ensure_ascii=False) for each in found.curves)
    write_whole(folder / CURVES, "".join(f"{line}\n" for line in curves))
    write_whole(folder / STATE, found.state.json_text())


def _measurements(path: Path) -> Iterator[Measurement]:
    for place, line in _lines(path):
        try:
            found: Measurement = read_as(Measurement, line, place=place)
            # What only a later isoglot knows has no name here.
            label_of(found.condition)
            if found.task is not None:
                known_name(found.task, task_names(), place=place.at("task"))
        except IsoglotError as error:
            told = str(error).removeprefix(f"{place.file}: ")
            raise place.error(f"not a measurement as `isoglot results --json` prints it ({told})") from None
        yield found


def _place(path: Path) -> Place:
    return Place(file=str(path))


def _lines(path: Path) -> Iterator[tuple[Place, object]]:
    """Of a file of JSON lines, each with where it stands; what is no JSON comes as its text."""
    for number, line in enumerate(_text(path).split("\n"), start=1):
        if line.strip():
            try:
                content = json.loads(line)
            except ValueError:
                content = line
            yield Place(file=f"{path}:{number}"), content


def _table(path: Path) -> dict[str, Json]:
    try:
        content = json.loads(_text(path))
    except ValueError as error:
        raise IsoglotError(f"{path}: not JSON ({error})") from None
    if not isinstance(content, dict):
        raise IsoglotError(f"{path}: not a table of settings")
    return content


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise IsoglotError(f"{path.parent}: no {path.name} in it, without which no page can be made") from None
    except UnicodeDecodeError as error:
        raise IsoglotError(f"{path}: not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise IsoglotError(f"{path}: cannot be read ({error.strerror})") from None
