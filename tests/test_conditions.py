"""Separation at other depths than the paper's, and rows that cannot be written."""

from dataclasses import replace
from fractions import Fraction
from math import floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.conditions import (
    BOTTOM_3,
    BOTTOM_6,
    DEFAULT,
    PAPER_DEPTH,
    TABLE_1,
    Anchors,
    Segmentation,
    Separate,
    TableKind,
)
from isoglot.errors import IsoglotError

LAYERS = st.frozensets(st.integers(1, PAPER_DEPTH))


@pytest.mark.parametrize(("bottom", "depth"), [(bottom, depth) for bottom in (3, 6) for depth in range(3, 49)])
def test_bottom_layers_scale_by_plain_rounding(bottom: int, depth: int) -> None:
    count = floor(Fraction(bottom * depth, PAPER_DEPTH) + Fraction(1, 2))
    separate = Separate(layers=frozenset(range(1, bottom + 1)))
    assert separate.at_depth(depth).layers == frozenset(range(1, count + 1))


@given(layers=LAYERS, times=st.integers(1, 6))
def test_a_multiple_of_the_papers_depth_repeats_each_layer(layers: frozenset[int], times: int) -> None:
    repeated = {(layer - 1) * times + copy for layer in layers for copy in range(1, times + 1)}
    assert Separate(layers=layers).at_depth(PAPER_DEPTH * times).layers == repeated


@given(embeddings=st.booleans(), depth=st.integers(1, 48))
def test_embeddings_do_not_depend_on_depth(embeddings: bool, depth: int) -> None:
    assert Separate(embeddings=embeddings).at_depth(depth) == Separate(embeddings=embeddings)


@pytest.mark.parametrize(("layers", "depth"), [(BOTTOM_6, 2), (BOTTOM_6, 1), (BOTTOM_3, 1)])
def test_too_shallow_a_model_is_refused(layers: frozenset[int], depth: int) -> None:
    with pytest.raises(IsoglotError, match=f"a model of {depth} layers? is too shallow .* at least 3 layers"):
        Separate(layers=layers).at_depth(depth)


@pytest.mark.parametrize("depth", range(3, 33))
def test_conditions_stay_distinct_and_share_the_top(depth: int) -> None:
    separations = {condition.separate: condition.separate.at_depth(depth) for condition in TABLE_1}
    assert len(set(separations.values())) == len(separations)
    assert all(depth not in separate.layers for separate in separations.values())


@pytest.mark.parametrize("change", [{"separate": Separate(embeddings=True)}, {"anchors": Anchors.NONE}])
def test_joint_bpe_needs_shared_subwords(change: dict[str, object]) -> None:
    with pytest.raises(IsoglotError, match=r"'mine': .*BPE must be learned for each language"):
        replace(DEFAULT, name="mine", **change)
    assert replace(DEFAULT, name="mine", segmentation=Segmentation.EACH, **change).name == "mine"


def test_extra_anchors_need_shared_embeddings() -> None:
    each = replace(DEFAULT, name="mine", segmentation=Segmentation.EACH, anchors=Anchors.EXTRA)
    with pytest.raises(IsoglotError, match=r"'mine': extra anchors need embeddings that the languages share"):
        replace(each, separate=Separate(embeddings=True))
    assert replace(each, separate=Separate(layers=BOTTOM_3)).tables is TableKind.UNION
