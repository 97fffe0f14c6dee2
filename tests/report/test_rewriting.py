"""A report made again from the files beside its page: the same bytes, with neither store nor study nor data."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from study_texts import TINY_STUDY

from isoglot.errors import IsoglotError
from isoglot.pipeline.cells import UNTRAINED
from isoglot.pipeline.exhibits import cells
from isoglot.pretraining.run import HEALTH
from isoglot.report.provenance import provenance
from isoglot.report.report_files import read_report_data
from isoglot.report.state import study_state
from isoglot.report.writing import rewrite_report, write_report
from isoglot.store import Store
from isoglot.study.study_file import parse_study
from tests.killed_processes import files_of
from tests.report.html_pages import Element, parsed_page
from tests.report.made_up_measurements import measured, measurement, scored, transferred

STUDY = parse_study(TINY_STUDY, origin="tiny <b>.toml")
LINKED = next(
    cell.stage for cell in cells(STUDY) if (cell.exhibit, cell.condition, cell.seed) == ("table-1", "default", 0)
)
LACKING = [cell for cell in cells(STUDY) if cell.condition == "no-anchors"]
FAILURES = [f"{LACKING[-1].stage.title}: no room on the disk"]
FOUND = [
    *(
        replace(each, stage=LINKED.digest)
        for each in transferred("default", {"ela": 91.03, "oru": 55.7}, task="parsing", metric="las")
    ),
    *transferred("default", {"ela": 93.0, "oru": 50 + 1 / 3}, task="parsing", metric="las", seed=1),
    *transferred("sep-emb-l1-6", {"ela": 90.0, "oru": 2.5}, task="parsing", metric="las"),
    *measured("default", [10.04, 80.0]),
    *measured("default", [1.0, 5.0], metric="retrieval_p1", variant=UNTRAINED),
    # A whole number must stay one.
    measurement("default", 40, metric="chosen_update"),
    *(each for name in ("default", "sep-emb-l1-6") for each in scored({name: 1.0}, task="parsing", variant=UNTRAINED)),
]
CURVES = [
    {"condition": "default", "languages": ("ela", "oru"), "language": language, "seed": 0}
    | {"points": ((20, 61.25), (40, 1 / 3)), "is_finished": language == "ela"}
    for language in ("ela", "oru")
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The root of a store with the record and the log of one artifact, and a report; pictures take long to draw."""
    store = Store(tmp_path_factory.mktemp("made") / "store")
    store.folder(LINKED).mkdir(parents=True)
    (store.folder(LINKED) / "record.json").touch()
    store.log_folder(LINKED).mkdir(parents=True)
    (store.log_folder(LINKED) / HEALTH).write_text('{"attempt": 1, "remark": "still at the plateau"}\n')
    written = write_report(STUDY, FOUND, store=store, failures=FAILURES, pending=LACKING).page
    (written.parent / "curves.jsonl").write_text("".join(json.dumps(curve) + "\n" for curve in CURVES))
    rewrite_report(written.parent)
    return store.root


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Store:
    return Store(shutil.copytree(made, tmp_path / "store"))


@pytest.fixture
def page(store: Store) -> Path:
    (found,) = store.root.glob("reports/*/report.html")
    return found


def parsed(page: Path) -> Element:
    return parsed_page(page.read_text(encoding="utf-8"))


def test_what_is_written_is_read_back_as_it_was(store: Store) -> None:
    folder = write_report(STUDY, FOUND, store=store, failures=FAILURES, pending=LACKING).page.parent
    read = read_report_data(folder)
    state = study_state(STUDY, store=store, folder=folder, failures=FAILURES, lacking=LACKING)
    assert (read.measurements, read.provenance) == (tuple(FOUND), provenance(STUDY, store))
    assert read.state == state.seen_from(folder)
    assert read.state.failures
    assert read.state.absent
    assert read.state.records == {LINKED.digest: f"../../{store.folder(LINKED).name}/record.json"}


def test_logs_that_may_not_be_read_leave_a_report_without_links_to_them(store: Store) -> None:
    # Root may read anything, so it is somebody else for a moment, whom pytest's own folders are closed to.
    own, nobody = os.geteuid(), 65534
    with TemporaryDirectory() as open_folder:
        Path(open_folder).chmod(0o755)
        copy = Store(shutil.copytree(store.root, Path(open_folder) / "store"))
        before = study_state(STUDY, store=copy, folder=copy.root / "reports", failures=[], lacking=[])
        (copy.root / "logs").chmod(0)
        if own == 0:
            os.seteuid(nobody)
        try:
            state = study_state(STUDY, store=copy, folder=copy.root / "reports", failures=[], lacking=[])
        finally:
            os.seteuid(own)
            (copy.root / "logs").chmod(0o755)
    assert before.logs
    assert state == replace(before, logs=())


