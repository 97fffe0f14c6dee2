"""The report of a study as files: a page that can be read without isoglot, and beside it numbers, tables, figures."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from isoglot.artifacts import Store
from isoglot.artifacts.disk import clear_disk_errors, write_whole
from isoglot.artifacts.lease import lease
from isoglot.artifacts.record import RECORD_NAME
from isoglot.artifacts.store import ignore_holder
from isoglot.cells import VOCABULARY, Cell
from isoglot.exhibits import cells, gap_sentences
from isoglot.measurements import Measurement
from isoglot.report.csv_table import csv_table
from isoglot.report.difference import difference
from isoglot.report.html.absences import Absences
from isoglot.report.html.claims_section import claims_section
from isoglot.report.html.conditions_section import conditions_section
from isoglot.report.html.difference_section import difference_section
from isoglot.report.html.figure import FOLDER, without_narrow
from isoglot.report.html.frame import page_frame
from isoglot.report.html.head import page_head
from isoglot.report.html.layer_sections import emergence_sections, figure_sections
from isoglot.report.html.missing_section import missing_section
from isoglot.report.html.provenance_section import provenance_section
from isoglot.report.html.section import Section
from isoglot.report.html.survival_section import survival_section
from isoglot.report.html.table_1_section import figure_3_section, table_1_section
from isoglot.report.html.training_sections import training_sections
from isoglot.report.html.vocabulary_section import vocabulary_section
from isoglot.report.latex import latex_table
from isoglot.report.logs import Log, logs
from isoglot.report.picture import WIDE, Picture
from isoglot.report.png import png_of
from isoglot.report.provenance import Provenance, provenance
from isoglot.report.report_files import MEASUREMENTS, PROVENANCE, ReportContent
from isoglot.report.table_1 import table_1
from isoglot.report.training_curves import Curve, learning_curves
from isoglot.study import Study, Synthetic

PAGE = "report.html"
MOST_BYTES = 3_000_000
"""Of a page, so that it can be sent by mail and opens at once; studies of many languages have many pictures."""
LATEX, CSV = "table-1.tex", "table-1.csv"


@dataclass(frozen=True, kw_only=True)
class Other:
    """A report to hold against this one."""

    name: str
    """As the reader calls it."""
    content: ReportContent


@dataclass(frozen=True, kw_only=True)
class Found:
    """All that a page is made from, read from a store."""

    study: Study
    measurements: Sequence[Measurement]
    provenance: Provenance
    curves: Sequence[Curve] = ()
    links: Mapping[str, str]
    """Addresses of the records of artifacts, by digest."""
    logs: Sequence[Log] = ()
    failures: Sequence[str] = ()
    pending: Sequence[Cell] = ()
    against: Other | None = None


def write_report(
    study: Study,
    measurements: Sequence[Measurement],
    *,
    store: Store,
    failures: Sequence[str] = (),
    pending: Sequence[Cell] = (),
    against: Other | None = None,
) -> Path:
    """Write the report beside the artifacts it was made from, and tell what could not be made; return its path."""
    # By what it shows as well as by name: one seed's report must not replace that of three.
    asked = cells(study)
    shown = sha256("".join(cell.stage.digest for cell in asked).encode()).hexdigest()
    folder = store.root / "reports" / f"{study.name}-{shown[:8]}"
    records = {cell.stage.digest: store.folder(cell.stage) / RECORD_NAME for cell in asked}
    found = Found(
        study=study,
        measurements=measurements,
        provenance=provenance(study, store),
        curves=learning_curves(study, store),
        links={digest: os.path.relpath(record, folder) for digest, record in records.items()},
        logs=logs(study, store=store, folder=folder),
        failures=failures,
        pending=pending,
        against=against,
    )
    sections = page_sections(found)
    with clear_disk_errors(store.root):
        (folder / FOLDER).mkdir(parents=True, exist_ok=True)
        # Two runs of one study may come to their end together.
        with lease(folder / "report.lease", waiting=ignore_holder):
            write_whole(folder / MEASUREMENTS, "".join(each.json_line() + "\n" for each in measurements))
            write_whole(folder / PROVENANCE, found.provenance.json_text())
            if (table := table_1(measurements)) is not None:
                write_whole(folder / LATEX, latex_table(table))
                write_whole(folder / CSV, csv_table(table))
            for section in sections:
                for picture in section.pictures:
                    _write_picture(picture, folder / FOLDER)
            write_whole(folder / PAGE, page(found, sections))
    return folder / PAGE


def page(found: Found, sections: Sequence[Section]) -> str:
    """The report in HTML."""
    title = f"{found.study.name}: {' and '.join(found.study.languages)}"
    head = page_head(found.study, num_pending=len(found.pending), num_failed=len(found.failures))
    written = page_frame(title=title, head=head, sections=sections)
    return written if len(written.encode()) < MOST_BYTES else without_narrow(written)


def page_sections(found: Found) -> list[Section]:
    """What there is to show, the most telling first."""
    return [section for section in _sections(found) if section is not None]


def _sections(found: Found) -> Iterator[Section | None]:
    study, measurements = found.study, found.measurements
    absences = Absences.of(study, pending=found.pending, failures=found.failures)
    trains_models = bool({*study.exhibits} - {VOCABULARY})
    table = table_1_section(study, measurements, links=found.links, absences=absences)
    yield survival_section(measurements, scale=study.scale, absences=absences)
    yield claims_section(measurements) if trains_models and measurements else None
    yield table
    yield figure_3_section(study, measurements, absences=absences)
    if table is None:
        yield conditions_section(study)
    yield from emergence_sections(measurements, is_made_up=isinstance(study.text, Synthetic))
    yield from training_sections(measurements, found.curves)
    yield vocabulary_section(measurements)
    yield from figure_sections(measurements, new_vectors=study.scale.alignment.new_vectors)
    if found.against is not None:
        yield difference_section(difference(found.against.content, _content(found)), other=found.against.name)
    yield missing_section(failures=found.failures, lacking=gap_sentences(study), pending=found.pending)
    yield provenance_section(found.provenance, logs=found.logs, has_table=table is not None)


def _content(found: Found) -> ReportContent:
    """As another report would read it."""
    return ReportContent(measurements=found.measurements, provenance=json.loads(found.provenance.json_text()))


def _write_picture(picture: Picture, folder: Path) -> None:
    """As SVG and PNG, unless they are there already: while a study runs, few of its pictures change."""
    svg, png = folder / f"{picture.file_stem}.svg", folder / f"{picture.file_stem}.png"
    drawn = picture.draw(WIDE)
    if png.exists() and svg.exists() and svg.read_text(encoding="utf-8") == drawn:
        return
    write_whole(svg, drawn)
    # After its SVG is replaced, an older PNG must not pass for the same picture.
    png.unlink(missing_ok=True)
    if (rendered := png_of(drawn)) is not None:
        write_whole(png, rendered)
