import numpy as np
import pytest

from isoglot.corpora.synthetic.inventory import ABSENT, WordClass, inventory
from isoglot.corpora.synthetic.meanings import antonyms, hypernyms, latents
from isoglot.study.synthetic_languages import World


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
