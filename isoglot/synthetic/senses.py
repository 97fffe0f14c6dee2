"""How the senses of words bear on each other: which noun is the hypernym of which, which adjectives are antonyms."""

# C = concepts, N = nouns, G = general nouns, D = latent dimensions
from functools import lru_cache

import numpy as np

from isoglot.study.synthetic_languages import World
from isoglot.synthetic.inventory import ABSENT, Ids, WordClass, inventory
from isoglot.synthetic.preferences import latents

NOUNS_PER_HYPERNYM = 5


@lru_cache(maxsize=16)
def hypernyms(world: World) -> Ids:
    """hypernym_C: every fifth noun is general and has none; any other falls under the general noun most like it."""
    nouns = inventory(world).ranges[WordClass.NOUN]
    latent_ND = latents(world)[nouns.start : nouns.stop]
    distance_NG = np.square(latent_ND[:, None] - latent_ND[None, ::NOUNS_PER_HYPERNYM]).sum(-1)
    hypernym_C = np.full(inventory(world).size, ABSENT)
    hypernym_C[nouns] = nouns.start + distance_NG.argmin(1) * NOUNS_PER_HYPERNYM
    hypernym_C[nouns[::NOUNS_PER_HYPERNYM]] = ABSENT
    return hypernym_C


@lru_cache(maxsize=16)
def antonyms(world: World) -> Ids:
    """antonym_C: adjectives pair up with the next in frequency, as warm does with cold; other words have none."""
    adjectives = inventory(world).ranges[WordClass.ADJECTIVE]
    num_paired = len(adjectives) // 2 * 2
    first, second = adjectives[:num_paired:2], adjectives[1:num_paired:2]
    antonym_C = np.full(inventory(world).size, ABSENT)
    antonym_C[first], antonym_C[second] = second, first
    return antonym_C
