from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace

import pytest

from isoglot.corpora.synthetic import draw_meanings, realise, trees
from isoglot.corpora.synthetic.inventory import (
    ABSENT,
    NEGATION,
    PUNCTUATION,
    VERB,
    Part,
    Role,
    WordClass,
    inventory,
    slot,
)
from isoglot.corpora.synthetic.lexicon import NUM_INFLECTIONS, lexicon, suffixes
from isoglot.corpora.synthetic.linearisation import Tree
from isoglot.corpora.synthetic.meanings import Meanings
from isoglot.study.synthetic_languages import Morphology, Side, SyntheticLanguage, WordOrder, World


class SlowSpeaker:
    """Says one meaning at a time, phrase by phrase, the way a grammar book would tell it."""

    def __init__(self, language: SyntheticLanguage, world: World) -> None:
        self.language, self.nouns = language, inventory(world).ranges[WordClass.NOUN]
        self.stems = lexicon(replace(language, morphology=Morphology.NONE), world)[::NUM_INFLECTIONS]
        self.plural, self.past, _, *self.cases = suffixes(language, world=world)

    def sentence(self, meanings: Meanings, row: int) -> str:
        concepts = meanings.concept_BS[row].tolist()
        verb = [self.stems[concepts[VERB]] + (self.past if meanings.past_B[row] else "")]
        if concepts[NEGATION] != ABSENT:
            verb.insert(0, self.stems[concepts[NEGATION]])
        subject, direct_object, oblique = (
            list(self.phrase(concepts, role, meanings.plural_BP[row, role])) for role in Role
        )
        clause = {
            WordOrder.SVO: subject + verb + direct_object + oblique,
            WordOrder.SOV: subject + oblique + direct_object + verb,
            WordOrder.VSO: verb + subject + direct_object + oblique,
        }[self.language.order]
        return " ".join([*clause, self.stems[concepts[PUNCTUATION]]])

    def phrase(self, concepts: list[int], role: Role, plural: bool) -> Iterator[str]:
        said = {part: concepts[slot(role, part)] for part in Part if concepts[slot(role, part)] != ABSENT}
        words = {part: self.stems[concept] for part, concept in said.items()}
        if said.get(Part.HEAD) in self.nouns:
            words[Part.HEAD] += (self.plural if plural else "") + ("" if role is Role.SUBJECT else self.cases[role - 1])
        preposed = [Part.ADPOSITION] if self.language.adpositions is Side.BEFORE else []
        noun = [Part.HEAD, Part.ADJECTIVE] if self.language.adjectives is Side.AFTER else [Part.ADJECTIVE, Part.HEAD]
        for part in (*preposed, Part.DETERMINER, Part.NUMBER, *noun, Part.NAME, Part.FAMILY_NAME, Part.ADPOSITION):
            if part in words:
                yield words.pop(part)


def test_text_is_what_a_slow_speaker_says(world: World, languages: list[SyntheticLanguage]) -> None:
    meanings = draw_meanings(world, count=300, seed=0)
    for language in languages:
        speaker = SlowSpeaker(language, world)
        spoken = [speaker.sentence(meanings, row) for row in range(len(meanings))]
        assert realise(meanings, language, world=world) == spoken
        assert [" ".join(tree.words) for tree in trees(meanings, language, world=world)] == spoken


NOMINAL = {"NOUN", "PROPN"}
OWN_AND_HEAD_UPOS: dict[str, tuple[set[str], set[str]]] = {
    "root": ({"VERB"}, set()),
    **dict.fromkeys(("nsubj", "obj", "obl"), (NOMINAL, {"VERB"})),
    "advmod": ({"PART"}, {"VERB"}),
    "punct": ({"PUNCT"}, {"VERB"}),
    "case": ({"ADP"}, NOMINAL),
    "det": ({"DET"}, {"NOUN"}),
    "amod": ({"ADJ"}, {"NOUN"}),
    "nummod": ({"NUM"}, {"NOUN"}),
    "appos": ({"PROPN"}, {"NOUN"}),
    "flat": ({"PROPN"}, {"PROPN"}),
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
            own, of_head = OWN_AND_HEAD_UPOS[relation]
            assert upos in own
            assert relation == "root" if head == 0 else tree.upos[head - 1] in of_head
    assert seen == OWN_AND_HEAD_UPOS.keys()


def most_frequent(world: World, *, seen: Callable[[Tree, int], Hashable]) -> tuple[dict[str, Hashable], list[Tree]]:
    """The most frequent observation for each word of some sentences, and other sentences."""
    language = SyntheticLanguage(name="ela", cognates=0.2)
    train, test = (trees(draw_meanings(world, count=2_000, seed=s), language, world=world) for s in (1, 2))
    counts: dict[str, Counter[Hashable]] = defaultdict(Counter)
    for tree in train:
        for i, word in enumerate(tree.words):
            counts[word][seen(tree, i)] += 1
    return {word: count.most_common(1)[0][0] for word, count in counts.items()}, test


def test_a_word_does_not_tell_on_which_side_its_head_is(demo_world: World) -> None:
    def side_and_class(tree: Tree, i: int) -> Hashable:
        return (tree.heads[i] > i, tree.upos[tree.heads[i] - 1]) if tree.heads[i] else "root"

    def nearest(tree: Tree, i: int) -> int:
        places = [*range(i - 1, -1, -1), *range(i + 1, len(tree.words))]
        return next((j + 1 for j in places if (j > i, tree.upos[j]) == best.get(tree.words[i])), 0)

    best, test = most_frequent(demo_world, seen=side_and_class)
    words = [(tree, i) for tree in test for i in range(len(tree.words)) if tree.upos[i] != "PUNCT"]
    assert 0.7 < sum(nearest(tree, i) == tree.heads[i] for tree, i in words) / len(words) < 0.9


def test_a_name_does_not_tell_its_type(demo_world: World) -> None:
    best, test = most_frequent(demo_world, seen=lambda tree, i: tree.entity_tags[i])
    words = (pair for tree in test for pair in zip(tree.words, tree.entity_tags, strict=True))
    right = [best.get(word) == tag for word, tag in words if tag in ("B-ORG", "B-LOC")]
    assert 0.5 < sum(right) / len(right) < 0.8


def slow_tag(word_class: WordClass, role: Role) -> str:
    if word_class in (WordClass.GIVEN_NAME, WordClass.FAMILY_NAME):
        return "B-PER" if word_class == WordClass.GIVEN_NAME else "I-PER"
    return "B-LOC" if role is Role.OBLIQUE else "B-ORG"


def test_tags_follow_from_the_meanings(world: World, languages: list[SyntheticLanguage]) -> None:
    meanings, concepts = draw_meanings(world, count=500, seed=3), inventory(world)
    names = concepts.span(WordClass.GIVEN_NAME, WordClass.FAMILY_NAME)
    for language in languages:
        words = lexicon(language, world)
        for tree, row in zip(trees(meanings, language, world=world), meanings.concept_BS.tolist(), strict=True):
            said = [(row[slot(role, part)], role) for role in Role for part in Part]
            expected = Counter(
                (words[concept * NUM_INFLECTIONS], slow_tag(concepts.class_of(concept), role))
                for concept, role in said
                if concept != ABSENT and concept in names
            )
            found = Counter(pair for pair in zip(tree.words, tree.entity_tags, strict=True) if pair[1] != "O")
            assert found == expected
