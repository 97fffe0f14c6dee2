"""Table 1 for spreadsheets: plain numbers, the paper's beside them, and no empty columns."""

import csv
import io
from dataclasses import replace

from isoglot.pipeline.cells import TABLE_1, UNTRAINED
from isoglot.pipeline.measurements import Measurement
from isoglot.report.published import published_measurements
from isoglot.report.table_1 import table_1
from isoglot.report.text_files import csv_table
from tests.report.made_up_measurements import transferred

PAPERS = [each for each in published_measurements() if each.exhibit == TABLE_1]


def read(found: list[Measurement]) -> list[dict[str, str]]:
    table = table_1(found)
    assert table is not None
    return list(csv.DictReader(io.StringIO(csv_table(table))))


def test_the_papers_numbers_stand_beside_ours() -> None:
    ours = [replace(each, value=each.value + 1.0) for each in PAPERS]
    found = {row["Condition"]: row for row in read(ours)}
    last = found["sep-emb-l1-6"]
    assert (last["Model"], last["NER (F1) ru"], last["NER (F1) ru paper"]) == ("Sep Emb + L1-6", "6.40", "5.4")
    assert (last["Parsing (LAS) Δ"], last["Parsing (LAS) Δ paper"]) == ("-33.27", "-33.27")
    assert not any("lowest" in title or "seeds" in title or " en" in title for title in last)


def test_seeds_show_how_far_they_lie_apart() -> None:
    found = read(
        [
            *transferred("default", {"ela": 90.0, "oru": 50.0}),
            *transferred("default", {"ela": 80.0, "oru": 70.5}, seed=1),
            *transferred("sep-emb", {"oru": 20.0}),
        ]
    )
    assert found == [
        {
            **{"Model": "Default", "Condition": "default"},
            **{"NER (F1) oru": "60.25", "NER (F1) oru lowest": "50.00", "NER (F1) oru highest": "70.50"},
            **{"NER (F1) oru seeds": "2", "NER (F1) ela": "85.00", "NER (F1) ela lowest": "80.00"},
            **{"NER (F1) ela highest": "90.00", "NER (F1) ela seeds": "2", "NER (F1) Δ": "0.00"},
        },
        {
            **{"Model": "Sep Emb", "Condition": "sep-emb"},
            **{"NER (F1) oru": "20.00", "NER (F1) oru lowest": "", "NER (F1) oru highest": ""},
            **{"NER (F1) oru seeds": "1", "NER (F1) ela": "", "NER (F1) ela lowest": ""},
            **{"NER (F1) ela highest": "", "NER (F1) ela seeds": "0", "NER (F1) Δ": "-40.25"},
        },
    ]


def test_the_papers_delta_is_not_shown_beside_one_over_fewer_targets() -> None:
    french = [each for each in PAPERS if each.language == "fr"]
    (default, *_) = read(french)
    assert default["NLI (Acc) fr paper"] == "73.6"
    assert "NLI (Acc) Δ" in default
    assert "NLI (Acc) Δ paper" not in default


def test_a_delta_over_some_targets_is_marked() -> None:
    found = read([each for each in PAPERS if each.condition == "default" or each.language == "fr"])
    marks = {row["Condition"]: row["NLI (Acc) Δ over some targets only"] for row in found}
    assert (marks["default"], marks["sep-emb"]) == ("", "yes")


def test_a_model_that_was_never_pretrained_is_none_of_the_papers() -> None:
    of_french = transferred("default", {"fr": 3.0}, variant=UNTRAINED, languages=("en", "fr"))
    *_, untrained = read([*PAPERS, *of_french])
    assert (untrained["Model"], untrained["NER (F1) fr"]) == ("Default, untrained", "3.00")
    assert untrained["NER (F1) fr paper"] == untrained["NER (F1) Δ paper"] == ""


def test_names_that_need_quotes_come_back_whole() -> None:
    name = 'a,"b"\nc'
    (row,) = read(transferred("default", {name: 7.0}, languages=("ela", name)))
    assert row[f"NER (F1) {name}"] == "7.00"
