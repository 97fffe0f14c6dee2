"""Speed of pretraining the demo's model with and without extra anchors: one JSON line for one thread, one for all."""

import json
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch

from isoglot.corpora.bpe import learn_bpe
from isoglot.corpora.code_switching import SwitchableText, Translation
from isoglot.corpora.numbered_text import LINE_END, NumberedText, Split, numbered
from isoglot.corpora.streams import TokenStream, write_stream
from isoglot.corpora.synthetic import dictionary, draw_meanings, realise
from isoglot.corpora.vocabulary import build_vocabulary
from isoglot.machine import this_machine
from isoglot.pretraining.loop import NOTHING_SWITCHABLE, Trainer
from isoglot.pretraining.run import PretrainingRun
from isoglot.study.conditions import DEFAULT
from isoglot.study.languages import Splitter, WordSplitting
from isoglot.study.scales import DEMO
from isoglot.study.synthetic_languages import SyntheticLanguage, World

WORLD = World()
LANGUAGES = tuple(SyntheticLanguage(name=name) for name in ("ela", "oru"))
NAMES = tuple(language.name for language in LANGUAGES)
UPDATES = 150
WARM_UP = 20


def demo_text(language: SyntheticLanguage, *, seed: int) -> NumberedText:
    lines = realise(draw_meanings(WORLD, count=8000, seed=seed), language, world=WORLD)
    types, number_N = numbered(lines, splitting=WordSplitting(splitter=Splitter.WHITESPACE, language=language.name))
    ends = np.flatnonzero(number_N == LINE_END) + 1
    parts = np.split(number_N, ends[[DEMO.dev_lines - 1, DEMO.dev_lines + DEMO.test_lines - 1]])
    return NumberedText(types=types, number_N=dict(zip((Split.DEV, Split.TEST, Split.TRAIN), parts, strict=True)))


def demo_data(folder: Path) -> tuple[dict[str, TokenStream], dict[str, SwitchableText]]:
    texts = {language.name: demo_text(language, seed=seed) for seed, language in enumerate(LANGUAGES)}
    words = {name: text.word_counts(Split.TRAIN) for name, text in texts.items()}
    bpe = learn_bpe(sum(words.values(), Counter()), merges=DEMO.merges)
    vocabulary = build_vocabulary(
        DEFAULT.tables, counts={name: bpe.subword_counts(counts) for name, counts in words.items()}
    )
    streams = {
        name: write_stream(folder / name, language=name, text=text, bpe=bpe, vocabulary=vocabulary)
        for name, text in texts.items()
    }
    switchable = {
        own.name: SwitchableText.of(
            texts[own.name],
            language=own.name,
            translations={
                a: [Translation(language=other.name, word=b)] for a, b in dictionary(own, other, world=WORLD)
            },
            bpe=dict.fromkeys(NAMES, bpe),
            vocabulary=vocabulary,
        )
        for own, other in (LANGUAGES, LANGUAGES[::-1])
    }
    return streams, switchable


def tokens_per_second(
    streams: dict[str, TokenStream], switchable: Mapping[str, SwitchableText], *, threads: int
) -> int:
    run = PretrainingRun.of(DEFAULT, scale=DEMO, languages=NAMES, seed=0)
    torch.set_num_threads(threads)
    with (
        TemporaryDirectory() as folder,
        Trainer(run, streams, folder=Path(folder), machine=this_machine(), switchable=switchable) as trainer,
    ):
        for _ in range(WARM_UP):
            trainer.advance()
        start = time.perf_counter()
        for _ in range(UPDATES):
            trainer.advance()
        return round(UPDATES * run.batch * run.window / (time.perf_counter() - start))


def main() -> None:
    all_threads = torch.get_num_threads()
    with TemporaryDirectory() as folder:
        streams, switchable = demo_data(Path(folder))
        for threads in dict.fromkeys((1, all_threads)):
            speeds = {
                "as_it_is": tokens_per_second(streams, NOTHING_SWITCHABLE, threads=threads),
                "switched": tokens_per_second(streams, switchable, threads=threads),
            }
            print(
                json.dumps({"bench": "extra anchors", "scale": "demo", "threads": threads, "tokens_per_second": speeds})
            )


if __name__ == "__main__":
    main()
