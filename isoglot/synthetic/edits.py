"""Small changes to a meaning whose bearing on its truth is known."""

# B = sentences, S = slots, P = noun phrases
from collections.abc import Iterator
from enum import IntEnum

import numpy as np

from isoglot.study.synthetic_languages import World
from isoglot.synthetic.inventory import ABSENT, Ids
from isoglot.synthetic.meanings import Meanings
from isoglot.synthetic.senses import antonyms, hypernyms
from isoglot.synthetic.structures import Flags, Part, Role, slot

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
