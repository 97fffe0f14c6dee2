"""Trees: how they are read, that a prediction is one, and scores as those of the official evaluation."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from udtools.udeval import evaluate, load_conllu

from isoglot.corpora.readers.conllu import Tree, conllu_text
from isoglot.errors import IsoglotError
from isoglot.evaluation.transfer.tasks.parsing import TASK as PARSING
from isoglot.evaluation.transfer.tasks.parsing import attachment_scores
from isoglot.study.languages import Splitter, WordSplitting
from tests.evaluation.transfer.drawn_trees import RELATIONS, tree_heads, trees

GOLD = [
    Tree(
        words=("She", "was", "seen", "for", "$", "5", "."),
        upos=("PRON", "AUX", "VERB", "ADP", "SYM", "NUM", "PUNCT"),
        heads=(3, 3, 0, 5, 3, 5, 3),
        relations=("nsubj:pass", "aux:pass", "root", "case", "obl", "nummod", "punct"),
    ),
    Tree(words=("Why", "?"), upos=("ADV", "PUNCT"), heads=(0, 1), relations=("root", "punct")),
]
PREDICTED = [
    replace(
        GOLD[0],
        # A parser knows nothing of gold UPOS.
        upos=("X",) * 7,
        # Wrong heads: "for" and the full stop.
        heads=(3, 3, 0, 3, 3, 5, 5),
        # Another subtype, no subtype, and one more relation that is wrong.
        relations=("nsubj:outer", "aux", "root", "case", "nmod", "nummod", "punct"),
    ),
    GOLD[1],
]


def tree(heads: tuple[int, ...], relations: str) -> Tree:
    return Tree(words=("w",) * len(heads), upos=("X",) * len(heads), heads=heads, relations=tuple(relations.split()))


@pytest.mark.parametrize("lowercase", [False, True])
def test_treebanks_are_read_in_their_own_words(lowercase: bool, tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(conllu_text(GOLD), encoding="utf-8")
    splitting = WordSplitting(splitter=Splitter.MOSES, language="en", lowercase=lowercase)
    lowered = [replace(each, words=tuple(word.lower() for word in each.words)) for each in GOLD]
    found = PARSING.read_official([tmp_path / "a.conllu"] * 2, splitting=splitting)
    assert found == (2 * (lowered if lowercase else GOLD), {})


@pytest.mark.parametrize("labels", [("advmod", "det"), ("root",)])
def test_a_treebank_without_roots_or_with_nothing_else_is_refused(labels: tuple[str, ...]) -> None:
    with pytest.raises(IsoglotError, match="there should be 'root' and others"):
        PARSING.head(width=12, labels=labels)


def official_percent(gold: list[Tree], predicted: list[Tree]) -> dict[str, float]:
    scores = evaluate(*(load_conllu(io.StringIO(conllu_text(each)), "", {}) for each in (gold, predicted)))
    assert scores["Words"].f1 == scores["Sentences"].f1 == 1
    return {"las": 100 * scores["LAS"].f1, "uas": 100 * scores["UAS"].f1}


def test_scores_worked_by_hand() -> None:
    assert attachment_scores(GOLD, PREDICTED) == pytest.approx(
        {
            "uas": 100 * 7 / 9,
            "las": 100 * 6 / 9,
            "las_with_subtypes": 100 * 4 / 9,
            # Without "$", "." and "?".
            "uas_without_punctuation": 100 * 5 / 6,
            "las_without_punctuation": 100 * 5 / 6,
            "las_with_subtypes_without_punctuation": 100 * 3 / 6,
        }
    )
    assert set(attachment_scores(GOLD, GOLD).values()) == {100.0}
    assert PARSING.breakdown(GOLD, PREDICTED) == [
        ["relation", "words", "predicted", "UAS", "LAS", "taken for"],
        ["punct", "2", "2", "50.0", "50.0", ""],
        ["root", "2", "2", "100.0", "100.0", ""],
        ["aux", "1", "1", "100.0", "100.0", ""],
        ["case", "1", "1", "0.0", "0.0", ""],
        ["nsubj", "1", "1", "100.0", "100.0", ""],
        ["nummod", "1", "1", "100.0", "100.0", ""],
        ["obl", "1", "0", "100.0", "0.0", "nmod 1"],
    ]


def reparsed(tree: Tree) -> st.SearchStrategy[Tree]:
    size = len(tree.words)
    relations = st.tuples(*[st.sampled_from(RELATIONS)] * size)
    return st.builds(
        replace,
        st.just(tree),
        heads=st.just(tree.heads) | tree_heads(size),
        relations=st.just(tree.relations) | relations,
    )


@given(st.lists(trees().flatmap(lambda tree: st.tuples(st.just(tree), reparsed(tree))), min_size=1, max_size=4))
def test_the_official_evaluation_gives_the_same_scores(pairs: list[tuple[Tree, Tree]]) -> None:
    gold, predicted = map(list, zip(*pairs, strict=True))
    # Somewhere there must be a word to score.
    gold, predicted = [GOLD[1], *gold], [GOLD[1], *predicted]
    scores = attachment_scores(gold, predicted)
    assert {name: scores[name] for name in ("las", "uas")} == pytest.approx(official_percent(gold, predicted))


def test_no_sentences_and_punctuation_alone_are_refused() -> None:
    with pytest.raises(IsoglotError, match="there are no sentences to score"):
        attachment_scores([], [])
    dots = [Tree(words=(".",), upos=("PUNCT",), heads=(0,), relations=("root",))]
    with pytest.raises(IsoglotError, match="all gold words are punctuation"):
        attachment_scores(dots, dots)
