"""All that a page tells of a study, gathered from its store."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from isoglot.pipeline.cells import Cell
from isoglot.pipeline.exhibits import cells, gap_sentences, gaps
from isoglot.pipeline.measurements import Measurement
from isoglot.report.provenance import provenance
from isoglot.report.report_files import Found
from isoglot.report.state import FAILED, NO_DATA, PENDING, Absent, State, logs
from isoglot.report.study_settings import told_origin
from isoglot.report.training_curves import learning_curves
from isoglot.store import Store, inputs_first
from isoglot.store.record import RECORD_NAME
from isoglot.study.real_text import RealText
from isoglot.study.study import Study


def gathered(
    study: Study,
    measurements: Sequence[Measurement],
    *,
    store: Store,
    folder: Path,
    failures: Sequence[str],
    lacking: Sequence[Cell],
) -> Found:
    """For a page in this folder of the store; failures begin with the title of an artifact."""
    asked = cells(study)
    folders = {cell.stage.digest: store.find_folder(cell.stage) or store.folder(cell.stage) for cell in asked}
    return Found(
        measurements=tuple(measurements),
        provenance=provenance(study, store),
        curves=tuple(learning_curves(study, store)),
        state=State(
            cells=len(asked),
            cells_lacking=len(lacking),
            absent=tuple(_absent(study, lacking, failures)),
            pending=tuple(dict.fromkeys(cell.stage.title for cell in lacking)),
            failures=tuple(failures),
            no_data=tuple(_no_data(study)),
            records={digest: os.path.relpath(each / RECORD_NAME, folder) for digest, each in folders.items()},
            logs=tuple(logs(study, store=store, folder=folder)),
        ),
    )


def _no_data(study: Study) -> Iterator[str]:
    """What lacks, in words that are the same on every machine."""
    for sentence in gap_sentences(study):
        told = sentence.replace(f": {study.origin}: ", f": {told_origin(study)}: ")
        # All paths stand after a colon; of a data folder "." they begin with no dot.
        yield told.replace(f": {study.text.data.as_posix()}/", ": ") if isinstance(study.text, RealText) else told


def _absent(study: Study, lacking: Sequence[Cell], failures: Sequence[str]) -> Iterator[Absent]:
    """A cell has failed where what it is made from has."""
    for gap in gaps(study):
        # A gap of one task's part of an exhibit is called "table-1 ner".
        exhibit, _, task = gap.exhibit.partition(" ")
        yield Absent(
            exhibit=exhibit, condition=gap.condition, languages=gap.languages, task=task or None, reason=NO_DATA
        )
    for cell in lacking:
        needed = inputs_first([cell.stage]).values() if failures else ()
        has_failed = any(failure.startswith(f"{stage.title}: ") for stage in needed for failure in failures)
        yield Absent(
            exhibit=cell.exhibit,
            condition=cell.condition,
            languages=cell.languages,
            task=cell.task,
            reason=FAILED if has_failed else PENDING,
        )
