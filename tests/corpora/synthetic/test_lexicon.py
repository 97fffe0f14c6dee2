import unicodedata
from dataclasses import replace
from itertools import combinations
from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.corpora.synthetic import dictionary, draw_meanings
from isoglot.corpora.synthetic.inventory import ABSENT, CONTENT, NAMES, SYMBOLS, WordClass, inventory
from isoglot.corpora.synthetic.lexicon import NUM_INFLECTIONS, anchors, lexicon, native_stems, slice_of
from isoglot.corpora.synthetic.linearisation import forms
from isoglot.errors import IsoglotError
from isoglot.study.synthetic_languages import Morphology, Script, SyntheticLanguage, WordOrder, World
from tests.tiny_worlds import TINY_WORLD

SHARES = st.floats(0, 1)


def stems(language: SyntheticLanguage, world: World) -> tuple[str, ...]:
    return lexicon(replace(language, morphology=Morphology.NONE), world)[::NUM_INFLECTIONS]


@pytest.mark.parametrize("script", Script)
def test_forms_are_distinct_and_in_their_script(world: World, script: Script) -> None:
    language = SyntheticLanguage(name="e", script=script, shared_names=0, shared_symbols=False)
    letters = {
        unicodedata.name(letter).split()[0].removesuffix("-CJK") for stem in stems(language, world) for letter in stem
    }
    assert letters == {"CJK" if script is Script.HAN else script.name}
    assert len(set(stems(language, world))) == inventory(world).size
    syllables = [len(stem) if script is Script.HAN else vowels(stem) for stem in stems(language, world)]
    assert set(syllables) == ({1, 2} if script is Script.HAN else {2, 3})


def vowels(stem: str) -> int:
    return sum(letter in "aeiouаеиоуαεηιο" for letter in stem)  # noqa: RUF001


@pytest.mark.parametrize("script", Script)
def test_inflected_forms_of_different_concepts_never_meet(world: World, script: Script) -> None:
    forms = lexicon(SyntheticLanguage(name="f", script=script, morphology=Morphology.CASES, cognates=0.4), world)
    concepts_of: dict[str, set[int]] = {}
    for index, form in enumerate(forms):
        concepts_of.setdefault(form, set()).add(index // NUM_INFLECTIONS)
    assert all(len(concepts) == 1 for concepts in concepts_of.values())


def test_morphology_shows_number_tense_and_case(world: World) -> None:
    noun, verb = (inventory(world).ranges[word_class][0] for word_class in (WordClass.NOUN, WordClass.VERB))
    distinct = {}
    for morphology in Morphology:
        forms = lexicon(SyntheticLanguage(name="g", morphology=morphology), world)
        distinct[morphology] = tuple(
            len(set(forms[concept * NUM_INFLECTIONS : (concept + 1) * NUM_INFLECTIONS])) for concept in (noun, verb)
        )
    assert distinct == {Morphology.NONE: (1, 1), Morphology.SUFFIXES: (2, 2), Morphology.CASES: (6, 2)}


def test_forms_depend_on_name_script_and_seed_alone(world: World) -> None:
    language = SyntheticLanguage(name="h", shared_names=0, shared_symbols=False)
    turned = replace(language, order=WordOrder.VSO, cognates=0.5, shared_symbols=True)
    own = ~anchors(turned, world=world)
    assert np.array_equal(np.array(stems(language, world))[own], np.array(stems(turned, world))[own])
    for other in (replace(language, name="i"), replace(language, script=Script.GREEK)):
        assert not set(stems(language, world)) & set(stems(other, world))
    assert stems(language, world) != stems(language, World(seed=1))


def test_languages_share_what_both_take_from_the_common_stock_and_no_more(
    world: World, languages: list[SyntheticLanguage]
) -> None:
    for a, b in combinations(languages, 2):
        meant = anchors(a, world=world) & anchors(b, world=world)
        shared = set(stems(a, world)) & set(stems(b, world))
        assert shared == set(np.array(stems(a, world))[meant].tolist())
        owners = {form: i // NUM_INFLECTIONS for i, form in enumerate(lexicon(a, world))}
        assert all(meant[owners[form]] for form in set(lexicon(a, world)) & set(lexicon(b, world)))


@given(cognates=st.tuples(SHARES, SHARES), names=st.tuples(SHARES, SHARES), symbols=st.tuples(*[st.booleans()] * 2))
def test_the_share_of_anchors_is_the_lesser_knob(
    cognates: tuple[float, float], names: tuple[float, float], symbols: tuple[bool, bool]
) -> None:
    world = World()
    a, b = (
        SyntheticLanguage(name=name, cognates=c, shared_names=n, shared_symbols=s)
        for name, c, n, s in zip("ab", cognates, names, symbols, strict=True)
    )
    shared = np.array(stems(a, world)) == np.array(stems(b, world))
    for word_class, ids in inventory(world).ranges.items():
        knobs = {CONTENT: cognates, NAMES: names, SYMBOLS: symbols}
        share = next((min(knob) for group, knob in knobs.items() if word_class in group), 0)
        assert shared[ids].sum() == ceil(share * len(ids) - 0.5)


def test_a_share_of_cognates_is_that_share_of_running_words(world: World) -> None:
    concept_BS = draw_meanings(world, count=20_000, seed=9).concept_BS
    content = np.concatenate([inventory(world).ranges[word_class] for word_class in CONTENT])
    running = concept_BS[np.isin(concept_BS, content)]
    for share in (0.1, 0.2, 0.3, 0.5):
        is_anchor = anchors(SyntheticLanguage(name="a", cognates=share), world=world)
        assert is_anchor[running].mean() == pytest.approx(share, abs=0.06)


def test_a_world_too_large_for_a_script_is_refused() -> None:
    with pytest.raises(IsoglotError, match="make the world smaller"):
        native_stems(World(nouns=20_000), "a", Script.LATIN)


def test_all_words_that_are_said_are_in_the_dictionary_and_hardly_any_other(languages: list[SyntheticLanguage]) -> None:
    meanings = draw_meanings(TINY_WORLD, count=8_000, seed=0)
    said = np.unique(forms(meanings)[meanings.concept_BS != ABSENT])
    for a, b in zip(languages, languages[7:], strict=False):
        pairs = {(lexicon(a, TINY_WORLD)[form], lexicon(b, TINY_WORLD)[form]) for form in said}
        gold = dictionary(a, b, world=TINY_WORLD)
        assert len(gold) == len(set(gold))
        assert pairs - set(gold) == {(".", ".")}
        assert len(set(gold) - pairs) <= len(gold) // 20


def test_names_that_would_draw_on_the_same_words_are_refused(world: World) -> None:
    assert slice_of("hill") == slice_of("vale")
    with pytest.raises(IsoglotError, match="another name"):
        dictionary(SyntheticLanguage(name="hill"), SyntheticLanguage(name="vale"), world=world)
