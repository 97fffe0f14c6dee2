"""Separation at other depths than the paper's, rows between the paper's, and rows that cannot be written."""

import json
from dataclasses import replace
from fractions import Fraction
from math import floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.errors import IsoglotError
from isoglot.pretraining.run import PretrainingRun
from isoglot.study.conditions import (
    CONDITIONS,
    DEFAULT,
    L1_3,
    L1_6,
    SEPARATED,
    TABLE_1,
    AnchorOrder,
    Anchors,
    Condition,
    KeptAnchors,
    Segmentation,
    TableKind,
    known_condition,
    named_in_file,
    read_condition,
    written,
)
from isoglot.study.scales import DEMO, Start
from isoglot.study.separate import PAPER_DEPTH, Separate

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


@pytest.mark.parametrize("depth", range(1, PAPER_DEPTH))
@pytest.mark.parametrize("layer", range(1, PAPER_DEPTH + 1))
def test_a_single_layer_stays_at_its_height_in_a_shallower_model(layer: int, depth: int) -> None:
    """Its middle lies in the layer that is separate, or the middle of that layer in it."""
    try:
        (found,) = Separate(layers={layer}).at_depth(depth).layers
    except IsoglotError:
        top_holds_it = Fraction(depth - 1, depth) < Fraction(2 * layer - 1, 2 * PAPER_DEPTH)
        assert top_holds_it, "only the top must not become separate"
        return
    middle, middle_of_found = Fraction(2 * layer - 1, 2 * PAPER_DEPTH), Fraction(2 * found - 1, 2 * depth)
    is_inside = Fraction(layer - 1, PAPER_DEPTH) < middle_of_found <= Fraction(layer, PAPER_DEPTH)
    assert is_inside or Fraction(found - 1, depth) < middle <= Fraction(found, depth)


def test_layers_are_the_papers_and_may_be_any_set() -> None:
    assert Separate(layers={4}) == Separate(layers=frozenset({4}))
    assert len({Separate(layers={4}), Separate(layers=frozenset({4}))}) == 1
    with pytest.raises(IsoglotError, match=r"no layers \[0, 9\]: at any depth name the paper's layers, 1 to 8"):
        Separate(layers={9, 1, 0}).at_depth(12)


