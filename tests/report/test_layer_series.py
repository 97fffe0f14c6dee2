"""Series over layers, and their correlation against numpy's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.report.layer_series import Series, pearson, series
from tests.report.made_up_measurements import measured

NUMBERS = st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=2, max_size=12)


@given(NUMBERS)
def test_pearson_is_numpys(pairs: list[tuple[int, int]]) -> None:
    x, y = ([float(value) for value in column] for column in zip(*pairs, strict=True))
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert pearson(x, y) is None
    else:
        assert pearson(x, y) == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-9)


def test_a_series_gathers_layers_of_every_seed() -> None:
    found = series(
        [
            *measured("default", [1.0, 3.0], seed=0),
            *measured("default", [5.0, 4.0], seed=1),
            *measured("default", [9.0], seed=2),
            *measured("sep-emb", [8.0, 8.0], seed=0),
            *measured("default", [7.0, 7.0], seed=0, languages=("ela", "tam")),
            *measured("default", [6.0, 6.0], seed=0, metric="other"),
        ],
        label="Default",
        exhibit="emergence",
        metric="retrieval_p1",
        condition="default",
        languages=("ela", "oru"),
    )
    assert found == Series(label="Default", by_seed=((1.0, 3.0), (5.0, 4.0)))
    assert (found.layers, found.best, found.means) == ((3.0, 3.5), (3.0, 5.0), (2.0, 4.5))


def test_what_is_not_measured_has_no_series() -> None:
    nothing = {"label": "x", "exhibit": "figure-7", "metric": "cka", "condition": "default"}
    assert series(measured("default", [1.0]), **nothing, languages=("ela", "oru")) is None
