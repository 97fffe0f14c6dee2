"""Table 1 as text: every number in its place in the terminal, CSV, LaTeX and Markdown, and any name as text."""

import csv
import io
import re
from dataclasses import replace

import pytest
from rich.console import Console

from isoglot.pipeline.cells import FROZEN, TABLE_1, UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.report.findings.published import published_measurements
from isoglot.report.report_scores import ReportScores
from isoglot.report.tables.grid import latex_escaped
from isoglot.report.tables.table_1 import BASELINES_HEADING, Table1, csv_table, latex_table, markdown_table
from isoglot.report.tables.terminal import results
from isoglot.study.scales import DEMO
from tests.report.made_up_measurements import transferred

PAPERS = [each for each in published_measurements() if each.exhibit == TABLE_1]
SEVERAL_SEEDS = [*PAPERS, *(replace(each, seed=1, value=each.value + 5) for each in PAPERS)]
FOUND = [
    *transferred("default", {"ela": 81.04, "oru": 63.2}, task="nli", metric="accuracy"),
    *transferred("default", {"ela": 91.0, "oru": 55.0}),
    *transferred("sep-emb-l1-6", {"ela": 90.0, "oru": 4.95}),
    *transferred("default", {"ela": 20.0, "oru": 3.0}, variant=UNTRAINED),
    *transferred("sep-emb-l1-6", {"ela": 9.0, "oru": 2.5}, variant=UNTRAINED),
    *transferred("sep-emb-l1-6", {"ela": 3.0, "oru": 2.0}, variant=FROZEN),
]
# Enough seeds for marks; NLI, which Default alone has, stays of one.
OF_THREE_SEEDS = [replace(each, seed=seed) for each in FOUND for seed in range(3 if each.task == "ner" else 1)]
HOSTILE = r"[b]a&b%c$d#e_f{g}h~i^j\k[l]*|,m"
OF_HOSTILE = transferred("default", {HOSTILE: 7.0}, languages=("ela", HOSTILE))


def table_of(found: list[Measurement]) -> Table1:
    table = ReportScores(found).table_1
    assert table is not None
    return table


def terminal(found: list[Measurement], *, width: int = 100) -> str:
    console = Console(file=io.StringIO(), width=width, soft_wrap=True, markup=False, highlight=False)
    console.print(results(ReportScores(found), scale=DEMO))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().partition("Table 1: ")[2]


def words(text: str, label: str) -> list[str]:
    """The numbers of a row."""
    return next(line for line in text.splitlines() if line.strip().startswith(f"{label}  ")).split(label)[1].split()


def latex_rows(text: str) -> list[list[str]]:
    lines = (line.removesuffix(r" \\") for line in text.splitlines() if line.endswith(r" \\"))
    return [[cell.strip() for cell in line.split(" & ")] for line in lines]


def markdown_rows(text: str, task: str) -> list[list[str]]:
    block = text.split(f"### {task}")[1].split("\n\n")[1]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in block.splitlines()]


def csv_rows(found: list[Measurement]) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(csv_table(table_of(found)))))


def test_the_terminal_shows_tasks_side_by_side_where_they_fit() -> None:
    text = terminal(FOUND)
    assert words(text, "Default") == ["63.2", "+0.0", "81.0", "55.0", "+0.0", "91.0"]
    assert words(text, "Sep Emb + L1-6") == ["-", "-", "-", "5.0", "-50.0", "90.0"]
    assert words(text, "Default, untrained")[-3:] == ["3.0", "-52.0", "20.0"]
    table, *points = text.split("Points above the floor, and the floor")
    # Both tasks in one table, then a table of points for each, and the notes.
    assert (table.count("Model"), len(points)) == (1, 2)
    assert words(points[1], "Sep Emb + L1-6") == ["+2.5", "2.5", "+81.0", "9.0"]
    apart = terminal(SEVERAL_SEEDS, width=60)
    assert apart.count("Model ") == 6
    assert "…" not in apart
    assert words(apart.split("NER (F1)")[1], "Sep Emb + L1-6")[:4] == ["59.0", "(56-62)", "7.9", "(5-10)"]


def test_the_terminal_names_the_window_that_examples_do_not_fit() -> None:
    found = [*FOUND, *transferred("default", {"ela": 3.0, "oru": 12.0}, metric="in_parts")]
    text = " ".join(terminal(found).split())
    assert DEMO.window == 16
    assert "NER: 3.0% of ela and 12.0% of oru test examples are longer than a window of pretraining (16 tokens)" in text
    assert "tokens)" not in markdown_table(table_of(found)), "reports that were published say it without"


