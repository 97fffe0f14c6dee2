"""BIO tags: spans as the paper repairs them (section 3.2), and the F1 they are scored by."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from isoglot.corpora.readers.bio_files import BEGIN, INSIDE, OUTSIDE, type_of

Span = tuple[int, int, str]
"""The place of its first word, the place after its last, and its type."""


@dataclass(frozen=True, kw_only=True)
class SpanCounts:
    """How many spans the gold tags have, the predicted ones, and both alike; shares in percent."""

    gold: int = 0
    predicted: int = 0
    right: int = 0

    @property
    def precision(self) -> float:
        return _percent(self.right, self.predicted)

    @property
    def recall(self) -> float:
        return _percent(self.right, self.gold)

    @property
    def f1(self) -> float:
        return _percent(2 * self.right, self.gold + self.predicted)


def spans(tags: Sequence[str]) -> list[Span]:
    """The spans of tags as `repair_bio` repairs them."""
    complete: list[Span] = []
    start = None
    # One more O at the end closes a span that is still open there.
    for place, tag in enumerate([*tags, OUTSIDE]):
        if start is not None and not tag.startswith(INSIDE):
            complete.append((start, place, type_of(tags[place - 1])))
            start = None
        if start is None and tag != OUTSIDE:
            start = place
    return complete


def repair_bio(tags: Sequence[str]) -> list[str]:
    """Tags with one type in a span, that of its last tag, and a B at its start: B-X I-Y I-Z becomes B-Z I-Z I-Z.

    The letters alone decide where a span is: it begins at a B, or at an I after an O or at the start, and runs on
    while there are Is.
    """
    # Departure: the paper repairs a lone I-X and types that change after a B; Is of several types without a B before
    # them are one span too, of the last type.
    repaired = [OUTSIDE] * len(tags)
    for start, stop, kind in spans(tags):
        repaired[start:stop] = [BEGIN + kind] + [INSIDE + kind] * (stop - start - 1)
    return repaired


def span_counts(
    gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]
) -> tuple[SpanCounts, Mapping[str, SpanCounts]]:
    """Counts over all sentences: of all types together, and of each type, also of those that are only predicted."""
    numbers = {"gold": Counter[str](), "predicted": Counter[str](), "right": Counter[str]()}
    for gold_tags, predicted_tags in zip(gold, predicted, strict=True):
        # Departure: gold tags are repaired as predictions are; those of WikiAnn in Chinese have Is without a B.
        gold_spans, predicted_spans = set(spans(gold_tags)), set(spans(predicted_tags))
        numbers["gold"].update(kind for *_, kind in gold_spans)
        numbers["predicted"].update(kind for *_, kind in predicted_spans)
        numbers["right"].update(kind for *_, kind in gold_spans & predicted_spans)
    types = sorted(numbers["gold"] | numbers["predicted"])
    by_type = {kind: SpanCounts(**{name: counter[kind] for name, counter in numbers.items()}) for kind in types}
    return SpanCounts(**{name: counter.total() for name, counter in numbers.items()}), by_type


def _percent(part: int, whole: int) -> float:
    # 0 where there is nothing to divide by, as in seqeval and conlleval.
    return 100.0 * part / whole if whole else 0.0
