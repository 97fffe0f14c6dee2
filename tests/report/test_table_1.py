"""Table 1 in the terminal: every number in its place, all tasks side by side where they fit."""

import io

import pytest
from rich.console import Console

from isoglot.pipeline.cells import FROZEN, UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.report.published import TABLE_1_SCORES, TARGETS
from isoglot.report.table_1 import table_1
from isoglot.report.table_1_layout import Table1Layout
from isoglot.report.tables import results
from isoglot.report.verdicts import Verdict
from isoglot.study.conditions import TABLE_1
from isoglot.study.scales import DEMO
from tests.report.made_up_measurements import measured, transferred

FOUND = [
    *transferred("default", {"ela": 81.04, "oru": 63.2}, task="nli", metric="accuracy"),
    *transferred("default", {"ela": 91.0, "oru": 55.0}),
    *transferred("sep-emb-l1-6", {"ela": 90.0, "oru": 4.95}),
    *transferred("default", {"ela": 20.0, "oru": 3.0}, variant=UNTRAINED),
    *transferred("default", {"ela": 10.0, "oru": 1.0}, variant=FROZEN),
]


def shown(found: list[Measurement], *, width: int = 100) -> str:
    console = Console(file=io.StringIO(), width=width, soft_wrap=True, markup=False, highlight=False)
    table = table_1(found)
    assert table is not None
    console.print(Table1Layout(table=table))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def rows(text: str) -> list[list[str]]:
    """Words of the lines with a bar, which are those of tables."""
    return [line.split() for line in text.splitlines() if "│" in line]


def test_how_near_the_order_comes_to_the_papers_is_told_below() -> None:
    scores = {"default": 70.0, "no-anchors": 60.0, "sep-emb": 65.0, "sep-emb-l1-6": 3.0}
    text = shown([each for name, score in scores.items() for each in transferred(name, {"ela": 90.0, "oru": score})])
    assert "Spearman's rho with the paper's order of conditions: NER 0.80 (4 conditions; oru).\n" in text
    assert "Spearman" not in shown(FOUND)


def test_numbers_stand_in_their_places() -> None:
    text = shown(FOUND)
    headings, default, separate, untrained, frozen = rows(text)
    assert headings == ["Model", "oru", "Δ", "│", "ela", "oru", "Δ", "│", "ela"]
    assert default == ["Default", "63.2", "+0.0", "│", "81.0", "55.0", "+0.0", "│", "91.0"]
    assert separate[-8:] == ["-", "-", "│", "-", "5.0", "-50.0", "│", "90.0"]
    assert untrained[-10:] == ["Default,", "untrained", "-", "-", "│", "-", "3.0", "-52.0", "│", "20.0"]
    assert frozen[:4] == ["Default,", "untrained", "and", "frozen"]
    lines = text.splitlines()
    places = [place for place, line in enumerate(lines) if line.startswith(" ──")]
    assert len(places) == 2
    assert lines[places[0] + 1].startswith(" Default  ")
    assert lines[places[1] + 1].startswith(" Default, untrained  ")


def test_titles_stand_over_their_columns() -> None:
    lines = shown(FOUND).splitlines()
    place = next(place for place, line in enumerate(lines) if "NER (F1)" in line)
    titles, headings = lines[place], lines[place + 1]
    assert headings.index("│") > titles.index("NLI (Acc)")
    assert headings.index("│") < titles.index("NER (F1)") < headings.rindex("│")


@pytest.mark.parametrize(("width", "tables"), [(240, 1), (100, 1), (80, 1), (60, 2), (30, 2)])
def test_tasks_stand_below_each_other_where_they_do_not_fit(width: int, tables: int) -> None:
    text = shown(FOUND, width=width)
    assert sum(line.startswith(" Model") for line in text.splitlines()) == tables
    # Without pretraining only NER was learned.
    assert sum(line.startswith(" Default,") for line in text.splitlines()) == 2
    assert "…" not in text
    if width > 40:
        assert max(len(line.rstrip()) for line in text.splitlines()) <= width


def test_no_table_is_wider_than_most_terminals() -> None:
    of_paper = [
        each
        for condition, of_tasks in TABLE_1_SCORES.items()
        for (task, metric), title in zip(
            [("nli", "accuracy"), ("ner", "f1"), ("parsing", "las")], of_tasks, strict=True
        )
        for target, score in zip(TARGETS, of_tasks[title], strict=True)
        for each in transferred(
            condition, {"en": 90.0, target: score}, task=task, metric=metric, languages=("en", target)
        )
    ]
    text = shown(of_paper, width=240)
    assert sum(line.startswith(" Model") for line in text.splitlines()) == 3
    (of_ner,) = (part for part in text.split("\n\n") if part.strip().startswith("NER (F1)"))
    assert rows(of_ner)[-1][-6:] == ["56.5", "5.4", "1.0", "-47.1", "│", "90.0"]
    assert len(rows(of_ner)) == 1 + len(TABLE_1)


