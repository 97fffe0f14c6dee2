"""The files beside a page, from which it can be made again: measurements, provenance, learning curves and state."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from isoglot.errors import IsoglotError, suggestion
from isoglot.pipeline.measurements import Measurement
from isoglot.report.provenance import Provenance
from isoglot.report.state import State
from isoglot.report.training_curves import Curve
from isoglot.store.canonical import Json
from isoglot.study.conditions import MONOLINGUAL, named_in_file, read_condition
from isoglot.study.real_text import RealText, task_names
from isoglot.study.scales import Scale
from isoglot.study.study import Study
from isoglot.study.synthetic_languages import Synthetic

MEASUREMENTS, PROVENANCE, CURVES, STATE = ("measurements.jsonl", "provenance.json", "curves.jsonl", "state.json")
REWRITE = "write the report again from its store: isoglot report STUDY --store STORE"
Kind = TypeVar("Kind")


@dataclass(frozen=True, kw_only=True)
class ReportContent:
    """Every number of a report and its provenance, to compare with another report."""

    measurements: Sequence[Measurement]
    provenance: Mapping[str, Json]

    @property
    def scale(self) -> Scale | None:
        """The scale of its study; None where there are numbers alone."""
        settings = self.provenance.get("settings")
        scale = settings.get("scale") if isinstance(settings, dict) else None
        where = f"{PROVENANCE} of the other report: settings.scale"
        return None if scale is None else _parsed(Scale, json.dumps(scale), where=where)


@dataclass(frozen=True, kw_only=True)
class ReportData:
    """Everything that a page is made from."""

    measurements: tuple[Measurement, ...]
    provenance: Provenance
    curves: tuple[Curve, ...]
    state: State

    @cached_property
    def study(self) -> Study:
        """The study as its provenance describes it, so that a page made again is the same."""
        return described_study(self.provenance)

    @property
    def content(self) -> ReportContent:
        return ReportContent(measurements=self.measurements, provenance=json.loads(self.provenance.json_text()))


def read_report(folder: str | Path) -> ReportContent:
    """From the folder that `isoglot report` wrote, or any other with a measurements.jsonl."""
    place = Path(folder)
    if not (place / MEASUREMENTS).is_file():
        raise IsoglotError(f"{place}: no {MEASUREMENTS} in it; give the folder of a report that isoglot wrote")
    has_provenance = (place / PROVENANCE).exists()
    provenance = _parsed_file(dict[str, Any], place / PROVENANCE) if has_provenance else {}
    # Conditions that were made in Python stand there with all their settings.
    settings = provenance.get("settings")
    listed = settings.get("conditions") if isinstance(settings, dict) else None
    own = {str(each.get("name")) for each in listed if isinstance(each, dict)} if isinstance(listed, list) else set()
    return ReportContent(measurements=[*_measurements(place / MEASUREMENTS, own)], provenance=provenance)


def read_report_data(folder: Path) -> ReportData:
    """A whole report, wherever it lies by now."""
    measurements = tuple(read_report(folder).measurements)
    try:
        data = ReportData(
            measurements=measurements,
            provenance=_parsed_file(Provenance, folder / PROVENANCE),
            curves=tuple(_parsed(Curve, line, where=where) for where, line in _lines(folder / CURVES)),
            state=_parsed_file(State, folder / STATE),
        )
        # Settings are checked here, where the file that holds them is known.
        described_study(data.provenance, file=str(folder / PROVENANCE))
        return data
    except IsoglotError as error:
        raise IsoglotError(f"{error}; {REWRITE}") from None


def data_texts(data: ReportData) -> dict[str, str]:
    """The content of the files that read_report_data reads, by name."""
    curves = (json.dumps(asdict(each), ensure_ascii=False) for each in data.curves)
    return {
        # What says that a folder is a report comes first, so that one cut off is known as one.
        PROVENANCE: data.provenance.json_text(),
        MEASUREMENTS: "".join(each.json_line() + "\n" for each in data.measurements),
        CURVES: "".join(f"{line}\n" for line in curves),
        STATE: data.state.json_text(),
    }


@dataclass(frozen=True, kw_only=True)
class _Settings:
    """The settings of a study as study_settings writes them."""

    languages: tuple[str, ...]
    conditions: tuple[str | dict[str, Any], ...]
    exhibits: tuple[str, ...]
    tasks: tuple[str, ...]
    seeds: tuple[int, ...]
    only: dict[str, dict[str, tuple[str | int, ...]]] = field(default_factory=dict)
    scale: Scale
    text: dict[str, Any]


def described_study(provenance: Provenance, *, file: str = PROVENANCE) -> Study:
    """The study that a provenance describes; `file` is for messages."""
    where = f"{file}: settings"
    settings = _parsed(_Settings, json.dumps(provenance.settings), where=where)
    try:
        conditions = tuple(map(read_condition, settings.conditions))
    except IsoglotError as error:
        raise IsoglotError(f"{where}.conditions: {error}") from None
    # Paths are relative to the study's data, wherever these lie by now.
    text_type: type[Synthetic] | type[RealText] = Synthetic if provenance.is_made_up else RealText
    text = _parsed(text_type, json.dumps({"data": "."} | settings.text), where=f"{where}.text")
    more = {"name": provenance.study, "origin": provenance.origin, "file_exhibits": settings.exhibits}
    return Study(**vars(settings) | more | {"conditions": conditions, "text": text})


def _measurements(path: Path, own_conditions: set[str]) -> Iterator[Measurement]:
    tasks = task_names()
    for where, line in _lines(path):
        try:
            each = _parsed(Measurement, line, where="")
            # Names that only a later isoglot knows are refused.
            if each.condition not in {*own_conditions, MONOLINGUAL.name}:
                named_in_file(each.condition)
            if each.task is not None and each.task not in tasks:
                known = ", ".join(map(repr, tasks))
                raise IsoglotError(f"task: {each.task!r} is not one of {known}{suggestion(each.task, tasks)}")
        except IsoglotError as error:
            raise IsoglotError(f"{where}: not a measurement as `isoglot results --json` prints it ({error})") from None
        # pydantic makes a float of a whole number, which would be printed otherwise.
        yield replace(each, value=json.loads(line)["value"]) if each.value.is_integer() else each


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """Each line of a file of JSON lines that is not blank, with the place to name in messages."""
    for number, line in enumerate(_text(path).split("\n"), start=1):
        if line.strip():
            yield f"{path}:{number}", line


def _parsed_file(kind: type[Kind], path: Path) -> Kind:
    return _parsed(kind, _text(path), where=str(path))


def _parsed(kind: type[Kind], text: str, *, where: str) -> Kind:
    # Fields that only a later isoglot knows are passed over.
    try:
        value: Kind = _adapter(cast(Hashable, kind)).validate_json(text, strict=True)
        return value
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        message = first["msg"].replace("Input should be", "should be")
        given = "" if first["type"] in ("missing", "json_invalid") else f", not {first['input']!r}"
        raise IsoglotError(": ".join(filter(None, (where, place, message + given)))) from None


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    # Building one takes longer than reading a line with it.
    return TypeAdapter(kind)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise IsoglotError(f"{path.parent}: no {path.name} in it, without which no page can be made") from None
    except UnicodeDecodeError as error:
        raise IsoglotError(f"{path}: not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise IsoglotError(f"{path}: cannot be read ({error.strerror})") from None
