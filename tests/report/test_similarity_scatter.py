"""CKA against retrieval: a point for each layer that has both, and the correlation beside the paper's."""

import pytest

from isoglot.report.figures.similarity_scatter import similarity_scatters
from tests.report.made_up_measurements import measured
from tests.report.svg_pictures import hovers, parsed, texts


def test_points_are_layers_and_correlations_are_over_them() -> None:
    (found,) = similarity_scatters(
        [
            *measured("monolingual", [0.9, 0.6, 0.3], metric="cka", exhibit="figure-7"),
            *measured("monolingual", [90.0, 60.0, 30.0], metric="aligned_retrieval_p1", exhibit="figure-6"),
            *measured("default", [0.9, 0.9, 0.9], metric="cka", exhibit="figure-7"),
            *measured("default", [99.0, 98.0], metric="aligned_retrieval_p1", exhibit="figure-6"),
            *measured("sep-emb", [0.5, 0.5, 0.5], metric="cka", exhibit="figure-7"),
        ]
    )
    assert dict(found.correlations)["Monolingual"] == pytest.approx(1.0)
    assert dict(found.correlations)["Default"] is None
    assert [label for label, _ in found.correlations] == ["Default", "Monolingual", "all points"]
    of_pair, of_all = found.notes
    assert "Monolingual 1.00" in of_pair
    assert of_all.startswith("The paper finds more than 0.9")
    said = hovers(parsed(found.picture.draw(380.0)))
    assert "Monolingual, L2: linear CKA 0.30, precision at 1 (%) 30.0" in said
    assert sum(each.startswith("Default, ") for each in said) == 2


def test_the_axis_ends_where_points_do() -> None:
    (found,) = similarity_scatters(
        [
            *measured("default", [0.2, 0.55], metric="cka", exhibit="figure-7"),
            *measured("default", [10.0, 30.0], metric="aligned_retrieval_p1", exhibit="figure-6"),
        ]
    )
    shown = texts(parsed(found.picture.draw(800.0)))
    assert "0.6" in shown
    assert "1.0" not in shown


def test_one_of_the_two_alone_is_nothing_to_compare() -> None:
    assert list(similarity_scatters(measured("default", [0.9], metric="cka", exhibit="figure-7"))) == []
