"""The report of a study as files, now or while it runs: a page, and beside it numbers, tables and figures."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from isoglot.errors import IsoglotError, option
from isoglot.files import clear_disk_errors, lease, refuse_links, write_whole
from isoglot.pipeline.cells import VOCABULARY, Cell
from isoglot.pipeline.exhibits import cells
from isoglot.pipeline.measurements import Measurement, damage_sentences, measurements, pending_cells
from isoglot.report.difference import Changed, difference
from isoglot.report.figures.picture import BEGINNING
from isoglot.report.findings.verdicts import Claim, Verdict, tally
from isoglot.report.growth.predictions import Prediction, are_comparable, growth_csv, predictions
from isoglot.report.growth.rows import Growth, growths
from isoglot.report.page import figure_sections, text_sections
from isoglot.report.page.rendering import FIGURES, headline_text, page_html
from isoglot.report.page.section import Section
from isoglot.report.page.survival_section import survival_section
from isoglot.report.provenance import provenance
from isoglot.report.report_files import PROVENANCE, ReportContent, ReportData, data_texts, read_report_data
from isoglot.report.report_scores import ReportScores
from isoglot.report.state import study_state
from isoglot.report.tables.grid import markdown_row
from isoglot.report.tables.table_1 import csv_table, latex_table, markdown_table
from isoglot.report.training_curves import learning_curves
from isoglot.store import Store
from isoglot.store.store import STORE_NAME
from isoglot.study.conditions import conditions_in_use
from isoglot.study.study import Study
from isoglot.study.synthetic_languages import Synthetic

PAGE = "report.html"
# Files beside the page, to be put into papers, spreadsheets and READMEs.
CSV, LATEX, MARKDOWN, CLAIMS, GROWTH = TEXTS = ("table-1.csv", "table-1.tex", "table-1.md", "claims.md", "growth.csv")


@dataclass(frozen=True, kw_only=True)
class Other:
    """A report to hold against this one."""

    name: str
    """As the reader calls it."""
    content: ReportContent
    lacks: str = ""
    """A sentence about what is not made of it yet."""


@dataclass(frozen=True, kw_only=True)
class Written:
    """A report that was written."""

    page: Path
    headline: str = ""
    """The page's first sentence; empty where there is nothing to compare yet."""
    changed: Sequence[Changed] = ()
    """Its differences from another report, if one was given."""
    predicted: Sequence[Prediction] = ()
    """Predictions of that report for this one, if it is of a shorter run."""
    pending: Sequence[Cell] = ()
    """Cells that a run would fill."""
    damage: Sequence[str] = ()
    """Sentences on artifacts whose numbers cannot be read."""


def write_current_report(
    study: Study, store: Store, *, failures: Sequence[str] = (), against: Other | None = None
) -> Written:
    """Write the whole report, however little there is; each failure begins with the title of a stage."""
    found, damage = measurements(study, store)
    pending = pending_cells(study, store)
    damaged = {cell.stage.digest: cell for cell, _ in damage}
    # A stage that failed for the damage may have said the same.
    all_failures = dict.fromkeys([*failures, *(f"{cell.stage.title}: {error}" for cell, error in damage)])
    lacking = [*pending, *damaged.values()]
    written = write_report(study, found, store=store, failures=[*all_failures], pending=lacking, against=against)
    return replace(written, pending=pending, damage=damage_sentences(damage))


