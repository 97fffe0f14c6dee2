"""The report of a study that is running: there from the beginning, growing, and never in the way."""

import hashlib
import json
import warnings
from pathlib import Path

import pytest
from study_texts import TINY_STUDY

from isoglot.errors import IsoglotError
from isoglot.pipeline.exhibits import cells
from isoglot.pipeline.measurements import pending_cells
from isoglot.pipeline.stages.vocabulary import VocabularyStatistics
from isoglot.report.live_report import LiveReport, write_current_report
from isoglot.store import Observer, Observers, Stage, Store, run_plan
from isoglot.study.study import parse_study, with_exhibits

STUDY = with_exhibits(parse_study(TINY_STUDY, origin="tiny.toml"), ["vocabulary"])
TARGETS = [cell.stage for cell in cells(STUDY)]


def conditions_shown(store: Store) -> set[str]:
    (path,) = (store.root / "reports").glob("*/measurements.jsonl")
    return {json.loads(line)["condition"] for line in path.read_text().splitlines()}


class Reader(Observer):
    """Looks at the report whenever something happens."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.seen: list[set[str]] = []

    def started(self, stage: Stage, *, index: int, count: int) -> None:  # noqa: ARG002
        self.seen.append(conditions_shown(self._store))

    def finished(self, stage: Stage, *, seconds: float) -> None:  # noqa: ARG002
        self.seen.append(conditions_shown(self._store))


def test_it_is_there_from_the_beginning_and_grows(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    reader = Reader(store)
    run_plan(TARGETS, store, Observers(LiveReport(STUDY, store, seconds_between=0.0, rest=0.0), reader))
    assert reader.seen[0] == set()
    sizes = [len(each) for each in reader.seen]
    assert sizes == sorted(sizes)
    assert set(sizes) >= {0, 1, 2, 3}, "each cell is shown as soon as it is filled"


@pytest.mark.parametrize(("seconds_between", "rest"), [(1000.0, 0.0), (0.0, 1e9)])
def test_it_is_not_written_again_at_once(tmp_path: Path, seconds_between: float, rest: float) -> None:
    store = Store(tmp_path / "store")
    reader = Reader(store)
    run_plan(TARGETS, store, Observers(LiveReport(STUDY, store, seconds_between=seconds_between, rest=rest), reader))
    assert set(map(len, reader.seen)) == {0}


def test_what_failed_stands_in_it(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    live = LiveReport(STUDY, store, seconds_between=0.0)
    live.failed(TARGETS[0], error=IsoglotError("en.txt:3: not UTF-8"))
    (page,) = (store.root / "reports").glob("*/report.*[!e]")
    assert "en.txt:3: not UTF-8" in page.read_text(encoding="utf-8")


def test_a_page_that_cannot_be_written_stops_no_run(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    store.root.mkdir()
    (store.root / "reports").write_text("in the way")
    outcome = run_plan(TARGETS, store, LiveReport(STUDY, store, seconds_between=0.0))
    assert (outcome.failed, len(outcome.made) > len(TARGETS)) == ({}, True)
    with pytest.raises(IsoglotError, match="cannot be used"):
        write_current_report(STUDY, store)


def test_a_fault_of_our_own_stops_no_run_and_is_told_once(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    run_plan(TARGETS[:1], store)
    _write_other_scores(store, TARGETS[0], "[{}]")
    with pytest.raises(TypeError):
        write_current_report(STUDY, store)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        outcome = run_plan(TARGETS, store, LiveReport(STUDY, store, seconds_between=0.0))
    assert outcome.failed == {}
    (warning,) = told
    assert "the report could not be written meanwhile" in str(warning.message)


def test_damage_is_told_and_the_rest_is_shown(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    run_plan(TARGETS[:2], store)
    (store.folder(TARGETS[0]) / "scores.json").write_text("[]")
    written = write_current_report(STUDY, store, failures=["another: fault"])
    assert len(written.damage) == 1
    assert conditions_shown(store) == {"no-anchors"}
    text = written.page.read_text(encoding="utf-8")
    assert "another: fault" in text
    assert "delete the folder" in text
    # It is there, though nothing can be read from it: running again does not make it.
    assert [cell.condition for cell in written.pending] == ["sep-emb-l1-6"]


def test_pending_is_what_no_artifact_is_there_for(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    assert [cell.condition for cell in pending_cells(STUDY, store)] == ["default", "no-anchors", "sep-emb-l1-6"]
    run_plan(TARGETS[1:2], store)
    assert [cell.condition for cell in pending_cells(STUDY, store)] == ["default", "sep-emb-l1-6"]


def _write_other_scores(store: Store, stage: Stage, text: str) -> None:
    """As a stage with a fault would have written them."""
    assert isinstance(stage, VocabularyStatistics)
    folder = store.folder(stage)
    (folder / "scores.json").write_text(text)
    record = json.loads((folder / "record.json").read_text())
    digest = hashlib.sha256(text.encode()).hexdigest()
    record["files"]["scores.json"] = {"bytes": len(text), "sha256": digest}
    (folder / "record.json").write_text(json.dumps(record))


class Told(Observer):
    """Keeps what it was told."""

    def __init__(self, calls: list[tuple[str, object]]) -> None:
        for name in OF_OBSERVERS:
            setattr(self, name, lambda *words, _name=name, **named: calls.append((_name, (words, named))))


OF_OBSERVERS = [name for name in vars(Observer) if not name.startswith("_")]


@pytest.mark.parametrize("name", OF_OBSERVERS)
def test_each_of_several_observers_is_told_everything(name: str) -> None:
    first: list[tuple[str, object]] = []
    second: list[tuple[str, object]] = []
    words: dict[str, object] = {
        "started": {"index": 1, "count": 2},
        "progress": {"done": 1.0, "total": 2.0, "unit": "tokens", "note": "loss"},
        "queued": {"where": "Slurm job 4711"},
        "waiting": {"holder": "host, process 4711"},
        "finished": {"seconds": 1.0},
        "failed": {"error": IsoglotError("no")},
    }
    named = words.get(name, {})
    assert isinstance(named, dict)
    getattr(Observers(Told(first), Told(second)), name)(TARGETS[0], **named)
    assert first == second == [(name, ((TARGETS[0],), named))]
