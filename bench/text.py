"""Speed and memory of the way from compressed text to token streams: one JSON line.

    python bench/text.py                                  50 MB of text on all cores
    python bench/text.py --megabytes 1000 --cores 2       what a gigabyte takes
    python bench/text.py --language zh --cores 1

Reads text/wiki.LANGUAGE.txt.xz under ISOGLOT_DATA; where that is not, it makes words up.
"""

import argparse
import json
import lzma
import os
import re
import tempfile
import threading
import time
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path

import numpy as np

from isoglot.corpora.bpe import learn_bpe
from isoglot.corpora.numbered_text import Cut, NumberedText, Split, write_numbered_text
from isoglot.corpora.readers.line_files import LineFile
from isoglot.corpora.streams import write_stream
from isoglot.corpora.vocabulary import build_vocabulary
from isoglot.machine import num_workers
from isoglot.study.conditions import TableKind
from isoglot.study.languages import default_splitting

MEGABYTE = 1e6
MERGES = 40_000
BPE_WORDS = 20_000_000
LONG_WORD = re.compile(r"\w{7,}")


def real_lines(path: Path) -> Iterator[str]:
    """The text again and again; on each pass long words are turned by another number of letters, so that new words
    keep coming as they would in more text."""
    for turn in count():
        with LineFile(path) as lines:
            for line in lines:
                yield LONG_WORD.sub(partial(turned, by=turn % 7), line) if turn else line


def turned(word: re.Match[str], *, by: int) -> str:
    return word[0][by:] + word[0][:by]


def made_up_lines() -> Iterator[str]:
    random = np.random.default_rng(0)
    letters = np.array(list("aeioubdgklmnprst"))
    words = ["".join(random.choice(letters, size)) for size in random.integers(1, 12, 100_000)]
    frequency = 1 / np.arange(1, len(words) + 1)
    while True:
        for row in random.choice(len(words), (2000, 30), p=frequency / frequency.sum()):
            yield " ".join(words[i] for i in row).capitalize() + "."


def write_source(path: Path, lines: Iterator[str], *, num_bytes: float) -> int:
    """About so many bytes of text, compressed; returns how many."""
    written = 0
    with lzma.open(path, "wb", preset=0) as file:
        for line in lines:
            encoded = f"{line}\n".encode()
            file.write(encoded)
            written += len(encoded)
            if written >= num_bytes:
                return written
    return written


class Peak:
    """The most memory that this process and its children held together, pages they share counted for each."""

    def __init__(self) -> None:
        self.bytes, self._over = 0, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "Peak":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(0.1):
            self.bytes = max(self.bytes, sum(resident_bytes(process) for process in family(os.getpid())))


def family(process: int) -> Iterator[int]:
    yield process
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return
    for child in children:
        yield from family(int(child))


def resident_bytes(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def measured(source: Path, folder: Path, *, language: str, cores: int) -> dict[str, float]:
    """Seconds of each step."""
    seconds = {}
    start = time.perf_counter()
    cut = Cut(dev_lines=1000, test_lines=1000, seed=0)
    with LineFile(source) as lines:
        write_numbered_text(folder, lines, splitting=default_splitting(language), cut=cut, workers=cores)
    seconds["words"] = time.perf_counter() - start

    start = time.perf_counter()
    text = NumberedText.read(folder)
    bpe = learn_bpe(text.word_counts(Split.TRAIN, most_words=BPE_WORDS), merges=MERGES)
    seconds["bpe"] = time.perf_counter() - start

    start = time.perf_counter()
    subwords = bpe.subword_counts(text.word_counts(Split.TRAIN))
    vocabulary = build_vocabulary(TableKind.JOINT, counts={language: subwords})
    seconds["vocabulary"] = time.perf_counter() - start

    start = time.perf_counter()
    write_stream(folder / "stream", language=language, text=text, bpe=bpe, vocabulary=vocabulary)
    seconds["stream"] = time.perf_counter() - start
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=50)
    parser.add_argument("--cores", type=int, default=num_workers())
    parser.add_argument("--language", default="en")
    asked = parser.parse_args()
    real = Path(os.environ.get("ISOGLOT_DATA", "")) / f"text/wiki.{asked.language}.txt.xz"
    lines = real_lines(real) if real.is_file() else made_up_lines()
    with tempfile.TemporaryDirectory() as folder, Peak() as peak:
        source = Path(folder) / "text.xz"
        num_bytes = write_source(source, lines, num_bytes=asked.megabytes * MEGABYTE)
        seconds = measured(source, Path(folder), language=asked.language, cores=asked.cores)
    print(
        json.dumps(
            {
                "bench": "text",
                "language": asked.language,
                "real": real.is_file(),
                "megabytes": round(num_bytes / MEGABYTE, 1),
                "cores": asked.cores,
                "seconds": {step: round(value, 1) for step, value in seconds.items()},
                "megabytes_per_second_and_core": round(num_bytes / MEGABYTE / sum(seconds.values()) / asked.cores, 2),
                "without_learning_bpe": round(
                    num_bytes / MEGABYTE / (sum(seconds.values()) - seconds["bpe"]) / asked.cores, 2
                ),
                "peak_gigabytes": round(peak.bytes / 1e9, 2),
            }
        )
    )


if __name__ == "__main__":
    main()
