"""Speed of the Moses word splitter beside stock sacremoses, on one thread: one JSON line."""

import json
import lzma
import os
import random
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from sacremoses import MosesPunctNormalizer, MosesTokenizer

from isoglot.corpora.splitters.moses import split_lines

LANGUAGES = ("en", "fr", "de", "ru")
LINES = 4000
EVERY = 40
ROUNDS = 3
DATA = os.environ.get("ISOGLOT_DATA")


def real_lines(path: Path) -> list[str]:
    """One line of many, since the sorts of text stand one after the other in a file."""
    with lzma.open(path, "rt", encoding="utf-8", newline="\n") as file:
        lines = (line.removesuffix("\n") for line in file if line.strip())
        return list(islice(lines, 0, LINES * EVERY, EVERY))


def made_up_lines(language: str) -> list[str]:
    draw = random.Random(0)
    letters = "абвгдежзиклмнопрсту" if language == "ru" else "abcdefghijklmnopqrstu"
    words = ["".join(draw.choices(letters, k=draw.randint(1, 9))) for _ in range(5000)]
    marks = [""] * 20 + [",", ",", ".", ";", " -", "'s", ".)", "…"]
    return [" ".join(draw.choice(words) + draw.choice(marks) for _ in range(30)) + "." for _ in range(LINES)]


def lines_of(language: str) -> tuple[str, list[str]]:
    path = Path(DATA or "") / f"text/wiki.{language}.txt.xz"
    return (path.name, real_lines(path)) if DATA and path.exists() else ("made up", made_up_lines(language))


def stock_words(language: str) -> Callable[[list[str]], list[list[str]]]:
    normalizer = MosesPunctNormalizer(
        lang=language, pre_replace_unicode_punct=True, post_remove_control_chars=True, perl_parity=True
    )
    tokenizer = MosesTokenizer(lang=language)
    return lambda lines: [tokenizer.tokenize(normalizer.normalize(line), escape=False) for line in lines]


def seconds_of(split: Callable[[list[str]], list[list[str]]], lines: list[str], *, rounds: int) -> float:
    """Seconds of the best round, by the clock of the process: others may use the core."""
    split(lines[:10])
    measured = []
    for _ in range(rounds):
        start = time.process_time()
        split(lines)
        measured.append(time.process_time() - start)
    return min(measured)


def speeds(language: str) -> dict[str, str | float]:
    text, lines = lines_of(language)
    megabytes = sum(len(line.encode()) for line in lines) / 1e6
    stock = seconds_of(stock_words(language), lines, rounds=1)
    ours = seconds_of(lambda batch: split_lines(batch, language=language), lines, rounds=ROUNDS)
    return {
        "text": text,
        "megabytes": round(megabytes, 2),
        "stock": round(megabytes / stock, 2),
        "ours": round(megabytes / ours, 2),
        "times_faster": round(stock / ours, 1),
    }


def main() -> None:
    measured = {language: speeds(language) for language in LANGUAGES}
    print(json.dumps({"bench": "words", "threads": 1, "megabytes_per_second": measured}))


if __name__ == "__main__":
    main()
