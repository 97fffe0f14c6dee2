"""Words for concepts in several scripts: pronounceable, all different, and never the same in two languages."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from zlib import crc32

import numpy as np

from isoglot.errors import IsoglotError
from isoglot.study.synthetic_languages import Script, World
from isoglot.synthetic.inventory import inventory
from isoglot.synthetic.seeding import Purpose, generator

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
    for length, num_words, concepts in (
        (spelling.lengths[0], num_short, by_frequency[:num_short]),
        (spelling.lengths[1], num_long, by_frequency[num_short:]),
    ):
        codes = first + NUM_SLICES * random.choice(num_words, size=len(concepts), replace=False)
        for concept, code in zip(concepts.tolist(), codes.tolist(), strict=True):
            stems[concept] = spelled(code, length=length, syllables=spelling.syllables)
    return tuple(stems[concept] for concept in range(len(stems)))
