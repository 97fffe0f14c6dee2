import pytest

from isoglot.synthetic import Tree, draw_meanings, realise, trees
from isoglot.synthetic.inventory import ABSENT, WordClass, inventory
from isoglot.synthetic.structures import VERB, Part, Role, slot
from isoglot.synthetic_languages import SyntheticLanguage, World

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


def test_arguments_hang_on_the_verb_by_their_role(world: World, languages: list[SyntheticLanguage]) -> None:
    meanings = draw_meanings(world, count=100, seed=2)
    concepts = meanings.concept_BS
    for language in languages:
        for row, tree in enumerate(trees(meanings, language, world=world)):
            for role, relation in ((Role.SUBJECT, "nsubj"), (Role.OBJECT, "obj"), (Role.OBLIQUE, "obl")):
                assert tree.relations.count(relation) == (concepts[row, slot(role, Part.HEAD)] != ABSENT)
            assert tree.upos[tree.heads.index(0)] == "VERB"
            assert concepts[row, VERB] != ABSENT


def test_names_are_tagged_by_kind_in_valid_bio(world: World, languages: list[SyntheticLanguage]) -> None:
    meanings = draw_meanings(world, count=500, seed=3)
    kinds = {"PER": WordClass.GIVEN_NAME, "LOC": WordClass.PLACE, "ORG": WordClass.ORGANISATION}
    ranges = inventory(world).ranges
    for tree, row in zip(trees(meanings, languages[0], world=world), meanings.concept_BS.tolist(), strict=True):
        for kind, word_class in kinds.items():
            assert tree.entity_tags.count(f"B-{kind}") == sum(concept in ranges[word_class] for concept in row)
        for before, tag, upos in zip(("O", *tree.entity_tags), tree.entity_tags, tree.upos, strict=False):
            assert (tag == "O") == (upos != "PROPN")
            assert tag != "I-PER" or before == "B-PER"
    tags = {tag for tree in trees(meanings, languages[0], world=world) for tag in tree.entity_tags}
    assert tags == {"O", "B-PER", "I-PER", "B-LOC", "B-ORG"}
