"""The concepts of a world: which there are, and of which word class."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

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
