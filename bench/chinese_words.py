"""Speed of splitting Chinese lines into words, by jieba itself and by ours in turns, on one thread: one JSON line."""

import json
import logging
import lzma
import os
import tempfile
import time
import warnings
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from types import ModuleType

import numpy as np

from isoglot.corpora.splitters.jieba_dictionary import jieba_file
from isoglot.corpora.splitters.jieba_words import split_lines

LINES = 3000
TURNS = 3
DATA = Path(os.environ.get("ISOGLOT_DATA", Path(__file__).parents[2] / "shared/data"))


def real_lines(path: Path) -> list[str]:
    """From all over the file, as its articles differ."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return list(islice((line for line in islice(file, None, None, 50) if line.strip()), LINES))


def made_up_lines() -> list[str]:
    """Words of jieba's dictionary by their frequency, a mark now and then."""
    rows = [row.split() for row in jieba_file("dict.txt").read_text(encoding="utf-8").splitlines()]
    words = np.array([row[0] for row in rows] + ["。", "；"])  # noqa: RUF001
    frequency = np.array([float(row[1]) for row in rows])
    frequency = np.append(frequency, [frequency.sum() / 20] * 2)
    random = np.random.default_rng(0)
    return ["".join(random.choice(words, 70, p=frequency / frequency.sum())) for _ in range(LINES)]


def stock_jieba(folder: str) -> ModuleType:
    """jieba itself, loaded, quiet and with its cache in a folder of ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba
    jieba.setLogLevel(logging.CRITICAL)
    jieba.dt.tmp_dir = folder
    jieba.initialize()
    return jieba


def seconds(split: Callable[[], object]) -> float:
    start = time.process_time()
    split()
    return time.process_time() - start


def main() -> None:
    path = DATA / "text/wiki.zh.txt.xz"
    lines = real_lines(path) if path.exists() else made_up_lines()
    start = seconds(lambda: split_lines(["开始"]))
    with tempfile.TemporaryDirectory() as folder:
        jieba = stock_jieba(folder)
        turns = [
            (seconds(lambda: [jieba.lcut(line) for line in lines]), seconds(lambda: split_lines(lines)))
            for _ in range(TURNS)
        ]
    megabytes = sum(len(line.encode()) for line in lines) / 1e6
    stock, ours = (round(megabytes / min(times), 2) for times in zip(*turns, strict=True))
    print(
        json.dumps(
            {
                "bench": "chinese_words",
                "threads": 1,
                "text": path.name if path.exists() else "made up",
                "megabytes": round(megabytes, 2),
                "megabytes_per_second": {"jieba": stock, "isoglot": ours},
                "start_seconds": round(start, 2),
            }
        )
    )


if __name__ == "__main__":
    main()
