import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isoglot.corpora.synthetic import draw_meanings, realise
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
from isoglot.errors import IsoglotError
from isoglot.study.conditions import Domain
from isoglot.study.synthetic_languages import SyntheticLanguage, World

SLOT_CLASSES = {
    VERB: {WordClass.VERB},
    NEGATION: {WordClass.NEGATION},
    PUNCTUATION: {WordClass.PUNCTUATION},
} | {
    slot(role, part): classes
    for role in Role
    for part, classes in {
        Part.ADPOSITION: {WordClass.ADPOSITION},
        Part.DETERMINER: {WordClass.DETERMINER},
        Part.NUMBER: {WordClass.NUMBER},
        Part.ADJECTIVE: {WordClass.ADJECTIVE},
        Part.HEAD: {WordClass.NOUN, WordClass.GIVEN_NAME, WordClass.PLACE, WordClass.ORGANISATION},
        Part.NAME: {WordClass.GIVEN_NAME, WordClass.PLACE, WordClass.ORGANISATION},
        Part.FAMILY_NAME: {WordClass.FAMILY_NAME},
    }.items()
}


def test_bytes_are_the_same_on_every_machine(world: World) -> None:
    meanings = draw_meanings(world, count=2_000, seed=5)
    text = "\n".join(realise(meanings, SyntheticLanguage(name="ela", cognates=0.3), world=world))
    assert (
        hashlib.sha256(text.encode()).hexdigest() == "4e2a4f6b2219742a6b80e7c7e245f0a9bd1b5b04dc2a6f429c15c927f6420655"
    )


def test_structures_are_well_formed(world: World) -> None:
    concepts = inventory(world)
    for row in draw_meanings(world, count=2_000, seed=3).concept_BS.tolist():
        for role in Role:
            phrase = {part: row[slot(role, part)] for part in Part if row[slot(role, part)] != ABSENT}
            assert Part.HEAD in phrase or not phrase
            assert (Part.ADPOSITION in phrase) == (role is Role.OBLIQUE and bool(phrase))
            if phrase and concepts.class_of(phrase[Part.HEAD]) is not WordClass.NOUN:
                assert phrase.keys() <= {Part.ADPOSITION, Part.HEAD, Part.FAMILY_NAME}
            if Part.FAMILY_NAME in phrase:
                name = phrase.get(Part.NAME, phrase[Part.HEAD])
                assert concepts.class_of(name) is WordClass.GIVEN_NAME
        assert row[slot(Role.SUBJECT, Part.HEAD)] != ABSENT
        assert row[VERB] != ABSENT


def test_lengths_and_names_are_as_in_text(world: World) -> None:
    concept_BS = draw_meanings(world, count=20_000, seed=4).concept_BS
    lengths = (concept_BS != ABSENT).sum(1)
    assert 8 <= lengths.mean() <= 9.5
    assert lengths.min() == 4
    assert 15 <= lengths.max() <= 16
    names = inventory(world).span(WordClass.GIVEN_NAME, WordClass.FAMILY_NAME)
    assert np.isin(concept_BS, names).any(1).mean() == pytest.approx(0.3, abs=0.02)


def test_domains_are_different_but_overlap(world: World) -> None:
    concepts = inventory(world)
    for word_class, least in ((WordClass.NOUN, 0.1), (WordClass.VERB, 0.05), (WordClass.ADJECTIVE, 0.05)):
        ids = concepts.ranges[word_class]
        shares = []
        for domain in Domain:
            concept_BS = draw_meanings(world, count=20_000, seed=0, domain=domain).concept_BS
            counts = np.bincount(concept_BS[concept_BS >= 0], minlength=concepts.size)[ids]
            assert (counts > 0).all()
            shares.append(counts / counts.sum())
        distance = np.abs(shares[0] - shares[1]).sum() / 2
        assert least < distance < 0.5


@settings(max_examples=30)
@given(
    nouns=st.integers(1, 60),
    verbs=st.integers(1, 9),
    adjectives=st.integers(1, 9),
    people=st.integers(2, 9),
    topics=st.integers(1, 3),
    count=st.integers(0, 40),
)
def test_any_world_can_be_talked_about(
    nouns: int, verbs: int, adjectives: int, people: int, topics: int, count: int
) -> None:
    small = World(nouns=nouns, verbs=verbs, adjectives=adjectives, people=people, topics=topics)
    lines = realise(draw_meanings(small, count=count, seed=0), SyntheticLanguage(name="x"), world=small)
    assert len(lines) == count
    assert all(line.endswith(" .") for line in lines)


@pytest.mark.parametrize(("knob", "value"), [("nouns", 0), ("people", 1), ("topics", 0), ("seed", -1)])
def test_an_impossible_world_is_refused_by_its_knob(knob: str, value: int) -> None:
    with pytest.raises(IsoglotError, match=f"{knob} must be at least"):
        World(**{knob: value})
