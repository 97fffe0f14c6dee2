"""Speed of making up text: prints one JSON line with sentences a second on one core."""

import json
import time

from isoglot.corpora.synthetic import draw_meanings, realise
from isoglot.study.synthetic_languages import SyntheticLanguage, World

SENTENCES = 40_000
ROUNDS = 5


def seconds_a_round(seed: int) -> float:
    world, language = World(), SyntheticLanguage(name="a")
    start = time.perf_counter()
    lines = realise(draw_meanings(world, count=SENTENCES, seed=seed), language, world=world)
    seconds = time.perf_counter() - start
    assert len(lines) == SENTENCES
    return seconds


def main() -> None:
    seconds = min(seconds_a_round(seed) for seed in range(ROUNDS))
    measured = {"bench": "synthetic", "sentences": SENTENCES, "sentences_per_second": round(SENTENCES / seconds)}
    print(json.dumps(measured))


if __name__ == "__main__":
    main()
