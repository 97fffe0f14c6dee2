"""Attachment scores are those of the official evaluation, and of cases worked by hand."""

import io
import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from real_data import DATA
from udtools.udeval import evaluate, load_conllu

from isoglot.errors import IsoglotError
from isoglot.evaluation.transfer.attachment import RelationScores, attachment_scores, by_relation, relation_confusions
from isoglot.evaluation.transfer.conllu import Tree, conllu_text, read_conllu
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


def test_relations_worked_by_hand() -> None:
    assert by_relation(GOLD, PREDICTED) == [
        RelationScores(relation="punct", count=2, uas=50, las=50, predicted=2),
        RelationScores(relation="root", count=2, uas=100, las=100, predicted=2),
        RelationScores(relation="aux", count=1, uas=100, las=100, predicted=1),
        RelationScores(relation="case", count=1, uas=0, las=0, predicted=1),
        RelationScores(relation="nsubj", count=1, uas=100, las=100, predicted=1),
        RelationScores(relation="nummod", count=1, uas=100, las=100, predicted=1),
        RelationScores(relation="obl", count=1, uas=100, las=0, predicted=0),
    ]
    assert relation_confusions(GOLD, PREDICTED) == Counter({("obl", "nmod"): 1})
    assert relation_confusions(GOLD, GOLD) == Counter()


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


@given(st.lists(trees().flatmap(lambda tree: st.tuples(st.just(tree), reparsed(tree))), min_size=1, max_size=4))
def test_rows_add_up_to_the_scores(pairs: list[tuple[Tree, Tree]]) -> None:
    gold, predicted = map(list, zip(*pairs, strict=True))
    gold, predicted = [GOLD[1], *gold], [GOLD[1], *predicted]
    scores, rows = attachment_scores(gold, predicted), by_relation(gold, predicted)
    num_words = sum(len(tree.words) for tree in gold)
    assert sum(row.count for row in rows) == num_words
    assert sum(row.count * row.uas for row in rows) / num_words == pytest.approx(scores["uas"])
    assert sum(row.count * row.las for row in rows) / num_words == pytest.approx(scores["las"])
    wrong_relations = relation_confusions(gold, predicted).total()
    assert 100 * wrong_relations / num_words == pytest.approx(scores["uas"] - scores["las"])


@pytest.mark.parametrize(
    ("gold", "predicted", "complaint"),
    [
        ([], [], "there are no sentences to score"),
        (GOLD, GOLD[:1], "sentence 2 is gold only, of 2 gold and 1 predicted"),
        (GOLD[:1], GOLD, "sentence 2 is predicted only, of 1 gold and 2 predicted"),
        (
            GOLD,
            [GOLD[0], replace(GOLD[1], words=("Why", "!"))],
            "sentence 2 differs from word 2 on: gold has '?', .* '!'",
        ),
        (GOLD[::-1], GOLD, "sentence 1 differs from word 1 on: gold has 'Why ?', predicted has 'She was seen'"),
        (
            GOLD[1:],
            [Tree(words=("Why",), upos=("ADV",), heads=(0,), relations=("root",))],
            "sentence 1 differs from word 2 on: gold has '?', predicted has no such word",
        ),
        # That the words differ says more than that there are more of them.
        (GOLD, GOLD[1:], "sentence 1 differs"),
    ],
)
def test_sentences_that_differ_are_refused(gold: list[Tree], predicted: list[Tree], complaint: str) -> None:
    for scored in (attachment_scores, by_relation, relation_confusions):
        with pytest.raises(IsoglotError, match=complaint.replace("?", r"\?")):
            scored(gold, predicted)


def test_punctuation_alone_is_refused() -> None:
    dots = [Tree(words=(".",), upos=("PUNCT",), heads=(0,), relations=("root",))]
    with pytest.raises(IsoglotError, match="all gold words are punctuation"):
        attachment_scores(dots, dots)


@pytest.mark.real_data
@pytest.mark.parametrize("share", [0.0, 0.1, 0.6])
def test_the_official_evaluation_gives_the_same_scores_on_real_sentences(share: float) -> None:
    path = DATA / "eval/ud/en_ewt-ud-test.conllu.gz"
    if not path.exists():
        pytest.skip(f"no treebank {path}; set ISOGLOT_DATA")
    gold = read_conllu(path)
    generator = random.Random(0)
    relations = sorted({relation for tree in gold for relation in tree.relations})
    predicted = [
        replace(
            tree,
            heads=with_other_heads(tree.heads, share=share, generator=generator),
            relations=tuple(
                generator.choice(relations) if generator.random() < share else right for right in tree.relations
            ),
        )
        for tree in gold
    ]
    scores = attachment_scores(gold, predicted)
    assert {name: scores[name] for name in ("las", "uas")} == pytest.approx(official_percent(gold, predicted))
    assert (scores["las"] < scores["uas"] < 100) == (share > 0)


def with_other_heads(heads: tuple[int, ...], *, share: float, generator: random.Random) -> tuple[int, ...]:
    """Some words are put elsewhere, but below none of their own descendants."""
    changed = list(heads)
    for word in range(1, len(heads) + 1):
        head = generator.randint(1, len(heads))
        if changed[word - 1] and generator.random() < share and word not in ancestors(head, changed):
            changed[word - 1] = head
    return tuple(changed)


def ancestors(word: int, heads: list[int]) -> set[int]:
    """With the word itself."""
    found = set[int]()
    while word:
        found.add(word)
        word = heads[word - 1]
    return found
