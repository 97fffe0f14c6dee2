from collections import Counter, defaultdict
from collections.abc import Callable, Hashable

import pytest

from isoglot.corpora.synthetic import Tree, draw_meanings, realise, trees
from isoglot.study.synthetic_languages import SyntheticLanguage, World

HEAD_UPOS = {
    "nsubj": {"VERB"},
    "obj": {"VERB"},
    "obl": {"VERB"},
    "advmod": {"VERB"},
    "punct": {"VERB"},
    "case": {"NOUN", "PROPN"},
    "det": {"NOUN"},
    "amod": {"NOUN"},
    "nummod": {"NOUN"},
    "appos": {"NOUN"},
    "flat": {"PROPN"},
}
OWN_UPOS = {
    "root": {"VERB"},
    "nsubj": {"NOUN", "PROPN"},
    "obj": {"NOUN", "PROPN"},
    "obl": {"NOUN", "PROPN"},
    "advmod": {"PART"},
    "punct": {"PUNCT"},
    "case": {"ADP"},
    "det": {"DET"},
    "amod": {"ADJ"},
    "nummod": {"NUM"},
    "appos": {"PROPN"},
    "flat": {"PROPN"},
}


@pytest.fixture(scope="module")
def forest(world: World, languages: list[SyntheticLanguage]) -> list[Tree]:
    meanings = draw_meanings(world, count=200, seed=0)
    return [tree for language in languages for tree in trees(meanings, language, world=world)]


def ancestors(tree: Tree, word: int) -> list[int]:
    path = []
    while word != 0:
        assert word not in path, "a cycle"
        path.append(word)
        word = tree.heads[word - 1]
    return path


def test_words_are_those_of_the_text(world: World, languages: list[SyntheticLanguage]) -> None:
    meanings = draw_meanings(world, count=50, seed=1)
    for language in languages:
        lines = realise(meanings, language, world=world)
        assert [" ".join(tree.words) for tree in trees(meanings, language, world=world)] == lines


def test_trees_have_one_root_no_cycle_and_no_crossing(forest: list[Tree]) -> None:
    for tree in forest:
        assert tree.heads.count(0) == 1
        paths = {word: ancestors(tree, word) for word in range(1, len(tree.words) + 1)}
        for word, head in enumerate(tree.heads, start=1):
            between = range(min(word, head) + 1, max(word, head)) if head else ()
            assert all(head in paths[each] for each in between)


def test_relations_join_the_right_parts_of_speech(forest: list[Tree]) -> None:
    seen = set()
    for tree in forest:
        for upos, head, relation in zip(tree.upos, tree.heads, tree.relations, strict=True):
            seen.add(relation)
            assert upos in OWN_UPOS[relation]
            assert relation == "root" if head == 0 else tree.upos[head - 1] in HEAD_UPOS[relation]
    assert seen == OWN_UPOS.keys()


Rule = Callable[[Tree, int], Hashable]


def looked_up_score(world: World, *, rule: Rule, head: Callable[[Tree, int, Hashable], int]) -> float:
    """UAS over all words but punctuation of what each word's most frequent rule says on other sentences."""
    language = SyntheticLanguage(name="ela", cognates=0.2)
    train, test = (trees(draw_meanings(world, count=2_000, seed=s), language, world=world) for s in (1, 2))
    counts: dict[str, Counter[Hashable]] = defaultdict(Counter)
    for tree in train:
        for i, word in enumerate(tree.words):
            counts[word][rule(tree, i)] += 1
    best = {word: count.most_common(1)[0][0] for word, count in counts.items()}
    right = [
        head(tree, i, best.get(tree.words[i])) == tree.heads[i]
        for tree in test
        for i in range(len(tree.words))
        if tree.upos[i] != "PUNCT"
    ]
    return 100 * sum(right) / len(right)


def test_a_word_does_not_tell_on_which_side_its_head_is(demo_world: World) -> None:
    def side_and_class(tree: Tree, i: int) -> Hashable:
        return (tree.heads[i] > i, tree.upos[tree.heads[i] - 1]) if tree.heads[i] else "root"

    def nearest(tree: Tree, i: int, found: Hashable) -> int:
        places = [*range(i - 1, -1, -1), *range(i + 1, len(tree.words))]
        return next((j + 1 for j in places if (j > i, tree.upos[j]) == found), 0)

    assert 70 < looked_up_score(demo_world, rule=side_and_class, head=nearest) < 90
