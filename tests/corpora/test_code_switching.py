"""Windows show the text with the right share of its words changed into translations, and nothing else."""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from isoglot.corpora.code_switching import SwitchedWindows
from isoglot.corpora.streams import Windows
from isoglot.corpora.vocabulary import END
from isoglot.errors import IsoglotError
from tests.corpora.switchable_texts import LETTERS, Weighted, switchable_text, vocabulary_of
from tests.oracles import switched_windows_by_loops

# Words of one to four tokens in both languages; "ab" and "ea" stand in no dictionary.
OWN = ("a", "b", "ab", "cd", "dc", "abc", "bde", "eabc", "ea")
DICTIONARY: Weighted = {
    "a": [("A", 1.0)],
    "b": [("BCDE", 1.0), ("C", 3.0)],
    "cd": [("CD", 0.5), ("A", 0.25), ("EDC", 4.0)],
    "dc": [("EEEE", 1.0)],
    "abc": [("B", 1.0)],
    "bde": [("DA", 2.0), ("AD", 2.0)],
    "eabc": [("E", 1.0)],
}
MEANINGS = {word: {target for target, _ in known} for word, known in DICTIONARY.items()}
LINES = st.lists(st.lists(st.sampled_from(OWN), min_size=1, max_size=7).map(" ".join), min_size=1, max_size=8)


def seen_dictionary(lines: Sequence[str]) -> Weighted:
    """At least one word must be translated."""
    return (
        DICTIONARY
        if {word for line in lines for word in line.split()} & set(DICTIONARY)
        else {lines[0].split()[0]: [("A", 1.0)]}
    )


def many_lines(*, words: Sequence[str] = OWN, lines: int = 400, seed: int = 0) -> list[str]:
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(list(words), random.integers(3, 12))) for _ in range(lines)]


class Reader:
    """Windows of a text, and their words."""

    def __init__(self, lines: Sequence[str], translations: Weighted = DICTIONARY, *, length: int, seed: int = 0):
        vocabulary = vocabulary_of(lines, translations)
        self.tokens = {id: token for token, id in vocabulary.ids("x").items()} | {END: "\n</w>"}
        self.text = [word for line in lines for word in (*line.split(), "\n")]
        self.windows = SwitchedWindows(switchable_text(lines, translations), length=length, seed=seed, name="x")

    def read(self, row: Sequence[int]) -> tuple[list[str], str]:
        """The whole words of a window, and what is there of one that its end cuts."""
        *words, cut = "".join(self.tokens[id] for id in row).split("</w>")
        return words, cut

    def changes(self, row: Sequence[int]) -> list[tuple[str, str]]:
        """Words of the text, each with what a window shows for it; the window must show them at one place at least."""
        words, cut = self.read(row)
        shown = [*words, cut] if cut else words
        for first in range(len(self.text)):
            own = [self.text[(first + step) % len(self.text)] for step in range(len(shown))]
            pairs = list(zip(own, shown, strict=True))
            whole = pairs[:-1] if cut else pairs
            if all(b == a or b in MEANINGS.get(a, ()) for a, b in whole) and (
                not cut or any(word.startswith(cut) for word in (own[-1], *MEANINGS.get(own[-1], ())))
            ):
                return pairs
        raise AssertionError(f"{shown} stands nowhere in the text")


@given(LINES, st.integers(1, 9), st.integers(0, 12), st.integers(0, 9), st.integers(0, 2**31))
def test_windows_are_those_of_plain_loops(lines: list[str], length: int, position: int, count: int, seed: int) -> None:
    dictionary = seen_dictionary(lines)
    text = [word for line in lines for word in (*line.split(), "")]
    ids = vocabulary_of(lines, dictionary)
    targets = [target for known in dictionary.values() for target, _ in known]
    spelled = {word: ids.encode("x", LETTERS.segment(word)) for word in (*text, *targets) if word} | {"": [END]}
    if length > sum(len(spelled[word]) for word in text):
        return
    windows = SwitchedWindows(switchable_text(lines, dictionary), length=length, seed=seed, name="x")
    taken = windows.take(position, count)
    assert taken.dtype == np.int64
    assert taken.shape == (count, length)
    assert taken.tolist() == switched_windows_by_loops(
        text,
        spelled=spelled,
        translations=dictionary,
        length=length,
        seed=seed,
        name="x",
        position=position,
        count=count,
    )


RARE = {"a": [("A", 1.0)], "b": [("B", 1.0), ("C", 2.0), ("D", 5.0)]}
ONE_LETTER = "abcdefghij"


def shown_letters(reader: Reader, *, batches: int, count: int, start: int = 0) -> Iterator[tuple[str, str]]:
    """Words of one token each, so that a window shows the very words of the text."""
    length = reader.windows.length
    for batch in range(start, start + batches):
        rows = reader.windows.order.rows(batch * count, count)
        for row, taken in zip(rows, reader.windows.take(batch * count, count).tolist(), strict=True):
            yield from zip(reader.text[row * length : (row + 1) * length], reader.read(taken)[0], strict=True)


