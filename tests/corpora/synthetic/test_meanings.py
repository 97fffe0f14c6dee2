import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from isoglot.corpora.synthetic import realise
from isoglot.corpora.synthetic.inventory import ABSENT, VERB, Part, Role, WordClass, inventory, slot
from isoglot.corpora.synthetic.meanings import antonyms, draw_meanings, hypernyms, latents, preferences, topic_shares
from isoglot.study.conditions import Domain
from isoglot.study.synthetic_languages import SyntheticLanguage, World


def test_bytes_are_the_same_on_every_machine(world: World) -> None:
    meanings = draw_meanings(world, count=2_000, seed=5)
    text = "\n".join(realise(meanings, SyntheticLanguage(name="ela", cognates=0.3), world=world))
    digest = hashlib.sha256(text.encode()).hexdigest()
    assert digest == "4e2a4f6b2219742a6b80e7c7e245f0a9bd1b5b04dc2a6f429c15c927f6420655"


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


@settings(max_examples=8)
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


HEAD_AND_DEPENDENT = [
    (WordClass.NOUN, VERB, slot(Role.SUBJECT, Part.HEAD)),
    (WordClass.GIVEN_NAME, VERB, slot(Role.SUBJECT, Part.HEAD)),
    (WordClass.ADJECTIVE, slot(Role.OBJECT, Part.HEAD), slot(Role.OBJECT, Part.ADJECTIVE)),
    (WordClass.DETERMINER, slot(Role.OBLIQUE, Part.HEAD), slot(Role.OBLIQUE, Part.DETERMINER)),
    (WordClass.NUMBER, slot(Role.SUBJECT, Part.HEAD), slot(Role.SUBJECT, Part.NUMBER)),
    (WordClass.ADPOSITION, slot(Role.OBLIQUE, Part.HEAD), slot(Role.OBLIQUE, Part.ADPOSITION)),
    (WordClass.GIVEN_NAME, slot(Role.OBJECT, Part.HEAD), slot(Role.OBJECT, Part.NAME)),
]


def test_heads_differ_by_the_dot_product_of_latents(plain_world: World) -> None:
    noun = preferences(plain_world)[WordClass.NOUN]
    log_HW = np.log(noun.probability_THW[0])
    pull_HW = latents(plain_world)[noun.heads] @ latents(plain_world)[noun.dependents].T
    residual_HW = log_HW - pull_HW
    # What the pull leaves is a term for each head and a term for each dependent.
    additive_HW = residual_HW.mean(1, keepdims=True) + residual_HW.mean(0) - residual_HW.mean()
    np.testing.assert_allclose(residual_HW, additive_HW, atol=1e-8)


@pytest.mark.parametrize(("word_class", "head", "dependent"), HEAD_AND_DEPENDENT)
def test_drawn_dependents_follow_the_table(
    plain_world: World, word_class: WordClass, head: int, dependent: int
) -> None:
    preference = preferences(plain_world)[word_class]
    concept_BS = draw_meanings(plain_world, count=60_000, seed=1).concept_BS
    heads, dependents = concept_BS[:, head], concept_BS[:, dependent]
    commonest = np.bincount(heads[np.isin(heads, preference.heads)]).argmax()
    drawn = dependents[(heads == commonest) & np.isin(dependents, preference.dependents)]
    observed = np.bincount(drawn - preference.dependents.start, minlength=len(preference.dependents))
    expected = preference.probability_THW[0, commonest - preference.heads.start] * len(drawn)
    frequent = expected >= 5
    observed, expected = (np.append(x[frequent], x[~frequent].sum()) for x in (observed, expected))
    assert chisquare(observed[expected > 0], expected[expected > 0]).pvalue > 1e-4


def test_verbs_follow_the_topics_of_their_domain(world: World) -> None:
    verb_TV = preferences(world)[WordClass.VERB].probability_THW[:, 0]
    for domain in Domain:
        verbs = draw_meanings(world, count=20_000, seed=2, domain=domain).concept_BS[:, VERB]
        expected = topic_shares(world, domain=domain) @ verb_TV * len(verbs)
        assert chisquare(np.bincount(verbs, minlength=len(expected)), expected).pvalue > 1e-4


@pytest.mark.parametrize("adjectives", [1, 2, 7, 20])
def test_antonyms_pair_up_adjectives(adjectives: int) -> None:
    world = World(adjectives=adjectives)
    antonym_C = antonyms(world)
    ids = inventory(world).ranges[WordClass.ADJECTIVE]
    paired = [concept for concept in range(len(antonym_C)) if antonym_C[concept] != ABSENT]
    assert len(paired) == adjectives - adjectives % 2
    assert all(concept in ids and antonym_C[concept] in ids for concept in paired)
    assert all(antonym_C[concept] != concept and antonym_C[antonym_C[concept]] == concept for concept in paired)


def test_nouns_fall_under_the_general_noun_most_like_them(world: World) -> None:
    hypernym_C, latent_CD = hypernyms(world), latents(world)
    nouns = inventory(world).ranges[WordClass.NOUN]
    general = [noun for noun in nouns if hypernym_C[noun] == ABSENT]
    assert len(general) == len(nouns) // 5
    for noun in set(nouns) - set(general):
        distances = [np.linalg.norm(latent_CD[noun] - latent_CD[each]) for each in general]
        assert hypernym_C[noun] == general[int(np.argmin(distances))]
    assert all(hypernym_C[concept] == ABSENT for concept in range(len(hypernym_C)) if concept not in nouns)
