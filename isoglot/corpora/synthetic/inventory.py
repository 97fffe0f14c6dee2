"""The concepts of a world, and the slots of a sentence that they may fill."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from isoglot.study.synthetic_languages import World

# B = sentences, S = slots, P = noun phrases (subject, object, oblique), W = words of a noun phrase

Ids = NDArray[np.int64]
Flags = NDArray[np.bool_]
ABSENT = -1


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


class WordClass(StrEnum):
    """Concept ids run in this order, so that classes drawn from together are neighbours."""

    VERB = "verb"
    NOUN = "noun"
    GIVEN_NAME = "given name"
    PLACE = "place"
    ORGANISATION = "organisation"
    FAMILY_NAME = "family name"
    ADJECTIVE = "adjective"
    ADPOSITION = "adposition"
    DETERMINER = "determiner"
    NUMBER = "number"
    NEGATION = "negation"
    PUNCTUATION = "punctuation"


CONTENT = (WordClass.VERB, WordClass.NOUN, WordClass.ADJECTIVE)
NAMES = (WordClass.GIVEN_NAME, WordClass.PLACE, WordClass.ORGANISATION, WordClass.FAMILY_NAME)
SYMBOLS = (WordClass.NUMBER, WordClass.PUNCTUATION)


@dataclass(frozen=True, kw_only=True)
class Inventory:
    """All concepts; within a class they stand in order of falling frequency."""

    ranges: dict[WordClass, range]

    @property
    def size(self) -> int:
        return self.ranges[WordClass.PUNCTUATION].stop

    def span(self, first: WordClass, last: WordClass) -> range:
        """The ids of neighbouring classes, from the first to the last."""
        return range(self.ranges[first].start, self.ranges[last].stop)

    def class_of(self, concept: int) -> WordClass:
        return next(word_class for word_class, ids in self.ranges.items() if concept in ids)


@lru_cache(maxsize=16)
def inventory(world: World) -> Inventory:
    names = ((world.people + 1) // 2, world.places, world.organisations, world.people // 2)
    others = (world.adjectives, world.adpositions, world.determiners, world.numbers)
    # In the order of WordClass; there is one negation, and one punctuation mark.
    bounds = np.cumsum([0, world.verbs, world.nouns, *names, *others, 1, 1]).tolist()
    return Inventory(ranges={each: range(*ends) for each, ends in zip(WordClass, pairwise(bounds), strict=True)})


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


def slot(role: Role, part: Part) -> int:
    return 3 + role * len(Part) + part


def slots(part: Part) -> list[int]:
    """Where a part of a noun phrase stands in the subject, the object and the oblique."""
    return [slot(role, part) for role in Role]


RATE_S = np.concatenate(
    [
        [1, 0.15, 1],  # verb, negation, punctuation; then the parts of subject, object and oblique
        [0, 0.65, 0.15, 0.65, 1.0, 0.06, 0.5],
        [0, 0.65, 0.15, 0.65, 0.8, 0.06, 0.5],
        [1, 0.65, 0.15, 0.65, 0.6, 0.06, 0.5],
    ]
)
"""How often each slot is filled, given that the phrase it belongs to is there."""
NAMED_RATE = 0.09
"""The share of phrases headed by a name. With appositions, three sentences of ten have a name."""
LENGTHS = range(4, 17)


def draw_structures(random: np.random.Generator, *, count: int, lengths: range) -> tuple[Flags, Flags]:
    """present_BS, which slots are filled, and named_BP, which phrases are headed by a name."""
    present_BS, named_BP = proposed_structures(random, count=count)
    while True:
        longest_B = present_BS.sum(1)
        # The length must be right without family names as well: names of places will turn out to have none.
        shortest_B = longest_B - present_BS[:, slots(Part.FAMILY_NAME)].sum(1)
        odd = np.flatnonzero((shortest_B < lengths.start) | (longest_B >= lengths.stop))
        if not len(odd):
            return present_BS, named_BP
        present_BS[odd], named_BP[odd] = proposed_structures(random, count=len(odd))


def proposed_structures(random: np.random.Generator, *, count: int) -> tuple[Flags, Flags]:
    present_BS = random.random((count, NUM_SLOTS)) < RATE_S
    named_BP = random.random((count, len(Role))) < NAMED_RATE
    for role in Role:
        phrase_BW = present_BS[:, slot(role, Part.ADPOSITION) : slot(role, Part.FAMILY_NAME) + 1]
        phrase_BW &= phrase_BW[:, [Part.HEAD]]
        phrase_BW[:, [Part.DETERMINER, Part.NUMBER, Part.ADJECTIVE, Part.NAME]] &= ~named_BP[:, [role]]
        phrase_BW[:, Part.FAMILY_NAME] &= phrase_BW[:, Part.NAME] | named_BP[:, role]
    return present_BS, named_BP
