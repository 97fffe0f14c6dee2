"""Slow and obvious versions of what the package does quickly."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, islice, pairwise
from itertools import count as count_up
from math import hypot
from typing import Any

import numpy as np

from isoglot.corpora.numbered_text import LINE_END, NumberedText, Split
from isoglot.randomness import derived_seed

Pair = tuple[str, str]


def sealed(record: dict[str, Any]) -> str:
    """A record that was edited, as text, with the checksum that it would have if it had been written like this."""
    plain = {name: value for name, value in record.items() if name != "checksum"}
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"))
    return json.dumps(plain | {"checksum": hashlib.sha256(text.encode()).hexdigest()})


def text_of(splits: Mapping[Split, Iterable[Iterable[str]]]) -> NumberedText:
    """A text in memory, its types numbered as they come."""
    numbers: dict[str, int] = {}
    parts: dict[Split, list[int]] = {split: [] for split in Split}
    for split, lines in splits.items():
        for line in lines:
            parts[split] += [*(numbers.setdefault(word, len(numbers) + 1) for word in line), LINE_END]
    arrays = {split: np.array(part, dtype=np.uint32) for split, part in parts.items()}
    return NumberedText(types=list(numbers), number_N=arrays)


def symbols_of(word: str) -> list[str]:
    return [*word[:-1], word[-1] + "</w>"]


def joined(symbols: Sequence[str], pair: Pair) -> list[str]:
    """Symbols with a pair joined from left to right."""
    if len(symbols) < 2:
        return list(symbols)
    if (symbols[0], symbols[1]) == pair:
        return [symbols[0] + symbols[1], *joined(symbols[2:], pair)]
    return [symbols[0], *joined(symbols[1:], pair)]


def bpe_by_rescan(counts: Mapping[str, int], *, merges: int) -> list[Pair]:
    """BPE merges found by counting all pairs of all words again each time."""
    words = {word: symbols_of(word) for word in counts}
    learned: list[Pair] = []
    while len(learned) < merges:
        pairs: Counter[Pair] = Counter()
        for word, symbols in words.items():
            for pair in pairwise(symbols):
                pairs[pair] += counts[word]
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        if best not in learned:
            learned.append(best)
        words = {word: joined(symbols, best) for word, symbols in words.items()}
    return learned


def segment_by_rescan(word: str, merges: Sequence[Pair]) -> list[str]:
    """Subwords found by trying every merge in turn, from the first again after each that applies."""
    symbols = symbols_of(word)
    while True:
        shorter = next((new for pair in merges if (new := joined(symbols, pair)) != symbols), None)
        if shorter is None:
            return symbols
        symbols = shorter


def windows_one_by_one(ids: Sequence[int], *, length: int, seed: int, name: str) -> Iterator[list[int]]:
    """Training windows without end, pass after pass."""
    windows = [list(ids[start : start + length]) for start in range(0, len(ids) - length + 1, length)]
    for number in count_up():
        generator = np.random.default_rng(derived_seed(seed, "windows", name, number))
        for place in generator.permutation(len(windows)):
            yield windows[place]


def switched_windows_by_loops(
    text: Sequence[str],
    *,
    spelled: Mapping[str, Sequence[int]],
    translations: Mapping[str, Sequence[tuple[str, float]]],
    length: int,
    seed: int,
    name: str,
    position: int,
    count: int,
) -> list[list[int]]:
    """Code-switched windows; the text is words, and "" at the end of each line."""
    starts = [sum(len(spelled[word]) for word in text[:place]) for place in range(len(text) + 1)]
    firsts = [
        next(place for place, start in enumerate(starts) if start >= window)
        for window in range(0, starts[-1] - length + 1, length)
    ]
    # One number after the other, the way windows of one token are.
    walk = windows_one_by_one(firsts, length=1, seed=seed, name=name)
    rows = [
        [text[(first + step) % len(text)] for step in range(length)]
        for (first,) in islice(walk, position, position + count)
    ]
    generator = np.random.default_rng(derived_seed(seed, "code-switching", name, position))
    draws = generator.random((count, length)).tolist()
    changes = []
    for draw, row, column in sorted(
        (draws[row][column], row, column) for row in range(count) for column in range(length)
    ):
        known = translations.get(rows[row][column], ())
        if draw < 0.3 and known:
            drawn = generator.random() * sum(weight for _, weight in known)
            sums = accumulate(weight for _, weight in known)
            word = next(word for (word, _), upto in zip(known, sums, strict=True) if drawn < upto)
            changes.append((row, column, word))
    while True:
        switched = [list(row) for row in rows]
        for row, column, word in changes:
            switched[row][column] = word
        shown = [
            (row, column)
            for row in range(count)
            for column in range(length)
            if rows[row][column] and sum(len(spelled[word]) for word in switched[row][:column]) < length
        ]
        seen = [number for number, (row, column, _) in enumerate(changes) if (row, column) in shown]
        most = int(0.15 * len(shown))
        if len(seen) <= most:
            return [[id for word in row for id in spelled[word]][:length] for row in switched]
        changes = changes[: seen[most]]


def precision_by_loops(
    sources: Sequence[Sequence[float]], targets: Sequence[Sequence[float]], pairs: Sequence[tuple[int, int]]
) -> float:
    """Percent of the sources that have a translation whose nearest target by cosine is one."""

    def cosine(a: Sequence[float], b: Sequence[float]) -> float:
        return sum(x * y for x, y in zip(a, b, strict=True)) / hypot(*a) / hypot(*b)

    found = []
    for row, source in enumerate(sources):
        golds = [b for a, b in pairs if a == row]
        if golds:
            nearest = max(range(len(targets)), key=lambda column: cosine(source, targets[column]))
            found.append(nearest in golds)
    return 100 * sum(found) / len(found)