def test_lost_scores_are_red_and_baselines_stand_apart() -> None:
    for found, style in ((OF_THREE_SEEDS, "red"), (FOUND, "None")):
        parts = Console(width=200).render(results(ReportScores(found), scale=DEMO))
        styles = {part.text.strip(): str(part.style) for part in parts}
        lost, kept = ("5.0 (5-5)", "55.0 (55-55)") if found is OF_THREE_SEEDS else ("5.0", "55.0")
        assert (styles[lost], styles[kept]) == (style, "None"), "one seed has no colour"
    lines = [line.strip() for line in terminal(FOUND).splitlines()]
    first = next(place for place, line in enumerate(lines) if line.startswith("Default, untrained"))
    assert lines[first - 1] == ""


def test_latex_has_groups_signs_and_italics_where_nothing_is_transferred() -> None:
    text = latex_table(table_of(OF_THREE_SEEDS)).replace(" (5--5)", "")
    assert r"& \textit{5.0} &" in text
    assert "In italics: transfer dies.}" in text
    text = latex_table(table_of(FOUND))
    assert "italics" not in text
    assert latex_rows(text) == [
        ["", r"\multicolumn{3}{c}{NLI (Acc)}", r"\multicolumn{3}{c}{NER (F1)}"],
        ["Model", "oru", r"$\Delta$", "ela", "oru", r"$\Delta$", "ela"],
        ["Default", "63.2", "$+$0.0", "81.0", "55.0", "$+$0.0", "91.0"],
        [r"\multicolumn{7}{l}{\emph{Parameter sharing ($\S$4.3)}}"],
        ["Sep Emb + L1-6", "-", "-", "-", "5.0", "$-$50.0", "90.0"],
        [r"\multicolumn{7}{l}{\emph{Never pretrained}}"],
        ["Default, untrained", "-", "-", "-", "3.0", "$-$52.0", "20.0"],
        ["Sep Emb + L1-6, untrained", "-", "-", "-", "2.5", "$-$52.5", "9.0"],
        ["Sep Emb + L1-6, untrained and frozen", "-", "-", "-", "2.0", "$-$53.0", "3.0"],
    ]
    assert r"\caption[Zero-shot transfer from ela]{Zero-shot transfer from ela. In this run, transfer dies" in text


def test_latex_of_many_languages_is_a_table_for_each_task() -> None:
    text = latex_table(table_of(PAPERS))
    assert re.findall(r"\\label{(.*)}", text) == ["tab:transfer-nli", "tab:transfer-ner", "tab:transfer-parsing"]
    assert latex_rows(text)[-1] == ["Sep Emb + L1-6", "50.9", "6.4", "1.5", "$-$33.3", "-"]
    assert "76.1 (74--79)" in latex_table(table_of(SEVERAL_SEEDS))


