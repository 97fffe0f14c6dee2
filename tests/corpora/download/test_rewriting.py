"""Rewriting keeps every sentence as it was, and drops only other languages and pairs without a label."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.corpora.download.official_files import nli_pairs, wikiann_words
from isoglot.errors import IsoglotError

COLUMNS = ("sentence1", "sentence2", "gold_label")
TEXT = st.text(st.characters(exclude_characters="\t\n\r", exclude_categories=["Cs"]), max_size=8)
ROWS = st.lists(
    st.tuples(st.sampled_from(["en", "fr"]), st.sampled_from(["neutral", "entailment", "-"]), TEXT, TEXT, TEXT)
)
pairs = partial(nli_pairs, columns=COLUMNS)


@given(rows=ROWS, order=st.permutations(["language", "gold_label", "sentence1", "sentence2", "genre"]))
def test_rows_of_one_language(rows: list[tuple[str, ...]], order: list[str]) -> None:
    places = ["language", "gold_label", "sentence1", "sentence2", "genre"]
    table = ["\t".join(row[places.index(name)] for name in order) for row in [tuple(places), *rows]]
    expected = [
        f"{premise}\t{hypothesis}\t{label}"
        for language, label, premise, hypothesis, _ in rows
        if language == "fr" and label != "-"
    ]
    assert list(pairs(table, language="fr")) == expected


def test_where_pairs_are_from() -> None:
    table = ["gold_label\tsentence1\tsentence2", "neutral\ta\tb", "-\tc\td"]
    assert list(pairs(table, source="mnli_train")) == ["a\tb\tneutral\tmnli_train"]


@pytest.mark.parametrize("table", [[], [""], ["gold_label\tsentence1"], ["gold_label\tsentence1\tsentence2"]])
def test_not_the_table(table: list[str]) -> None:
    with pytest.raises(IsoglotError, match="line 1: the header has no column"):
        list(pairs(table, language="fr"))


def test_a_row_that_is_cut_off() -> None:
    with pytest.raises(IsoglotError, match="line 3: 2 columns where the header has 3"):
        list(pairs(["gold_label\tsentence1\tsentence2", "neutral\ta\tb", "neutral\ta"]))


def test_words_of_wikiann() -> None:
    lines = ["zh:前\tB-LOC", "", "zh:zh:\tO"]
    assert list(wikiann_words(lines, language="zh")) == ["前\tB-LOC", "", "zh:\tO"]
    with pytest.raises(IsoglotError, match=r"line 1: 'zh:前\\tB-LOC' should begin with 'en:'"):
        list(wikiann_words(lines, language="en"))
