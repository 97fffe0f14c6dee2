"""The report of a study that is running: there from the beginning, growing, and never in the way."""

import hashlib
import json
import warnings
from pathlib import Path

import pytest
from study_texts import TINY_STUDY

from isoglot.errors import IsoglotError
from isoglot.pipeline.exhibits import cells
from isoglot.report.results import LiveReport
from isoglot.report.writing import write_current_report
from isoglot.store import Stage, Store, run_plan
from isoglot.store.engine import Event, Made, Started
from isoglot.study.study_file import parse_study
from tests.oracles import sealed

STUDY = parse_study(TINY_STUDY, origin="tiny.toml").replace(exhibits=["vocabulary"])
TARGETS = [cell.stage for cell in cells(STUDY)]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def conditions_shown(store: Store) -> set[str]:
    (path,) = (store.root / "reports").glob("*/measurements.jsonl")
    return {json.loads(line)["condition"] for line in path.read_text().splitlines()}


class Reader:
    """Looks at the report whenever something happens."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.seen: list[set[str]] = []

    def __call__(self, _: Stage, event: Event) -> None:
        if isinstance(event, Started | Made):
            self.seen.append(conditions_shown(self._store))


@pytest.mark.parametrize(
    ("seconds_between", "rest", "shown"), [(0.0, 0.0, {0, 1, 2, 3}), (1000.0, 0.0, {0}), (0.0, 1e9, {0})]
)
def test_it_is_there_from_the_beginning_and_grows_when_it_is_due(
    store: Store, seconds_between: float, rest: float, shown: set[int]
) -> None:
    reader = Reader(store)
    run_plan(TARGETS, store, LiveReport(STUDY, store, seconds_between=seconds_between, rest=rest), reader)
    sizes = [len(each) for each in reader.seen]
    assert sizes == sorted(sizes)
    assert (sizes[0], set(sizes)) == (0, shown), "each cell is shown as soon as it is filled"


def test_a_page_that_cannot_be_written_stops_no_run(store: Store) -> None:
    store.root.mkdir()
    (store.root / "reports").write_text("in the way")
    outcome = run_plan(TARGETS, store, LiveReport(STUDY, store, seconds_between=0.0))
    assert (outcome.failed, len(outcome.made) > len(TARGETS)) == ({}, True)
    with pytest.raises(IsoglotError, match="cannot be used"):
        write_current_report(STUDY, store)


def test_a_fault_of_our_own_stops_no_run_and_is_told_once(store: Store) -> None:
    run_plan(TARGETS[:1], store)
    # As a stage with a fault would have written them.
    folder, faulty = store.folder(TARGETS[0]), "[{}]"
    (folder / "scores.json").write_text(faulty)
    record = json.loads((folder / "record.json").read_text())
    digest = hashlib.sha256(faulty.encode()).hexdigest()
    record["files"]["scores.json"] = {"bytes": len(faulty), "sha256": digest}
    (folder / "record.json").write_text(sealed(record))
    with pytest.raises(TypeError):
        write_current_report(STUDY, store)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        outcome = run_plan(TARGETS, store, LiveReport(STUDY, store, seconds_between=0.0))
    assert outcome.failed == {}
    (warning,) = told
    assert "the report could not be written meanwhile" in str(warning.message)
