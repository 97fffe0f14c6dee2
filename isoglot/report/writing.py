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
from isoglot.report.figures.picture import Picture, png_of
from isoglot.report.grid import markdown_row
from isoglot.report.page.figure_sections import (
    emergence_sections,
    figure_3_section,
    figure_sections,
    training_sections,
)
from isoglot.report.page.rendering import FIGURES, page_html
from isoglot.report.page.section import Absences, Section
from isoglot.report.page.survival_section import survival_section
from isoglot.report.page.table_1_section import table_1_section
from isoglot.report.page.text_sections import (
    claims_section,
    conditions_section,
    difference_section,
    missing_section,
    page_head,
    provenance_section,
    vocabulary_section,
)
from isoglot.report.report_files import (
    PROVENANCE,
    ReportContent,
    ReportData,
    collect_report_data,
    read_report_data,
    write_report_data,
)
from isoglot.report.report_scores import ReportScores
from isoglot.report.table_1 import csv_table, latex_table, markdown_table
from isoglot.report.verdicts import Claim, Noise, Verdict, seed_remarks
from isoglot.store import Store
from isoglot.study.study import Study, Synthetic

PAGE = "report.html"
PICTURE_ENDINGS = (".svg", ".png")
CSV, LATEX, MARKDOWN, CLAIMS = TEXTS = ("table-1.csv", "table-1.tex", "table-1.md", "claims.md")
"""Files beside the page, to be put into papers, spreadsheets and READMEs."""


@dataclass(frozen=True, kw_only=True)
class Other:
    """A report to hold against this one."""

    name: str
    """As the reader calls it."""
    content: ReportContent


@dataclass(frozen=True, kw_only=True)
class Written:
    """A report that was written."""

    page: Path
    changed: Sequence[Changed] = ()
    """Its differences from another report, if one was given."""


def write_report(
    study: Study,
    measurements: Sequence[Measurement],
    *,
    store: Store,
    failures: Sequence[str] = (),
    pending: Sequence[Cell] = (),
    against: Other | None = None,
) -> Written:
    """Write the report beside the artifacts it was made from, with the reasons why numbers are missing."""
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
    changed = [] if against is None else difference(against.content, data.content)
    scores = ReportScores(data.measurements)
    texts = text_files(scores)
    differences = None if against is None else difference_section(changed, other=against.name)
    all_sections = _sections(data, scores, differences=differences, beside=list(texts))
    sections = [section for section in all_sections if section is not None]
    (folder / FIGURES).mkdir(parents=True, exist_ok=True)
    # Two runs of one study may come to their end together.
    with lease(folder / "report.lease"):
        was_report = (folder / PROVENANCE).exists()
        if is_new:
            write_report_data(data, folder)
        for name, text in texts.items():
            write_whole(folder / name, text)
        pictures = [picture for section in sections for picture in section.pictures]
        drawings = {
            picture.name: _write_picture(picture, folder / FIGURES, is_kept=keeps_pictures) for picture in pictures
        }
        title = f"{data.study.name}: {' and '.join(data.study.languages)}"
        head = page_head(data.study, data.state)
        write_whole(folder / PAGE, page_html(title=title, head=head, sections=sections, drawings=drawings))
        # The files of a folder that was no report are somebody else's.
        if was_report:
            _remove_stale(folder, texts=texts, pictures=pictures)
    return Written(page=folder / PAGE, changed=changed)


def _sections(
    data: ReportData, scores: ReportScores, *, differences: Section | None, beside: Sequence[str]
) -> Iterator[Section | None]:
    """The most telling section first; `beside` names the files of text that the page comes with."""
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
    yield differences
    yield missing_section(state)
    yield provenance_section(data.provenance, logs=state.logs, beside=beside)


def text_files(scores: ReportScores) -> dict[str, str]:
    """The content of each file that the study has something for, by name."""
    files: dict[str, str] = {}
    if table := scores.table_1:
        files |= {CSV: csv_table(table), LATEX: latex_table(table), MARKDOWN: markdown_table(table)}
    if any(claim.verdict is not Verdict.NOT_TESTED for claim in scores.claims):
        files[CLAIMS] = markdown_claims(scores.claims, noise=scores.transfer_evidence.noise)
    return files


def markdown_claims(claims: Sequence[Claim], *, noise: Noise) -> str:
    """A heading, the count of each verdict, and the claims that were tested, in the paper's order."""
    tested = [claim for claim in claims if claim.verdict is not Verdict.NOT_TESTED]
    about_all, about_each = seed_remarks(tested)
    lines = [
        markdown_row([f"{claim.sentence} ({claim.source})", claim.verdict.word, claim.numbers + about_each[claim.key]])
        for claim in tested
    ]
    table = "\n".join([markdown_row(["The paper", "We", "Numbers"]), markdown_row(["---"] * 3), *lines])
    counts = {verdict: sum(claim.verdict is verdict for claim in claims) for verdict in Verdict}
    tally = ", ".join(f"{verdict.word}: {count}" for verdict, count in counts.items() if count)
    summary = filter(None, [f"{tally[0].upper()}{tally[1:]}.", noise.sentence(), about_all])
    return "\n\n".join(["## What the paper claims, and what we find", " ".join(summary), table]) + "\n"


def _write_picture(picture: Picture, folder: Path, *, is_kept: bool) -> str:
    """The picture's SVG, after writing it and a PNG; while a study runs, unchanged pictures are not drawn again."""
    svg, png = folder / f"{picture.file_stem}.svg", folder / f"{picture.file_stem}.png"
    if is_kept and svg.exists() and png.exists():
        drawn = svg.read_text(encoding="utf-8")
        if picture.is_drawn_in(drawn):
            return drawn
    drawn = picture.svg()
    # Before its SVG is replaced: an older PNG must not pass for the same picture.
    png.unlink(missing_ok=True)
    write_whole(svg, drawn)
    write_whole(png, png_of(drawn))
    return drawn


def _remove_stale(folder: Path, *, texts: Collection[str], pictures: Sequence[Picture]) -> None:
    """Texts and pictures that an earlier report had here, and this one has not."""
    stems = {picture.file_stem for picture in pictures}
    stale = [folder / name for name in TEXTS if name not in texts]
    for ending in PICTURE_ENDINGS:
        stale += [path for path in (folder / FIGURES).glob(f"*{ending}") if path.name.removesuffix(ending) not in stems]
    for path in stale:
        if path.is_file():
            path.unlink()
