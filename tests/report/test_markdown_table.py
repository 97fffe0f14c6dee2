"""Table 1 for a README: whole rows, the paper's numbers beside ours, and what must be said of them."""

from dataclasses import replace

from isoglot.pipeline.cells import FROZEN, TABLE_1, UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.report.published import published_measurements
from isoglot.report.table_1 import table_1
from isoglot.report.text_files import NEVER_PRETRAINED, markdown_table
from tests.report.made_up_measurements import transferred

PAPERS = [each for each in published_measurements() if each.exhibit == TABLE_1]


def written(found: list[Measurement]) -> str:
    table = table_1(found)
    assert table is not None
    return markdown_table(table)


def rows(text: str, task: str) -> list[list[str]]:
    block = text.split(f"### {task}")[1].split("\n\n")[1]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in block.splitlines()]


def test_the_papers_numbers_stand_beside_ours() -> None:
    text = written([replace(each, value=each.value + 1.0) for each in PAPERS])
    assert text.startswith("## Table 1: zero-shot transfer from en\n\n### NLI (Acc)\n\n| Model | fr | paper |")
    heading, rule, *lines = rows(text, "NER")
    assert heading == ["Model", "fr", "paper", "ru", "paper", "zh", "paper", "Δ", "paper", "en"]
    assert len(rule) == len(heading)
    assert lines[-1] == ["Sep Emb + L1-6", "57.5", "56.5", "6.4", "5.4", "2.0", "1.0", "-47.1", "-47.1", "-"]
    assert len(lines) == 10
    assert "- Spearman's rho with the paper's order of conditions: NLI 1.00, " in text


def test_of_other_languages_the_paper_has_no_column() -> None:
    found = [
        *transferred("default", {"ela": 90.0, "oru": 50.0}),
        *transferred("default", {"ela": 90.0, "oru": 60.0}, seed=1),
        *transferred("no-anchors", {"ela": 90.0, "oru": 40.0}),
    ]
    assert rows(written(found), "NER") == [
        ["Model", "oru", "Δ", "ela"],
        ["---", "---:", "---:", "---:"],
        ["Default", "55.0 (50-60)", "+0.0", "90.0 (90-90)"],
        ["No anchors", "40.0", "-15.0", "90.0"],
    ]


def test_models_without_pretraining_have_a_table_of_their_own_where_they_have_scores() -> None:
    found = [
        *transferred("default", {"ela": 70.0, "oru": 60.0}, task="nli", metric="accuracy"),
        *transferred("default", {"ela": 90.0, "oru": 50.0}),
        *transferred("no-anchors", {"ela": 90.0, "oru": 40.0}),
        *transferred("default", {"ela": 30.0, "oru": 20.0}, variant=UNTRAINED),
        *transferred("default", {"ela": 3.0, "oru": 2.0}, variant=FROZEN),
        *transferred("no-anchors", {"ela": 30.0, "oru": 1.0}, variant=UNTRAINED),
    ]
    text = written(found)
    assert text.count(NEVER_PRETRAINED) == 1
    assert [row[0] for row in rows(text, "NLI")[2:]] == ["Default", "No anchors"]
    assert [row[0] for row in rows(text, "NER")[2:]] == ["Default", "No anchors"]
    assert rows(text.replace(f"\n\n{NEVER_PRETRAINED}", "### Baselines"), "Baselines") == [
        ["Model", "oru", "ela"],
        ["---", "---:", "---:"],
        ["Default", "20.0 / 2.0", "30.0 / 3.0"],
        ["No anchors", "1.0 / -", "30.0 / -"],
    ]


def test_a_study_of_baselines_alone_has_no_empty_table() -> None:
    text = written(transferred("default", {"ela": 30.0, "oru": 20.0}, variant=UNTRAINED))
    assert text.startswith(
        f"## Table 1: zero-shot transfer from ela\n\n### NER (F1)\n\n{NEVER_PRETRAINED}\n\n| Model |"
    )


def test_marks_are_no_markup() -> None:
    partial = [each for each in PAPERS if (each.condition, each.language) != ("wiki-cc", "zh")]
    text = written(partial)
    assert r"-1.2\* |" in text
    assert r"(\* over those that both have)" in text
