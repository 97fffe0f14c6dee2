"""The report of a study as files: a page that can be read without isoglot, and beside it numbers, tables, figures."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from isoglot.errors import IsoglotError
from isoglot.files import clear_disk_errors, lease, write_whole
from isoglot.pipeline.cells import VOCABULARY, Cell
from isoglot.pipeline.exhibits import cells
from isoglot.pipeline.measurements import Measurement
from isoglot.report.difference import Changed, difference
from isoglot.report.figures.picture import WIDE, Picture
from isoglot.report.figures.png import png_of
from isoglot.report.page.absences import Absences
from isoglot.report.page.claims_section import claims_section
from isoglot.report.page.conditions_section import conditions_section
from isoglot.report.page.difference_section import difference_section
from isoglot.report.page.figure import FOLDER, without_narrow
from isoglot.report.page.figure_3_section import figure_3_section
from isoglot.report.page.frame import page_frame
from isoglot.report.page.head import page_head
from isoglot.report.page.layer_sections import emergence_sections, figure_sections
from isoglot.report.page.missing_section import missing_section
from isoglot.report.page.provenance_section import provenance_section
from isoglot.report.page.section import Section
from isoglot.report.page.survival_section import survival_section
from isoglot.report.page.table_1_section import table_1_section
from isoglot.report.page.training_sections import training_sections
from isoglot.report.page.vocabulary_section import vocabulary_section
from isoglot.report.report_files import (
    PROVENANCE,
    ReportContent,
    ReportData,
    collect_report_data,
    read_report_data,
    write_report_data,
)
from isoglot.report.report_scores import ReportScores
from isoglot.report.text_files import ALL as ALL_TEXTS
from isoglot.report.text_files import text_files
from isoglot.store import Store
from isoglot.store.store import ignore_holder
from isoglot.study.study import Study, Synthetic

PAGE = "report.html"
MOST_BYTES = 3_000_000
"""Of a page, so that it can be sent by mail and opens at once; studies of many languages have many pictures."""
PICTURE_ENDINGS = (".svg", ".png")


@dataclass(frozen=True, kw_only=True)
class Other:
    """A report to hold against this one."""

    name: str
    """As the reader calls it."""
    content: ReportContent


@dataclass(frozen=True, kw_only=True)
class Compared:
    """What differs from another report."""

    other: str
    changed: Sequence[Changed]


@dataclass(frozen=True, kw_only=True)
class Written:
    """A report."""

    page: Path
    compared: Compared | None


def write_report(
    study: Study,
    measurements: Sequence[Measurement],
    *,
    store: Store,
    failures: Sequence[str] = (),
    pending: Sequence[Cell] = (),
    against: Other | None = None,
) -> Written:
    """Write the report beside the artifacts it was made from, and tell what could not be made."""
    # By what it shows as well as by name: one seed's report must not replace that of three.
    shown = sha256("".join(cell.stage.digest for cell in cells(study)).encode()).hexdigest()
    folder = store.root / "reports" / f"{study.name}-{shown[:8]}"
    data = collect_report_data(study, measurements, store=store, folder=folder, failures=failures, lacking=pending)
    with clear_disk_errors(store.root):
        return _write(data, folder, against=against, is_new=True, keeps_pictures=True)


def rewrite_report(folder: Path, *, to: Path | None = None, against: Other | None = None) -> Written:
    """Make a report again from the files beside its page alone, which stay as they are; or a copy of it elsewhere."""
    data = read_report_data(folder)
    is_copy = to is not None and to.resolve() != folder.resolve()
    with _clear_errors(to or folder):
        return _write(data, to or folder, against=against, is_new=is_copy, keeps_pictures=False)


@contextmanager
def _clear_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise IsoglotError(
            f"{folder}: no report can be written there ({error.strerror}); choose another folder with --to"
        ) from error


def _write(data: ReportData, folder: Path, *, against: Other | None, is_new: bool, keeps_pictures: bool) -> Written:
    """All files of a report; those that the page is made from only where they are new."""
    data = replace(data, state=data.state.seen_from(folder))
    compared = None
    if against is not None:
        compared = Compared(other=against.name, changed=difference(against.content, data.content))
    scores = ReportScores(data.measurements)
    texts = text_files(scores)
    sections = page_sections(data, scores, compared=compared, beside=list(texts))
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    # Two runs of one study may come to their end together.
    with lease(folder / "report.lease", waiting=ignore_holder):
        was_report = (folder / PROVENANCE).exists()
        if is_new:
            write_report_data(data, folder)
        for name, text in texts.items():
            write_whole(folder / name, text)
        pictures = [picture for section in sections for picture in section.pictures]
        for picture in pictures:
            _write_picture(picture, folder / FOLDER, is_kept=keeps_pictures)
        write_whole(folder / PAGE, page(data, sections))
        # What lies in a folder that was no report is somebody else's.
        if was_report:
            _remove_stale(folder, texts=texts, pictures=pictures)
    return Written(page=folder / PAGE, compared=compared)


def page(data: ReportData, sections: Sequence[Section]) -> str:
    """The report in HTML."""
    study = data.study
    title = f"{study.name}: {' and '.join(study.languages)}"
    written = page_frame(title=title, head=page_head(study, data.state), sections=sections)
    return written if len(written.encode()) < MOST_BYTES else without_narrow(written)


def page_sections(
    data: ReportData, scores: ReportScores, *, compared: Compared | None, beside: Sequence[str]
) -> list[Section]:
    """What there is to show, the most telling first; `beside`: the files of text that the page comes with."""
    return [section for section in _sections(data, scores, compared, beside) if section is not None]


def _sections(
    data: ReportData, scores: ReportScores, compared: Compared | None, beside: Sequence[str]
) -> Iterator[Section | None]:
    study, measurements, state = data.study, data.measurements, data.state
    absences = Absences.of(state.absent)
    trains_models = bool({*study.exhibits} - {VOCABULARY})
    table = table_1_section(study, scores, links=state.records, absences=absences)
    yield survival_section(scores, scale=study.scale, absences=absences)
    yield claims_section(scores) if trains_models and measurements else None
    yield table
    yield figure_3_section(study, scores, absences=absences)
    if table is None:
        yield conditions_section(study)
    yield from emergence_sections(measurements, is_made_up=isinstance(study.text, Synthetic))
    yield from training_sections(measurements, data.curves)
    yield vocabulary_section(measurements)
    yield from figure_sections(measurements, new_vectors=study.scale.alignment.new_vectors)
    if compared is not None:
        yield difference_section(compared.changed, other=compared.other)
    yield missing_section(state)
    yield provenance_section(data.provenance, logs=state.logs, beside=beside)


def _write_picture(picture: Picture, folder: Path, *, is_kept: bool) -> None:
    """As SVG and PNG; one that is there already may be kept: while a study runs, few of its pictures change."""
    svg, png = folder / f"{picture.file_stem}.svg", folder / f"{picture.file_stem}.png"
    drawn = picture.draw(WIDE)
    is_there = svg.exists() and svg.read_bytes() == drawn.encode()
    if is_there and is_kept and png.exists():
        return
    if not is_there:
        # Before its SVG is replaced: an older PNG must not pass for the same picture.
        png.unlink(missing_ok=True)
        write_whole(svg, drawn)
    if (rendered := png_of(drawn)) is not None:
        write_whole(png, rendered)


def _remove_stale(folder: Path, *, texts: Collection[str], pictures: Sequence[Picture]) -> None:
    """Texts and pictures that an earlier report had here, and this one has not."""
    stems = {picture.file_stem for picture in pictures}
    stale = [folder / name for name in ALL_TEXTS if name not in texts]
    for ending in PICTURE_ENDINGS:
        stale += [path for path in (folder / FOLDER).glob(f"*{ending}") if path.name.removesuffix(ending) not in stems]
    for path in stale:
        if path.is_file():
            path.unlink()