def test_a_report_in_its_store_is_made_again_byte_for_byte(store: Store, page: Path) -> None:
    before = files_of(page.parent)
    assert {"report.html", "claims.md", "figures/figure-3.svg"} <= before.keys()
    assert {"table-1.tex", "table-1.csv", "table-1.md"} <= before.keys()
    assert "Learning curves" in parsed(page).text
    kept = {"measurements.jsonl", "provenance.json", "curves.jsonl", "state.json"}
    for name in before.keys() - kept:
        (page.parent / name).unlink()
    rewrite_report(page.parent)
    assert files_of(page.parent) == before
    assert "record.json" in page.read_text(encoding="utf-8"), "its links still lead somewhere"
    write_report(STUDY, FOUND, store=store, failures=FAILURES, pending=LACKING)
    (page.parent / "curves.jsonl").write_bytes(before["curves.jsonl"])
    rewrite_report(page.parent)
    assert files_of(page.parent) == before, "as from the store"


def test_a_damaged_report_in_a_store_is_written_again(store: Store, page: Path) -> None:
    for is_damaged in (False, True):
        before = files_of(page.parent)
        for name, content in before.items() if is_damaged else ():
            (page.parent / name).write_bytes(content[: len(content) // 2])
        write_report(STUDY, FOUND, store=store, failures=FAILURES, pending=LACKING)
    assert files_of(page.parent) == before


def test_what_is_damaged_or_stale_is_mended_and_all_else_stays(page: Path) -> None:
    folder, before = page.parent, files_of(page.parent)
    (folder / "figures" / "retrieval.ela-oru.svg").write_bytes(
        before["figures/retrieval.ela-oru.svg"].replace(b"\n", b"\r\n") + b"\r\n"
    )
    # Pictures of an earlier report, and what its page led to, are known from what lies beside them.
    shutil.copy(folder / "figures" / "retrieval.ela-oru.svg", folder / "figures" / "figure-6.ela-oru.svg")
    (folder / "growth.csv").touch()
    page.write_text(page.read_text(encoding="utf-8") + '<a href="growth.csv">growth.csv</a>', encoding="utf-8")
    others = ("figures/mine.svg", "figures/figure-6.png", "figures/mine/figure-6.svg", "picture.svg", "table-2.csv")
    (folder / "figures" / "mine").mkdir()
    for name in others:
        (folder / name).touch()
    rewrite_report(folder)
    assert files_of(folder) == before | dict.fromkeys(others, b"")
    (folder / "growth.csv").touch()
    rewrite_report(folder)
    assert (folder / "growth.csv").exists(), "no page led to it: it is somebody else's"


@pytest.mark.parametrize("name", ["report.html", "table-1.csv", "measurements.jsonl"])
def test_files_of_others_are_not_overwritten(page: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / name).write_text("mine")
    with pytest.raises(IsoglotError, match=f"mine/{name}: is there already, in a folder that is no report"):
        rewrite_report(page.parent, to=tmp_path / "mine")
    assert files_of(tmp_path / "mine") == {name: b"mine"}


def test_a_report_that_was_cut_off_is_written_again(page: Path, tmp_path: Path) -> None:
    place = tmp_path / "mine"
    rewrite_report(page.parent, to=place)
    before = files_of(place)
    for name in before.keys() - {"provenance.json", "measurements.jsonl"}:
        (place / name).unlink()
    rewrite_report(page.parent, to=place)
    assert files_of(place) == before


def test_a_published_report_needs_nothing_but_itself(store: Store, page: Path, tmp_path: Path) -> None:
    public = rewrite_report(page.parent, to=tmp_path / "results" / "mine").page
    assert public == tmp_path / "results" / "mine" / "report.html"
    before = files_of(public.parent)
    shutil.rmtree(store.root)
    moved = public.parent.rename(tmp_path / "elsewhere")
    rewrite_report(moved)
    rewrite_report(moved, to=tmp_path / "twice")
    assert files_of(moved) == files_of(tmp_path / "twice") == before


def test_what_is_published_has_no_dead_links_and_keeps_what_was_said(page: Path, tmp_path: Path) -> None:
    inside, public = parsed(page), parsed(rewrite_report(page.parent, to=tmp_path / "public").page)
    for here in (inside, public):
        assert "still at the plateau" in here.by_id("provenance").text
        assert FAILURES[0] in here.by_id("missing").text
    assert "Logs (1)" in inside.text
    assert "Logs" not in public.text
    assert "leads to the record" in inside.by_id("table-1").text
    assert "leads to the record" not in public.by_id("table-1").text
    for address in (str(link.attributes["href"]) for link in public.find_all("a")):
        assert address.startswith("#") or (tmp_path / "public" / address).exists(), address
    assert ".." not in (tmp_path / "public" / "state.json").read_text(encoding="utf-8")


def test_a_changed_number_shows_in_all_that_is_made_from_it(page: Path) -> None:
    numbers = page.parent / "measurements.jsonl"
    numbers.write_text(numbers.read_text().replace("55.7", "75.75"), encoding="utf-8")
    rewrite_report(page.parent)
    (row,) = (row for row in parsed(page).by_id("table-1").rows() if row[0] == "Default" and len(row) > 6)
    assert row[6] == "63.0 75.8 50.3"
    for name, shown in (("table-1.csv", "63.04"), ("table-1.md", "| 63.0 ("), ("table-1.tex", "63.0 (")):
        assert shown in (page.parent / name).read_text(encoding="utf-8")
    assert ">63.0<" in (page.parent / "figures" / "figure-3.svg").read_text(encoding="utf-8")
    # A table without numbers is removed, and its figure with it.
    lines = numbers.read_text(encoding="utf-8").splitlines(keepends=True)
    numbers.write_text("".join(line for line in lines if '"task": "parsing"' not in line), encoding="utf-8")
    rewrite_report(page.parent)
    names = files_of(page.parent).keys()
    assert not any(name.startswith(("table-1", "figures/figure-3")) for name in names)
    assert "figures/retrieval.ela-oru.svg" in names


def test_without_one_of_its_files_a_report_says_how_to_get_it(page: Path) -> None:
    before = page.read_bytes()
    for name in ("state.json", "curves.jsonl", "provenance.json"):
        (page.parent / name).unlink()
        with pytest.raises(IsoglotError, match=rf"no {name} in it, .*; write the report again from its store: "):
            rewrite_report(page.parent)
    assert page.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("provenance.json", "{", "{{", "provenance.json: Invalid JSON"),
        ("provenance.json", '"window": 16', '"window": "16"', "on: budget.window: should be a valid integer, not '16'"),
        ("provenance.json", '"layers": 4', '"layers": null', "settings: scale.shape.layers: should be a valid integer"),
        ("provenance.json", '"linear-tail"', '"steep"', "decay: should be .*'linear-tail'.*, not 'steep'"),
        ("provenance.json", '"no-anchors"', '"no-anchor"', "settings.conditions: 'no-anchor' is not one of"),
        ("provenance.json", '"artifacts_done"', '"done"', "provenance.json: artifacts_done: Field required"),
        ("curves.jsonl", "[40, ", "[40, 1, ", "curves.jsonl:1: points.1: Tuple should have at most 2 items"),
        ("curves.jsonl", "[[20", "x", "curves.jsonl:1: Invalid JSON"),
        ("state.json", '"cells": ', '"cell": ', "state.json: cells: Field required"),
        ("state.json", '"failures": [', '"failures": [7, ', "state.json: failures.0: should be a valid string, not 7"),
        ("measurements.jsonl", "parsing", "chess", r"measurements.jsonl:1: not a measurement .*'chess' is not one of"),
        ("measurements.jsonl", '"sep-emb-l1-6"', '"sep"', r"measurements.jsonl:5: .*'sep' is not one of"),
        ("measurements.jsonl", "55.7", '"55.7"', "jsonl:2: .*value: should be a valid number, not '55.7'"),
    ],
)
def test_what_is_damaged_is_named(page: Path, name: str, old: str, new: str, message: str) -> None:
    path, before = page.parent / name, page.read_bytes()
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(IsoglotError, match=message):
        rewrite_report(page.parent)
    assert page.read_bytes() == before


def test_what_a_later_isoglot_says_more_is_passed_over(page: Path) -> None:
    before = page.read_bytes()
    for name in ("provenance.json", "state.json"):
        path = page.parent / name
        path.write_text(json.dumps(json.loads(path.read_text()) | {"of_later": 1}), encoding="utf-8")
    rewrite_report(page.parent)
    assert page.read_bytes() == before
    assert "of_later" in (page.parent / "state.json").read_text(), "what a page is made from is not written over"


def test_a_store_takes_no_report(store: Store, page: Path) -> None:
    store.create()
    before = files_of(store.root)
    with pytest.raises(IsoglotError, match=r"a store of artifacts, and no place for a report; name .* folder="):
        rewrite_report(page.parent, to=store.root)
    assert files_of(store.root) == before


def test_a_folder_that_takes_no_report_is_named(page: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(IsoglotError, match=f"{tmp_path}/file/in: no report can be written there .*folder="):
        rewrite_report(page.parent, to=tmp_path / "file" / "in")
