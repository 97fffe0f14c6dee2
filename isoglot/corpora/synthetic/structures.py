"""The skeleton of a sentence: one slot for every word that could be there, and which of them are filled."""

# B = sentences, S = slots, P = noun phrases (subject, object, oblique), W = words of a noun phrase
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

Flags = NDArray[np.bool_]


class Role(IntEnum):
    """The noun phrases of a clause."""

    SUBJECT = 0
    OBJECT = 1
    OBLIQUE = 2


class Part(IntEnum):
    """The words of a noun phrase; its head is a noun, or a name that stands for itself."""

    ADPOSITION = 0
    DETERMINER = 1
    NUMBER = 2
    ADJECTIVE = 3
    HEAD = 4
    NAME = 5
    """A name in apposition to the noun."""
    FAMILY_NAME = 6
    """Follows a person's given name, whether that is the head or an apposition."""


VERB, NEGATION, PUNCTUATION = 0, 1, 2
NUM_SLOTS = 3 + len(Role) * len(Part)

PHRASE_RATE = {Role.SUBJECT: 1.0, Role.OBJECT: 0.8, Role.OBLIQUE: 0.6}
PART_RATE = {Part.DETERMINER: 0.65, Part.NUMBER: 0.15, Part.ADJECTIVE: 0.65, Part.NAME: 0.06, Part.FAMILY_NAME: 0.5}
NAMED_RATE = 0.09
"""Of phrases headed by a name. With appositions this puts a name into three sentences of ten."""
NEGATION_RATE = 0.15
LENGTHS = range(4, 17)


def slot(role: Role, part: Part) -> int:
    return 3 + role * len(Part) + part


def draw_structures(random: np.random.Generator, *, count: int, lengths: range) -> tuple[Flags, Flags]:
    """present_BS, which slots are filled, and named_BP, which phrases are headed by a name."""
    present_BS, named_BP = proposed_structures(random, count=count)
    while len(odd := np.flatnonzero(~is_within(lengths, present_BS))):
        present_BS[odd], named_BP[odd] = proposed_structures(random, count=len(odd))
    return present_BS, named_BP


def proposed_structures(random: np.random.Generator, *, count: int) -> tuple[Flags, Flags]:
    """Structures of any length."""
    present_BS = random.random((count, NUM_SLOTS)) < slot_rates()
    named_BP = random.random((count, len(Role))) < NAMED_RATE
    for role in Role:
        phrase_BW = present_BS[:, slot(role, Part.ADPOSITION) : slot(role, Part.FAMILY_NAME) + 1]
        phrase_BW &= phrase_BW[:, [Part.HEAD]]
        phrase_BW[:, [Part.DETERMINER, Part.NUMBER, Part.ADJECTIVE, Part.NAME]] &= ~named_BP[:, [role]]
        phrase_BW[:, Part.FAMILY_NAME] &= phrase_BW[:, Part.NAME] | named_BP[:, role]
    return present_BS, named_BP


def is_within(lengths: range, present_BS: Flags) -> Flags:
    """Whether the length is allowed with the family names and without: names of places will turn out to have none."""
    longest_B = present_BS.sum(1)
    shortest_B = longest_B - present_BS[:, [slot(role, Part.FAMILY_NAME) for role in Role]].sum(1)
    within_B: Flags = (shortest_B >= lengths.start) & (longest_B < lengths.stop)
    return within_B


def slot_rates() -> NDArray[np.float64]:
    """rate_S: how often each slot is filled, given that the phrase it belongs to is there."""
    rate_S = np.ones(NUM_SLOTS)
    rate_S[NEGATION] = NEGATION_RATE
    for role in Role:
        rate_S[slot(role, Part.ADPOSITION)] = role is Role.OBLIQUE
        rate_S[slot(role, Part.HEAD)] = PHRASE_RATE[role]
        for part, rate in PART_RATE.items():
            rate_S[slot(role, part)] = rate
    return rate_S
