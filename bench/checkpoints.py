"""The cost of a checkpoint that is written in the background: one JSON line a model.

    python bench/checkpoints.py [--folder .] [--models demo small paper]

By default in a temporary folder, and the paper's model only where there is a GPU. `held_up_seconds` is how long the
training thread, and with it the device, waits while the tensors are copied; the first checkpoint of a run also gets
its memory then. `cpu_seconds` is what the writing takes of some other core.
"""

import argparse
import json
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import torch

from isoglot.corpora.vocabulary import PAD
from isoglot.machine import Machine, this_machine
from isoglot.model.checkpoints import LATEST, BackgroundWriter, write_checkpoint
from isoglot.model.cloze import ClozeModel, write_model
from isoglot.model.work_files import WriteTensors, write_tensors
from isoglot.pretraining.flat_weights import FlatWeights
from isoglot.pretraining.loop import SECONDS_BETWEEN_CHECKPOINTS
from isoglot.pretraining.train_state import TrainState
from isoglot.study.scales import DEMO, PAPER, SMALL, Scale
from isoglot.study.separate import Separate

TIMES = 7


class Training:
    """A model and an optimizer as they are after an update."""

    def __init__(self, scale: Scale, machine: Machine):
        sizes = dict.fromkeys(("a", "b"), scale.merges)
        model = ClozeModel(scale.shape, table_sizes=sizes, separate=Separate(), pad_id=PAD)
        self.model = model.to(machine.device)
        self.weights = FlatWeights(self.model)
        self.optimizer = torch.optim.AdamW(self.weights.parameters(), fused=True)
        self.device = machine.device
        self.update()

    def update(self) -> None:
        for parameter in self.weights.parameters():
            parameter.grad = torch.rand_like(parameter)
        self.optimizer.step()
        self.wait()

    def wait(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def checkpoint(self, folder: Path, write: WriteTensors) -> float:
        """The seconds until training can go on."""
        self.update()
        start = time.perf_counter()
        write_checkpoint(folder, model=self.weights, optimizer=self.optimizer, state=TrainState(update=1), write=write)
        self.wait()
        return time.perf_counter() - start


def measured(scale: Scale, folder: Path) -> dict[str, object]:
    machine = this_machine()
    training = Training(scale, machine)
    at_once = median(training.checkpoint(folder, write_tensors) for _ in range(TIMES))
    held_up, on_disk, cpu = [], [], []
    with BackgroundWriter() as writer:
        for _ in range(TIMES + 1):
            held_up.append(training.checkpoint(folder, writer))
            start, cpu_start = time.perf_counter(), time.process_time()
            writer.finish()
            on_disk.append(held_up[-1] + time.perf_counter() - start)
            cpu.append(time.process_time() - cpu_start)
        model_held_up = []
        for _ in range(TIMES + 1):
            start = time.perf_counter()
            write_model(training.model, folder, write=writer)
            model_held_up.append(time.perf_counter() - start)
            writer.finish()
    return {
        "bench": "checkpoints",
        "model": scale.name,
        "device": machine.device.type,
        "threads": torch.get_num_threads(),
        "bytes": (folder / LATEST).stat().st_size,
        "held_up_seconds": round(median(held_up[1:]), 5),
        "held_up_seconds_first": round(held_up[0], 5),
        "model_held_up_seconds": round(median(model_held_up[1:]), 5),
        "on_disk_seconds": round(median(on_disk[1:]), 4),
        "cpu_seconds": round(median(cpu[1:]), 4),
        "at_once_seconds": round(at_once, 4),
        "share_of_run_time": round(median(held_up[1:]) / SECONDS_BETWEEN_CHECKPOINTS, 6),
        "share_written_at_once": round(at_once / SECONDS_BETWEEN_CHECKPOINTS, 6),
    }


def main() -> None:
    scales = {scale.name: scale for scale in (DEMO, SMALL, PAPER)}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="a folder on the disk to measure")
    has_gpu = this_machine().device.type == "cuda"
    parser.add_argument("--models", nargs="+", choices=scales, default=list(scales)[: 3 if has_gpu else 2])
    arguments = parser.parse_args()
    for name in arguments.models:
        with TemporaryDirectory(dir=arguments.folder) as folder:
            print(json.dumps(measured(scales[name], Path(folder))), flush=True)


if __name__ == "__main__":
    main()
