"""How a language spells each concept: words of its own, or of the family's common stock, with its own suffixes."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from isoglot.corpora.synthetic.inventory import CONTENT, NAMES, SYMBOLS, Purpose, WordClass, generator, inventory
from isoglot.corpora.synthetic.meanings import draw_meanings
from isoglot.errors import IsoglotError
from isoglot.study.synthetic_languages import Morphology, Script, SyntheticLanguage, World

# C = concepts

NUM_SLICES = 997
"""The words a script can spell are dealt out in this many slices, one to a language."""
COMMON_STOCK = ""


@dataclass(frozen=True, kw_only=True)
class Spelling:
    """Syllables that words are made of, how many a short and a long word have, and suffixes no bare word can end in."""

    syllables: tuple[str, ...]
    lengths: tuple[int, int]
    suffixes: tuple[str, ...]


def alphabet(*, onsets: str, vowels: str, codas: str, suffix_codas: str) -> Spelling:
    """Every syllable has an onset of one letter, so a word falls into syllables in one way only."""
    return Spelling(
        syllables=tuple(map("".join, product(onsets, vowels, ["", *codas]))),
        lengths=(2, 3),
        suffixes=tuple(map("".join, product(vowels, suffix_codas))),
    )


SPELLINGS = {
    Script.LATIN: alphabet(onsets="bdfghjklmnprstvz", vowels="aeiou", codas="nr", suffix_codas="ksx"),
    Script.CYRILLIC: alphabet(onsets="бвгджзклмнпрстфч", vowels="аеиоу", codas="нр", suffix_codas="ксх"),
    Script.GREEK: alphabet(onsets="βγδζθκλμνξπρστφχ", vowels="αεηιο", codas="νρ", suffix_codas="θξψ"),  # noqa: RUF001
    Script.HAN: Spelling(
        syllables=tuple(map(chr, range(0x4E00, 0x9C00))),
        lengths=(1, 2),
        suffixes=tuple(map(chr, range(0x9C00, 0x9C10))),
    ),
}


def slice_of(name: str) -> int:
    """Which slice of all spellings is a language's own; slice 0 is the common stock's."""
    return 0 if name == COMMON_STOCK else 1 + crc32(name.encode()) % (NUM_SLICES - 1)


def spelled(code: int, *, length: int, syllables: tuple[str, ...]) -> str:
    """The code written with syllables for digits."""
    word = ""
    # As in any number system, different codes of one length are different words.
    for _ in range(length):
        code, digit = divmod(code, len(syllables))
        word += syllables[digit]
    return word


@lru_cache(maxsize=64)
def native_stems(world: World, name: str, script: Script) -> tuple[str, ...]:
    """One stem a concept; the frequent half of each word class is short, as far as the short spellings go."""
    spelling, first = SPELLINGS[script], slice_of(name)
    num_short, num_long = ((len(spelling.syllables) ** length - first) // NUM_SLICES for length in spelling.lengths)
    ranks = [np.arange(len(ids)) / len(ids) for ids in inventory(world).ranges.values()]
    by_frequency = np.argsort(np.concatenate(ranks), kind="stable")
    num_short = min(num_short, len(by_frequency) // 2)
    if num_short + num_long < len(by_frequency):
        raise IsoglotError(f"the {script} script has words for {num_short + num_long} concepts; make the world smaller")
    random = generator(world, Purpose.FORMS, *name.encode())
    stems = {}
    halves = np.split(by_frequency, [num_short])
    for length, num_words, concepts in zip(spelling.lengths, (num_short, num_long), halves, strict=True):
        codes = first + NUM_SLICES * random.choice(num_words, size=len(concepts), replace=False)
        for concept, code in zip(concepts.tolist(), codes.tolist(), strict=True):
            stems[concept] = spelled(code, length=length, syllables=spelling.syllables)
    return tuple(stems[concept] for concept in range(len(stems)))


# Each case, as each role of a noun phrase has its own, in the singular and the plural.
NUM_INFLECTIONS = 6
COUNTED_SENTENCES = 20_000


@lru_cache(maxsize=16)
def common_stems(world: World) -> tuple[str, ...]:
    """The family's common stock: Latin words, digits and the full stop."""
    concepts = inventory(world)
    stems = list(native_stems(world, COMMON_STOCK, Script.LATIN))
    for value, concept in enumerate(concepts.ranges[WordClass.NUMBER], start=1):
        stems[concept] = str(value)
    stems[concepts.ranges[WordClass.PUNCTUATION].start] = "."
    return tuple(stems)


@lru_cache(maxsize=16)
def sharing_order(world: World) -> NDArray[np.float64]:
    """order_C in (0, 1): a language takes a concept from the common stock when its share for the class is above this.

    So the concepts two languages share are those of the one that shares less. The order in a class is such that any
    share of its words makes up about the same share of its running text.
    """
    concepts = inventory(world)
    counted = draw_meanings(world, count=COUNTED_SENTENCES, seed=0).concept_BS
    count_C = np.bincount(counted[counted >= 0], minlength=concepts.size)
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
    shares = dict.fromkeys(CONTENT, language.cognates) | dict.fromkeys(NAMES, language.shared_names)
    share_C = np.zeros(inventory(world).size)
    for word_class, share in (shares | dict.fromkeys(SYMBOLS, float(language.shared_symbols))).items():
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
    """The suffixes of plural, past, and the cases of subject (always bare), object and oblique."""
    drawn = generator(world, Purpose.SUFFIXES, *language.name.encode()).permutation(SPELLINGS[language.script].suffixes)
    num_shown = {Morphology.NONE: 0, Morphology.SUFFIXES: 2, Morphology.CASES: 4}[language.morphology]
    plural, past, of_object, of_oblique = (str(suffix) if i < num_shown else "" for i, suffix in enumerate(drawn[:4]))
    return plural, past, "", of_object, of_oblique


def dictionary(a: SyntheticLanguage, b: SyntheticLanguage, *, world: World) -> list[tuple[str, str]]:
    """Each pair of word forms that translate each other, once; all words but punctuation, inflected forms included."""
    if a.name != b.name and slice_of(a.name) == slice_of(b.name):
        raise IsoglotError(f"languages {a.name!r} and {b.name!r} would draw on the same words; give one another name")
    end = inventory(world).ranges[WordClass.PUNCTUATION].start * NUM_INFLECTIONS
    return list(dict.fromkeys(zip(lexicon(a, world)[:end], lexicon(b, world)[:end], strict=True)))
