"""Trees: what is read and learned of them, and that what is predicted is one."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.errors import IsoglotError
from isoglot.evaluation.transfer.biaffine import BiaffineParser
from isoglot.evaluation.transfer.conllu import Tree
from isoglot.evaluation.transfer.task import Recipe, Windows
from isoglot.evaluation.transfer.tasks import task_named
from isoglot.evaluation.transfer.tasks.parsing import TASK as PARSING
from isoglot.study.languages import Splitter, WordSplitting
from isoglot.study.synthetic_languages import Side, SyntheticLanguage, WordOrder, World

TREEBANK = """# sent_id = 1
1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_
2\tDogs\tdog\tNOUN\tNNS\t_\t3\tnsubj:pass\t_\t_
3-4\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
3\tdo\tdo\tVERB\tVB\t_\t0\troot\t_\t_
4\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_
4.1\tbark\t_\t_\t_\t_\t_\t_\t_\t_

1\tOK\tok\tINTJ\tUH\t_\t0\troot\t_\t_

"""
DOGS = Tree(
    words=("The", "Dogs", "do", "n't"),
    upos=("DET", "NOUN", "VERB", "PART"),
    heads=(2, 3, 0, 3),
    relations=("det", "nsubj:pass", "root", "advmod"),
)
OK = Tree(words=("OK",), upos=("INTJ",), heads=(0,), relations=("root",))


def tree(heads: tuple[int, ...], relations: str) -> Tree:
    return Tree(words=("w",) * len(heads), upos=("X",) * len(heads), heads=heads, relations=tuple(relations.split()))


def test_the_task_is_known_by_its_file() -> None:
    assert task_named("parsing") is PARSING
    assert (PARSING.recipe, PARSING.windows, PARSING.metric) == (Recipe.WORDS, Windows.APART, "las")
    assert PARSING.points_to_words


@pytest.mark.parametrize("lowercase", [False, True])
def test_treebanks_are_read_in_their_own_words(lowercase: bool, tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(TREEBANK, encoding="utf-8")
    splitting = WordSplitting(splitter=Splitter.MOSES, language="en", lowercase=lowercase)
    found, counts = PARSING.read_official([tmp_path / "a.conllu"] * 2, splitting=splitting)
    assert counts == {}
    assert [each.heads for each in found] == [DOGS.heads, OK.heads] * 2
    assert [each.relations for each in found] == [DOGS.relations, OK.relations] * 2
    assert [each.words for each in found[:2]] == (
        [("the", "dogs", "do", "n't"), ("ok",)] if lowercase else [DOGS.words, OK.words]
    )


def test_marks_are_those_that_the_splitter_writes_and_words_stay_as_many(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(TREEBANK.replace("n't", "n\u2019t").replace("OK", "\u201c"), encoding="utf-8")
    for splitter, words in ((Splitter.MOSES, ["n't", '"']), (Splitter.WHITESPACE, ["n\u2019t", "\u201c"])):
        splitting = WordSplitting(splitter=splitter, language="en")
        found, _ = PARSING.read_official([tmp_path / "a.conllu"], splitting=splitting)
        assert [each.words[-1] for each in found] == words
        assert [len(each.words) for each in found] == [4, 1]


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    (tmp_path / "x.conllu").write_text(PARSING.text([DOGS, OK]), encoding="utf-8")
    assert PARSING.read(tmp_path / "x.conllu") == [DOGS, OK]


def test_segments_labels_and_targets() -> None:
    assert PARSING.segments(DOGS) == (DOGS.words,)
    assert PARSING.labels([DOGS, OK]) == ("advmod", "det", "nsubj:pass", "root")
    heads, relations = PARSING.targets(DOGS, {"advmod": 0, "det": 1, "nsubj:pass": 2, "root": 3})
    assert (list(heads), list(relations)) == ([2, 3, 0, 3], [1, 2, 3, 0])


def test_predicted_heads_and_relations_are_those_of_the_columns() -> None:
    said = PARSING.predicted(DOGS, [[3, 1, 0, 1], [0, 1, 2, 0]], ("a", "b", "root"))
    assert said == Tree(words=DOGS.words, upos=DOGS.upos, heads=(3, 1, 0, 1), relations=("a", "b", "root", "a"))


@given(sizes=st.lists(st.integers(1, 4), min_size=1, max_size=5), roots=st.lists(st.integers(0, 3), min_size=5))
def test_parts_become_one_tree_under_the_root_of_the_first(sizes: list[int], roots: list[int]) -> None:
    """In each part all words hang from its root."""
    heads: list[int] = []
    for size, root in zip(sizes, roots, strict=False):
        first = len(heads)
        heads += [0 if word == root % size else first + root % size + 1 for word in range(size)]
    example = tree(tuple(heads), "x " * len(heads))
    said = PARSING.predicted(example, [heads, [int(head == 0) for head in heads]], ("x", "root"))
    first_root = heads.index(0) + 1
    assert said.heads == tuple(
        head or (0 if word == first_root else first_root) for word, head in enumerate(heads, start=1)
    )
    # No root but one; the others are beside it.
    assert said.relations == tuple(
        "x" if head else "root" if word == first_root else "parataxis" for word, head in enumerate(heads, start=1)
    )


def test_scores_by_hand() -> None:
    """Subtypes do not count; a relation without its head does not either."""
    gold = [tree((2, 0, 2, 3), "det root obj:x punct"), tree((0,), "root")]
    said = [tree((2, 0, 2, 2), "amod root obj:y punct"), tree((0,), "root")]
    scores = PARSING.scores(gold, said)
    assert scores["uas"] == pytest.approx(80.0)
    assert scores["las"] == pytest.approx(60.0)
    assert scores["las_with_subtypes"] == pytest.approx(40.0)
    assert PARSING.breakdown(gold, said) == [
        ["relation", "words", "predicted", "UAS", "LAS", "taken for"],
        ["root", "2", "2", "100.0", "100.0", ""],
        ["det", "1", "0", "100.0", "0.0", "amod 1"],
        ["obj", "1", "1", "100.0", "100.0", ""],
        ["punct", "1", "1", "0.0", "0.0", ""],
    ]


def test_the_layer_is_a_parser_that_knows_the_relation_root() -> None:
    head = PARSING.head(width=12, labels=("advmod", "det", "root"))
    assert isinstance(head, BiaffineParser)
    assert (head.root_relation, len(head.relation)) == (2, 3)


@pytest.mark.parametrize("labels", [("advmod", "det"), ("root",)])
def test_a_treebank_without_roots_or_with_nothing_else_is_refused(labels: tuple[str, ...]) -> None:
    with pytest.raises(IsoglotError, match="there should be 'root' and others"):
        PARSING.head(width=12, labels=labels)


def test_made_up_trees_mean_the_same_in_every_language(tiny_world: World) -> None:
    plain = SyntheticLanguage(name="ela")
    other = SyntheticLanguage(name="oru", order=WordOrder.SOV, adjectives=Side.AFTER, adpositions=Side.AFTER)
    first, second = (PARSING.made_up(each, world=tiny_world, count=60, seed=3) for each in (plain, other))

    def arcs(each: Tree) -> list[tuple[str, str]]:
        """Relations with the relation of the head."""
        return sorted(
            (relation, each.relations[head - 1] if head else "")
            for relation, head in zip(each.relations, each.heads, strict=True)
        )

    assert [arcs(each) for each in first] == [arcs(each) for each in second]
    assert [each.heads for each in first] != [each.heads for each in second]
    assert all(each.heads[each.relations.index("root")] == 0 for each in first)
    assert PARSING.made_up(plain, world=tiny_world, count=60, seed=4) != first
