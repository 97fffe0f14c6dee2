"""A part of a study on a machine with a GPU, torch and numpy, but without network and without isoglot.

    python bench/stretch.py load STUDY --data DATA [OPTIONS]                 here: fill .carry/first, .carry/second, ...
    python3 bench/stretch.py work STUDY --seconds 500 --to OUT [OPTIONS]     there, in a copy of this checkout

OPTIONS choose a part of the study, as in `isoglot run`: --targets de --seeds 0. `load` needs the network once.
`.carry/first` holds packages and as much of the data as fits, in the order of its use. So training begins while the
rest is on its way. With --store STORE, models that the part needs and that lie there go along: they are not trained
again, which would give others.

`work` starts the run, and restarts it when new data has come. It returns after the seconds given, or when the run has
ended, and leaves all that is finished in OUT/piece.tar.xz. The run continues after `work` returns. Call it again and
again: the machine may be taken away at any time, and `isoglot unpack` reads what came home.

With --weights it also leaves weights of finished models, those that no call has left yet, in OUT/weights.00 and so on,
as many as a call can bring home. More can be made from these models at home: cat weights.* | tar x -C STORE

With --unfinished it leaves models in training too, a part of a snapshot with each call (bench/unfinished.py). Keep what
comes home in one folder, and `load ... --unfinished FOLDER` takes the last whole snapshot to the next machine.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tarfile
from contextlib import suppress
from dataclasses import replace
from fcntl import LOCK_EX, flock
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from zlib import crc32

from loading import CARRIED, ROOT, UNFINISHED, copy, load, models
from unfinished import leave, put_into_place, snapshots, whole_snapshots

WORK_FOLDER = Path(os.environ.get("ISOGLOT_STRETCH", "/tmp/isoglot-stretch"))
"""Where the machine with the GPU keeps packages, data, store and logs."""
LARGEST_FILE = "20KB"
BYTES_OF_A_PART = 15_000_000
MOST_PARTS = 4
"""They come home with pieces and a log, in at most 8 files of 16 MiB and 64 MiB together."""
LISTS = ("targets", "conditions", "seeds", "exhibits", "tasks")


def work(
    study: str,
    *,
    seconds: float,
    to: Path,
    lists: dict[str, str],
    workers: str | None,
    weights: bool,
    unfinished: bool,
) -> None:
    began, to = monotonic(), to.resolve()
    chosen = [word for name, value in lists.items() for word in (f"--{name}", value)]
    # Each part of a study has its own, so that two may run beside each other.
    pid = WORK_FOLDER / f"{Path(study).stem}-{crc32(' '.join(chosen).encode()):08x}.pid"
    log = pid.with_suffix(".log")
    WORK_FOLDER.mkdir(parents=True, exist_ok=True)
    with (WORK_FOLDER / "lock").open("w") as lock:
        # Of two commands in one call, the second finds all in its place.
        flock(lock, LOCK_EX)
        is_new = unpack_parts(CARRIED, to=WORK_FOLDER)
        sys.path[:0] = [str(WORK_FOLDER / "site"), str(ROOT)]
        os.environ["PYTHONPATH"] = ":".join(sys.path[:2])
        share_gpu()
        if is_new and is_running(pid):
            stop(int(pid.read_text()))
        if not place_snapshots(WORK_FOLDER / UNFINISHED, store=WORK_FOLDER / "store"):
            print("nothing is begun before all parts of the models in training are here", flush=True)
            return
        if not is_running(pid):
            command = [*_isoglot("run", study), *chosen, *(["--workers", workers] if workers else [])]
            with log.open("ab") as lines:
                run = subprocess.Popen(command, cwd=ROOT, stdout=lines, stderr=lines, start_new_session=True)
            pid.write_text(str(run.pid))
    while is_running(pid) and monotonic() - began < seconds:
        sleep(1)
    print("".join(log.read_text(errors="replace").splitlines(keepends=True)[-40:]), flush=True)
    print("in work" if is_running(pid) else "ended", f"after {monotonic() - began:.0f} s of this call", flush=True)
    to.mkdir(parents=True, exist_ok=True)
    pack = ["--largest-file", LARGEST_FILE, "--to", str(to / "piece.tar.xz")]
    subprocess.run([*_isoglot("pack", study), *chosen, *pack], cwd=ROOT, check=False)
    store = WORK_FOLDER / "store"
    if weights:
        leave_weights(store, to=to, sent=WORK_FOLDER / "sent")
    if unfinished:
        stages = models(study, data=WORK_FOLDER / "data", lists=lists)
        most = MOST_PARTS - len([*to.glob("weights.*")])
        in_work = [folder for stage in stages if (folder := store / f"{stage.folder_name}.partial").is_dir()]
        leave(in_work, to=to, waiting=pid.with_suffix(".waiting"), most=most, bytes_of_a_part=BYTES_OF_A_PART)


def place_snapshots(carried: Path, *, store: Path) -> bool:
    """Let models in training go on from what was carried here; whether none of its parts is missing."""
    placed = carried.with_suffix(".placed")
    names = placed.read_text().split() if placed.exists() else []
    for parts in whole_snapshots(carried):
        if parts[0].name not in names:
            # Those that run may be making the same model from its start.
            for run in carried.parent.glob("*.pid"):
                if is_running(run):
                    stop(int(run.read_text()))
            put_into_place(parts, store=store)
            names.append(parts[0].name)
            placed.write_text("\n".join(names))
    return all(is_whole for _, _, is_whole in snapshots(carried))


def share_gpu() -> None:
    """Start one service for all runs: where each starts its own, runs of two studies take turns on the GPU."""
    from isoglot.hardware import MPS_DEFAULT, MPS_PROGRAM

    if shutil.which(MPS_PROGRAM) and not MPS_DEFAULT.exists():
        subprocess.run([MPS_PROGRAM, "-d"], check=False)


def leave_weights(store: Path, *, to: Path, sent: Path) -> None:
    """Put finished models into parts, the earliest first; `sent` lists those that earlier calls have left.

    Models kept from the course of training, most of the bytes, stay here, and the records in the parts do not name
    them. So nothing of growth can be made from what comes home.
    """
    from isoglot.pretraining.run import INTERMEDIATE
    from isoglot.store.record import RECORD_NAME, read_record

    gone = sent.read_text().split() if sent.exists() else []
    records = sorted(store.glob(f"pretrained-encoder-*/{RECORD_NAME}"), key=lambda path: path.stat().st_mtime)
    # A folder with a suffix is in work.
    folders = [path.parent for path in records if not path.parent.suffix and path.parent.name not in gone]
    # An archive has a little more than its files.
    room, left = 0.98 * MOST_PARTS * BYTES_OF_A_PART, []
    with TemporaryDirectory() as scratch:
        archive = Path(scratch, "weights.tar")
        with tarfile.open(archive, "w") as tar:
            for folder in folders:
                record = read_record(folder)
                files = {name: each for name, each in record.files.items() if not name.startswith(f"{INTERMEDIATE}/")}
                room -= sum(each.bytes for each in files.values())
                if room < 0:
                    break
                replace(record, files=files).write(Path(scratch))
                tar.add(Path(scratch, RECORD_NAME), f"{folder.name}/{RECORD_NAME}")
                for name in files:
                    tar.add(folder / name, f"{folder.name}/{name}")
                left.append(folder.name)
                print("weights of", record.title)
        if left:
            with archive.open("rb") as packed:
                for number, part in enumerate(iter(lambda: packed.read(BYTES_OF_A_PART), b"")):
                    (to / f"weights.{number:02d}").write_bytes(part)
    sent.write_text("\n".join([*gone, *left]))


def unpack_parts(carried: Path, *, to: Path) -> bool:
    """Put packages, data and models that are not there yet into their places; whether there were any."""
    to.mkdir(parents=True, exist_ok=True)
    is_new = False
    for source in chain(*(carried.glob(f"*/{kind}/**/*") for kind in ("data", "store", UNFINISHED))):
        # Without the name of its part.
        target = to.joinpath(*source.relative_to(carried).parts[1:])
        if source.is_file() and not (target.is_file() and target.stat().st_size == source.stat().st_size):
            copy(source, target)
            is_new = True
    for archive in carried.glob("*/site.tar.xz"):
        if not (to / "site").is_dir():
            # Under another name until it is whole: the call may be killed meanwhile.
            shutil.unpack_archive(archive, to / "site.partial", filter="data")
            (to / "site.partial").rename(to / "site")
            is_new = True
    return is_new


def _isoglot(verb: str, study: str) -> list[str]:
    folders = ["--data", str(WORK_FOLDER / "data"), "--store", str(WORK_FOLDER / "store")]
    return [sys.executable, "-m", "isoglot", verb, study, *folders]


def is_running(pid: Path) -> bool:
    """Whether the process of a file is alive."""
    return pid.exists() and is_alive(int(pid.read_text()))


def is_alive(process: int) -> bool:
    """One that has ended but that nobody has waited for, a zombie, is not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def stop(process: int) -> None:
    """Stop a run and its workers, which share its process group. Their work resumes from the last checkpoint."""
    with suppress(ProcessLookupError):
        os.killpg(process, signal.SIGINT)
        sleep(3)
        os.killpg(process, signal.SIGKILL)
    while is_alive(process):
        sleep(0.05)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    here, there = verbs.add_parser("load"), verbs.add_parser("work")
    for verb in (here, there):
        verb.add_argument("study")
        for name in LISTS:
            verb.add_argument(f"--{name}")
    here.add_argument("--data", type=Path, required=True)
    here.add_argument("--store", type=Path, help="where models lie that are to go along")
    here.add_argument("--unfinished", type=Path, help="where unfinished.* lie that came home: training goes on there")
    here.add_argument("--pure", nargs="*", default=[], help="packages to build here, such as jieba")
    here.add_argument("--python", default="3.12", help="Python of that machine (3.12)")
    here.add_argument("--platform", default="manylinux2014_x86_64", help="its wheels (manylinux2014_x86_64)")
    there.add_argument("--seconds", type=float, required=True)
    there.add_argument("--to", type=Path, required=True)
    there.add_argument("--workers")
    there.add_argument("--weights", action="store_true", help="leave weights too, to make more from them at home")
    there.add_argument("--unfinished", action="store_true", help="leave models in training too, a part with each call")
    given = vars(parser.parse_args())
    lists = {name: value for name in LISTS if (value := given.pop(name)) is not None}
    {"load": load, "work": work}[given.pop("verb")](given.pop("study"), lists=lists, **given)


if __name__ == "__main__":
    main()
