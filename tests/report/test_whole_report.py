"""A report of the store that would come out the same is left as it is, and any other is written."""

import json
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from study_texts import TINY_STUDY

import isoglot
from isoglot.report.page.rendering import page_code
from isoglot.report.report_files import ReportContent
from isoglot.report.writing import Other, Written, write_report
from isoglot.store import Store
from isoglot.study.study_file import parse_study
from tests.report.made_up_measurements import measured, transferred

STUDY = parse_study(TINY_STUDY, origin="tiny.toml")
FOUND = [
    *transferred("default", {"ela": 93.0, "oru": 55.7}, task="parsing", metric="las"),
    *transferred("sep-emb-l1-6", {"ela": 90.0, "oru": 2.5}, task="parsing", metric="las"),
    *measured("default", [10.04, 80.0]),
]
SUMS = ".written.json"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The root of a store that has a report; the tests leave it as it is, as pictures take long to draw."""
    store = tmp_path_factory.mktemp("whole") / "store"
    again(store)
    return store


@pytest.fixture
def folder(root: Path, tmp_path: Path) -> Path:
    (found,) = shutil.copytree(root, tmp_path / "store").glob("reports/*")
    return found


def again(store: Path, **changed: Any) -> Written:
    return write_report(STUDY, store=Store(store), **{"found": FOUND, **changed})


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def writings(folder: Path) -> dict[str, tuple[int, int]]:
    """Changes for each file that is written, even with the bytes it had."""
    return {name: ((stat := (folder / name).stat()).st_ino, stat.st_mtime_ns) for name in contents(folder)}


def test_nothing_is_written_where_all_would_stay_the_same(folder: Path) -> None:
    before, files = writings(folder), contents(folder)
    listed = json.loads(files[SUMS])["files"]
    assert listed == {name: sha256(content).hexdigest() for name, content in files.items() if name != SUMS}
    # The sentence for the terminal is there all the same.
    first = again(folder.parents[1] / "another")
    second = again(folder.parents[1])
    assert writings(folder) == before
    assert first.headline
    assert (second.headline, second.page) == (first.headline, folder / "report.html")


def test_any_file_that_is_damaged_or_gone_is_written_as_it_was(folder: Path) -> None:
    before = contents(folder)
    assert {"report.html", "table-1.tex", "state.json", "figures/figure-3.svg"} < before.keys()
    for name, content in before.items():
        middle = len(content) // 2
        (folder / name).write_bytes(content[:middle] + b"#" + content[middle + 1 :])
        again(folder.parents[1])
        assert contents(folder) == before, f"{name}, one byte"
        (folder / name).unlink()
        again(folder.parents[1])
        assert contents(folder) == before, f"{name}, gone"


@pytest.mark.parametrize("sums", ["", "[]", "{}", "[[[", '{"code": null, "files": null}', '{"code": 1, "files": [1]}'])
def test_checksums_that_make_no_sense_are_written_anew(folder: Path, sums: str) -> None:
    before = contents(folder)
    (folder / SUMS).write_text(sums)
    again(folder.parents[1])
    assert contents(folder) == before


def test_other_data_and_other_code_write_another_page(folder: Path) -> None:
    page, root = folder / "report.html", folder.parents[1]
    before = contents(folder)
    again(root, failures=["a stage: no room on the disk"])
    assert "no room on the disk" in page.read_text(encoding="utf-8")
    again(root, found=FOUND[:-1])
    assert contents(folder).keys() == before.keys() - {"figures/retrieval.ela-oru.svg"}, "a line of one point is none"
    again(root, against=Other(name="an earlier one", content=ReportContent(measurements=FOUND[1:], provenance={})))
    assert "an earlier one" in page.read_text(encoding="utf-8")
    again(root)
    assert contents(folder) == before, "a page that is held against another report does not stay"
    # As if other code had written it: its page has one word more, and the right checksum.
    for code, is_kept in ((json.loads(before[SUMS])["code"], True), ("another", False)):
        other = before["report.html"] + b"<!-- other -->"
        page.write_bytes(other)
        sums = json.loads(before[SUMS])["files"] | {"report.html": sha256(other).hexdigest()}
        (folder / SUMS).write_text(json.dumps({"code": code, "files": sums}))
        again(root)
        assert (page.read_bytes() == other) is is_kept


def test_a_changed_file_of_isoglot_is_other_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = Path(isoglot.__file__).parent
    copy = shutil.copytree(package, tmp_path / "isoglot", ignore=shutil.ignore_patterns("__pycache__"))
    own = page_code()
    # The function is kept for a process, whose code does not change.
    monkeypatch.setattr(isoglot, "__file__", str(copy / "__init__.py"))
    assert page_code.__wrapped__() == own
    for name in ("report/page/templates/page.html", "report/page/templates/script.js", "report/claims/claims.toml"):
        (copy / name).write_bytes((copy / name).read_bytes() + b"\n")
        assert page_code.__wrapped__() != own, name
        shutil.copy(package / name, copy / name)
    (copy / "study" / "conditions.py").rename(copy / "study" / "others.py")
    assert page_code.__wrapped__() != own
