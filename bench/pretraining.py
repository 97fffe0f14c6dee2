"""Speed of pretraining the demo's model on this machine: one JSON line for one thread, one for all."""

import json
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from isoglot.conditions import DEFAULT
from isoglot.corpora.bpe import learn_bpe
from isoglot.corpora.streams import TokenStream, cut_lines, write_stream
from isoglot.corpora.vocabulary import MASK, PAD, build_vocabulary
from isoglot.corpora.words import word_counts
from isoglot.languages import SyntheticLanguage, World
from isoglot.machine import this_machine
from isoglot.pretraining.loop import Trainer
from isoglot.pretraining.run import PretrainingRun
from isoglot.scales import DEMO
from isoglot.synthetic import draw_meanings, realise

LANGUAGES = ("ela", "oru")
UPDATES = 150
WARM_UP = 20


def demo_streams(folder: Path) -> dict[str, TokenStream]:
    world = World()
    lines = {
        name: realise(draw_meanings(world, count=8000, seed=seed), SyntheticLanguage(name=name), world=world)
        for seed, name in enumerate(LANGUAGES)
    }
    words = {name: word_counts(of_language, language=name) for name, of_language in lines.items()}
    bpe = learn_bpe(sum(words.values(), Counter()), merges=DEMO.merges)
    vocabulary = build_vocabulary(
        DEFAULT.tables, counts={name: bpe.subword_counts(counts) for name, counts in words.items()}
    )
    return {
        name: write_stream(
            folder / name,
            language=name,
            splits=cut_lines(of_language, dev_lines=DEMO.dev_lines, test_lines=DEMO.test_lines, seed=0),
            bpe=bpe,
            vocabulary=vocabulary,
        )
        for name, of_language in lines.items()
    }


def tokens_per_second(streams: dict[str, TokenStream], *, threads: int) -> float:
    run = PretrainingRun.of(DEFAULT, scale=DEMO, languages=LANGUAGES, seed=0)
    torch.set_num_threads(threads)
    with TemporaryDirectory() as folder:
        trainer = Trainer(run, streams, pad_id=PAD, mask_id=MASK, folder=Path(folder), machine=this_machine())
        for _ in range(WARM_UP):
            trainer.advance()
        start = time.perf_counter()
        for _ in range(UPDATES):
            trainer.advance()
        return UPDATES * run.batch * run.window / (time.perf_counter() - start)


def main() -> None:
    all_threads = torch.get_num_threads()
    with TemporaryDirectory() as folder:
        streams = demo_streams(Path(folder))
        for threads in dict.fromkeys((1, all_threads)):
            speed = tokens_per_second(streams, threads=threads)
            print(
                json.dumps(
                    {"bench": "pretraining", "scale": "demo", "threads": threads, "tokens_per_second": round(speed)}
                )
            )


if __name__ == "__main__":
    main()