def test_30_percent_of_dictionary_words_change_where_that_is_not_too_many() -> None:
    """Two words of ten are in the dictionary, 6 of 100 words change."""
    reader = Reader(many_lines(words=ONE_LETTER), RARE, length=20)
    pairs = Counter(shown_letters(reader, batches=40, count=64))
    for word in RARE:
        shown = sum(number for (a, _), number in pairs.items() if a == word)
        assert stats.binomtest(shown - pairs[word, word], shown, 0.3).pvalue > 1e-4
    assert stats.chisquare([pairs["b", b] for b in "BCD"], _parts([1, 2, 5], pairs, "b")).pvalue > 1e-4


def _parts(weights: list[int], pairs: Counter[tuple[str, str]], word: str) -> list[float]:
    changed = sum(number for (a, b), number in pairs.items() if a == word != b)
    return [changed * weight / sum(weights) for weight in weights]


def test_where_30_percent_are_too_many_15_of_100_words_of_each_batch_change() -> None:
    everything = {word: [(word.upper(), 1.0)] for word in ONE_LETTER}
    reader = Reader(many_lines(words=ONE_LETTER), everything, length=20)
    places: Counter[int] = Counter()
    words: Counter[str] = Counter()
    for batch in range(60):
        pairs = list(shown_letters(reader, batches=1, count=32, start=batch))
        changed = [(place % 20, a) for place, (a, b) in enumerate(pairs) if a != b]
        assert len(changed) == int(0.15 * sum(a != "\n" for a, _ in pairs))
        places.update(place for place, _ in changed)
        words.update(word for _, word in changed)
    # Whichever words stay, it is chance: no place in a window and no word is spared.
    assert stats.chisquare([places[place] for place in range(20)]).pvalue > 1e-4
    running = Counter(word for word in reader.text if word != "\n")
    expected = [running[word] * words.total() / running.total() for word in ONE_LETTER]
    assert stats.chisquare([words[word] for word in ONE_LETTER], expected).pvalue > 1e-4


def test_long_translations_do_not_push_a_batch_over_15_percent() -> None:
    """Each change pushes other words out of the window, so fewer may change than of the words that were there."""
    lines = many_lines(words="ab")
    reader = Reader(lines, {"a": [("ABCDE", 1.0)], "b": [("EDCBA", 1.0)]}, length=12)
    for position in range(0, 640, 64):
        rows = [reader.read(row) for row in reader.windows.take(position, 64).tolist()]
        shown = [word for words, cut in rows for word in (*words, cut) if word and word != "\n"]
        changed = sum(word.isupper() for word in shown)
        assert 0.1 * len(shown) < changed <= 0.15 * len(shown)


def test_draws_are_fresh_in_every_pass_and_for_every_seed_and_language() -> None:
    lines = many_lines(words=ONE_LETTER, lines=30)
    reader = Reader(lines, {word: [(word.upper(), 1.0)] for word in ONE_LETTER}, length=10)
    count = len(reader.windows)

    def changed(windows: SwitchedWindows, number: int) -> frozenset[tuple[int, int]]:
        rows = windows.order.rows(number * count, count).tolist()
        taken = windows.take(number * count, count).tolist()
        return frozenset(
            (row, place)
            for row, tokens in zip(rows, taken, strict=True)
            for place, word in enumerate(reader.read(tokens)[0])
            if word.isupper()
        )

    text = reader.windows.text
    others = [
        SwitchedWindows(text, length=10, seed=1, name="x"),
        SwitchedWindows(text, length=10, seed=0, name="z"),
    ]
    first = changed(reader.windows, 0)
    drawn = [first, *(changed(reader.windows, number) for number in (1, 2)), *(changed(each, 0) for each in others)]
    assert len(set(drawn)) == 5
    assert all(len(first & other) < 0.5 * len(first) for other in drawn[1:])


def test_windows_come_in_the_order_of_a_text_that_does_not_change() -> None:
    """So a model with extra anchors differs from one without in the changes alone."""
    lines = many_lines(words=ONE_LETTER)
    reader = Reader(lines, RARE, length=16, seed=5)
    ids = {token: id for id, token in reader.tokens.items()}
    plain = np.array([ids[f"{word}</w>"] for word in reader.text])
    unchanged = Windows(plain.astype(np.uint16), length=16, seed=5, name="x")
    assert len(unchanged) == len(reader.windows)
    for ours, theirs in zip(reader.windows.take(0, 300).tolist(), unchanged.take(0, 300).tolist(), strict=True):
        assert all(b in (a, *"ABCD") for a, b in zip(reader.read(theirs)[0], reader.read(ours)[0], strict=True))


def test_windows_begin_with_whole_words_and_after_the_last_line_comes_the_first() -> None:
    """The text is a bcde f and a line end: the second window would begin in the middle of bcde."""
    reader = Reader(["a bcde f"], {"a": [("A", 1.0)]}, length=3)
    # One at a time: of three words, 15% is none.
    windows = [reader.read(reader.windows.take(position, 1)[0].tolist()) for position in range(10)]
    assert sorted(windows[:2]) == [(["a"], "bc"), (["f", "\n", "a"], "")]
    assert all(window in windows[:2] for window in windows)


def test_a_text_shorter_than_a_window_is_refused() -> None:
    text = switchable_text(["ab c"], {"c": [("C", 1.0)]})
    assert SwitchedWindows(text, length=4, seed=0, name="fr").take(0, 1).shape == (1, 4)
    with pytest.raises(IsoglotError, match="'fr' has 4 tokens, less than one window of 5"):
        SwitchedWindows(text, length=5, seed=0, name="fr")