@pytest.mark.parametrize("found", [FOUND, SEVERAL_SEEDS, OF_HOSTILE])
def test_latex_is_balanced_and_every_row_has_all_columns(found: list[Measurement]) -> None:
    text = latex_table(table_of(found))
    opened = re.findall(r"\\begin{(\w+)}", text)
    assert opened == ["table", "tabular"] * (len(opened) // 2)
    bare = re.sub(r"\\[&%$#_{}]", "", text)
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    for part in text.split(r"\begin{tabular}")[1:]:
        columns = re.sub(r"@{\\q*uad}", "", part.splitlines()[0]).strip("{}")
        for row in latex_rows(part):
            spans = [int(span[1]) if (span := re.match(r"\\multicolumn{(\d+)}", cell)) else 1 for cell in row]
            assert sum(spans) == len(columns)


def test_names_are_text_whatever_they_are() -> None:
    assert latex_rows(latex_table(table_of(OF_HOSTILE)))[1][1] == latex_escaped(HOSTILE)
    plain = re.sub(r"\\[&%$#_{}]|\\text\w+\{\}|\{[\[\]*]\}", "", latex_escaped(HOSTILE))
    assert plain == "babcdefghijkl|,m"
    assert csv_rows(OF_HOSTILE)[0][f"NER (F1) {HOSTILE}"] == "7.00"
    assert HOSTILE in terminal(OF_HOSTILE)
    assert HOSTILE.replace("*|", r"\*\|") in markdown_table(table_of(OF_HOSTILE))


def test_csv_has_seeds_the_papers_numbers_and_no_empty_columns() -> None:
    found = csv_rows(
        [
            *transferred("default", {"ela": 90.0, "oru": 50.0}),
            *transferred("default", {"ela": 80.0, "oru": 70.5}, seed=1),
            *transferred("sep-emb", {"oru": 20.0}),
        ]
    )
    assert list(found[0].values()) == [
        *("Default", "default", "60.25", "50.00", "70.50", "2"),
        *("85.00", "80.00", "90.00", "2", "0.00"),
    ]
    assert found[1]["NER (F1) oru lowest"] == found[1]["NER (F1) ela"] == ""
    assert (found[1]["NER (F1) oru seeds"], found[1]["NER (F1) Δ"]) == ("1", "-40.25")
    last = csv_rows([replace(each, value=each.value + 1.0) for each in PAPERS])[-1]
    assert (last["NER (F1) ru"], last["NER (F1) ru paper"]) == ("6.40", "5.4")
    assert (last["Parsing (LAS) Δ"], last["Parsing (LAS) Δ paper"]) == ("-33.27", "-33.27")
    assert not any("lowest" in title or "seeds" in title or " en" in title for title in last)


def test_the_papers_numbers_stand_beside_what_they_are_about_alone() -> None:
    some = [each for each in PAPERS if each.condition == "default" or each.language == "fr"]
    marks = {row["Condition"]: row["NLI (Acc) Δ over some targets only"] for row in csv_rows(some)}
    assert (marks["default"], marks["sep-emb"]) == ("", "yes")
    assert r"\* |" in markdown_table(table_of(some))
    (default, *_) = csv_rows([each for each in PAPERS if each.language == "fr"])
    assert default["NLI (Acc) fr paper"] == "73.6"
    assert "NLI (Acc) Δ paper" not in default
    of_french = transferred("default", {"fr": 3.0}, variant=UNTRAINED, languages=("en", "fr"))
    *_, untrained = csv_rows([*PAPERS, *of_french])
    assert (untrained["Model"], untrained["NER (F1) fr"]) == ("Default, untrained", "3.00")
    assert untrained["NER (F1) fr paper"] == untrained["NER (F1) Δ paper"] == ""


def test_markdown_has_the_papers_numbers_beside_ours() -> None:
    text = markdown_table(table_of([replace(each, value=each.value + 1.0) for each in PAPERS]))
    assert text.startswith("## Table 1: zero-shot transfer from en\n\n### NLI (Acc)\n\n| Model | fr | paper |")
    heading, _, *lines = markdown_rows(text, "NER")
    assert heading == ["Model", "fr", "paper", "ru", "paper", "zh", "paper", "Δ", "paper", "en"]
    assert lines[-1] == ["Sep Emb + L1-6", "57.5", "56.5", "6.4", "5.4", "2.0", "1.0", "-47.1", "-47.1", "-"]
    assert "- Spearman's rho with the paper's order of conditions: NLI 1.00, " in text


def test_markdown_has_baselines_in_a_table_of_their_own() -> None:
    text = markdown_table(table_of(FOUND))
    assert text.count(BASELINES_HEADING) == 1
    assert markdown_rows(text, "NLI") == [
        ["Model", "oru", "Δ", "ela"],
        ["---", "---:", "---:", "---:"],
        ["Default", "63.2", "+0.0", "81.0"],
        ["Sep Emb + L1-6", "-", "-", "-"],
    ]
    assert markdown_rows(text.replace(f"\n\n{BASELINES_HEADING}", "### Baselines"), "Baselines")[2:] == [
        ["Default", "3.0 / -", "20.0 / -"],
        ["Sep Emb + L1-6", "2.5 / 2.0", "9.0 / 3.0"],
    ]
    alone = markdown_table(table_of(transferred("default", {"ela": 30.0, "oru": 20.0}, variant=UNTRAINED)))
    assert f"### NER (F1)\n\n{BASELINES_HEADING}\n\n| Model |" in alone


def test_points_above_the_floor_stand_beside_the_floor() -> None:
    nli, ner = table_of(FOUND).leads
    assert ner.headings == nli.headings == ["Model", "oru", "floor", "ela", "floor"]
    # The floor of Default in NLI is chance; in NER it is what each reaches without pretraining.
    assert nli.lines == [("Default", "+29.9", "33.3", "+47.7", "33.3")]
    assert ner.lines == [
        ("Default", "+52.0", "3.0", "+71.0", "20.0"),
        ("Sep Emb + L1-6", "+2.5", "2.5", "+81.0", "9.0"),
    ]
    assert "| Sep Emb + L1-6 | +2.5 | 2.5 | +81.0 | 9.0 |" in markdown_table(table_of(FOUND))


def test_all_metrics_of_a_task_are_counted() -> None:
    found = [
        *transferred("default", {"ela": 80, "oru": 60}, task="parsing", metric="las"),
        *transferred("default", {"ela": 85, "oru": 65}, task="parsing", metric="uas"),
        *transferred("default", {"ela": 99}, task="parsing", metric="dev_las"),
        *transferred("default", {"oru": 60}, task="nli", metric="accuracy"),
    ]
    assert ReportScores([]).table_1 is None
    (counts,) = table_of(found).counts
    assert counts.headings == ("Model", "Language", "LAS", "UAS")
    assert counts.lines == [("Default", "oru", "60.0", "65.0"), ("Default", "ela", "80.0", "85.0")]
