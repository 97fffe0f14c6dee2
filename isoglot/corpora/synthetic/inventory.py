"""The concepts of a world, and the slots of a sentence that they may fill."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from isoglot.study.synthetic_languages import World

# B = sentences, S = slots, P = noun phrases (subject, object, oblique), W = words of a noun phrase


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


Ids = NDArray[np.int64]
ABSENT = -1


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

    @property
    def negation(self) -> int:
        return self.ranges[WordClass.NEGATION].start

    @property
    def punctuation(self) -> int:
        return self.ranges[WordClass.PUNCTUATION].start


@lru_cache(maxsize=16)
def inventory(world: World) -> Inventory:
    counts = {
        WordClass.VERB: world.verbs,
        WordClass.NOUN: world.nouns,
        WordClass.GIVEN_NAME: (world.people + 1) // 2,
        WordClass.PLACE: world.places,
        WordClass.ORGANISATION: world.organisations,
        WordClass.FAMILY_NAME: world.people // 2,
        WordClass.ADJECTIVE: world.adjectives,
        WordClass.ADPOSITION: world.adpositions,
        WordClass.DETERMINER: world.determiners,
        WordClass.NUMBER: world.numbers,
        WordClass.NEGATION: 1,
        WordClass.PUNCTUATION: 1,
    }
    stops = np.cumsum(list(counts.values())).tolist()
    return Inventory(ranges={c: range(stop - n, stop) for (c, n), stop in zip(counts.items(), stops, strict=True)})


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
"""The share of phrases headed by a name. With appositions, three sentences of ten have a name."""
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
