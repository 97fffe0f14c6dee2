"""The same said in other words of the same language, as a translation and its translation back say it."""

# B = sentences, S = slots, P = noun phrases, C = concepts
import numpy as np

from isoglot.randomness import derived_seed
from isoglot.study.synthetic_languages import World
from isoglot.synthetic.edits import ADJECTIVES, HEADS
from isoglot.synthetic.inventory import ABSENT, WordClass, inventory
from isoglot.synthetic.meanings import Meanings
from isoglot.synthetic.senses import hypernyms
from isoglot.synthetic.structures import LENGTHS, Part, Role, slot

DETERMINERS = [slot(role, Part.DETERMINER) for role in Role]

OTHER_DETERMINER_RATE = 0.5
HYPERNYM_RATE = 0.3
DROPPED_ADJECTIVE_RATE = 0.15


def paraphrased(meanings: Meanings, *, world: World, seed: int) -> Meanings:
    """Some determiners exchanged, some nouns made general, some adjectives dropped; the same for the same arguments."""
    random = np.random.Generator(np.random.PCG64(derived_seed(world.seed, "paraphrases", seed)))
    concept_BS = meanings.concept_BS.copy()
    shape_BP = (len(meanings), len(Role))

    determiners = inventory(world).ranges[WordClass.DETERMINER]
    determiner_BP = concept_BS[:, DETERMINERS]
    step_BP = random.integers(1, max(len(determiners), 2), size=shape_BP)
    other_BP = determiners.start + (determiner_BP - determiners.start + step_BP) % len(determiners)
    exchanged_BP = (random.random(shape_BP) < OTHER_DETERMINER_RATE) & (determiner_BP != ABSENT)
    concept_BS[:, DETERMINERS] = np.where(exchanged_BP, other_BP, determiner_BP)

    hypernym_BP = hypernyms(world)[concept_BS[:, HEADS]]
    general_BP = (random.random(shape_BP) < HYPERNYM_RATE) & (hypernym_BP != ABSENT)
    concept_BS[:, HEADS] = np.where(general_BP, hypernym_BP, concept_BS[:, HEADS])

    dropped_BP = (random.random(shape_BP) < DROPPED_ADJECTIVE_RATE) & (concept_BS[:, ADJECTIVES] != ABSENT)
    is_long_B = (concept_BS != ABSENT).sum(1) - dropped_BP.sum(1) >= LENGTHS.start
    dropped_BP &= is_long_B[:, None]
    concept_BS[:, ADJECTIVES] = np.where(dropped_BP, ABSENT, concept_BS[:, ADJECTIVES])
    return Meanings(concept_BS=concept_BS, plural_BP=meanings.plural_BP, past_B=meanings.past_B)
