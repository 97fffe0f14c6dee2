"""Published results follow from their measurements and pieces, and are those of the studies in this repository."""

import csv
import json
import re
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from killed_processes import files_of
from published_records import BY_HAND, DRAWN_BY_HAND, LANGUAGES, packed_json, packed_records, published_part

from isoglot.report.findings.published import TABLE_1_SCORES, TARGETS
from isoglot.report.provenance import study_settings
from isoglot.report.report_files import read_report_data
from isoglot.report.writing import rewrite_report
from isoglot.study.study_file import read_study

ROOT = Path(__file__).parents[1]
PUBLISHED = ROOT / "results" / "replication"
# As the table's headings have them: by task, its metric and the paper's name for it.
TASKS = {
    "nli": ("accuracy", "XNLI", "NLI (Acc)"),
    "ner": ("f1", "NER", "NER (F1)"),
    "parsing": ("las", "Parsing", "Parsing (LAS)"),
}
Row = dict[str, Any]


@pytest.fixture(scope="module")
def scores() -> dict[tuple[str, str, str], float]:
    """Means over seeds by task, condition and target, with nothing of isoglot's between them and the file."""
    rows: list[Row] = [json.loads(line) for line in (PUBLISHED / "measurements.jsonl").read_text().splitlines()]
    found = [
        row
        for row in rows
        if row["exhibit"] == "table-1"
        and row["metric"] == TASKS[row["task"]][0]
        and row["language"] == row["languages"][1]
    ]

    def place(row: Row) -> tuple[str, str, str]:
        return row["task"], row["condition"], row["language"]

    return {key: fmean(row["value"] for row in alike) for key, alike in groupby(sorted(found, key=place), key=place)}


def test_page_tables_and_figures_are_made_again_to_the_byte(tmp_path: Path) -> None:
    again, published = tmp_path / "again", PUBLISHED
    rewrite_report(published, to=again)
    # Pages written by hand, their figures and the pieces are no part of a report.
    ours, theirs = (
        {
            path: content
            for path, content in files_of(folder).items()
            if path not in (*BY_HAND, *DRAWN_BY_HAND) and not path.startswith("pieces/")
        }
        for folder in (again, PUBLISHED)
    )
    assert ours.keys() == theirs.keys()
    differing = [path for path in ours if theirs[path] != ours[path]]
    assert differing == [], "if the page has changed, write it again: isoglot report results/replication"


def test_every_link_of_a_published_page_leads_to_a_file_beside_it_or_a_place_on_it() -> None:
    page = (PUBLISHED / "report.html").read_text()
    links, places = ({*re.findall(rf'<[^>]* {key}="([^"]+)"', page)} for key in ("href", "id"))
    links = {link for link in links if not link.startswith("data:")}
    assert links >= {"#table-1", "measurements.jsonl", "figures/figure-3.svg"}
    dead = [link for link in links if link[1:] not in places and not (PUBLISHED / link).is_file()]
    assert dead == []


def test_the_table_is_what_the_measurements_say(scores: dict[tuple[str, str, str], float]) -> None:
    with (PUBLISHED / "table-1.csv").open(newline="") as lines:
        # Below them stand models without pretraining.
        table = {row["Condition"]: row for row in csv.DictReader(lines) if "untrained" not in row["Model"]}
    assert list(table) == list(TABLE_1_SCORES)
    for task, (_, papers_name, heading) in TASKS.items():
        targets = [target for target in LANGUAGES if any((task, name, target) in scores for name in table)]
        assert targets == [*LANGUAGES]
        for condition, row in table.items():
            for target in targets:
                score = scores.get((task, condition, target))
                assert row[f"{heading} {target}"] == ("" if score is None else f"{score:.2f}")
                if target in TARGETS:
                    papers = TABLE_1_SCORES[condition][papers_name][TARGETS.index(target)]
                    assert float(row[f"{heading} {target} paper"]) == papers
            both = [each for each in targets if {(task, condition, each), (task, "default", each)} <= scores.keys()]
            differences = [scores[task, condition, each] - scores[task, "default", each] for each in both]
            shown = row[f"{heading} Δ"]
            assert [float(shown)] == [pytest.approx(fmean(differences), abs=0.006)] if differences else not shown


def test_the_pieces_hold_every_score_of_the_table() -> None:
    # Of a score made twice the first is kept, as by `isoglot unpack`.
    packed = [packed_json(piece) for piece in sorted(PUBLISHED.glob("pieces/*.tar.xz"))]
    rows = [json.loads(line) for line in (PUBLISHED / "measurements.jsonl").read_text().splitlines()]
    # The metric of a baseline has the kind of its model as a suffix.
    of_table = [
        (row, metric)
        for row in rows
        if row["exhibit"] in ("table-1", "baselines") and (metric := row["metric"]) == TASKS[row["task"]][0]
    ]
    assert of_table
    for row, metric in of_table:
        path = f"zero-shot-transfer-{row['stage'][:16]}/scores.json"
        scores = next(piece[path] for piece in packed if path in piece)
        stored = {(each["metric"], each["language"]): each["value"] for each in scores}
        assert stored[metric, row["language"]] == row["value"]


def test_models_trained_again_in_another_stretch_are_the_same_to_the_byte() -> None:
    found: dict[str, list[Row]] = {}
    for piece in PUBLISHED.glob("pieces/*.tar.xz"):
        for record in packed_records(piece):
            if record["kind"] == "pretrained-encoder":
                found.setdefault(record["digest"], []).append(record)
    twice = [records for records in found.values() if len({each["finished"] for each in records}) > 1]
    assert {records[0]["title"] for records in twice} == {
        *(f"pretraining, default, en-{language}, seed 0" for language in ("fr", "de", "ru", "zh")),
        *("pretraining, default, en-de, seed 1", "pretraining, sep-l1-3, en-fr, seed 1"),
        *("pretraining, default, en-ru, seed 1", "pretraining, wiki-cc, en-ru, seed 1"),
    }
    for first, second in twice:
        assert first["files"] == second["files"]
        # The finished model and seven moments of its training.
        assert sum(name.endswith(".safetensors") for name in first["files"]) == 8


def test_it_is_of_the_study_that_is_there() -> None:
    study = published_part(read_study(ROOT / "studies/replication.toml"), "replication")
    published = read_report_data(PUBLISHED).provenance
    settings, expected = json.loads(json.dumps(study_settings(study))), json.loads(published.json_text())["settings"]
    assert settings == expected
