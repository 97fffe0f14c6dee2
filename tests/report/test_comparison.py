"""The output of `isoglot compare`: table, sentence, picture, JSON."""

import json
from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from isoglot.evaluation.geometry.comparison import Comparison, LayerComparison, Retrieval
from isoglot.report.comparison import NamedComparison
from isoglot.study.searches import NewVectors
from tests.report.svg_pictures import parsed, texts


def layer(number: int, *, cka: float, aligned: float) -> LayerComparison:
    return LayerComparison(
        layer_a=number,
        layer_b=number,
        cka=cka,
        cka_debiased=cka / 2 + number / 10,
        svcca=0.25,
        neuron_correlation=0.125,
        raw=Retrieval(a_to_b=1.0, b_to_a=2.0),
        centred=Retrieval(a_to_b=3.0, b_to_a=4.0),
        aligned=Retrieval(a_to_b=aligned - 1, b_to_a=aligned + 1),
    )


FOUND = Comparison(
    layers=(layer(0, cka=0.5, aligned=20.0), layer(1, cka=0.81, aligned=30.0), layer(2, cka=0.6, aligned=64.0)),
    num_lines=1000,
    num_fitted=800,
    num_tests=200,
    chance=0.5,
    num_cut=(0, 12),
    tokens_per_word=(1.25, 1.5),
    most_tokens=(512, 128),
    num_states=(3, 3),
    widths=(768, 768),
    notes=("Of the map: few pairs.",),
)
NAMED = NamedComparison(
    found=FOUND,
    models=("xlm-<b>", "demo:default:oru"),
    files=("en.txt", "fr.txt"),
    new_vectors=NewVectors.CENTRED,
    rounds=5,
    reading_notes=("2 repeated lines are left out.",),
)
LAYERS_OF_TWO_WIDTHS = tuple(
    replace(each, layer_b=2 * each.layer_a, raw=None, centred=None, neuron_correlation=None) for each in FOUND.layers
)
UNLIKE = replace(NAMED, found=replace(FOUND, layers=LAYERS_OF_TWO_WIDTHS, num_states=(3, 5), widths=(768, 1024)))


def printed(named: NamedComparison) -> list[list[str]]:
    out = StringIO()
    Console(file=out, width=200, markup=False).print(named.table())
    return [line.split() for line in out.getvalue().splitlines()]


def test_the_table_has_a_row_for_each_layer() -> None:
    title, headings, *rows = printed(NAMED)
    assert (title, headings[0], len(rows)) == (["A", "xlm-<b>,", "B", "demo:default:oru"], "Layer", 3)
    assert rows[2] == ["2", "0.600", "0.500", "0.250", "0.125", "1.5%", "3.5%", "64.0%"]
    # Layers of models of other depth are both named, and what is not measured is left out.
    assert printed(UNLIKE)[3] == ["1", "/", "2", "0.810", "0.505", "0.250", "-", "-", "-", "30.0%"]


def test_the_reading_names_the_best_layers() -> None:
    assert NAMED.reading() == (
        "Most alike at layer 1 (CKA 0.81); after a map from B to A, 64.0% of 200 test sentences find their translation "
        "at layer 2 (1.5% before); chance 0.5%."
    )
    assert "Most alike at layer 1 of A and 2 of B (debiased CKA 0.51);" in UNLIKE.reading()
    assert "before" not in UNLIKE.reading()


def test_the_picture_shows_both_measures() -> None:
    shown, unlike = (set(texts(parsed(named.picture()))) for named in (NAMED, UNLIKE))
    assert {"CKA", "debiased CKA", "after a map", "centred", "before", "chance", "L0", "L1", "L2"} <= shown
    assert "xlm-<b> and demo:default:oru" in shown
    assert {"L1/2", "Layer of A / of B"} <= unlike
    assert {"before", "centred"}.isdisjoint(unlike)


@pytest.mark.parametrize("named", [NAMED, UNLIKE])
def test_json_has_all_numbers(named: NamedComparison) -> None:
    content = json.loads(named.json_text())
    assert list(content) == [
        *("models", "files", "new_vectors", "rounds", "lines", "fitted_lines", "test_lines", "chance_percent"),
        *("cut_lines", "widths", "layers", "notes", "reading"),
    ]
    assert content["models"] == {"a": "xlm-<b>", "b": "demo:default:oru"}
    assert content["cut_lines"] == {"a": 0, "b": 12}
    assert content["notes"] == ["2 repeated lines are left out.", "Of the map: few pairs."]
    assert list(content["layers"][2]) == [
        *("layer_a", "layer_b", "cka", "cka_debiased", "svcca", "neuron_correlation"),
        *("retrieval_raw", "retrieval_centred", "retrieval_aligned"),
    ]
    assert content["layers"][2]["retrieval_aligned"] == {"a_to_b": 63.0, "b_to_a": 65.0, "mean": 64.0}
    raw = content["layers"][0]["retrieval_raw"]
    assert raw == ({"a_to_b": 1.0, "b_to_a": 2.0, "mean": 1.5} if named is NAMED else None)
