"""Spans are where the letters put them, of the last type, and scored as seqeval scores them."""

import re
import warnings
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics import classification_report, f1_score, precision_score, recall_score
from seqeval.scheme import IOB2

from isoglot.errors import IsoglotError
from isoglot.evaluation.transfer.bio_spans import SpanCounts, repair_bio, span_f1, span_scores, spans

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
    """Of the same sentences, the second often near the first, so that many spans are right."""
    gold, predicted = [], []
    for tags in draw(st.lists(valid_tags().filter(bool), min_size=1, max_size=5)):
        other = draw(valid_tags())
        split = draw(st.integers(0, len(tags)))
        mixed = [*tags[:split], *other, *["O"] * len(tags)][: len(tags)]
        gold.append(tags)
        # A piece of the other tagging may begin with the rest of a span; every tagger's output is mended.
        predicted.append(repair_bio(mixed))
    return gold, predicted


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
        ("O I-X O", "O B-X O"),
        ("I-X I-Y", "B-Y I-Y"),
        ("I-X I-X O I-Y", "B-X I-X O B-Y"),
        ("B-X I-Y B-Z", "B-Y I-Y B-Z"),
        ("B-X B-X I-Y", "B-X B-Y I-Y"),
        ("I-X B-X I-Y I-X", "B-X B-X I-X I-X"),
        ("B-X O I-X", "B-X O B-X"),
        ("B-X I-Y I-X O B-Y I-X", "B-X I-X I-X O B-X I-X"),
        ("B-X-1 I-X-2", "B-X-2 I-X-2"),
        ("B-X I-X B-X O O", "B-X I-X B-X O O"),
        ("", ""),
    ],
)
def test_repairs_worked_by_hand(tags: str, repaired: str) -> None:
    assert repair_bio(tags.split()) == repaired.split()


@given(tags=tags_of_any_sort)
def test_repaired_tags_are_valid_keep_the_letters_but_for_first_ones_and_need_no_repair(tags: list[str]) -> None:
    repaired = repair_bio(tags)
    assert repair_bio(repaired) == repaired
    assert len(repaired) == len(tags)
    for before, old, new in zip(["O", *repaired], tags, repaired, strict=False):
        if new[0] == "I":
            assert before in (new, f"B-{new[2:]}")
        assert old[0] == new[0] or (old[0], new[0], before) == ("I", "B", "O")


@given(tags=valid_tags())
def test_valid_tags_stay(tags: list[str]) -> None:
    assert repair_bio(tags) == tags


@given(tags=tags_of_any_sort)
def test_spans_are_those_found_by_trying_all(tags: list[str]) -> None:
    assert spans(tags) == spans_by_trying_all(tags)
    assert spans(repair_bio(tags)) == spans(tags)


@pytest.mark.parametrize(
    "tag", ["E-PER", "S-PER", "PER", "B-", "I-", "B", "I", "", "o", "b-PER", "BPER", "O-PER", " O"]
)
def test_what_is_no_bio_is_refused_with_its_place(tag: str) -> None:
    with pytest.raises(IsoglotError, match=re.escape(f"tag 3 is {tag!r}, not O")):
        repair_bio(["O", "B-PER", tag])
    with pytest.raises(IsoglotError, match=re.escape(f"sentence 2, predicted tags: tag 1 is {tag!r}")):
        span_f1([["O"], ["O"]], [["O"], [tag]])
    with pytest.raises(IsoglotError, match=re.escape(f"sentence 1, gold tags: tag 1 is {tag!r}")):
        span_f1([[tag], ["O"]], [["O"], ["O"]])


@given(taggings=two_valid_taggings())
def test_scores_are_those_of_seqeval(taggings: tuple[list[list[str]], list[list[str]]]) -> None:
    gold, predicted = taggings
    scores = span_scores(gold, predicted)
    settings = {"mode": "strict", "scheme": IOB2}
    with warnings.catch_warnings():
        # It divides by nothing in sentences without spans, and says so.
        warnings.simplefilter("ignore")
        oracle = [
            score(gold, predicted, average="micro", **settings) for score in (precision_score, recall_score, f1_score)
        ]
        report = classification_report(gold, predicted, output_dict=True, **settings) if scores.by_type else {}
    assert [scores.precision, scores.recall, scores.f1] == pytest.approx([100 * score for score in oracle])
    assert span_f1(gold, predicted) == scores.f1
    by_type = {kind: row for kind, row in report.items() if not kind.endswith(" avg")}
    assert scores.by_type.keys() == by_type.keys()
    for kind, counts in scores.by_type.items():
        row = by_type[kind]
        assert counts.gold == row["support"]
        assert [counts.precision, counts.recall, counts.f1] == pytest.approx(
            [100 * row["precision"], 100 * row["recall"], 100 * row["f1-score"]]
        )


@given(gold=tags_of_any_sort, data=st.data())
def test_both_sides_are_mended_before_they_are_compared(gold: list[str], data: st.DataObject) -> None:
    predicted = data.draw(st.permutations(gold))
    gold_spans, predicted_spans = (set(spans_by_trying_all(tags)) for tags in (gold, predicted))
    scores = span_scores([gold], [predicted])
    assert sum(counts.right for counts in scores.by_type.values()) == len(gold_spans & predicted_spans)
    assert sum(counts.gold for counts in scores.by_type.values()) == len(gold_spans)
    assert sum(counts.predicted for counts in scores.by_type.values()) == len(predicted_spans)
    assert scores == span_scores([repair_bio(gold)], [repair_bio(predicted)])


def test_scores_worked_by_hand() -> None:
    gold = ["B-PER I-PER O B-LOC", "O B-LOC O", "I-ORG O"]
    predicted = ["I-LOC I-PER O B-ORG", "O I-LOC I-LOC", "B-ORG B-MISC"]
    scores = span_scores([tags.split() for tags in gold], [tags.split() for tags in predicted])
    assert scores.by_type == {
        "LOC": SpanCounts(gold=2, predicted=1, right=0),
        "MISC": SpanCounts(gold=0, predicted=1, right=0),
        "ORG": SpanCounts(gold=1, predicted=2, right=1),
        "PER": SpanCounts(gold=1, predicted=1, right=1),
    }
    assert (scores.precision, scores.recall) == (100 * 2 / 5, 100 * 2 / 4)
    assert scores.f1 == pytest.approx(100 * 4 / 9)
    assert scores.by_type["ORG"].f1 == pytest.approx(200 / 3)


def test_scores_of_no_spans_are_zero() -> None:
    for gold, predicted in (("O", "O"), ("B-X", "O"), ("O", "B-X")):
        scores = span_scores([[gold]], [[predicted]])
        assert (scores.precision, scores.recall, scores.f1) == (0, 0, 0)
    assert span_f1([], []) == 0


def test_sentences_and_tags_must_match() -> None:
    with pytest.raises(IsoglotError, match="2 sentences have gold tags and 1 predicted"):
        span_f1([["O"], ["O"]], [["O"]])
    with pytest.raises(IsoglotError, match="sentence 2 has 1 gold tags and 2 predicted"):
        span_f1([["O"], ["O"]], [["O"], ["O", "O"]])
