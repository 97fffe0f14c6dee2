"""Words with counts to learn BPE from: made up, or of real text."""

import lzma
import random
from collections import Counter
from itertools import islice

import pytest
from hypothesis import strategies as st
from real_data import DATA

# Few letters make ties, runs such as "aaaa" and words within words.
words = st.text("ab", min_size=1, max_size=9)
# Some far more frequent than others, as then rare pairs are not followed at first.
counts = st.integers(1, 6) | st.sampled_from([20, 90, 100, 1000, 10**6])
word_counts = st.dictionaries(words, counts, min_size=1, max_size=12)


def made_up_words(count: int) -> Counter[str]:
    generator = random.Random(0)
    syllables = [a + b for a in "bdklmnrst" for b in "aeiou"]
    stems = ["".join(generator.choices(syllables, k=generator.randint(1, 4))) for _ in range(count)]
    return Counter({stem + ending: generator.randint(1, 500) for stem in stems for ending in ("", "s", "ed")})


def real_words(language: str, *, lines: int) -> Counter[str]:
    """The words of the first lines of a real text, cut at white space."""
    path = DATA / f"text/wiki.{language}.txt.xz"
    if not path.is_file():
        pytest.skip(f"no {path}; set ISOGLOT_DATA to the folder that holds text/")
    counts: Counter[str] = Counter()
    with lzma.open(path, "rt", encoding="utf-8", newline="\n") as file:
        for line in islice(file, lines):
            counts.update(line.split())
    return counts
