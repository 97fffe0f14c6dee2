"""How a language spells each concept: words of its own, or of the family's common stock, with its own suffixes."""

# C = concepts
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from isoglot.study.synthetic_languages import Morphology, Script, SyntheticLanguage, World
from isoglot.synthetic.inventory import ABSENT, CONTENT, NAMES, SYMBOLS, WordClass, inventory
from isoglot.synthetic.meanings import draw_meanings
from isoglot.synthetic.seeding import Purpose, generator
from isoglot.synthetic.spelling import COMMON_STOCK, SPELLINGS, native_stems
from isoglot.synthetic.structures import Role

NUM_INFLECTIONS = 2 * len(Role)
COUNTED_SENTENCES = 20_000


@lru_cache(maxsize=16)
def common_stems(world: World) -> tuple[str, ...]:
    """The family's common stock: Latin words, digits and the full stop."""
    concepts = inventory(world)
    stems = list(native_stems(world, COMMON_STOCK, Script.LATIN))
    for value, concept in enumerate(concepts.ranges[WordClass.NUMBER], start=1):
        stems[concept] = str(value)
    stems[concepts.punctuation] = "."
    return tuple(stems)


@lru_cache(maxsize=16)
def sharing_order(world: World) -> NDArray[np.float64]:
    """order_C in (0, 1): a language takes a concept from the common stock when its share for the class is above this.

    So the concepts two languages share are those of the one that shares less. The order in a class is such that any
    share of its words makes up about the same share of its running text.
    """
    concepts = inventory(world)
    counted = draw_meanings(world, count=COUNTED_SENTENCES, seed=0).concept_BS
    count_C = np.bincount(counted[counted != ABSENT], minlength=concepts.size)
    order_C = np.full(concepts.size, np.inf)
    for word_class in (*CONTENT, *NAMES):
        ids = concepts.ranges[word_class]
        running_C = count_C / count_C[ids].sum()
        left, covered = list(ids), 0.0
        for step in range(len(ids)):
            nearest = np.abs(covered + running_C[left] - (step + 1) / len(ids)).argmin()
            concept = left.pop(int(nearest))
            covered += running_C[concept]
            order_C[concept] = (step + 0.5) / len(ids)
    for word_class in SYMBOLS:
        order_C[concepts.ranges[word_class]] = 0.5
    return order_C


def anchors(language: SyntheticLanguage, *, world: World) -> NDArray[np.bool_]:
    """Which concepts the language spells as in the common stock; two languages share those that both do."""
    share_C = np.zeros(inventory(world).size)
    for word_classes, share in (
        (CONTENT, language.cognates),
        (NAMES, language.shared_names),
        (SYMBOLS, float(language.shared_symbols)),
    ):
        for word_class in word_classes:
            share_C[inventory(world).ranges[word_class]] = share
    return sharing_order(world) < share_C


@lru_cache(maxsize=64)
def lexicon(language: SyntheticLanguage, world: World) -> tuple[str, ...]:
    """Form concept * NUM_INFLECTIONS + inflection: verbs inflect by past, nouns by 2 * case + plural, others never."""
    concepts = inventory(world)
    native, common = native_stems(world, language.name, language.script), common_stems(world)
    stems = [common[c] if shared else native[c] for c, shared in enumerate(anchors(language, world=world))]
    plural, past, *cases = suffixes(language, world=world)
    forms = [stem for stem in stems for _ in range(NUM_INFLECTIONS)]
    for concept in concepts.ranges[WordClass.VERB]:
        forms[concept * NUM_INFLECTIONS + 1] += past
    for concept in concepts.ranges[WordClass.NOUN]:
        for case, suffix in enumerate(cases):
            forms[concept * NUM_INFLECTIONS + 2 * case] += suffix
            forms[concept * NUM_INFLECTIONS + 2 * case + 1] += plural + suffix
    return tuple(forms)


def suffixes(language: SyntheticLanguage, *, world: World) -> tuple[str, str, str, str, str]:
    """Of plural, past, and the cases of subject (always bare), object and oblique."""
    drawn = generator(world, Purpose.SUFFIXES, *language.name.encode()).permutation(SPELLINGS[language.script].suffixes)
    plural, past, of_object, of_oblique = map(str, drawn[:4])
    match language.morphology:
        case Morphology.NONE:
            return "", "", "", "", ""
        case Morphology.SUFFIXES:
            return plural, past, "", "", ""
        case Morphology.CASES:
            return plural, past, "", of_object, of_oblique
