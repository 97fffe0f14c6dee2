"""Processes that fine-tune a model and get kill -9: run as `python -m tests.transfer.nursery FOLDER`."""

import itertools
import json
import os
import random
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

import torch

from isoglot.artifacts import Store, Work, run_plan
from isoglot.stages.fine_tuning import LOG, FineTuning
from isoglot.transfer import fine_tuning
from tests.stages.tiny_transfers import tiny_graph

KILLED = -signal.SIGKILL
Fate = tuple[int, str]
"""How a process ended, and what stands in its folder then."""


class Nursery:
    """Forks processes that all run one stage, in folders of one place."""

    def __init__(self, place: Path):
        self.place = place
        graph = tiny_graph(dropout=0.1)
        (stage,) = graph.transfer("ner", graph.untrained).runs
        self.stage: FineTuning = replace(stage, run=replace(stage.run, epochs=3))
        store = Store(place / "store")
        inputs = list(self.stage.inputs.values())
        assert run_plan(inputs, store).failed == {}
        self.input_folders = {each.digest: store.folder(each) for each in inputs}

    def make(self, name: str) -> None:
        (self.place / name).mkdir(exist_ok=True)
        self.stage.make(Work(folder=self.place / name, input_folders=self.input_folders, progress=lambda *_: None))

    def fate(self, name: str, *, moment: int | None = None, seconds: float | None = None) -> Fate:
        """Run the stage in a process that is killed after some seconds, or at the moment-th thing it asks."""
        child = os.fork()
        if child == 0:
            _die_at(moment)
            try:
                self.make(name)
            except BaseException as error:
                print(repr(error), file=sys.stderr)
                os._exit(1)
            os._exit(0)
        if seconds is not None:
            time.sleep(seconds)
            os.kill(child, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), self._state(self.place / name)

    def _state(self, folder: Path) -> str:
        if (folder / LOG).exists():
            return "scored"
        return "tuned" if (folder / fine_tuning.CHECKPOINTS / "latest.safetensors").exists() else "begun"


def _die_at(moment: int | None) -> None:
    moments = itertools.count()

    def reap(event: str, arguments: tuple[object, ...]) -> None:  # noqa: ARG001
        if event.startswith(("open", "os.", "shutil.")) and next(moments) == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(reap)


def main() -> None:
    """Print the fates of those killed at random, again and again in one folder, and at each moment, each in its own."""
    torch.set_num_threads(1)  # forking a process with threads would be unsafe
    nursery = Nursery(Path(sys.argv[1]))
    nursery.make("warm-up")
    start = time.monotonic()
    assert nursery.fate("whole") == (0, "scored")
    seconds = time.monotonic() - start
    fine_tuning.SECONDS_BETWEEN_CHECKPOINTS = 0.0  # one after each epoch
    at_random: list[Fate] = [(KILLED, "begun")]
    while at_random[-1][1] != "scored":
        # Longer and longer, lest none gets past its first epoch on a machine that has become busy.
        longest = seconds / 4 * (1 + len(at_random) / 10)
        at_random.append(nursery.fate("at-random", seconds=random.uniform(0, longest)))
    at_random.append(nursery.fate("at-random"))
    at_each: list[Fate] = [(KILLED, "begun")]
    while at_each[-1][0] == KILLED:
        name = f"at-each-{len(at_each) - 1}"
        at_each.append(nursery.fate(name, moment=len(at_each) - 1))
        assert nursery.fate(name) == (0, "scored")
    print(json.dumps({"at_random": at_random, "at_each": at_each}))


if __name__ == "__main__":
    main()
