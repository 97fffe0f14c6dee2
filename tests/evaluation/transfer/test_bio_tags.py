"""Spans are where the letters put them, of the last type, and scored as by seqeval; files are read as released."""

import warnings
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics import f1_score, precision_score, recall_score
from seqeval.scheme import IOB2

from isoglot.evaluation.transfer import bio_tags as bio

TYPES = ("PER", "LOC", "ORG-1")
tags_of_any_sort = st.lists(st.sampled_from(["O", *(f"{letter}-{kind}" for letter in "BI" for kind in TYPES)]))


@st.composite
def valid_tags(draw: st.DrawFn) -> list[str]:
    tags: list[str] = []
    for kind, size in draw(st.lists(st.tuples(st.sampled_from(["O", *TYPES]), st.integers(1, 3)), max_size=5)):
        tags += ["O"] * size if kind == "O" else [f"B-{kind}"] + [f"I-{kind}"] * (size - 1)
    return tags


@st.composite
def two_valid_taggings(draw: st.DrawFn) -> tuple[list[list[str]], list[list[str]]]:
    """Two taggings of the same sentences, often near each other, so that many spans are right."""
    gold = draw(st.lists(valid_tags().filter(bool), min_size=1, max_size=5))
    mixed = [[*tags[: draw(st.integers(0, len(tags)))], *draw(valid_tags()), *["O"] * len(tags)] for tags in gold]
    # A piece of the other tagging may begin with the rest of a span; every tagger's output is repaired.
    return gold, [bio.repair_bio(other[: len(tags)]) for other, tags in zip(mixed, gold, strict=True)]


def spans_by_trying_all(tags: list[str]) -> list[tuple[int, int, str]]:
    """Every stretch that begins as a span may, goes on with I alone, and could not go on further."""
    letters = "O" + "".join(tag[0] for tag in tags) + "O"
    return [
        (first - 1, end - 1, tags[end - 2].split("-", 1)[1])
        for first, end in combinations(range(1, len(letters)), 2)
        if letters[first] == "B" or letters[first - 1 : first + 1] == "OI"
        if set(letters[first + 1 : end]) <= {"I"}
        if letters[end] != "I"
    ]


@pytest.mark.parametrize(
    ("tags", "repaired"),
    [
        ("I-X", "B-X"),
        ("B-X I-Y I-Z", "B-Z I-Z I-Z"),
        ("I-X I-Y", "B-Y I-Y"),
        ("B-X B-X I-Y", "B-X B-Y I-Y"),
        ("B-X-1 I-X-2", "B-X-2 I-X-2"),
        ("B-X I-X B-X O O", "B-X I-X B-X O O"),
        ("", ""),
    ],
)
def test_repairs_worked_by_hand(tags: str, repaired: str) -> None:
    assert bio.repair_bio(tags.split()) == repaired.split()


@given(tags=tags_of_any_sort)
def test_repaired_tags_are_valid_keep_the_letters_but_for_first_ones_and_need_no_repair(tags: list[str]) -> None:
    repaired = bio.repair_bio(tags)
    assert bio.repair_bio(repaired) == repaired
    assert bio.spans(repaired) == bio.spans(tags) == spans_by_trying_all(tags)
    assert len(repaired) == len(tags)
    for before, old, new in zip(["O", *repaired], tags, repaired, strict=False):
        if new[0] == "I":
            assert before in (new, f"B-{new[2:]}")
        assert old[0] == new[0] or (old[0], new[0], before) == ("I", "B", "O")


@given(taggings=two_valid_taggings())
def test_scores_are_those_of_seqeval(taggings: tuple[list[list[str]], list[list[str]]]) -> None:
    gold, predicted = taggings
    scores, _ = bio.span_counts(gold, predicted)
    settings = {"mode": "strict", "scheme": IOB2, "average": "micro"}
    with warnings.catch_warnings():
        # It divides by nothing in sentences without spans, and says so.
        warnings.simplefilter("ignore")
        oracle = [score(gold, predicted, **settings) for score in (precision_score, recall_score, f1_score)]
    assert [scores.precision, scores.recall, scores.f1] == pytest.approx([100 * score for score in oracle])


@given(gold=tags_of_any_sort, data=st.data())
def test_both_sides_are_repaired_before_they_are_compared(gold: list[str], data: st.DataObject) -> None:
    predicted = data.draw(st.permutations(gold))
    gold_spans, predicted_spans = (set(spans_by_trying_all(tags)) for tags in (gold, predicted))
    scores, by_type = bio.span_counts([gold], [predicted])
    right = len(gold_spans & predicted_spans)
    assert scores == bio.SpanCounts(gold=len(gold_spans), predicted=len(predicted_spans), right=right)
    assert (scores, by_type) == bio.span_counts([bio.repair_bio(gold)], [bio.repair_bio(predicted)])
