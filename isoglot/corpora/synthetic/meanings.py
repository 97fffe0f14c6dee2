"""Meanings: what sentences say, before any language puts it into words."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np
from numpy.typing import NDArray

from isoglot.corpora.synthetic.inventory import (
    ABSENT,
    LENGTHS,
    NEGATION,
    PUNCTUATION,
    VERB,
    Flags,
    Ids,
    Part,
    Purpose,
    Role,
    WordClass,
    draw_structures,
    generator,
    inventory,
    slot,
    slots,
)
from isoglot.study.conditions import Domain
from isoglot.study.synthetic_languages import World

# T = topics, C = concepts, H = heads, W = dependents, D = latent dimensions, N = nouns, G = general nouns,
# B = sentences, S = slots, P = noun phrases (subject, object, oblique)

Floats = NDArray[np.float64]
BALANCING_ROUNDS = 100


def latents(world: World) -> Floats:
    """latent_CD: where each concept stands in the space whose dot products are selectional preferences."""
    scale_D = world.latent_scale * world.latent_falloff ** np.arange(world.latent_dimensions)
    drawn_CD = generator(world, Purpose.LATENTS).standard_normal((inventory(world).size, world.latent_dimensions))
    return drawn_CD * scale_D


def zipf_weights(world: World) -> Floats:
    """weight_C: falls with the rank of a concept in its class."""
    ranks = [np.arange(1, len(ids) + 1) for ids in inventory(world).ranges.values()]
    return np.concatenate(ranks).astype(np.float64) ** -world.zipf_exponent


def topic_tilts(world: World) -> Floats:
    """tilt_TC: by how much a topic makes each concept more or less likely."""
    drawn_TC = generator(world, Purpose.TOPICS).standard_normal((world.topics, inventory(world).size))
    return np.exp(world.topic_strength * drawn_TC)


def topic_shares(world: World, *, domain: Domain) -> Floats:
    """share_T: the main domain's topics halve in frequency one after another; the other domain's double."""
    weight_T: Floats = np.exp2(-np.arange(world.topics, dtype=np.float64))
    share_T: Floats = weight_T / weight_T.sum()
    return share_T if domain is Domain.MAIN else np.flip(share_T)


@dataclass(frozen=True, kw_only=True)
class Preference:
    """p(dependent | head, topic) of a span of dependents for a span of heads."""

    heads: range
    dependents: range
    probability_THW: Floats
    stairs: Floats
    """All cumulative distributions end to end, each one step above the last, so one sorted search draws from all."""

    @classmethod
    def of(cls, untilted_HW: Floats, tilt_TC: Floats, *, heads: range, dependents: range) -> Self:
        weight_THW = untilted_HW * tilt_TC[:, None, dependents]
        probability_THW = weight_THW / weight_THW.sum(-1, keepdims=True)
        cumulative_RW = probability_THW.cumsum(-1).reshape(-1, len(dependents))
        cumulative_RW[:, -1] = 1.0
        stairs = (cumulative_RW + np.arange(len(cumulative_RW))[:, None]).ravel()
        return cls(heads=heads, dependents=dependents, probability_THW=probability_THW, stairs=stairs)

    def draw(self, uniform: Floats, *, topics: Ids, heads: Ids) -> Ids:
        """One dependent for each head, by inverting its cumulative distribution at a uniform number."""
        rows = topics * len(self.heads) + heads - self.heads.start
        steps = np.searchsorted(self.stairs, rows + uniform, side="right") - rows * len(self.dependents)
        # A uniform number next to 1 may round up to the next row's first step.
        return self.dependents.start + np.minimum(steps, len(self.dependents) - 1)


def zipfian_conditional(pull_HW: Floats, *, head_H: Floats, dependent_W: Floats) -> Floats:
    """p(W | H) in proportion to f(W) exp(pull), with f such that running text has the dependents' own frequencies.

    Taking those frequencies for f itself would let a few words with long latent vectors crowd out all others.
    """
    attraction_HW = np.exp(pull_HW - pull_HW.max(-1, keepdims=True))
    conditional_HW: Floats = dependent_W * attraction_HW
    for _ in range(BALANCING_ROUNDS):
        conditional_HW *= dependent_W / (head_H[:, None] * conditional_HW).sum(0)
        conditional_HW /= conditional_HW.sum(-1, keepdims=True)
    return conditional_HW


@lru_cache(maxsize=16)
def preferences(world: World) -> dict[WordClass, Preference]:
    """The heads of every word class. Given names stand for all names; the only head of verbs is the root."""
    of, span = inventory(world).ranges, inventory(world).span
    verbs, nouns, names = of[WordClass.VERB], of[WordClass.NOUN], span(WordClass.GIVEN_NAME, WordClass.ORGANISATION)
    heads_and_dependents = {
        WordClass.NOUN: (verbs, nouns),
        WordClass.GIVEN_NAME: (span(WordClass.VERB, WordClass.NOUN), names),
        WordClass.FAMILY_NAME: (of[WordClass.GIVEN_NAME], of[WordClass.FAMILY_NAME]),
        WordClass.ADJECTIVE: (nouns, of[WordClass.ADJECTIVE]),
        WordClass.NUMBER: (nouns, of[WordClass.NUMBER]),
        WordClass.DETERMINER: (nouns, of[WordClass.DETERMINER]),
        WordClass.ADPOSITION: (span(WordClass.NOUN, WordClass.ORGANISATION), of[WordClass.ADPOSITION]),
    }
    latent_CD, weight_C, tilt_TC = latents(world), zipf_weights(world), topic_tilts(world)
    preferences = {WordClass.VERB: Preference.of(weight_C[None, verbs], tilt_TC, heads=range(1), dependents=verbs)}
    for word_class, (heads, dependents) in heads_and_dependents.items():
        untilted_HW = zipfian_conditional(
            (latent_CD[heads, None] * latent_CD[None, dependents]).sum(-1),
            head_H=weight_C[heads] / weight_C[heads].sum(),
            dependent_W=weight_C[dependents] / weight_C[dependents].sum(),
        )
        preferences[word_class] = Preference.of(untilted_HW, tilt_TC, heads=heads, dependents=dependents)
    return preferences


NOUNS_PER_HYPERNYM = 5


@lru_cache(maxsize=16)
def hypernyms(world: World) -> Ids:
    """hypernym_C: every fifth noun is general and has none; any other falls under the general noun most like it."""
    nouns = inventory(world).ranges[WordClass.NOUN]
    latent_ND = latents(world)[nouns.start : nouns.stop]
    distance_NG = np.square(latent_ND[:, None] - latent_ND[None, ::NOUNS_PER_HYPERNYM]).sum(-1)
    hypernym_C = np.full(inventory(world).size, ABSENT)
    hypernym_C[nouns] = nouns.start + distance_NG.argmin(1) * NOUNS_PER_HYPERNYM
    hypernym_C[nouns[::NOUNS_PER_HYPERNYM]] = ABSENT
    return hypernym_C


@lru_cache(maxsize=16)
def antonyms(world: World) -> Ids:
    """antonym_C: adjectives pair up with the next in frequency, as warm does with cold; other words have none."""
    adjectives = inventory(world).ranges[WordClass.ADJECTIVE]
    num_paired = len(adjectives) // 2 * 2
    first, second = adjectives[:num_paired:2], adjectives[1:num_paired:2]
    antonym_C = np.full(inventory(world).size, ABSENT)
    antonym_C[first], antonym_C[second] = second, first
    return antonym_C


MODIFIERS = {
    Part.ADPOSITION: WordClass.ADPOSITION,
    Part.DETERMINER: WordClass.DETERMINER,
    Part.NUMBER: WordClass.NUMBER,
    Part.ADJECTIVE: WordClass.ADJECTIVE,
    Part.NAME: WordClass.GIVEN_NAME,
}
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
    """Structures, then concepts from the verb down, each given its head and the topic, then what inflection shows."""
    present_BS, named_BP = draw_structures(random, count=count, lengths=lengths)
    prefer, of = preferences(world), inventory(world).ranges
    persons = of[WordClass.GIVEN_NAME]
    topic_B = random.choice(world.topics, size=count, p=topic_shares(world, domain=domain))
    concept_BS = np.full(present_BS.shape, ABSENT)

    def fill(target: int, preference: Preference, *, head_B: Ids, where_B: Flags) -> None:
        rows = np.flatnonzero(where_B & present_BS[:, target])
        uniform = random.random(len(rows))
        concept_BS[rows, target] = preference.draw(uniform, topics=topic_B[rows], heads=head_B[rows])

    always_B = np.ones(count, dtype=np.bool_)
    fill(VERB, prefer[WordClass.VERB], head_B=np.zeros_like(topic_B), where_B=always_B)
    verb_B = concept_BS[:, VERB]
    for role in Role:
        named_B, head = named_BP[:, role], slot(role, Part.HEAD)
        fill(head, prefer[WordClass.NOUN], head_B=verb_B, where_B=~named_B)
        fill(head, prefer[WordClass.GIVEN_NAME], head_B=verb_B, where_B=named_B)
        for part, word_class in MODIFIERS.items():
            fill(slot(role, part), prefer[word_class], head_B=concept_BS[:, head], where_B=always_B)
        name_B = concept_BS[np.arange(count), np.where(named_B, head, slot(role, Part.NAME))]
        person_B = (name_B >= persons.start) & (name_B < persons.stop)
        fill(slot(role, Part.FAMILY_NAME), prefer[WordClass.FAMILY_NAME], head_B=name_B, where_B=person_B)
    concept_BS[present_BS[:, NEGATION], NEGATION] = of[WordClass.NEGATION].start
    concept_BS[:, PUNCTUATION] = of[WordClass.PUNCTUATION].start

    plural_BP = random.random((count, len(Role))) < PLURAL_RATE
    number_BP = concept_BS[:, slots(Part.NUMBER)]
    plural_BP = np.where(number_BP == ABSENT, plural_BP, number_BP != of[WordClass.NUMBER].start)
    return Meanings(concept_BS=concept_BS, plural_BP=plural_BP, past_B=random.random(count) < PAST_RATE)
