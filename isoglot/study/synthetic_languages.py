"""Made-up languages: every way in which one may differ from another, and the world they talk about."""

from dataclasses import dataclass, fields
from enum import StrEnum

from isoglot.study.toml_tables import (
    Count,
    CountOrZero,
    FileKey,
    Seed,
    Share,
    Table,
    TwoOrMore,
    UpToTen,
    check_keys,
    checked,
    made_from,
)


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
    adpositions: Side = Side.BEFORE  # before the noun: prepositions; after: postpositions
    script: Script = Script.LATIN
    morphology: Morphology = Morphology.NONE
    cognates: Share = 0.0  # share of nouns, verbs and adjectives spelled as in the family's common stock
    shared_names: Share = 1.0  # share of names of people, places and organisations spelled as in the common stock
    shared_symbols: bool = True  # whether digits and punctuation are the common ones
    # Share of its text that is about the topics of the other domain: 0 is the main domain, 1 the other.
    other_topics: Share = 0.0


@dataclass(frozen=True, kw_only=True)
class World:
    """A world of meanings that several synthetic languages talk about."""

    seed: Seed = 0  # another seed gives another world
    nouns: Count = 40  # how many there are
    verbs: Count = 20  # how many there are
    adjectives: Count = 20  # how many there are
    adpositions: Count = 6  # how many there are
    determiners: Count = 2  # how many there are
    people: TwoOrMore = 10  # half of them given names and half family names
    places: Count = 10  # how many names there are
    organisations: Count = 10  # how many names there are
    numbers: Count = 8  # how many there are
    topics: Count = 4  # what a sentence may be about; each favours other words
    # Topics multiply each word's likelihood by exp of this times a standard normal number.
    topic_strength: UpToTen = 1.0
    zipf_exponent: UpToTen = 1.2  # how steeply the frequency of words falls with their rank
    # Selectional preferences: p(word | head) grows with exp of the dot product of their latent vectors.
    latent_dimensions: CountOrZero = 4
    latent_scale: UpToTen = 2.5  # how strong selectional preferences are; 0 is none
    latent_falloff: Share = 0.7  # scale of latent dimension i is latent_scale * latent_falloff ** i


@dataclass(frozen=True, kw_only=True)
class Synthetic:
    """Made-up text: a world, the languages that talk about it, and how much each of them says."""

    world: World
    languages: tuple[SyntheticLanguage, ...]
    sentences: TwoOrMore  # training text of each language, drawn apart
    parallel_sentences: TwoOrMore = 500  # sentences in every language, apart from the training text, to score retrieval
    mapping_sentences: TwoOrMore = 1000  # others, to fit maps between models on and to compare models by
    train_examples: TwoOrMore = 6000  # labelled, of each task; these are the source's alone
    dev_examples: TwoOrMore = 500  # labelled, in the source language, to choose settings and epochs by
    test_examples: TwoOrMore = 1000  # labelled, the same meanings in every language

    def language(self, name: str) -> SyntheticLanguage:
        return next(language for language in self.languages if language.name == name)


def parse_synthetic(table: Table, *, languages: tuple[str, ...], place: FileKey) -> Synthetic:
    """The table [synthetic] of a study file."""
    synthetic = checked(table["synthetic"], dict, place=place)
    of_world = [field.name for field in fields(World)]
    amounts = [field.name for field in fields(Synthetic) if field.name not in ("world", "languages")]
    check_keys(synthetic, ("languages", *amounts, *of_world), place=place)
    at_languages = place.at("languages")
    tables = checked(synthetic.get("languages", {}), dict, place=at_languages)
    check_keys(tables, languages, place=at_languages, problem="this language is not in languages,")
    made_up = []
    for name in languages:
        place_of_table = at_languages.at(name)
        if name not in tables:
            problem = f"{name!r} has no text; write the table [{place_of_table.key}], empty to take every default"
            raise place_of_table.error(problem)
        own = checked(tables[name], dict, place=place_of_table)
        made_up.append(made_from(own, SyntheticLanguage, place=place_of_table, name=name))
    return made_from(
        {key: synthetic[key] for key in amounts if key in synthetic},
        Synthetic,
        place=place,
        world=made_from({key: synthetic[key] for key in of_world if key in synthetic}, World, place=place),
        languages=tuple(made_up),
    )