def test_changes_of_a_condition_are_checked() -> None:
    assert DEFAULT.replace(name="mine", anchors="extra").anchors is Anchors.EXTRA  # type: ignore[arg-type]
    for changes, problem in (
        ({"separates": Separate()}, "Condition.replace: separates: unknown key.* did you mean 'separate'"),
        ({"separate": "L4"}, "Condition.replace: separate: "),
        ({"anchors": "many"}, "Condition.replace: anchors: Input should be 'natural'"),
        ({"separate": Separate(embeddings=True)}, "BPE must be learned for each language"),
    ):
        with pytest.raises(IsoglotError, match=problem):
            DEFAULT.replace(**changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(("layers", "depth", "enough"), [(L1_6, 2, 3), (L1_6, 1, 3), (L1_3, 1, 2), ({7}, 4, 6)])
def test_too_shallow_a_model_is_refused(layers: frozenset[int], depth: int, enough: int) -> None:
    with pytest.raises(IsoglotError, match=f"a model of {depth} layers? is too shallow .* at least {enough} layers"):
        Separate(layers=layers).at_depth(depth)
    assert Separate(layers=layers).at_depth(enough).layers


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
    assert replace(each, separate=Separate(layers=L1_3)).tables is TableKind.UNION


@pytest.mark.parametrize(
    ("name", "label", "kept"),
    [
        ("anchors-25", "Anchors 25%", KeptAnchors(share=0.25, order=AnchorOrder.FREQUENT)),
        ("anchors-25-random", "Anchors 25% random", KeptAnchors(share=0.25, order=AnchorOrder.RANDOM, seed=0)),
        ("anchors-2.5", "Anchors 2.5%", KeptAnchors(share=0.025, order=AnchorOrder.FREQUENT)),
        ("anchors-33.3-random", "Anchors 33.3% random", KeptAnchors(share=0.333, order=AnchorOrder.RANDOM)),
        ("anchors-0.0000001", "Anchors 0.0000001%", KeptAnchors(share=1e-9, order=AnchorOrder.FREQUENT)),
    ],
)
def test_a_share_of_the_anchors_is_asked_for_by_name(name: str, label: str, kept: KeptAnchors) -> None:
    condition = named_in_file(name)
    assert condition == replace(CONDITIONS["default-anchors"], name=name, label=label, kept_anchors=kept)
    assert condition.section == "4.2"
    assert condition.tables is TableKind.PARTIAL


@pytest.mark.parametrize("start", Start)
@pytest.mark.parametrize("name", [each.name for each in TABLE_1 if each.separate != Separate()])
def test_a_start_of_own_parts_is_asked_for_by_name(name: str, start: Start) -> None:
    condition, row = named_in_file(f"{name}-{start}"), CONDITIONS[name]
    own = {"name": f"{name}-{start}", "label": f"{row.label}, {start} starts", "own_parts_start": start}
    assert condition == replace(row, **own)
    for of_study in Start:
        runs = [
            PretrainingRun.of(each, scale=replace(DEMO, own_parts_start=study_start), languages=("a", "b"), seed=0)
            for each, study_start in ((condition, of_study), (row, start))
        ]
        assert runs[0] == runs[1]
    assert read_condition(written(condition)) == condition


@pytest.mark.parametrize("name", ["default", "no-anchors", "sep-l1-3"])
def test_a_bias_of_its_own_in_the_softmax_is_asked_for_by_name(name: str) -> None:
    condition, row = named_in_file(f"{name}-own-bias"), CONDITIONS[name]
    label, separate = f"{row.label}, own bias", replace(row.separate, output_bias=True)
    assert condition == replace(row, name=condition.name, label=label, separate=separate)
    assert (condition.tables, read_condition(written(condition))) == (row.tables, condition)
    # Two biases of one softmax start as one, whatever else does.
    runs = [
        PretrainingRun.of(condition, scale=replace(DEMO, own_parts_start=start), languages=("a", "b"), seed=0)
        for start in Start
    ]
    assert (runs[0] == runs[1]) == (name != "sep-l1-3")


def test_own_embeddings_have_an_own_softmax_already() -> None:
    with pytest.raises(IsoglotError, match=r"^'sep-emb-own-bias': under 'sep-emb' .* leave out '-own-bias'$"):
        named_in_file("sep-emb-own-bias")
    with pytest.raises(IsoglotError, match=r"has a softmax and a bias of its own: leave out output_bias$"):
        Separate(embeddings=True, output_bias=True)


@pytest.mark.parametrize("name", ["anchors-25", "sep-l1-3-equal"])
def test_a_name_may_have_two_endings(name: str) -> None:
    condition, without = named_in_file(f"{name}-own-bias"), named_in_file(name)
    assert condition.separate == replace(without.separate, output_bias=True)
    assert (condition.kept_anchors, condition.own_parts_start) == (without.kept_anchors, without.own_parts_start)
    assert known_condition(f"{name}-own-bias-own-bias") is None


def test_without_own_parts_there_is_no_start_to_choose() -> None:
    with pytest.raises(IsoglotError, match="'default-equal' is not one of 'default', "):
        named_in_file("default-equal")
    with pytest.raises(IsoglotError, match="'mine': no part belongs to a language alone, so none can have a start"):
        DEFAULT.replace(name="mine", own_parts_start=Start.EQUAL)


@pytest.mark.parametrize("name", ["anchors-0", "anchors-100", "anchors-250-random"])
def test_none_or_all_of_the_anchors_have_names_of_their_own(name: str) -> None:
    with pytest.raises(IsoglotError, match=rf"^'{name}': .*'no-anchors'.*'default-anchors'"):
        named_in_file(name)


@pytest.mark.parametrize(
    ("name", "suggested"),
    [
        ("defualt", "default"),
        ("No anchors", "no-anchors"),
        ("anchors25", "anchors-25"),
        ("anchors-025", "anchors-25"),
        ("anchors-25.0", "anchors-25"),
        ("anchors-25-rand", "anchors-25-random"),
    ],
)
def test_a_name_that_is_nearly_right_gets_the_right_one(name: str, suggested: str) -> None:
    with pytest.raises(IsoglotError, match=rf"is not one of 'default', .*; did you mean '{suggested}'\?$"):
        named_in_file(name)


@given(st.text())
def test_any_other_name_is_refused_with_the_list(name: str) -> None:
    with pytest.raises(IsoglotError, match=r"'default', .*'sep-emb-l1-6', 'anchors-25', 'anchors-25-random'"):
        named_in_file(name + "?")


@pytest.mark.parametrize("share", [0, -0.1, 1.1, float("nan")])
def test_a_share_of_anchors_is_above_zero_and_at_most_one(share: float) -> None:
    with pytest.raises(IsoglotError, match=f"cannot be {share}"):
        KeptAnchors(share=share, order=AnchorOrder.RANDOM)


OTHER_ROWS = [each for each in TABLE_1 if each.tables is not TableKind.UNION]
EXTRA_OF_EACH = replace(DEFAULT, segmentation=Segmentation.EACH, anchors=Anchors.EXTRA)


@pytest.mark.parametrize("condition", [*OTHER_ROWS, EXTRA_OF_EACH], ids=lambda each: each.name)
def test_only_natural_anchors_of_a_union_vocabulary_can_be_kept_in_part(condition: Condition) -> None:
    with pytest.raises(IsoglotError, match=rf"'{condition.name}': only natural anchors can be kept in part"):
        replace(condition, kept_anchors=KeptAnchors(share=0.5, order=AnchorOrder.FREQUENT))


def test_a_condition_is_written_by_its_name_or_with_all_its_settings() -> None:
    own = replace(SEPARATED, name="sep-l3-4", label="Sep L3-4", separate=Separate(layers=frozenset({3, 4})))
    assert written(CONDITIONS["sep-emb"]) == "sep-emb"
    for condition in (own, replace(CONDITIONS["sep-emb"], section="mine")):
        assert read_condition(json.loads(json.dumps(written(condition)))) == condition
