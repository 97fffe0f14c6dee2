"""Series over layers, and their correlation against numpy's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.report.figures.layer_series import LayerFigure, Series, pearson, seed_notes, series_of
from tests.report.made_up_measurements import measured

NUMBERS = st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=2, max_size=12)


@given(NUMBERS)
def test_pearson_is_numpys(pairs: list[tuple[int, int]]) -> None:
    x, y = ([float(value) for value in column] for column in zip(*pairs, strict=True))
    if len(pairs) < 3 or len(set(x)) == 1 or len(set(y)) == 1:
        assert pearson(x, y) is None
    else:
        assert pearson(x, y) == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-9)


def test_a_series_gathers_layers_of_every_seed() -> None:
    (found,) = series_of(
        [
            *measured("default", [1.0, 3.0], seed=0),
            *measured("default", [5.0, 4.0], seed=1),
            *measured("sep-emb", [8.0, 8.0], seed=0),
            *measured("default", [7.0, 7.0], seed=0, languages=("ela", "tam")),
            *measured("default", [6.0, 6.0], seed=0, metric="other"),
        ],
        [(name, name, "retrieval_p1", None) for name in ("default", "no-anchors")],
        exhibit="emergence",
        languages=("ela", "oru"),
    )
    assert found == Series(label="default", by_seed=({0: 1.0, 1: 3.0}, {0: 5.0, 1: 4.0}))
    assert (found.layers, found.best, found.means) == ((3.0, 3.5), (3.0, 5.0), (2.0, 4.5))


def test_layers_that_are_wanting_keep_their_places() -> None:
    row = Series(label="Default", by_seed=({0: 1.0, 2: 3.0}, {2: 5.0, 4: 7.0}))
    assert row.layers == (1.0, None, 4.0, None, 7.0)
    assert (row.best, row.means) == ((3.0, 7.0), (2.0, 6.0))
    whole = Series(label="Whole", by_seed=(dict(enumerate([1.0, 2.0, 4.0, 0.0, 3.0, 9.0])),))
    figure = LayerFigure(
        name="x",
        title="x",
        unit="%",
        decimals=1,
        rows=(row, whole),
        summary_title="best",
        summary=lambda each: each.best,
    )
    assert figure.texts(row) == ["1.0", "-", "4.0", "-", "7.0", "-"]
    assert figure.texts(whole) == ["1.0", "2.0", "4.0", "0.0", "3.0", "9.0"]
    # By the layers that both have: 1, 4, 7 and 1, 4, 3.
    assert pearson(row.layers, whole.layers) == pytest.approx(np.corrcoef([1, 4, 7], [1, 4, 3])[0, 1])


def test_models_of_one_seed_are_named_among_others() -> None:
    means = "Means over seeds; thin lines go from the lowest seed to the highest."
    assert list(seed_notes({"Default": True, "Wiki-CC": False, "Sep Emb": False})) == [
        f"{means} Of one seed: Wiki-CC, Sep Emb."
    ]
    assert list(seed_notes({"Default": True, "Sep Emb": True})) == [means]
    assert list(seed_notes({"Default": False, "Sep Emb": False})) == []
