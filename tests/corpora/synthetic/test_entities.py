from collections import Counter, defaultdict

import pytest

from isoglot.corpora.synthetic import Tree, draw_meanings, trees
from isoglot.corpora.synthetic.inventory import ABSENT, Part, Role, WordClass, inventory, slot
from isoglot.corpora.synthetic.lexicon import NUM_INFLECTIONS, lexicon
from isoglot.study.synthetic_languages import SyntheticLanguage, World

ELA = SyntheticLanguage(name="ela", cognates=0.2)


def slow_tag(word_class: WordClass, role: Role) -> str:
    if word_class == WordClass.GIVEN_NAME:
        return "B-PER"
    if word_class == WordClass.FAMILY_NAME:
        return "I-PER"
    return {Role.SUBJECT: "B-ORG", Role.OBJECT: "B-ORG", Role.OBLIQUE: "B-LOC"}[role]


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


def spans(tags: tuple[str, ...]) -> set[tuple[int, int, str]]:
    """Start, stop and type; an inside tag goes on with the span before it."""
    found, start = set(), None
    for i, tag in enumerate((*tags, "O")):
        if start is not None and not tag.startswith("I-"):
            found.add((start, i, tags[start][2:]))
            start = None
        if tag != "O" and start is None:
            start = i
    return found


def f1(gold: list[set[tuple[int, int, str]]], predicted: list[set[tuple[int, int, str]]]) -> float:
    right = sum(len(a & b) for a, b in zip(gold, predicted, strict=True))
    return 200 * right / (sum(map(len, gold)) + sum(map(len, predicted)))


@pytest.fixture(scope="module")
def train(demo_world: World) -> list[Tree]:
    return trees(draw_meanings(demo_world, count=8_000, seed=1), ELA, world=demo_world)


@pytest.fixture(scope="module")
def others(demo_world: World) -> list[Tree]:
    return trees(draw_meanings(demo_world, count=2_000, seed=2), ELA, world=demo_world)


def test_a_name_does_not_tell_its_type(train: list[Tree], others: list[Tree]) -> None:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for tree in train:
        for word, tag in zip(tree.words, tree.entity_tags, strict=True):
            counts[word][tag] += 1
    best = {word: count.most_common(1)[0][0] for word, count in counts.items()}
    gold = [spans(tree.entity_tags) for tree in others]
    predicted = [spans(tuple(best.get(word, "O") for word in tree.words)) for tree in others]
    assert f1(gold, gold) == 100
    assert 70 < f1(gold, predicted) < 85
