"""Speed of learning BPE from about 50 MB of text and of cutting its words, beside subword-nmt's: one JSON line."""

import io
import json
import lzma
import os
import random
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr
from pathlib import Path

import numpy as np
from subword_nmt.apply_bpe import BPE
from subword_nmt.learn_bpe import learn_bpe as learn_with_subword_nmt

from isoglot.corpora.bpe import Bpe, learn_bpe

TEXT = Path(os.environ.get("ISOGLOT_DATA", "data")) / "text/wiki.en.txt.xz"
MERGES = 40_000
FEW_TYPES = 20_000
FEW_MERGES = 2000
SEGMENTED_TYPES = 50_000


def real_words() -> Counter[str]:
    counts: Counter[str] = Counter()
    with lzma.open(TEXT, "rt", encoding="utf-8", newline="\n") as file:
        for line in file:
            counts.update(line.split())
    return counts


def made_up_words(types: int = 450_000, words: int = 8_000_000) -> Counter[str]:
    """As unequal in frequency as those of real languages, spelled in syllables that are so too."""
    generator = np.random.default_rng(0)
    syllables = np.array([a + b + c for a in "bdfgklmnprstvz" for b in "aeiou" for c in ("", "n", "r", "s")])
    likelihood = 1 / np.arange(1, len(syllables) + 1)
    drawn = generator.choice(syllables, (types, 5), p=likelihood / likelihood.sum())
    frequency = 1 / np.arange(1, types + 1)
    counts = generator.multinomial(words, frequency / frequency.sum())
    lengths = generator.integers(1, 6, types)
    return Counter({"".join(drawn[i, : lengths[i]]): int(counts[i]) for i in range(types) if counts[i]})


def cpu_seconds(work: Callable[[], object]) -> float:
    """All of it runs on one core, which others may want at the same time."""
    start = time.process_time()
    work()
    return time.process_time() - start


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << (20 if sys.platform == "darwin" else 10))


def learned_with_subword_nmt(counts: Iterable[tuple[str, int]], *, merges: int) -> None:
    lines = io.StringIO("".join(f"{word} {count}\n" for word, count in counts))
    # It draws a progress bar there.
    with redirect_stderr(io.StringIO()):
        learn_with_subword_nmt(lines, io.StringIO(), merges, min_frequency=0, is_dict=True)


def words_per_second(bpe: Bpe, words: list[str]) -> dict[str, int]:
    codes = io.StringIO("\n".join(["#version: 0.2", *(" ".join(pair) for pair in bpe.merges)]) + "\n")
    theirs = BPE(codes)
    ways: dict[str, Callable[[], object]] = {
        "isoglot": lambda: list(bpe.segment_all(words)),
        "subword_nmt": lambda: [theirs.segment_tokens([word]) for word in words],
    }
    return {way: round(len(words) / cpu_seconds(segment)) for way, segment in ways.items()}


def main() -> None:
    counts = real_words() if TEXT.is_file() else made_up_words()
    before_mib = peak_mib()
    learned: list[Bpe] = []
    learning = cpu_seconds(lambda: learned.append(learn_bpe(counts, merges=MERGES)))
    learning_mib = peak_mib() - before_mib
    few = counts.most_common(FEW_TYPES)
    words = random.Random(0).sample(sorted(counts), SEGMENTED_TYPES)
    measured = {
        "bench": "bpe",
        "text": TEXT.name if TEXT.is_file() else "made up",
        "megabytes": round(sum(count * (len(word.encode()) + 1) for word, count in counts.items()) / 1e6, 1),
        "word_types": len(counts),
        "merges": len(learned[0].merges),
        "cpu_seconds": round(learning, 2),
        "memory_mib": round(learning_mib),
        f"cpu_seconds_for_{FEW_MERGES}_merges_of_{FEW_TYPES}_types": {
            "isoglot": round(cpu_seconds(lambda: learn_bpe(dict(few), merges=FEW_MERGES)), 2),
            "subword_nmt": round(cpu_seconds(lambda: learned_with_subword_nmt(few, merges=FEW_MERGES)), 2),
        },
        "segmented_words_per_second": words_per_second(learned[0], words),
    }
    print(json.dumps(measured))


if __name__ == "__main__":
    main()
