"""Processes that write in the background and get kill -9: run as `python -m tests.writing_nursery FOLDER`."""

import json
import random
import sys
import time
from pathlib import Path

import torch

from isoglot.model.checkpoints import BackgroundWriter
from tests.killed_processes import KILLED, Fate, exit_code_of

SIZE = 300_000


def write_rounds(folder: Path, rounds: int) -> None:
    """In each round a model, then the checkpoint that knows of it, both filled with the number of the round."""
    weight = torch.zeros(SIZE)
    with BackgroundWriter() as writer:
        for _ in range(rounds):
            weight += 1
            writer({"weight": weight}, folder / "best")
            writer({"weight": weight, "moment": weight}, folder / "checkpoint")


def fate(folder: Path, *, rounds: int, moment: int | None = None, seconds: float | None = None) -> Fate:
    """The fate of a process that is killed after some seconds, or at the moment-th thing it asks of the system."""
    folder.mkdir()
    code = exit_code_of(lambda: write_rounds(folder, rounds), moment=moment, seconds=seconds)
    return code, " ".join(sorted(path.relative_to(folder).as_posix()[:20] for path in folder.rglob("*")))


def states_of(fates: list[Fate]) -> set[str]:
    """In which those were found that had been killed."""
    return {state for code, state in fates if code == KILLED}


def main() -> None:
    """Print the fates of those killed at random and of those killed at each moment, each in a folder of its own."""
    torch.set_num_threads(1)  # forking a process with threads would be unsafe
    place, few = Path(sys.argv[1]), "few" in sys.argv
    assert fate(place / "warm-up", rounds=4)[0] == 0
    start = time.monotonic()
    assert fate(place / "whole", rounds=4)[0] == 0
    longest = time.monotonic() - start
    at_random: list[Fate] = []
    while not few and (sum(code == KILLED for code, _ in at_random) < 20 or len(states_of(at_random)) < 4):
        folder = place / f"at_random-{len(at_random)}"
        at_random.append(fate(folder, rounds=4, seconds=random.uniform(0, longest)))
        # The disk, or the machine, may have become busy since, or idle.
        longest *= 1.1 if at_random[-1][0] == KILLED else 0.7
    at_each: list[Fate] = []
    while not at_each or at_each[-1][0] == KILLED:
        moment = (4 if few else 1) * len(at_each)
        at_each.append(fate(place / f"at_each-{len(at_each)}", rounds=2, moment=moment))
    print(json.dumps({"at_random": at_random, "at_each": at_each}))


if __name__ == "__main__":
    main()