def write_report(
    study: Study,
    found: Sequence[Measurement],
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
    data = ReportData(
        measurements=tuple(found),
        provenance=provenance(study, store),
        curves=tuple(learning_curves(study, store)),
        state=study_state(study, store=store, folder=folder, failures=failures, lacking=pending),
    )
    refuse_links(folder / FIGURES, below=store.root)
    with clear_disk_errors(store.root), conditions_in_use(study.conditions):
        return _write(data, folder, against=against, is_new=True, in_store=True)


def rewrite_report(folder: Path, *, to: Path | None = None, against: Other | None = None) -> Written:
    """Make a report again from the files beside its page alone, which stay as they are; or a copy of it elsewhere."""
    data, place = read_report_data(folder), to or folder
    if (place / STORE_NAME).exists():
        fix = f"name another folder with {option('to', python='folder=')}"
        raise IsoglotError(f"{place}: a store of artifacts, and no place for a report; {fix}")
    with clear_report_errors(place), conditions_in_use(data.study.conditions):
        is_copy = place.resolve() != folder.resolve()
        return _write(data, place, against=against, is_new=is_copy, in_store=False)


@contextmanager
def clear_report_errors(place: Path) -> Iterator[None]:
    """Say what to do where a report cannot be written."""
    try:
        yield
    except OSError as error:
        fix = f"choose another folder with {option('to', python='folder=')}"
        raise IsoglotError(f"{place}: no report can be written there ({error.strerror}); {fix}") from error


def _write(data: ReportData, folder: Path, *, against: Other | None, is_new: bool, in_store: bool) -> Written:
    """All files of a report; those that the page is made from only where they are new."""
    data = replace(data, state=data.state.seen_from(folder))
    scores, made_from = ReportScores(data.measurements), data_texts(data)
    survival = survival_section(scores, scale=data.study.scale, absences=data.state.absences)
    headline = headline_text(survival)
    rows = growths(data.measurements, scale=data.study.scale)
    texts = text_files(scores) | ({GROWTH: growth_csv(rows)} if rows else {})
    changed, predicted, differences = [], [], None
    if against is not None:
        changed, predicted = difference(against.content, data.content), _predicted_by(against.content, data, rows)
        differences = text_sections.difference_section(changed, predicted, other=against.name)
    more = _sections(data, scores, rows, predicted=predicted, differences=differences, beside=[*texts])
    sections = [*filter(None, (survival, *more))]
    pictures = [picture for section in sections for picture in section.pictures]
    (folder / FIGURES).mkdir(parents=True, exist_ok=True)
    # Two runs of one study may come to their end together.
    with lease(folder / "report.lease"):
        if not in_store and not (folder / PROVENANCE).exists():
            _refuse_files_of_others(folder, [*made_from, *texts, PAGE])
        earlier_page = _text_if_there(folder / PAGE)
        for name, text in ((made_from if is_new else {}) | texts).items():
            write_whole(folder / name, text)
        title = f"{data.study.name}: {' and '.join(data.study.languages)}"
        head = text_sections.page_head(data.study, data.state)
        write_page(folder, title=title, head=head, sections=sections)
        _remove_stale(folder, texts=texts, stems={picture.file_stem for picture in pictures}, earlier_page=earlier_page)
    return Written(page=folder / PAGE, headline=headline, changed=changed, predicted=predicted)


def _predicted_by(other: ReportContent, data: ReportData, rows: Sequence[Growth]) -> list[Prediction]:
    scale = other.scale if rows else None
    if scale is None or not are_comparable(scale, data.study.scale):
        return []
    return predictions(growths(other.measurements, scale=scale), rows)


def _sections(
    data: ReportData,
    scores: ReportScores,
    rows: Sequence[Growth],
    *,
    predicted: Sequence[Prediction],
    differences: Section | None,
    beside: Sequence[str],
) -> Iterator[Section | None]:
    """All sections after the first, the most telling before others; `beside` names the page's files of text."""
    study, measurements, state = data.study, data.measurements, data.state
    trains_models = bool({*study.exhibits} - {VOCABULARY})
    table = text_sections.table_1_section(study, scores, links=state.records, absences=state.absences)
    yield text_sections.claims_section(scores) if trains_models and measurements else None
    yield table
    yield figure_sections.figure_3_section(study, scores, absences=state.absences)
    if table is None:
        yield text_sections.conditions_section(study)
    yield from figure_sections.emergence_sections(measurements, is_made_up=isinstance(study.text, Synthetic))
    yield figure_sections.learning_curves_section(data.curves)
    yield figure_sections.growth_section(rows, predicted)
    yield text_sections.vocabulary_section(measurements, scale=study.scale)
    yield from figure_sections.figure_sections(measurements, new_vectors=study.scale.alignment.new_vectors)
    yield differences
    yield text_sections.missing_section(state)
    yield text_sections.provenance_section(data.provenance, logs=state.logs, beside=beside)


def text_files(scores: ReportScores) -> dict[str, str]:
    """The content of each file that the study has something for, by name."""
    files: dict[str, str] = {}
    if table := scores.table_1:
        files |= {CSV: csv_table(table), LATEX: latex_table(table), MARKDOWN: markdown_table(table)}
    if any(claim.verdict is not Verdict.NOT_TESTED for claim in scores.claims):
        files[CLAIMS] = markdown_claims(scores.claims, remarks=scores.claim_remarks)
    return files


def markdown_claims(claims: Sequence[Claim], *, remarks: Sequence[str]) -> str:
    """A heading, the count of each verdict, and the claims that were tested, in the paper's order."""
    tested = [claim for claim in claims if claim.verdict is not Verdict.NOT_TESTED]
    lines = [markdown_row([f"{claim.sentence} ({claim.source})", claim.word, claim.numbers]) for claim in tested]
    table = "\n".join([markdown_row(["The paper", "We", "Numbers"]), markdown_row(["---"] * 3), *lines])
    counts = ", ".join(f"{each.verdict}: {each.counted}" for each in tally(claims))
    summary = [f"{counts[0].upper()}{counts[1:]}.", *remarks]
    return "\n\n".join(["## What the paper claims, and what we find", " ".join(summary), table]) + "\n"


def write_page(folder: Path, *, title: str, head: Mapping[str, Any], sections: Sequence[Section]) -> Path:
    """Write a page and the pictures of its sections beside it; the path of the page."""
    (folder / FIGURES).mkdir(parents=True, exist_ok=True)
    drawings = {}
    for picture in (picture for section in sections for picture in section.pictures):
        drawings[picture.name] = picture.svg()
        write_whole(folder / FIGURES / f"{picture.file_stem}.svg", drawings[picture.name])
    write_whole(folder / PAGE, page_html(title=title, head=head, sections=sections, drawings=drawings))
    return folder / PAGE


def _refuse_files_of_others(folder: Path, names: Sequence[str]) -> None:
    for name in names:
        if (folder / name).exists():
            problem = "is there already, in a folder that is no report of a study"
            raise IsoglotError(f"{folder / name}: {problem}; choose another folder, or move the file")


def _remove_stale(folder: Path, *, texts: Collection[str], stems: Collection[str], earlier_page: str) -> None:
    """Remove texts and pictures that an earlier report had here, and this one has not; others are somebody else's."""
    stale = [folder / name for name in TEXTS if name not in texts and f'href="{name}"' in earlier_page]
    for path in (folder / FIGURES).glob("*.svg"):
        if path.name.removesuffix(".svg") not in stems and _text_if_there(path).startswith(BEGINNING):
            stale.append(path)
    for path in stale:
        path.unlink(missing_ok=True)


def _text_if_there(path: Path) -> str:
    with suppress(OSError, ValueError):
        return path.read_text(encoding="utf-8")
    return ""
