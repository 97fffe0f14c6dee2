"""Speed of reading training windows as they are and code-switched, on one thread: one JSON line."""

import json
import time
from collections import Counter

import numpy as np

from isoglot.corpora.bpe import learn_bpe
from isoglot.corpora.code_switching import SwitchableText, SwitchedWindows, Translation
from isoglot.corpora.numbered_text import NumberedText, Split, numbered
from isoglot.corpora.streams import Ids, Spellings, Windows, WindowSource
from isoglot.corpora.vocabulary import build_vocabulary
from isoglot.study.conditions import TableKind
from isoglot.study.languages import Splitter, WordSplitting
from isoglot.study.scales import DEMO, PAPER, Scale

LANGUAGES = ("a", "b")
TYPES = 10_000
LINES = 60_000
WORDS_IN_A_LINE = 20
MERGES = 2000
SECONDS = 1.0


def made_up_text(language: str, *, seed: int) -> NumberedText:
    """Words as unequal in frequency as those of real languages, spelled at random."""
    random = np.random.default_rng(seed)
    letters = np.array(list("aeioubdgklmnprst"))
    words = ["".join(random.choice(letters, size)) + language for size in random.integers(1, 9, TYPES)]
    frequency = 1 / np.arange(1, TYPES + 1)
    drawn = random.choice(TYPES, (LINES, WORDS_IN_A_LINE), p=frequency / frequency.sum())
    lines = [" ".join(words[i] for i in row) for row in drawn]
    types, number_N = numbered(lines, splitting=WordSplitting(splitter=Splitter.WHITESPACE, language=language))
    return NumberedText(types=types, number_N={Split.TRAIN: number_N})


def one_text_twice() -> tuple[Ids, SwitchableText]:
    """Every word has one to four translations, so that each batch must take some changes back: the slowest case."""
    texts = {language: made_up_text(language, seed=seed) for seed, language in enumerate(LANGUAGES)}
    counts = {language: text.word_counts(Split.TRAIN) for language, text in texts.items()}
    bpe = learn_bpe(sum(counts.values(), Counter()), merges=MERGES)
    vocabulary = build_vocabulary(
        TableKind.JOINT, counts={language: bpe.subword_counts(words) for language, words in counts.items()}
    )
    random = np.random.default_rng(2)
    targets = list(counts["b"])
    translations = {
        word: [
            Translation(language="b", word=targets[i], weight=1 / (rank + 1))
            for rank, i in enumerate(random.integers(0, len(targets), random.integers(1, 5)))
        ]
        for word in counts["a"]
    }
    text = SwitchableText.of(
        texts["a"], language="a", translations=translations, bpe=dict.fromkeys(LANGUAGES, bpe), vocabulary=vocabulary
    )
    spellings = Spellings.of(texts["a"].types, language="a", bpe=bpe, vocabulary=vocabulary)
    return spellings.of_places(texts["a"].number_N[Split.TRAIN]), text


def tokens_per_second(source: WindowSource, scale: Scale) -> int:
    source.take(0, scale.batch)
    start, batches = time.perf_counter(), 0
    while time.perf_counter() - start < SECONDS:
        batches += 1
        source.take(batches * scale.batch, scale.batch)
    return round(batches * scale.batch * scale.window / (time.perf_counter() - start))


def main() -> None:
    ids, text = one_text_twice()
    speeds = {
        f"{scale.batch} windows of {scale.window}": {
            "as_it_is": tokens_per_second(Windows(ids, length=scale.window, seed=0, name="a"), scale),
            "switched": tokens_per_second(SwitchedWindows(text, length=scale.window, seed=0, name="a"), scale),
        }
        for scale in (PAPER, DEMO)
    }
    print(json.dumps({"bench": "code_switching", "threads": 1, "tokens_per_second": speeds}))


if __name__ == "__main__":
    main()
