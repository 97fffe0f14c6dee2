"""Pairs of sentences: how the two formats are read, and their scores."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.errors import IsoglotError
from isoglot.evaluation.transfer.tasks.nli import MADE_UP_WORDS, Inference
from isoglot.evaluation.transfer.tasks.nli import TASK as NLI
from isoglot.study.languages import Splitter, WordSplitting
from isoglot.study.synthetic_languages import SyntheticLanguage
from tests.tiny_worlds import TINY_WORLD

ENGLISH = WordSplitting(splitter=Splitter.MOSES, language="en")
OFFICIAL = """language\tgold_label\tsentence1\tsentence2\tpromptID\tpairID
ar\tneutral\tx\ty\t1\t1
en\tneutral\tHe doesn't.\tHe sleeps.\t1\t1
en\tcontradiction\tYes.\tNo!\t2\t2
"""


def inference(premise: str, hypothesis: str, label: str) -> Inference:
    return Inference(premise=tuple(premise.split()), hypothesis=tuple(hypothesis.split()), label=label)


def test_rows_of_three_columns_are_split_into_words(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("premise\thypo\tlabel\nHe isn't here.\tIs he?\tcontradictory\n", encoding="utf-8")
    (tmp_path / "b.tsv").write_text("A dog.\tAn animal.\tentailment\tsource\n", encoding="utf-8")
    found, counts = NLI.read_official([tmp_path / "a.tsv", tmp_path / "b.tsv"], splitting=ENGLISH)
    assert found == [
        inference("He isn 't here .", "Is he ?", "contradiction"),
        inference("A dog .", "An animal .", "entailment"),
    ]
    assert counts == {}


def test_of_the_official_table_only_the_language_is_read(tmp_path: Path) -> None:
    (tmp_path / "xnli.dev.tsv").write_text(OFFICIAL, encoding="utf-8")
    lower = WordSplitting(splitter=Splitter.WHITESPACE, language="en", lowercase=True)
    found, _ = NLI.read_official([tmp_path / "xnli.dev.tsv"], splitting=lower)
    assert found == [inference("he doesn't.", "he sleeps.", "neutral"), inference("yes.", "no!", "contradiction")]


@pytest.mark.parametrize(
    ("text", "language", "complaint"),
    [
        ("", "en", "a.tsv: the file is empty"),
        (OFFICIAL, "fr", "no rows of the language 'fr'"),
        ("a dog\t\u200b\tneutral\n", "en", "a.tsv:1: the hypothesis has no words; drop the row"),
    ],
)
def test_what_is_missing_is_named(text: str, language: str, complaint: str, tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text(text, encoding="utf-8")
    splitting = WordSplitting(splitter=Splitter.MOSES, language=language)
    with pytest.raises(IsoglotError, match=complaint):
        NLI.read_official([tmp_path / "a.tsv"], splitting=splitting)


LABELS = ("entailment", "neutral", "contradiction")
WORDS = st.lists(st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1), min_size=1).map(tuple)


@given(
    examples=st.lists(
        st.builds(Inference, premise=WORDS, hypothesis=WORDS, label=st.sampled_from(LABELS)), min_size=1, max_size=4
    )
)
def test_what_is_written_is_read_again(examples: list[Inference], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("nli") / "x.tsv"
    path.write_text(NLI.text(examples), encoding="utf-8", newline="\n")
    assert NLI.read(path) == examples


def test_scores_by_hand() -> None:
    gold = [inference("a", "b", label) for label in ("neutral", "neutral", "entailment", "contradiction")]
    predicted = [inference("a", "b", label) for label in ("neutral", "entailment", "entailment", "entailment")]
    assert NLI.scores(gold, predicted) == {"accuracy": 50.0}
    assert NLI.breakdown(gold, predicted) == [
        ["gold", "pairs", "as contradiction", "as entailment", "as neutral"],
        ["contradiction", "1", "0", "1", "0"],
        ["entailment", "1", "0", "1", "0"],
        ["neutral", "2", "0", "1", "1"],
    ]


def test_made_up_pairs_fit_a_window() -> None:
    pairs = NLI.made_up(SyntheticLanguage(name="ela"), world=TINY_WORLD, count=60, seed=3)
    assert max(len(pair.premise) + len(pair.hypothesis) for pair in pairs) <= MADE_UP_WORDS == 16 - 3
