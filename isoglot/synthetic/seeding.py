"""Random numbers that depend on the world and on what they are for, and on nothing else."""

from enum import IntEnum

import numpy as np

from isoglot.study.synthetic_languages import World


class Purpose(IntEnum):
    """Each purpose draws from a stream of its own, so that a change in one leaves the others as they were."""

    LATENTS = 0
    TOPICS = 1
    MEANINGS = 2
    FORMS = 3
    SUFFIXES = 4
    ENTAILMENT = 5
    ENTAILMENT_ORDER = 6


def generator(world: World, purpose: Purpose, *key: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(world.seed, spawn_key=(purpose, *key))))
