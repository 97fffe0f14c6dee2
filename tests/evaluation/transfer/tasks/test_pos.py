"""Parts of speech: the tags of treebanks, one for each word."""

from pathlib import Path

import pytest

from isoglot.corpora.readers.conllu import Tree
from isoglot.errors import IsoglotError
from isoglot.evaluation.transfer.tasks.parsing import TASK as PARSING
from isoglot.evaluation.transfer.tasks.pos import TASK as POS
from isoglot.study.languages import Splitter, WordSplitting
from isoglot.study.synthetic_languages import SyntheticLanguage
from tests.tiny_worlds import TINY_WORLD


def tree(upos: str) -> Tree:
    tags = tuple(upos.split())
    return Tree(words=("W",) * len(tags), upos=tags, heads=(0, *(1,) * (len(tags) - 1)), relations=("x",) * len(tags))


def test_scores_by_hand() -> None:
    gold = [tree("NOUN NOUN NOUN VERB"), tree("ADJ")]
    predicted = [tree("NOUN ADJ VERB VERB"), tree("NOUN")]
    assert POS.scores(gold, predicted) == pytest.approx({"accuracy": 40.0, "most_frequent_tag": 60.0})
    assert POS.breakdown(gold, predicted) == [
        ["tag", "words", "right %", "taken for"],
        ["ADJ", "1", "0.0", "NOUN 1"],
        ["NOUN", "3", "33.3", "ADJ 1, VERB 1"],
        ["VERB", "1", "100.0", ""],
    ]


def test_made_up_examples_are_trees_of_which_the_tags_are_learned() -> None:
    language = SyntheticLanguage(name="ela")
    found = POS.made_up(language, world=TINY_WORLD, count=20, seed=3)
    assert found == PARSING.made_up(language, world=TINY_WORLD, count=20, seed=3)
    assert {"NOUN", "VERB", "PUNCT"} <= set(POS.labels(found))


def test_a_word_without_a_tag_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(POS.text([tree("DET NOUN"), tree("INTJ _")]), encoding="utf-8")
    splitting = WordSplitting(splitter=Splitter.WHITESPACE, language="en")
    with pytest.raises(IsoglotError, match=r"a\.conllu: 'W' in sentence 2 has no part of speech; drop it"):
        POS.read_official([tmp_path / "a.conllu"], splitting=splitting)
