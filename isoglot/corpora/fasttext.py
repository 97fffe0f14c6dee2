"""Word vectors trained as fastText does (Bojanowski et al., 2017), by floret (the extra `fasttext`)."""

# W = words, D = width

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isoglot.errors import IsoglotError
from isoglot.study.searches import FastText

LEAST_THREADS = 10
"""A thread gives a tenth of all rows their first values, so that with fewer than ten the rest would begin at zero."""
LINE_END = "</s>"
NO_LABEL = " "
"""What no word begins with; as it is, the words that begin with __label__ would be dropped."""


def fasttext_vectors(
    lines: Iterable[Sequence[str]], *, settings: FastText, most_words: int, threads: int, draft: Path
) -> tuple[list[str], NDArray[np.float32]]:
    """The words of a text in lower case, the most frequent first, and [W, D].

    The trainer reads a file, so the lines are written to `draft`, which is deleted afterwards.
    """
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
        raise IsoglotError(
            f"fastText vectors: no word occurs {settings.least_count} times; give more text, or lower "
            "alignment.fasttext.least_count"
        )
    return words, np.stack([model.get_word_vector(word) for word in words]).astype(np.float32)
