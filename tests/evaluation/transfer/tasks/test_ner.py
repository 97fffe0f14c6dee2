"""Tags of words: how files are read, how a model's tags are repaired, and their scores."""

from dataclasses import replace
from pathlib import Path

import pytest

from isoglot.corpora.readers.bio_files import TaggedSentence
from isoglot.evaluation.transfer.tasks.ner import TASK as NER
from isoglot.study.languages import Splitter, WordSplitting

ENGLISH = WordSplitting(splitter=Splitter.MOSES, language="en")


def sentence(text: str) -> TaggedSentence:
    """ "Paris/B-LOC is" — words without a tag are outside."""
    pairs = [word.partition("/")[::2] for word in text.split()]
    return TaggedSentence(words=tuple(word for word, _ in pairs), tags=tuple(tag or "O" for _, tag in pairs))


def test_files_are_read_one_after_the_other_in_whole_words_with_the_marks_and_case_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "a.bio").write_text("en:John's\tB-PER\nen:…\tO\n\n", encoding="utf-8")
    (tmp_path / "b.bio").write_text("d\u2019Or B-ORG\nrejects O\n\n", encoding="utf-8")
    paths = [tmp_path / "a.bio", tmp_path / "b.bio"]
    for splitting, expected in (
        (ENGLISH, ["John's/B-PER ...", "d'Or/B-ORG rejects"]),
        (replace(ENGLISH, lowercase=True), ["john's/B-PER ...", "d'or/B-ORG rejects"]),
    ):
        assert NER.read_official(paths, splitting=splitting) == ([sentence(each) for each in expected], {})


def test_predicted_tags_are_repaired_to_spans_of_one_type() -> None:
    """Section 3.2: a stand-alone I-X becomes B-X, and B-X I-Y I-Z becomes B-Z I-Z I-Z."""
    labels = ("B-A", "I-A", "I-B", "I-C", "O")
    predicted = NER.predicted(sentence("a b c d e f"), [[1, 4, 0, 2, 3, 4]], labels)
    assert predicted == sentence("a/B-A b c/B-C d/I-C e/I-C f")


def test_scores_by_hand() -> None:
    gold = [sentence("a/B-PER b/I-PER c d/B-LOC"), sentence("e/B-LOC f")]
    predicted = [sentence("a/B-PER b/I-PER c/B-LOC d/I-LOC"), sentence("e/B-LOC f/B-ORG")]
    assert NER.scores(gold, predicted) == pytest.approx({"f1": 100 * 4 / 7, "precision": 50.0, "recall": 100 * 2 / 3})
    assert NER.breakdown(gold, predicted) == [
        ["type", "spans", "precision", "recall", "F1"],
        ["LOC", "2", "50.0", "50.0", "50.0"],
        ["ORG", "0", "0.0", "0.0", "0.0"],
        ["PER", "1", "100.0", "100.0", "100.0"],
    ]