def test_several_seeds_show_mean_and_range() -> None:
    found = [*transferred("default", {"ela": 90, "oru": 50}), *transferred("default", {"ela": 80, "oru": 70}, seed=1)]
    assert rows(shown(found))[1] == ["Default", "60.0", "(50-70)", "+0.0", "│", "85.0", "(80-90)"]


def test_a_mean_over_fewer_targets_is_marked() -> None:
    found = [
        *transferred("default", {"oru": 60}),
        *transferred("default", {"tem": 20}, languages=("ela", "tem")),
        *transferred("sep-emb", {"oru": 50}),
    ]
    assert rows(shown(found))[2] == ["Sep", "Emb", "50.0", "-", "-10.0*", "│", "-"]


def test_what_is_lost_is_red_and_the_source_is_dim() -> None:
    console = Console(width=100)
    table = table_1(FOUND)
    assert table is not None
    lines = [part for part in console.render(Table1Layout(table=table)) if part.text.strip()]
    styles = {part.text.strip(): str(part.style) for part in lines}
    # Of Sep Emb + L1-6 no untrained model was scored, so that nothing is known to be lost.
    assert (styles["91.0"], styles["-50.0"], styles["5.0"]) == ("dim", "bold", "none")
    found = [*FOUND, *transferred("sep-emb-l1-6", {"ela": 9.0, "oru": 2.5}, variant=UNTRAINED)]
    table = table_1(found)
    assert table is not None
    styles = {part.text.strip(): str(part.style) for part in console.render(Table1Layout(table=table))}
    assert (styles["5.0"], styles["55.0"]) == ("red", "none")


def test_names_are_shown_as_they_are() -> None:
    text = shown(transferred("default", {"[b]ela": 9, "oru[/red]": 7}, languages=("[b]ela", "oru[/red]")))
    assert rows(text)[0] == ["Model", "oru[/red]", "Δ", "│", "[b]ela"]
    assert text.startswith("Table 1: zero-shot transfer from [b]ela\n")


def test_it_comes_before_vocabularies_and_layers_and_only_where_there_is_transfer() -> None:
    layers = [*measured("default", [10.0]), *measured("default", [1.0], metric="retrieval_p1", variant=UNTRAINED)]
    console = Console(file=io.StringIO(), width=200)
    console.print(results([*layers, *FOUND], scale=DEMO))
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert text.index("What the languages") < text.index("Table 1: zero-shot") < text.index("Parallel sentences")
    assert table_1(layers) is None
    assert table_1([]) is None


def test_each_task_is_compared_with_its_own_column_of_the_paper() -> None:
    found = [
        *transferred("default", {"fr": 80}, languages=("en", "fr")),
        *transferred("sep-emb", {"fr": 50}, languages=("en", "fr")),
        *transferred("default", {"fr": 80}, task="parsing", metric="las", languages=("en", "fr")),
        *transferred("sep-emb", {"fr": 50}, task="parsing", metric="las", languages=("en", "fr")),
        *transferred("default", {"fr": 80}, task="pos", metric="accuracy", languages=("en", "fr")),
        *transferred("sep-emb", {"fr": 50}, task="pos", metric="accuracy", languages=("en", "fr")),
    ]
    table = table_1(found)
    assert table is not None
    # In French the paper has 79.8 against 75.5 in NER and 73.2 against 71.7 in parsing, which is close.
    assert table.agreement == (
        ("NER, en-fr: Default 80.0 > Sep Emb 50.0: agrees with the paper, on 1 seed only", Verdict.AGREES),
    )


def test_many_comparisons_are_counted_and_only_the_contrary_told() -> None:
    upside_down = {"default": 50.0, "sep-emb-l1-6": 60.0}
    found = [
        each
        for condition in TABLE_1
        for each in transferred(condition.name, {"oru": upside_down.get(condition.name, 50.0)})
    ]
    table = table_1(found)
    assert table is not None
    (first, verdict), *rest = table.agreement
    contrary = [sentence for sentence, _ in rest]
    # Every other row of the paper is clearly above Sep Emb + L1-6.
    assert len(contrary) == len(TABLE_1) - 1
    assert all("disagrees with the paper" in sentence for sentence in contrary)
    assert f"0 agree with the paper, {len(contrary)} disagree, " in first
    assert verdict is Verdict.DISAGREES


def test_ways_to_count_are_told_apart() -> None:
    found = [
        *transferred("default", {"ela": 80, "oru": 60}, task="parsing", metric="las"),
        *transferred("default", {"ela": 85, "oru": 65}, task="parsing", metric="uas"),
        *transferred("default", {"ela": 70, "oru": 59}, task="parsing", metric="las_with_subtypes"),
        *transferred("default", {"ela": 99}, task="parsing", metric="dev_las"),
        *transferred("default", {"oru": 60}, task="nli", metric="accuracy"),
    ]
    table = table_1(found)
    assert table is not None
    (counts,) = table.counts
    assert counts.headings == ("Model", "Language", "LAS", "UAS", "LAS, with subtypes")
    assert counts.lines == [
        ("Default", "oru", "60.0", "65.0", "59.0"),
        ("Default", "ela", "80.0", "85.0", "70.0"),
    ]
