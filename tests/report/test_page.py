"""The report as files: readable without isoglot, and whole however far the study is."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

import pytest
from study_texts import TINY_STUDY

from isoglot.artifacts import Store
from isoglot.cells import FROZEN, UNTRAINED
from isoglot.errors import IsoglotError
from isoglot.exhibits import cells
from isoglot.measurements import Measurement
from isoglot.report.page import page, write_report
from isoglot.study import parse_study, with_exhibits
from tests.report.made_up_measurements import measured, measurement, transferred

STUDY = parse_study(TINY_STUDY, origin="tiny.toml")
FOUND = [
    *measured("default", [10.04, 80.0]),
    *measured("default", [1.0, 5.0], metric="retrieval_p1" + UNTRAINED),
    *measured("sep-emb", [11.0, 12.0]),
    *measured("sep-emb", [1.0, 2.0], metric="retrieval_p1" + UNTRAINED),
    measurement("default", 0.2, metric="retrieval_p1_chance"),
]


def table_rows(text: str) -> list[list[str]]:
    return [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]


def test_the_page_has_the_numbers_and_says_what_they_are() -> None:
    text = page(STUDY, FOUND)
    lines = table_rows(text)
    assert ["Default", "10.0", "80.0", "80.0", "5.0"] in [line[:5] for line in lines]
    assert ["Sep Emb", "11.0", "12.0", "12.0", "2.0"] in [line[:5] for line in lines]
    assert "Chance is 0.2%" in text
    assert "- Default +75.0 > Sep Emb +10.0: agrees with the paper" in text
    assert "80 updates of 8 windows of 16 tokens, 10,240 tokens a model; seeds 0, 1" in text
    for table in text.split("\n\n"):
        assert len({len(line) for line in table_rows(table)}) <= 1


@pytest.mark.parametrize("found", [[], FOUND[:2], FOUND[2:4], FOUND[-1:]])
def test_a_study_hardly_begun_has_a_page_too(found: list[Measurement]) -> None:
    text = page(STUDY, found)
    assert text.startswith("# tiny: ela and oru\n")


def test_every_measurement_stands_beside_the_page(tmp_path: Path) -> None:
    path = write_report(STUDY, FOUND, store=Store(tmp_path / "store"))
    assert path.read_text(encoding="utf-8") == page(STUDY, FOUND)
    lines = (path.parent / "measurements.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [asdict(each) | {"languages": ["ela", "oru"]} for each in FOUND]


def test_logs_are_linked_from_where_the_page_is(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    stages = [cell.stage for cell in cells(STUDY)]
    logs = [store.log_folder(stage) for stage in (stages[0], stages[-1])]
    for log in logs:
        log.mkdir(parents=True)
    path = write_report(STUDY, FOUND, store=store)
    linked = re.findall(
        r"^- \[.+\]\((.+)/\)$", path.read_text(encoding="utf-8").partition("\n## Logs\n")[2], re.MULTILINE
    )
    assert [(path.parent / link).resolve() for link in linked] == [log.resolve() for log in logs]
    assert not Path(linked[0]).is_absolute()


def test_runs_that_end_together_may_all_write_the_report(tmp_path: Path) -> None:
    def write(_: int) -> Path:
        return write_report(STUDY, FOUND, store=Store(tmp_path / "store"))

    with ThreadPoolExecutor(8) as runs:
        (path,) = set(runs.map(write, range(40)))
    assert sorted(each.name for each in path.parent.iterdir()) == ["measurements.jsonl", "report.md"]


def test_a_store_that_takes_no_report_is_named(tmp_path: Path) -> None:
    (tmp_path / "reports").touch()
    with pytest.raises(IsoglotError, match=f"the store {tmp_path} cannot be used"):
        write_report(STUDY, FOUND, store=Store(tmp_path))


def test_what_failed_is_told() -> None:
    text = page(STUDY, FOUND, failures=["words of de: de.txt:3: not UTF-8"])
    assert "## Failed\n\n- words of de: de.txt:3: not UTF-8\n" in text
    assert "## Failed" not in page(STUDY, FOUND)


def test_a_page_of_vocabularies_speaks_of_no_training() -> None:
    text = page(with_exhibits(STUDY, ["vocabulary"]), [])
    assert "no model was asked for" in text
    assert "updates" not in text


def test_table_1_stands_on_the_page_with_its_notes_and_all_ways_to_count() -> None:
    found = [
        *transferred("default", {"ela": 91.0, "oru": 55.0}, task="parsing", metric="las"),
        *transferred("default", {"ela": 93.0, "oru": 66.0}, task="parsing", metric="uas"),
        *transferred("sep-emb-l1-6", {"ela": 90.0, "oru": 5.0}, task="parsing", metric="las"),
        *transferred("default", {"oru": 2.0}, task="parsing", metric="settings_tried"),
        *transferred("default", {"ela": 20.0, "oru": 3.0}, task="parsing", metric="las", suffix=UNTRAINED + FROZEN),
        *transferred("default", {"ela": 70.0, "oru": 50.0}, task="nli", metric="accuracy"),
    ]
    text = page(STUDY, [*found, *FOUND])
    lines = table_rows(text)
    assert ["", "Parsing (LAS)", "", "", "NLI (Acc)", "", ""] in lines
    assert ["Model", "oru", "Δ", "ela", "oru", "Δ", "ela"] in lines
    assert ["Default", "55.0", "+0.0", "91.0", "50.0", "+0.0", "70.0"] in lines
    assert ["Sep Emb + L1-6", "5.0", "-50.0", "90.0", "-", "-", "-"] in lines
    assert ["never pretrained:", *[""] * 6] in lines
    assert ["Default, untrained and frozen", "3.0", "-52.0", "20.0", "-", "-", "-"] in lines
    assert "\n- Settings of fine-tuning tried: 2 for Parsing; shown is the mean of both." in text
    assert "\n- Parsing, ela-oru: Default 55.0 > Sep Emb + L1-6 5.0: agrees with the paper, on 1 seed only\n" in text
    assert "### Parsing, all ways to count\n\n| Model | Language | LAS | UAS |" in text
    assert ["Default", "oru", "55.0", "66.0"] in lines
    assert text.index("## Table 1") < text.index("## Parallel sentences")
    for table in text.split("\n\n"):
        assert len({len(line) for line in table_rows(table)}) <= 1


def test_a_study_of_transfer_alone_has_models() -> None:
    assert "80 updates" in page(with_exhibits(STUDY, ["table-1"]), [])
    assert "## Table 1" not in page(STUDY, FOUND)
