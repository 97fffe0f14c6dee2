"""Made-up languages: every way in which one may differ from another, and the world they talk about."""

from dataclasses import dataclass
from enum import StrEnum

from isoglot.errors import IsoglotError


class WordOrder(StrEnum):
    """Order of subject, verb and object."""

    SVO = "svo"
    SOV = "sov"
    VSO = "vso"


class Side(StrEnum):
    """Whether a dependent word stands before or after its head noun."""

    BEFORE = "before"
    AFTER = "after"


class Script(StrEnum):
    """The letters a made-up language is written in."""

    LATIN = "latin"
    CYRILLIC = "cyrillic"
    GREEK = "greek"
    HAN = "han"


class Morphology(StrEnum):
    """Bare stems; or suffixes for number on nouns and tense on verbs; or these and case suffixes on nouns as well."""

    NONE = "none"
    SUFFIXES = "suffixes"
    CASES = "cases"


@dataclass(frozen=True, kw_only=True)
class SyntheticLanguage:
    """A made-up language: every way in which it may differ from another one over the same world of meanings."""

    name: str
    order: WordOrder = WordOrder.SVO
    adjectives: Side = Side.BEFORE
    adpositions: Side = Side.BEFORE
    """Before the noun: prepositions; after: postpositions."""
    script: Script = Script.LATIN
    morphology: Morphology = Morphology.NONE
    cognates: float = 0.0
    """Share of nouns, verbs and adjectives spelled as in the family's common stock."""
    shared_names: float = 1.0
    """Share of names of people, places and organisations spelled as in the common stock."""
    shared_symbols: bool = True
    """Whether digits and punctuation are the common ones."""
    other_topics: float = 0.0
    """Share of its text that is about the topics of the other domain: 0 is the main domain, 1 the other."""

    def __post_init__(self) -> None:
        if not self.name:
            raise IsoglotError("a synthetic language needs a name that is not empty")
        for knob in ("cognates", "shared_names", "other_topics"):
            if not 0 <= getattr(self, knob) <= 1:
                raise IsoglotError(f"language {self.name!r}: {knob} is a share from 0 to 1, not {getattr(self, knob)}")


CONCEPT_COUNTS = ("nouns", "verbs", "adjectives", "adpositions", "determiners", "places", "organisations", "numbers")


@dataclass(frozen=True, kw_only=True)
class World:
    """A world of meanings that several synthetic languages talk about."""

    seed: int = 0
    nouns: int = 40
    verbs: int = 20
    adjectives: int = 20
    adpositions: int = 6
    determiners: int = 2
    people: int = 10
    """Half of them given names and half family names."""
    places: int = 10
    organisations: int = 10
    numbers: int = 8
    topics: int = 4
    topic_strength: float = 1.0
    """Topics multiply each word's likelihood by exp of this times a standard normal number."""
    zipf_exponent: float = 1.2
    """How steeply the frequency of words falls with their rank."""
    latent_dimensions: int = 4
    """Selectional preferences: p(word | head) grows with exp of the dot product of their latent vectors."""
    latent_scale: float = 2.5
    latent_falloff: float = 0.7
    """Scale of latent dimension i is latent_scale * latent_falloff ** i."""

    def __post_init__(self) -> None:
        least = dict.fromkeys(CONCEPT_COUNTS, 1) | {"people": 2, "topics": 1, "seed": 0, "latent_dimensions": 0}
        for knob, bound in least.items():
            if getattr(self, knob) < bound:
                raise IsoglotError(f"world: {knob} must be at least {bound}, not {getattr(self, knob)}")
