"""Small changes to a meaning whose bearing on its truth is known."""

from collections.abc import Iterator
from enum import IntEnum

import numpy as np

from isoglot.corpora.synthetic.inventory import ABSENT, Ids, WordClass, inventory
from isoglot.corpora.synthetic.meanings import Meanings, antonyms, hypernyms
from isoglot.corpora.synthetic.structures import LENGTHS, Flags, Part, Role, slot
from isoglot.randomness import derived_seed
from isoglot.study.synthetic_languages import World

# B = sentences, S = slots, P = noun phrases


HEADS = [slot(role, Part.HEAD) for role in Role]
ADJECTIVES = [slot(role, Part.ADJECTIVE) for role in Role]
SUBJECT, OBJECT, OBLIQUE = ([slot(role, part) for part in Part] for role in Role)


class Edit(IntEnum):
    """What is done to a meaning; the first four leave something that follows from it."""

    NONE = 0
    DROP_ADJECTIVE = 1
    DROP_OBLIQUE = 2
    HYPERNYM = 3
    ANTONYM = 4
    OTHER_ADJECTIVE = 5
    SWAP_SUBJECT_AND_OBJECT = 6


def edited(meanings: Meanings, edit_B: Ids, *, random: np.random.Generator, world: World) -> tuple[Meanings, Flags]:
    """The changed meanings, and for which of them the edit was possible."""
    concept_BS, plural_BP = meanings.concept_BS.copy(), meanings.plural_BP.copy()
    for edit, slots, new_BP, possible_BP in substitutions(meanings, random=random, world=world):
        phrase_B = (possible_BP * random.random(possible_BP.shape)).argmax(1)
        rows = np.flatnonzero((edit_B == edit) & possible_BP.any(1))
        concept_BS[rows, np.array(slots)[phrase_B[rows]]] = new_BP[rows, phrase_B[rows]]
    concept_BS[np.ix_(edit_B == Edit.DROP_OBLIQUE, OBLIQUE)] = ABSENT
    subject_B, object_B = concept_BS[:, slot(Role.SUBJECT, Part.HEAD)], concept_BS[:, slot(Role.OBJECT, Part.HEAD)]
    swap_B = (edit_B == Edit.SWAP_SUBJECT_AND_OBJECT) & (object_B != ABSENT) & (object_B != subject_B)
    concept_BS[np.ix_(swap_B, SUBJECT + OBJECT)] = concept_BS[np.ix_(swap_B, OBJECT + SUBJECT)]
    plural_BP[np.ix_(swap_B, [Role.SUBJECT, Role.OBJECT])] = plural_BP[np.ix_(swap_B, [Role.OBJECT, Role.SUBJECT])]
    done_B: Flags = (edit_B == Edit.NONE) | (concept_BS != meanings.concept_BS).any(1)
    return Meanings(concept_BS=concept_BS, plural_BP=plural_BP, past_B=meanings.past_B), done_B


def substitutions(
    meanings: Meanings, *, random: np.random.Generator, world: World
) -> Iterator[tuple[Edit, list[int], Ids, Flags]]:
    """Edits of one word: the slots it may stand in, what would replace each, and where that is possible."""
    adjective_BP = meanings.concept_BS[:, ADJECTIVES]
    hypernym_BP = hypernyms(world)[meanings.concept_BS[:, HEADS]]
    antonym_BP = antonyms(world)[adjective_BP]
    # Drawn from the text itself, so that an adjective's frequency does not tell that it was put in.
    other_BP = random.choice(adjective_BP[adjective_BP != ABSENT], size=adjective_BP.shape)
    is_other_BP = (adjective_BP != ABSENT) & (other_BP != adjective_BP)
    yield Edit.DROP_ADJECTIVE, ADJECTIVES, np.full_like(adjective_BP, ABSENT), adjective_BP != ABSENT
    yield Edit.HYPERNYM, HEADS, hypernym_BP, hypernym_BP != ABSENT
    yield Edit.ANTONYM, ADJECTIVES, antonym_BP, antonym_BP != ABSENT
    yield Edit.OTHER_ADJECTIVE, ADJECTIVES, other_BP, is_other_BP


# B = sentences, S = slots, P = noun phrases, C = concepts


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
