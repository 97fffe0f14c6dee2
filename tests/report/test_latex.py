"""Table 1 in LaTeX: every number in its place, any name as text, and a plain article that takes it."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from isoglot.pipeline.cells import TABLE_1, UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.report.published import published_measurements
from isoglot.report.table_1 import table_1
from isoglot.report.text_files import escaped, latex_table
from tests.report.made_up_measurements import transferred

PAPERS = [each for each in published_measurements() if each.exhibit == TABLE_1]
ONE_TARGET = [
    *transferred("default", {"ela": 81.04, "oru": 63.2}, task="nli", metric="accuracy"),
    *transferred("default", {"ela": 91.0, "oru": 55.0}),
    *transferred("sep-emb-l1-6", {"ela": 90.0, "oru": 4.95}),
    *transferred("sep-emb-l1-6", {"ela": 9.0, "oru": 2.5}, variant=UNTRAINED),
]
HOSTILE = r"a&b%c$d#e_f{g}h~i^j\k[l]*"
SEVERAL_SEEDS = [*PAPERS, *(replace(each, seed=1, value=each.value + 5) for each in PAPERS)]
MANY_TARGETS = [
    replace(each, languages=("en", target), language=target)
    for each in SEVERAL_SEEDS
    for target in (each.language, f"{each.language}-other")
    if target != "zh-other"
]


def latex(found: list[Measurement]) -> str:
    table = table_1(found)
    assert table is not None
    return latex_table(table)


def rows(text: str) -> list[list[str]]:
    return [
        [cell.strip() for cell in line.removesuffix(r" \\").split(" & ")]
        for line in text.splitlines()
        if line.endswith(r" \\")
    ]


def test_tasks_stand_side_by_side_where_they_fit() -> None:
    text = latex(ONE_TARGET)
    assert rows(text) == [
        ["", r"\multicolumn{3}{c}{NLI (Acc)}", r"\multicolumn{3}{c}{NER (F1)}"],
        ["Model", "oru", r"$\Delta$", "ela", "oru", r"$\Delta$", "ela"],
        ["Default", "63.2", "$+$0.0", "81.0", "55.0", "$+$0.0", "91.0"],
        [r"\multicolumn{7}{l}{\emph{Parameter sharing ($\S$4.3)}}"],
        ["Sep Emb + L1-6", "-", "-", "-", r"\textit{5.0}", "$-$50.0", "90.0"],
        [r"\multicolumn{7}{l}{\emph{Never pretrained}}"],
        ["Sep Emb + L1-6, untrained", "-", "-", "-", "2.5", "$-$52.5", "9.0"],
    ]
    assert r"\caption[Zero-shot transfer from ela]{Zero-shot transfer from ela. No transfer" in text
    assert "In italics: no transfer.}" in text


def test_the_papers_table_has_its_groups_and_numbers_a_table_for_each_task() -> None:
    text = latex(PAPERS)
    assert re.findall(r"\\label{(.*)}", text) == ["tab:transfer-nli", "tab:transfer-ner", "tab:transfer-parsing"]
    *_, of_parsing = text.split(r"\begin{table}")
    told = [row[0] for row in rows(of_parsing)[2:]]
    assert [re.sub(r".*\\emph{(.*)}}", r"\1", each) for each in told] == [
        *("Default", "Domain similarity ($\\S$4.1)", "Wiki-CC"),
        *("Anchor points ($\\S$4.2)", "No anchors", "Default anchors", "Extra anchors"),
        *("Parameter sharing ($\\S$4.3)", "Sep Emb", "Sep L1-3", "Sep L1-6", "Sep Emb + L1-3", "Sep Emb + L1-6"),
    ]
    assert rows(of_parsing)[-1] == ["Sep Emb + L1-6", "50.9", "6.4", r"\textit{1.5}", "$-$33.3", "-"]


def test_seeds_show_their_range() -> None:
    assert "76.1 (74--79)" in latex(SEVERAL_SEEDS)


def test_names_are_text_whatever_they_are() -> None:
    text = latex(transferred("default", {HOSTILE: 7.0}, languages=("ela", HOSTILE)))
    assert rows(text)[1][1] == escaped(HOSTILE)
    plain = re.sub(r"\\[&%$#_{}]|\\text\w+\{\}|\{[\[\]*]\}", "", escaped(HOSTILE))
    assert plain == "abcdefghijkl"


@pytest.mark.parametrize("found", [ONE_TARGET, PAPERS, SEVERAL_SEEDS, MANY_TARGETS])
def test_the_structure_is_whole(found: list[Measurement]) -> None:
    text = latex(found)
    opened = re.findall(r"\\begin{(\w+)}", text)
    assert opened == ["table", "tabular"] * (len(opened) // 2)
    assert re.findall(r"\\end{(\w+)}", text) == ["tabular", "table"] * (len(opened) // 2)
    bare = re.sub(r"\\[&%$#_{}]", "", text)
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    for part in text.split(r"\begin{tabular}")[1:]:
        columns = re.sub(r"@{\\q*uad}", "", part.splitlines()[0]).strip("{}")
        for row in rows(part):
            spans = [int(span[1]) if (span := re.match(r"\\multicolumn{(\d+)}", cell)) else 1 for cell in row]
            assert sum(spans) == len(columns)


@pytest.mark.skipif(
    shutil.which("pdflatex") is None, reason="pdflatex is not installed; the structure is checked above"
)
@pytest.mark.parametrize(
    "found",
    [
        *(ONE_TARGET, PAPERS, SEVERAL_SEEDS, MANY_TARGETS),
        transferred("default", {HOSTILE: 7.0}, languages=("ela", HOSTILE)),
    ],
    ids=["one target", "the paper", "several seeds", "many targets", "hostile names"],
)
def test_a_plain_article_takes_it_without_a_word(found: list[Measurement], tmp_path: Path) -> None:
    (tmp_path / "table-1.tex").write_text(latex(found), encoding="utf-8")
    document = "\\documentclass{article}\n\\begin{document}\n\\input{table-1}\n\\end{document}\n"
    (tmp_path / "paper.tex").write_text(document, encoding="utf-8")
    made = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "paper.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stdout[-2000:]
    assert (tmp_path / "paper.pdf").exists()
    assert "Overfull" not in made.stdout
    assert "Float too large" not in made.stdout
