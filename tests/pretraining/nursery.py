"""Processes that train a model and get kill -9: run as `python -m tests.pretraining.nursery FOLDER`."""

import json
import random
import shutil
import sys
import time
from pathlib import Path

import torch

from isoglot.corpora.streams import TokenStream
from isoglot.model.checkpoints import LATEST, PREVIOUS
from isoglot.model.work_files import CHECKPOINTS
from isoglot.pretraining import loop
from isoglot.pretraining.run import PretrainingRun
from tests.killed_processes import KILLED, Fate, exit_code_of, state_of_training
from tests.pretraining.tiny_runs import pretrained, tiny_run, write_streams

LONG = tiny_run(dropout=0.1, updates=40, evaluations=4)
SHORT = tiny_run(dropout=0.1, updates=2, evaluations=2)


class Nursery:
    """Forks processes that all train in folders of one place."""

    def __init__(self, place: Path, streams: dict[str, TokenStream]):
        self.place = place
        self.streams = streams

    def train(self, run: PretrainingRun, name: str) -> None:
        pretrained(run, self.streams, folder=self.place / name)

    def fate(self, run: PretrainingRun, name: str, *, moment: int | None = None, seconds: float | None = None) -> Fate:
        """Train in a process that is killed after some seconds, or at the moment-th thing it asks of the system."""
        code = exit_code_of(lambda: self.train(run, name), moment=moment, seconds=seconds)
        names = (LATEST, PREVIOUS)
        return code, state_of_training(self.place / name, log=loop.LOG, checkpoints=CHECKPOINTS, names=names)


def killed_at_random(nursery: Nursery, *, seconds: float) -> list[Fate]:
    """One after the other until the run is finished, which took some seconds before."""
    fates: list[Fate] = [(KILLED, "begun")]
    while fates[-1][1] != "finished":
        # Longer and longer, since on a busy machine none might get past its first update.
        longest = seconds / 5 * (1 + len(fates) / 10)
        fates.append(nursery.fate(LONG, "at-random", seconds=random.uniform(0, longest)))
    fates.append(nursery.fate(LONG, "at-random"))
    return fates


def killed_at_each_moment(nursery: Nursery, *, stride: int, in_a_row: int) -> list[Fate]:
    """Each in its own folder, and resumed there, until some in a row get through: a busy machine asks for more."""
    fates: list[Fate] = [(KILLED, "begun")]
    while any(code == KILLED for code, _ in fates[-in_a_row:]):
        name = f"at-each-{len(fates) - 1}"
        fates.append(nursery.fate(SHORT, name, moment=stride * (len(fates) - 1)))
        assert nursery.fate(SHORT, name) == (0, "finished")
    return fates


def main() -> None:
    """Print the fates of those killed at random, again and again in one folder, and at each moment, each in its own."""
    torch.set_num_threads(1)  # forking a process with threads would be unsafe
    place, few = Path(sys.argv[1]), "few" in sys.argv
    nursery = Nursery(place, write_streams(place / "streams"))
    nursery.train(SHORT, "warm-up")
    assert nursery.fate(SHORT, "short") == (0, "finished")
    loop.SECONDS_BETWEEN_CHECKPOINTS = 0.0  # one after each update
    at_random: list[Fate] = []
    if not few:
        start = time.monotonic()
        assert nursery.fate(LONG, "long") == (0, "finished")
        seconds = time.monotonic() - start
        at_random = killed_at_random(nursery, seconds=seconds)
        # A machine that has become idle gets through too soon.
        while at_random.count((KILLED, "trained")) < 2:
            seconds /= 2
            shutil.rmtree(place / "at-random")
            at_random = killed_at_random(nursery, seconds=seconds)
    at_each = killed_at_each_moment(nursery, stride=12 if few else 1, in_a_row=1 if few else 6)
    print(json.dumps({"at_random": at_random, "at_each": at_each}))


if __name__ == "__main__":
    main()
