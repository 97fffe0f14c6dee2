"""Word vectors: read from files of fastText, word2vec or GloVe, or trained as fastText does (the extra `fasttext`)."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isoglot.corpora.readers.line_files import LineFile, number_of
from isoglot.errors import IsoglotError
from isoglot.study.searches import FastText

# W = words, D = width

COUNT = re.compile("[0-9]{1,12}")
FORMAT = "a line has a word and its numbers, with one space between them"


def read_word_vectors(path: Path | str, *, most_words: int) -> tuple[list[str], NDArray[np.float32]]:
    """The first words of a file in its order, and [W, D]; in lower case, the first of those that are then the same."""
    vectors: dict[str, NDArray[np.float32]] = {}
    promised = width = rows = 0
    with LineFile(path) as file:
        for line in file:
            fields = line.rstrip(" ").split(" ")
            # word2vec and fastText begin with the number of words and of dimensions, GloVe does not.
            if file.number == 1 and len(fields) == 2 and all(map(COUNT.fullmatch, fields)):
                promised, width = map(int, fields)
                continue
            width = width or len(fields) - 1
            word, vector_D = _row(fields, width, file)
            rows += 1
            vectors.setdefault(word.lower(), vector_D)
            if len(vectors) == most_words:
                break
    if not vectors:
        raise IsoglotError(f"{path}: no word vectors; {FORMAT}")
    if rows < promised and len(vectors) < most_words:
        raise IsoglotError(f"{path}: {rows} words, but its first line says {promised}; fetch the file again")
    return list(vectors), np.stack(list(vectors.values()))


def _row(fields: list[str], width: int, file: LineFile) -> tuple[str, NDArray[np.float32]]:
    at = len(fields) - width
    others = fields[1:at]
    # A row with too many numbers looks like a word of several parts.
    if at < 1 or width < 1 or (others and all(number_of(other) is not None for other in others)):
        raise file.error(f"{len(fields) - 1} numbers after the word, where {max(width, 1)} are expected; {FORMAT}")
    word = " ".join(fields[:at])
    if not word:
        raise file.error(f"no word before the numbers; {FORMAT}")
    try:
        with np.errstate(over="ignore"):
            vector_D = np.array(list(map(float, fields[at:])), dtype=np.float32)
    except ValueError as error:
        raise file.error(f"the vector of {word[:40]!r}: {error}; correct or drop the row") from None
    if not np.isfinite(vector_D).all():
        raise file.error(f"the vector of {word[:40]!r} is not of finite numbers of 32 bits; correct or drop the row")
    return word, vector_D


LEAST_THREADS = 10
"""A thread gives a tenth of all rows their first values, so that with fewer than ten the rest would begin at zero."""
LINE_END = "</s>"
NO_LABEL = " "
"""No word begins with a space; by default the words that begin with __label__ would be dropped."""


def fasttext_vectors(
    lines: Iterable[Sequence[str]], *, settings: FastText, most_words: int, threads: int, draft: Path
) -> tuple[list[str], NDArray[np.float32]]:
    """The words of a text in lower case, the most frequent first, and [W, D]; the trainer reads a file, the draft."""
    try:
        import floret  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        raise IsoglotError(
            "fastText vectors: to train them, `pip install floret` (Python below 3.13); or name files of vectors that "
            "you have under resources.vectors, or do without by has_fasttext = false under [change.alignment]"
        ) from None
    try:
        with draft.open("w", encoding="utf-8", newline="\n") as file:
            # Departure: lower case, as the Wikipedia vectors of fastText and the dictionaries of MUSE are.
            file.writelines(f"{' '.join(words).lower()}\n" for words in lines)
        # Departure: threads write over each other's sums, so that two runs differ in the numbers; one alone would be
        # repeatable, and take as many times longer as the machine has processors.
        model = floret.train_unsupervised(
            str(draft),
            mode="fasttext",
            model="skipgram",
            dim=settings.dimensions,
            epoch=settings.epochs,
            minCount=settings.least_count,
            lr=settings.learning_rate,
            ws=settings.window,
            bucket=settings.buckets,
            label=NO_LABEL,
            thread=max(threads, LEAST_THREADS),
            verbose=0,
        )
    except (RuntimeError, ValueError) as error:
        raise IsoglotError(
            f"fastText vectors: {error}; give more text, or change least_count or learning_rate of alignment.fasttext"
        ) from error
    finally:
        draft.unlink(missing_ok=True)
    words = [word for word in model.get_words() if word != LINE_END][:most_words]
    if not words:
        fix = "give more text, or lower alignment.fasttext.least_count"
        raise IsoglotError(f"fastText vectors: no word occurs {settings.least_count} times; {fix}")
    return words, np.stack([model.get_word_vector(word) for word in words]).astype(np.float32)
