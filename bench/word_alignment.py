"""Speed of fast_align's model, both directions and their symmetrization, on one thread: one JSON line."""

import json
import time

import torch

from isoglot.corpora.synthetic import draw_meanings, realise
from isoglot.evaluation.geometry.word_alignment import aligned
from isoglot.study.synthetic_languages import Side, SyntheticLanguage, WordOrder, World

PAIRS = 10_000
WORLD = World(nouns=2000, verbs=500, adjectives=500)
LANGUAGES = (
    SyntheticLanguage(name="ela"),
    SyntheticLanguage(name="oru", order=WordOrder.SOV, adjectives=Side.AFTER, adpositions=Side.AFTER),
)
ROUNDS = 3


def sentence_pairs() -> list[tuple[list[str], list[str]]]:
    """Two sentences in each line, so that lines are about as long as those of real text."""
    meanings = draw_meanings(WORLD, count=2 * PAIRS, seed=0)
    sides = []
    for language in LANGUAGES:
        lines = realise(meanings, language, world=WORLD)
        sides.append([f"{a} {b}".split() for a, b in zip(lines[:PAIRS], lines[PAIRS:], strict=True)])
    return list(zip(*sides, strict=True))


def main() -> None:
    torch.set_num_threads(1)
    pairs = sentence_pairs()
    aligned(pairs[:10])
    measured = []
    for _ in range(ROUNDS):
        # By the clock of the process: others may use the core.
        start = time.process_time()
        aligned(pairs)
        measured.append(time.process_time() - start)
    seconds = min(measured)
    cells = sum(len(source) * len(target) for source, target in pairs)
    print(
        json.dumps(
            {
                "bench": "word_alignment",
                "threads": 1,
                "pairs": PAIRS,
                "million_cells": round(cells / 1e6, 1),
                "seconds": round(seconds, 2),
                "pairs_per_second": round(PAIRS / seconds),
            }
        )
    )


if __name__ == "__main__":
    main()
