"""Processes that fine-tune a model and get kill -9: run as `python -m tests.evaluation.transfer.nursery FOLDER`."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import torch
import torch._dynamo  # loaded when an optimizer is first made: loaded here, its 800 files are no moments to die at

from isoglot.evaluation.transfer import fine_tuning
from isoglot.model.checkpoints import LATEST, PREVIOUS
from isoglot.model.work_files import CHECKPOINTS
from isoglot.pipeline.stages.fine_tuning import LOG, FineTuning
from isoglot.store import Store, Work, run_plan
from tests.killed_processes import KILLED, Fate, exit_code_of, state_of_training
from tests.pipeline.tiny_transfers import tiny_graph


class Nursery:
    """Forks processes that all run one stage, in folders of one place."""

    def __init__(self, place: Path):
        self.place = place
        graph = tiny_graph(dropout=0.1)
        (stage,) = graph.transfer("ner", graph.untrained).runs
        self.stage: FineTuning = replace(stage, run=replace(stage.run, epochs=2))
        store = Store(place / "store")
        inputs = list(self.stage.inputs.values())
        assert run_plan(inputs, store).failed == {}
        self.input_folders = {each.digest: store.folder(each) for each in inputs}

    def make(self, name: str) -> None:
        (self.place / name).mkdir(exist_ok=True)
        work = Work(
            folder=self.place / name,
            input_folders=self.input_folders,
            progress=lambda *_: None,
            log_folder=self.place / "logs",
        )
        self.stage.make(work)

    def fate(self, name: str, *, moment: int | None = None, state: str | None = None) -> Fate:
        """Run the stage in a process killed in a state, or at the moment-th thing it asks of the system."""
        folder = self.place / name
        when = None if state is None else lambda: self._state(folder) == state
        code = exit_code_of(lambda: self.make(name), moment=moment, when=when)
        return code, self._state(folder)

    def _state(self, folder: Path) -> str:
        return state_of_training(folder, log=LOG, checkpoints=CHECKPOINTS, names=(LATEST, PREVIOUS))


def main() -> None:
    """Print the fates of one that is killed after a checkpoint, or of those killed at each moment, in own folders."""
    torch.set_num_threads(1)  # forking a process with threads would be unsafe
    nursery = Nursery(Path(sys.argv[1]))
    assert nursery.fate("whole") == (0, "finished")
    fine_tuning.SECONDS_BETWEEN_CHECKPOINTS = 0.0  # one after each epoch
    if sys.argv[2:] == ["once"]:
        print(json.dumps({"once": [nursery.fate("killed", state="trained"), nursery.fate("killed")]}))
        return
    at_each: list[Fate] = [(KILLED, "begun")]
    while at_each[-1][0] == KILLED:
        name = f"at-each-{len(at_each) - 1}"
        at_each.append(nursery.fate(name, moment=len(at_each) - 1))
        assert nursery.fate(name) == (0, "finished")
    print(json.dumps({"at_each": at_each}))


if __name__ == "__main__":
    main()
