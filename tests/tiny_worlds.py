"""A world small enough for a second."""

from isoglot.study.synthetic_languages import World

TINY_WORLD = World(
    nouns=8,
    verbs=4,
    adjectives=4,
    adpositions=2,
    people=4,
    places=2,
    organisations=2,
    numbers=3,
    topics=2,
    latent_dimensions=2,
)
