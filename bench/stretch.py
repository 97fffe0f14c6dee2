"""A part of a study on a machine with a GPU, torch and numpy, but without network and without isoglot.

    python bench/stretch.py load STUDY --data DATA [OPTIONS]         here: fill .carry/first and .carry/second
    python3 bench/stretch.py work SECONDS OUT STUDY [OPTIONS]        there, in a copy of this checkout

OPTIONS are those of `isoglot run`, such as --targets de --seeds 0. `load` needs the network once. `.carry/first` holds
packages and as much of the data as fits, in the order of its use. So training begins while the rest is on its way.

`work` starts the run, or starts it again where new data came, and lets it go on after it returns. It returns after
SECONDS, or when the run has ended, and leaves all that is finished in OUT/piece.tar.xz. Call it again and again: the
machine may be taken away at any time, and what came home can be unpacked with `isoglot unpack`.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep

ROOT = Path(__file__).resolve().parents[1]
CARRIED = ROOT / ".carry"
FIRST, SECOND = CARRIED / "first", CARRIED / "second"
PLACE = Path(os.environ.get("ISOGLOT_STRETCH", "/tmp/isoglot-stretch"))
"""Where the machine with the GPU keeps packages, data, store and log."""
ROOM = 58_000_000
"""Bytes of `.carry/first`, so that it and the checkout, less `results`, stay under 64 MiB."""
LARGEST_FILE = "20KB"
LISTS = ("--targets", "--conditions", "--seeds", "--exhibits", "--tasks")
# Packages of the lock that stay at home: what torch brings, what builds packages, and two large ones. Without jieba no
# Chinese word is found (--pure jieba takes it along). Without vl-convert the run ends with an error once all its
# numbers are there, since nothing draws its figures.
LEFT_OUT = {
    *("editables", "hatchling", "pathspec", "setuptools", "tomlkit", "trove-classifiers"),
    *("filelock", "fsspec", "mpmath", "safetensors", "sympy", "jieba", "vl-convert-python"),
}
FOR_TESTS = ("hypothesis", "iniconfig", "pytest", "sortedcontainers")


def load(study: str, *, data: Path, options: list[str], pure: list[str], python: str, platform: str) -> None:
    shutil.rmtree(CARRIED, ignore_errors=True)
    FIRST.mkdir(parents=True)
    _load_packages(pure, python=python, platform=platform)
    left = ROOM - sum(file.stat().st_size for file in FIRST.iterdir())
    for name in _data_files(study, data=data, options=options):
        size = (data / name).stat().st_size
        part, left = (FIRST, left - size) if size <= left else (SECOND, left)
        target = part / "data" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(data / name, target)
    for part in (FIRST, SECOND):
        sizes = [file.stat().st_size for file in part.rglob("*") if file.is_file()]
        print(f"{part.relative_to(ROOT)}: {len(sizes)} files, {sum(sizes) / 1e6:.1f} MB")


def _load_packages(pure: list[str], *, python: str, platform: str) -> None:
    """Put the locked packages into one archive: wheels of that platform, and `pure` ones that are built here."""
    # Lines with a marker are torch's needs, or another system's.
    locks = [(ROOT / "requirements" / lock).read_text() for lock in ("lock.txt", "dev-lock.txt")]
    locked, more = (dict(re.findall(r"^([a-z0-9-]+)==(\S+) \\$", lock, re.MULTILINE)) for lock in locks)
    names = [name for name in locked if name not in {*LEFT_OUT, *pure}]
    versions = [f"{name}=={locked[name]}" for name in names] + [f"{name}=={more[name]}" for name in FOR_TESTS]
    pip = [sys.executable, "-m", "pip"]
    with TemporaryDirectory() as folder:
        wheels, site = Path(folder, "wheels"), Path(folder, "site")
        target = ["--only-binary=:all:", "--platform", platform, "--python-version", python]
        subprocess.run([*pip, "download", "--quiet", "--no-deps", "--dest", wheels, *target, *versions], check=True)
        if pure:
            wanted = [f"{name}=={locked[name]}" for name in pure]
            subprocess.run([*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", wheels, *wanted], check=True)
        for wheel in wheels.glob("*.whl"):
            zipfile.ZipFile(wheel).extractall(site)
        libraries = [str(library) for library in site.rglob("*.so*")]
        if shutil.which("strip"):
            # Debug symbols are most of what some libraries weigh. Those of another processor may stay.
            subprocess.run(["strip", "--strip-all", *libraries], check=False, capture_output=True)
        shutil.make_archive(str(FIRST / "site"), "xztar", site)


def _data_files(study: str, *, data: Path, options: list[str]) -> list[str]:
    """Names of the files under `data` that the chosen part of a study reads, in the order in which it needs them."""
    from isoglot.cli.options import StudyOptions
    from isoglot.report.provenance import provenance
    from isoglot.store import Store

    lists = {flag.removeprefix("--"): value for flag, value in _lists(options).items()}
    chosen = StudyOptions(study=study, data=str(data), **lists).chosen_study()
    with TemporaryDirectory() as empty:
        return [file.name for file in provenance(chosen, Store(Path(empty))).data_files]


def _lists(options: list[str]) -> dict[str, str]:
    """The options that choose a part of the study."""
    chosen = dict(zip(options[::2], options[1::2], strict=True))
    return {flag: chosen[flag] for flag in LISTS if flag in chosen}


def work(seconds: float, out: Path, *, study: str, options: list[str]) -> None:
    began = monotonic()
    is_new = _unpack()
    pid = PLACE / "pid"
    if is_new and pid.exists():
        _stop(int(pid.read_text()))
    if is_new or not _is_running(pid):
        with (PLACE / "log").open("ab") as log:
            run = subprocess.Popen(
                [*_isoglot("run", study), *options], cwd=ROOT, stdout=log, stderr=log, start_new_session=True
            )
        pid.write_text(str(run.pid))
    while _is_running(pid) and monotonic() - began < seconds:
        sleep(1)
    print("".join((PLACE / "log").read_text(errors="replace").splitlines(keepends=True)[-40:]), flush=True)
    print("in work" if _is_running(pid) else "ended", f"after {monotonic() - began:.0f} s of this call", flush=True)
    out.mkdir(parents=True, exist_ok=True)
    lists = [word for pair in _lists(options).items() for word in pair]
    pack = ["--largest-file", LARGEST_FILE, "--to", str(out / "piece.tar.xz")]
    subprocess.run([*_isoglot("pack", study), *lists, *pack], cwd=ROOT, check=False)


def _unpack() -> bool:
    """Put what was carried into its place; whether anything new came."""
    (PLACE / "site").mkdir(parents=True, exist_ok=True)
    os.environ["PYTHONPATH"] = f"{PLACE / 'site'}:{ROOT}"
    came = PLACE / "came"
    known = came.read_text().split() if came.exists() else []
    parts = [part for part in (FIRST, SECOND) if part.exists() and part.name not in known]
    for part in parts:
        if (part / "site.tar.xz").exists():
            shutil.unpack_archive(part / "site.tar.xz", PLACE / "site")
        if (part / "data").exists():
            shutil.copytree(part / "data", PLACE / "data", dirs_exist_ok=True)
    came.write_text("\n".join([*known, *(part.name for part in parts)]))
    return bool(parts)


def _isoglot(verb: str, study: str) -> list[str]:
    return [
        sys.executable,
        "-m",
        "isoglot",
        verb,
        study,
        "--data",
        str(PLACE / "data"),
        "--store",
        str(PLACE / "store"),
    ]


def _is_running(pid: Path) -> bool:
    """Whether the process is there and is no zombie, as one becomes that ends before its parent asks for it."""
    try:
        return Path(f"/proc/{pid.read_text()}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def _stop(process: int) -> None:
    """Stop a run and all its workers, which share its session; what they were at is resumed from its checkpoint."""
    try:
        os.killpg(process, signal.SIGINT)
        sleep(3)
        os.killpg(process, signal.SIGKILL)
    except ProcessLookupError:
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb")
    here, there = verbs.add_parser("load"), verbs.add_parser("work")
    here.add_argument("study")
    here.add_argument("--data", type=Path, required=True)
    here.add_argument("--pure", nargs="*", default=[], help="packages to build here, such as jieba")
    here.add_argument("--python", default="3.12")
    here.add_argument("--platform", default="manylinux2014_x86_64")
    there.add_argument("seconds", type=float)
    there.add_argument("out", type=Path)
    there.add_argument("study")
    given, options = parser.parse_known_args()
    match given.verb:
        case "load":
            load(
                given.study,
                data=given.data,
                options=options,
                pure=given.pure,
                python=given.python,
                platform=given.platform,
            )
        case "work":
            work(given.seconds, given.out, study=given.study, options=options)
        case _:
            parser.print_help()


if __name__ == "__main__":
    main()
