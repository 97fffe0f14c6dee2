"""One model trained by several processes of this machine under torchrun, started again when one of them dies."""

import fcntl
import json
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import timedelta
from io import FileIO
from pathlib import Path
from tempfile import NamedTemporaryFile

import torch
import torch.distributed as dist

from isoglot.corpora.code_switching import SwitchableText
from isoglot.corpora.streams import TokenStream
from isoglot.errors import IsoglotError
from isoglot.files import file_to_extend
from isoglot.machine import DEVICE_VARIABLE, PROCESSES_VARIABLE, Machine, this_machine
from isoglot.pretraining.loop import Report, pretrain
from isoglot.pretraining.ranks import Ranks
from isoglot.pretraining.run import PretrainingRun, UpdateRecord
from isoglot.processes import end_after

MAX_RESTARTS = 3
SECONDS_TO_END = 10.0
LONGEST_WAIT = timedelta(minutes=10)
"""For each other: while the first evaluates, or for one that hangs, before all are started again."""
LOG_NAME = "torchrun.log"
RECORDS, TROUBLE = "isoglot-records", "isoglot-trouble"
"""Beginnings of the lines that the first process prints; JSON follows."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """Everything that each of the processes needs to know."""

    run: PretrainingRun
    streams: Mapping[str, Path]
    switchable: Mapping[str, Path]
    folder: Path
    micro_batch: int | None = None


def pretrain_in_processes(job: Job, *, processes: int, report: Report, log_folder: Path) -> None:
    """Do what `pretrain` does, each process on its rows of every batch; their standard error goes to a log."""
    log_folder.mkdir(parents=True, exist_ok=True)
    log_path = log_folder / LOG_NAME
    with NamedTemporaryFile() as job_file, file_to_extend(log_path) as log:
        pickle.dump(job, job_file)
        job_file.flush()
        # The kernel frees this lock if this process is killed, and then they must not go on alone: another run may
        # take over.
        fcntl.flock(job_file, fcntl.LOCK_EX)
        deaths, reached = 0, 0
        # Not with torchrun's own restarts: after one, gloo's processes at times wait for each other for ever.
        while deaths <= MAX_RESTARTS:
            furthest = reached
            with _started(Path(job_file.name), processes=processes, log=log) as torchrun:
                assert torchrun.stdout is not None
                for line in torchrun.stdout:
                    reached = max(reached, _passed_on(line, report=report))
                if torchrun.wait() == 0:
                    return
            # A long run may bear many, as long as it gets on between them.
            deaths = deaths + 1 if reached == furthest else 1
    raise IsoglotError(
        f"{processes} processes could not train {job.folder.name} together: some died {deaths} times and got no "
        f"further; their errors are in {log_path}"
    )


@contextmanager
def _started(job: Path, *, processes: int, log: FileIO) -> Iterator[subprocess.Popen[str]]:
    torchrun = ["torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
    command = [sys.executable, "-m", *torchrun, "-m", __name__, str(job)]
    threads = max(1, (os.cpu_count() or 1) // processes)
    environment = {"OMP_NUM_THREADS": str(threads)} | os.environ
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment) as process:
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                process.kill()


def _passed_on(line: str, *, report: Report) -> int:
    """Pass a line of the first process on; returns the latest update in it, or 0."""
    if line.startswith(TROUBLE):
        raise IsoglotError(json.loads(line.removeprefix(TROUBLE)))
    if not line.startswith(RECORDS):
        return 0
    records = [UpdateRecord(**record) for record in json.loads(line.removeprefix(RECORDS))]
    report(records)
    return records[-1].update


def main() -> None:
    """Run as one of the processes."""
    job_file = Path(sys.argv[1])
    torchrun = os.getppid()

    def wait_for_the_end() -> None:
        # Of torchrun, or of the process that started it and holds the lock of the job's file.
        while os.getppid() == torchrun and _is_locked(job_file):
            time.sleep(0.5)

    end_after(wait_for_the_end)
    job = pickle.loads(job_file.read_bytes())
    try:
        _train(job)
    # A full disk, say, which another start would not fix.
    except (IsoglotError, OSError) as error:
        _print(TROUBLE, str(error))
        sys.exit(1)


def _train(job: Job) -> None:
    machine = _machine_of_rank(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl" if machine.device.type == "cuda" else "gloo", timeout=LONGEST_WAIT)
    num_activations = job.run.batch * job.run.window * job.run.shape.width
    with machine.threads_for(num_activations=num_activations // dist.get_world_size()):
        pretrain(
            job.run,
            {language: TokenStream.open(folder) for language, folder in job.streams.items()},
            folder=job.folder,
            machine=machine,
            report=lambda records: _print(RECORDS, [asdict(record) for record in records]),
            switchable={language: SwitchableText.read(folder) for language, folder in job.switchable.items()},
            ranks=Ranks(rank=dist.get_rank(), count=dist.get_world_size()),
            micro_batch=job.micro_batch,
        )
    dist.barrier()  # the first still writes, and the others must not leave before it
    dist.destroy_process_group()


def _machine_of_rank(rank: int) -> Machine:
    """A GPU for each rank; none may touch another's, where it would leave some hundred megabytes."""
    if os.environ.get(DEVICE_VARIABLE, "cuda").startswith("cuda") and torch.cuda.is_available():
        if rank >= torch.cuda.device_count():
            raise IsoglotError(
                f"{os.environ['LOCAL_WORLD_SIZE']} processes are to train one model, and there are "
                f"{torch.cuda.device_count()} GPUs: lower {PROCESSES_VARIABLE}"
            )
        torch.cuda.set_device(rank)
        return Machine(device=torch.device("cuda", rank))
    return this_machine()


def _print(subject: str, content: object) -> None:
    # One write, which print's line and its end are not: all processes share one standard output.
    os.write(sys.stdout.fileno(), (subject + json.dumps(content) + "\n").encode())


def _is_locked(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except (BlockingIOError, FileNotFoundError) as error:
        return isinstance(error, BlockingIOError)
    return False


if __name__ == "__main__":
    main()
