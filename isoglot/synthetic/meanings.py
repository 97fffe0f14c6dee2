"""Meanings: what sentences say, before any language puts it into words."""

# B = sentences, S = slots, P = noun phrases (subject, object, oblique)
from dataclasses import dataclass

import numpy as np

from isoglot.study.conditions import Domain
from isoglot.study.synthetic_languages import World
from isoglot.synthetic.inventory import ABSENT, Ids, WordClass, inventory
from isoglot.synthetic.preferences import Preference, preferences, topic_shares
from isoglot.synthetic.seeding import Purpose, generator
from isoglot.synthetic.structures import LENGTHS, NEGATION, PUNCTUATION, VERB, Flags, Part, Role, draw_structures, slot

PLURAL_RATE = 0.3
PAST_RATE = 0.4


@dataclass(frozen=True, kw_only=True)
class Meanings:
    """A batch of clauses: which concept fills each slot, which phrases are plural, which clauses are in the past."""

    concept_BS: Ids
    plural_BP: Flags
    past_B: Flags

    def __len__(self) -> int:
        return len(self.concept_BS)

    def __getitem__(self, rows: slice | Ids | Flags) -> "Meanings":
        return Meanings(concept_BS=self.concept_BS[rows], plural_BP=self.plural_BP[rows], past_B=self.past_B[rows])


def draw_meanings(world: World, *, count: int, seed: int, domain: Domain = Domain.MAIN) -> Meanings:
    """The same meanings for the same arguments, on every machine; other seeds give other meanings of the same world."""
    random = generator(world, Purpose.MEANINGS, seed, list(Domain).index(domain))
    return meanings_from(random, world=world, count=count, domain=domain)


def meanings_from(
    random: np.random.Generator, *, world: World, count: int, domain: Domain, lengths: range = LENGTHS
) -> Meanings:
    """Structures first, then the concepts that fill them, then what inflection may show."""
    present_BS, named_BP = draw_structures(random, count=count, lengths=lengths)
    concept_BS = draw_concepts(random, present_BS, named_BP=named_BP, world=world, domain=domain)
    plural_BP = random.random((count, len(Role))) < PLURAL_RATE
    number_BP = concept_BS[:, [slot(role, Part.NUMBER) for role in Role]]
    one = inventory(world).ranges[WordClass.NUMBER].start
    plural_BP = np.where(number_BP == ABSENT, plural_BP, number_BP != one)
    return Meanings(concept_BS=concept_BS, plural_BP=plural_BP, past_B=random.random(count) < PAST_RATE)


def draw_concepts(
    random: np.random.Generator, present_BS: Flags, *, named_BP: Flags, world: World, domain: Domain
) -> Ids:
    """Fill the present slots from the verb down, each given its head and the topic of the sentence."""
    prefer = preferences(world)
    modifiers = {
        Part.ADPOSITION: prefer.adposition,
        Part.DETERMINER: prefer.determiner,
        Part.NUMBER: prefer.number,
        Part.ADJECTIVE: prefer.adjective,
        Part.NAME: prefer.name,
    }
    persons = inventory(world).ranges[WordClass.GIVEN_NAME]
    topic_B = random.choice(world.topics, size=len(present_BS), p=topic_shares(world, domain=domain))
    concept_BS = np.full(present_BS.shape, ABSENT)

    def fill(target: int, preference: Preference, *, head_B: Ids, where_B: Flags) -> None:
        rows = np.flatnonzero(where_B & present_BS[:, target])
        uniform = random.random(len(rows))
        concept_BS[rows, target] = preference.draw(uniform, topics=topic_B[rows], heads=head_B[rows])

    always_B = np.ones(len(present_BS), dtype=np.bool_)
    fill(VERB, prefer.verb, head_B=np.zeros_like(topic_B), where_B=always_B)
    verb_B = concept_BS[:, VERB]
    for role in Role:
        named_B, head = named_BP[:, role], slot(role, Part.HEAD)
        fill(head, prefer.noun, head_B=verb_B, where_B=~named_B)
        fill(head, prefer.name, head_B=verb_B, where_B=named_B)
        for part, preference in modifiers.items():
            fill(slot(role, part), preference, head_B=concept_BS[:, head], where_B=always_B)
        name_B = concept_BS[np.arange(len(concept_BS)), np.where(named_B, head, slot(role, Part.NAME))]
        person_B = (name_B >= persons.start) & (name_B < persons.stop)
        fill(slot(role, Part.FAMILY_NAME), prefer.family_name, head_B=name_B, where_B=person_B)
    concept_BS[present_BS[:, NEGATION], NEGATION] = inventory(world).negation
    concept_BS[:, PUNCTUATION] = inventory(world).punctuation
    return concept_BS
