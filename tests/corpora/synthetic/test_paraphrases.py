import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isoglot.corpora.synthetic import Meanings, draw_meanings, realise
from isoglot.corpora.synthetic.entailment import ADJECTIVES, DETERMINERS, HEADS, paraphrased
from isoglot.corpora.synthetic.inventory import ABSENT, NUM_SLOTS, WordClass, inventory
from isoglot.corpora.synthetic.meanings import hypernyms
from isoglot.study.synthetic_languages import SyntheticLanguage, World


@pytest.fixture(scope="module")
def meanings(world: World) -> Meanings:
    return draw_meanings(world, count=3_000, seed=0)


def test_bytes_are_the_same_on_every_machine(world: World, meanings: Meanings) -> None:
    lines = realise(paraphrased(meanings, world=world, seed=5), SyntheticLanguage(name="ela"), world=world)
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    assert digest == "05e4fd6ca29bd5496aa0b0ccee345357798505e411dbc5b7209821411d813b38"
    other = realise(paraphrased(meanings, world=world, seed=6), SyntheticLanguage(name="ela"), world=world)
    assert other != lines


def test_only_determiners_nouns_and_adjectives_change_and_each_in_its_way(world: World, meanings: Meanings) -> None:
    new_BS, old_BS = paraphrased(meanings, world=world, seed=0).concept_BS, meanings.concept_BS
    untouched = sorted(set(range(NUM_SLOTS)) - {*DETERMINERS, *HEADS, *ADJECTIVES})
    np.testing.assert_array_equal(new_BS[:, untouched], old_BS[:, untouched])

    changed_BS = new_BS != old_BS
    determiners = inventory(world).ranges[WordClass.DETERMINER]
    assert np.isin(new_BS[:, DETERMINERS][changed_BS[:, DETERMINERS]], determiners).all()
    assert np.isin(old_BS[:, DETERMINERS][changed_BS[:, DETERMINERS]], determiners).all()
    heads_BP = changed_BS[:, HEADS]
    np.testing.assert_array_equal(new_BS[:, HEADS][heads_BP], hypernyms(world)[old_BS[:, HEADS][heads_BP]])
    assert (new_BS[:, HEADS][heads_BP] != ABSENT).all()
    assert (new_BS[:, ADJECTIVES][changed_BS[:, ADJECTIVES]] == ABSENT).all()

    has_hypernym_BP = hypernyms(world)[old_BS[:, HEADS]] != ABSENT
    assert changed_BS[:, DETERMINERS][old_BS[:, DETERMINERS] != ABSENT].mean() == pytest.approx(0.5, abs=0.03)
    assert heads_BP[has_hypernym_BP].mean() == pytest.approx(0.3, abs=0.03)
    assert changed_BS[:, ADJECTIVES][old_BS[:, ADJECTIVES] != ABSENT].mean() == pytest.approx(0.14, abs=0.03)


@settings(max_examples=15)
@given(nouns=st.integers(1, 12), determiners=st.integers(1, 4), count=st.integers(0, 30), seed=st.integers(0, 9))
def test_in_any_world(nouns: int, determiners: int, count: int, seed: int) -> None:
    small = World(nouns=nouns, determiners=determiners)
    meanings = draw_meanings(small, count=count, seed=0)
    new = paraphrased(meanings, world=small, seed=seed)
    assert len(realise(new, SyntheticLanguage(name="x"), world=small)) == count
    allowed = {ABSENT, *inventory(small).ranges[WordClass.DETERMINER]}
    assert set(new.concept_BS[:, DETERMINERS].ravel().tolist()) <= allowed
    if determiners == 1:
        np.testing.assert_array_equal(new.concept_BS[:, DETERMINERS], meanings.concept_BS[:, DETERMINERS])
