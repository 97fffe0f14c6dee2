"""What is said of what: words are Zipfian, pull on each other by latent vectors, and are tilted by topics."""

# T = topics, C = concepts, H = heads, W = dependents, D = latent dimensions
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from isoglot.study.conditions import Domain
from isoglot.study.synthetic_languages import World
from isoglot.synthetic.inventory import Ids, WordClass, inventory
from isoglot.synthetic.seeding import Purpose, generator

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


def preference(world: World, *, heads: range, dependents: range) -> Preference:
    latent_CD, weight_C = latents(world), zipf_weights(world)
    head, dependent = slice(heads.start, heads.stop), slice(dependents.start, dependents.stop)
    untilted_HW = zipfian_conditional(
        (latent_CD[head, None] * latent_CD[None, dependent]).sum(-1),
        head_H=weight_C[head] / weight_C[head].sum(),
        dependent_W=weight_C[dependent] / weight_C[dependent].sum(),
    )
    return tilted(untilted_HW, tilt_TW=topic_tilts(world)[:, dependent], heads=heads, dependents=dependents)


def tilted(untilted_HW: Floats, *, tilt_TW: Floats, heads: range, dependents: range) -> Preference:
    weight_THW = untilted_HW * tilt_TW[:, None]
    probability_THW = weight_THW / weight_THW.sum(-1, keepdims=True)
    cumulative_RW = probability_THW.cumsum(-1).reshape(-1, len(dependents))
    cumulative_RW[:, -1] = 1.0
    stairs = (cumulative_RW + np.arange(len(cumulative_RW))[:, None]).ravel()
    return Preference(heads=heads, dependents=dependents, probability_THW=probability_THW, stairs=stairs)


@dataclass(frozen=True, kw_only=True)
class Preferences:
    """All distributions that a sentence is drawn from, from its verb down."""

    verb: Preference
    """Its one head, 0, stands for the root."""
    noun: Preference
    name: Preference
    family_name: Preference
    adjective: Preference
    number: Preference
    determiner: Preference
    adposition: Preference


@lru_cache(maxsize=16)
def preferences(world: World) -> Preferences:
    concepts = inventory(world)
    of, span = concepts.ranges, concepts.span
    verbs, nouns = of[WordClass.VERB], of[WordClass.NOUN]
    return Preferences(
        verb=tilted(
            zipf_weights(world)[None, verbs.start : verbs.stop],
            tilt_TW=topic_tilts(world)[:, verbs.start : verbs.stop],
            heads=range(1),
            dependents=verbs,
        ),
        noun=preference(world, heads=verbs, dependents=nouns),
        name=preference(
            world,
            heads=span(WordClass.VERB, WordClass.NOUN),
            dependents=span(WordClass.GIVEN_NAME, WordClass.ORGANISATION),
        ),
        family_name=preference(world, heads=of[WordClass.GIVEN_NAME], dependents=of[WordClass.FAMILY_NAME]),
        adjective=preference(world, heads=nouns, dependents=of[WordClass.ADJECTIVE]),
        number=preference(world, heads=nouns, dependents=of[WordClass.NUMBER]),
        determiner=preference(world, heads=nouns, dependents=of[WordClass.DETERMINER]),
        adposition=preference(
            world, heads=span(WordClass.NOUN, WordClass.ORGANISATION), dependents=of[WordClass.ADPOSITION]
        ),
    )
