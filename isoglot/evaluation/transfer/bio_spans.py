"""Spans of entities in BIO tags, mended as the paper mends them, and the F1 they are scored by (section 3.2)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from isoglot.errors import IsoglotError

OUTSIDE = "O"
BEGIN, INSIDE = "B-", "I-"

Span = tuple[int, int, str]
"""The place of its first word, the place after its last, and its type."""


@dataclass(frozen=True, kw_only=True)
class SpanCounts:
    """Spans of the gold tags, of the predicted ones, and those that are in both with the same ends and type."""

    gold: int = 0
    predicted: int = 0
    right: int = 0

    @property
    def precision(self) -> float:
        """In percent, as the others; 0 where there is nothing to divide by, as seqeval and conlleval have it."""
        return _percent(self.right, self.predicted)

    @property
    def recall(self) -> float:
        return _percent(self.right, self.gold)

    @property
    def f1(self) -> float:
        return _percent(2 * self.right, self.gold + self.predicted)


@dataclass(frozen=True, kw_only=True)
class SpanScores:
    """Of all spans together, whatever their types, in percent; 0 where there are none on either side."""

    precision: float
    recall: float
    f1: float
    by_type: Mapping[str, SpanCounts]
    """Also of types that are only predicted: these are all wrong."""


def is_bio(tag: str) -> bool:
    """Whether a tag is O, or B- or I- with a type after it."""
    return tag == OUTSIDE or (tag.startswith((BEGIN, INSIDE)) and len(tag) > len(BEGIN))


def type_of(tag: str) -> str:
    """Nothing for O."""
    return tag[len(BEGIN) :]


def spans(tags: Sequence[str]) -> list[Span]:
    """The spans of tags as `repair_bio` mends them; those of valid tags are what they say."""
    found: list[Span] = []
    start = None
    for place, tag in enumerate(tags):
        if not is_bio(tag):
            raise IsoglotError(f"tag {place + 1} is {tag!r}, not O, or B- or I- with a type, as BIO tags are")
        if start is not None and not tag.startswith(INSIDE):
            found.append((start, place, type_of(tags[place - 1])))
            start = None
        if start is None and tag != OUTSIDE:
            start = place
    if start is not None:
        found.append((start, len(tags), type_of(tags[-1])))
    return found


def repair_bio(tags: Sequence[str]) -> list[str]:
    """Tags with one type in a span, that of its last tag, and a B at its start: B-X I-Y I-Z becomes B-Z I-Z I-Z.

    Where a span begins and ends is left to the letters: it begins at a B, or at an I after an O or at the start, and
    runs on while there are Is.
    """
    # Departure: the paper mends a lone I-X and types that change after a B; Is of several types without a B before
    # them are one span too, of the last type.
    repaired = [OUTSIDE] * len(tags)
    for start, stop, kind in spans(tags):
        repaired[start:stop] = [BEGIN + kind] + [INSIDE + kind] * (stop - start - 1)
    return repaired


def span_f1(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> float:
    """In percent, over the spans of all sentences and types together."""
    return span_scores(gold, predicted).f1


def span_scores(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> SpanScores:
    """The scores of predicted tags, sentence by sentence beside the gold ones."""
    if len(gold) != len(predicted):
        raise IsoglotError(f"{len(gold)} sentences have gold tags and {len(predicted)} predicted ones; they must match")
    numbers = {"gold": Counter[str](), "predicted": Counter[str](), "right": Counter[str]()}
    for number, (gold_tags, predicted_tags) in enumerate(zip(gold, predicted, strict=True), start=1):
        if len(gold_tags) != len(predicted_tags):
            raise IsoglotError(
                f"sentence {number} has {len(gold_tags)} gold tags and {len(predicted_tags)} predicted ones; "
                "each word must have one of both"
            )
        # Departure: gold tags are mended as predictions are; those of WikiAnn in Chinese have Is without a B.
        gold_spans = _sentence_spans(gold_tags, side="gold", number=number)
        predicted_spans = _sentence_spans(predicted_tags, side="predicted", number=number)
        numbers["gold"].update(kind for *_, kind in gold_spans)
        numbers["predicted"].update(kind for *_, kind in predicted_spans)
        numbers["right"].update(kind for *_, kind in gold_spans & predicted_spans)
    types = sorted(numbers["gold"] | numbers["predicted"])
    all_types = SpanCounts(**{name: counter.total() for name, counter in numbers.items()})
    return SpanScores(
        precision=all_types.precision,
        recall=all_types.recall,
        f1=all_types.f1,
        by_type={kind: SpanCounts(**{name: counter[kind] for name, counter in numbers.items()}) for kind in types},
    )


def _sentence_spans(tags: Sequence[str], *, side: str, number: int) -> set[Span]:
    try:
        return set(spans(tags))
    except IsoglotError as error:
        raise IsoglotError(f"sentence {number}, {side} tags: {error}") from None


def _percent(part: int, whole: int) -> float:
    return 100.0 * part / whole if whole else 0.0
