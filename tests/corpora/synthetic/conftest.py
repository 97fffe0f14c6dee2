"""Languages that between them turn every knob."""

from itertools import product

import pytest

from isoglot.study.study_file import read_study
from isoglot.study.synthetic_languages import Morphology, Script, Side, Synthetic, SyntheticLanguage, WordOrder, World

NAMES = "abcdefghijklmnopqrstuvwxyz"


@pytest.fixture(scope="session")
def world() -> World:
    return World()


@pytest.fixture(scope="session")
def demo_world() -> World:
    """The world of the built-in demo."""
    text = read_study("demo").text
    assert isinstance(text, Synthetic)
    return text.world


@pytest.fixture(scope="session")
def plain_world() -> World:
    """Without topics, so that words follow their preferences alone."""
    return World(topics=1, topic_strength=0.0)


@pytest.fixture(scope="session")
def languages() -> list[SyntheticLanguage]:
    orders = list(product(WordOrder, Side, Side))
    return [
        SyntheticLanguage(
            name=NAMES[i],
            order=order,
            adjectives=adjectives,
            adpositions=adpositions,
            script=list(Script)[i % 4],
            morphology=list(Morphology)[i % 3],
            cognates=i / len(orders),
        )
        for i, (order, adjectives, adpositions) in enumerate(orders)
    ]
