"""Packages, data and models that a part of a study needs on a machine without network, in folders to carry there."""

import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from unfinished import whole_snapshots

if TYPE_CHECKING:
    from isoglot.store import Stage

ROOT = Path(__file__).resolve().parents[1]
CARRIED = ROOT / ".carry"
PARTS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
MOST_BYTES_OF_PART = 60_000_000
"""So that a part and the checkout, less `results`, stay under 64 MiB."""
UNFINISHED = "unfinished"
# Packages of the lock that stay at home: what torch brings, what builds packages, jieba (without it no Chinese word is
# found; see --pure) and vl-convert (without it the run ends with an error, once all its numbers are there).
LEFT_OUT = {
    *("editables", "hatchling", "pathspec", "setuptools", "tomlkit", "trove-classifiers"),
    *("filelock", "fsspec", "mpmath", "sympy", "jieba", "vl-convert-python"),
}
FROM_DEV_LOCK = ("floret", "hypothesis", "iniconfig", "pytest", "sortedcontainers")
"""For fastText's vectors of Figure 4, where this Python has a wheel of it, and for tests."""


def load(
    study: str,
    *,
    data: Path,
    store: Path | None,
    unfinished: Path | None,
    lists: dict[str, str],
    pure: list[str],
    python: str,
    platform: str,
) -> None:
    """Replace what all parts hold; a mistake in the study leaves them as they are."""
    # Before data: with that a run would begin anew.
    wanted = {f"{UNFINISHED}/{part.name}": part for part in snapshot_parts(unfinished)} if unfinished else {}
    wanted |= {f"data/{name}": data / name for name in data_files(study, data=data, lists=lists)}
    if store:
        wanted |= {f"store/{each.name}": each for each in model_folders(study, data=data, store=store, lists=lists)}
    with TemporaryDirectory() as folder:
        site = Path(folder, "site")
        unpack_packages(site, pure=pure, python=python, platform=platform)
        wanted = {"site.tar.xz": Path(shutil.make_archive(str(Path(folder, "packages")), "xztar", site)), **wanted}
        parts = in_parts(wanted)
        shutil.rmtree(CARRIED, ignore_errors=True)
        for name, part in parts.items():
            copy(wanted[name], CARRIED / part / name)
    for part in dict.fromkeys(parts.values()):
        print(f".carry/{part}: {len(files_of(CARRIED / part))} files, {size_of(CARRIED / part) / 1e6:.1f} MB")


def snapshot_parts(unfinished: Path) -> list[Path]:
    if not (snapshots := whole_snapshots(unfinished)):
        sys.exit(f"{unfinished} has no whole snapshot of a model: copy all unfinished.* there that came home")
    return [part for parts in snapshots for part in parts]


def in_parts(wanted: Mapping[str, Path]) -> dict[str, str]:
    """The part that carries each file or folder, the first with room: what is needed first comes first."""
    parts: dict[str, str] = {}
    rooms = dict.fromkeys(PARTS, MOST_BYTES_OF_PART)
    for name, path in wanted.items():
        size = size_of(path)
        part = next((part for part, room in rooms.items() if size <= room), None)
        if part is None:
            sys.exit(f"{path} has {size / 1e6:.1f} MB, more than is left in {len(PARTS)} parts: load less of the study")
        rooms[part] -= size
        parts[name] = part
    return parts


def files_of(path: Path) -> list[Path]:
    return [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]


def size_of(path: Path) -> int:
    return sum(file.stat().st_size for file in files_of(path))


def copy(path: Path, target: Path) -> None:
    for file in files_of(path):
        to = target / file.relative_to(path)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, to)


def data_files(study: str, *, data: Path, lists: dict[str, str]) -> list[str]:
    """Names of the files under `data` that the chosen part of a study reads, in the order in which it needs them."""
    from isoglot.cli.options import StudyOptions
    from isoglot.report.provenance import provenance
    from isoglot.store import Store

    chosen = StudyOptions(study=study, data=str(data), **lists).chosen_study()
    with TemporaryDirectory() as empty:
        names = [file.name for file in provenance(chosen, Store(Path(empty))).data_files]
    for name in names:
        if Path(name).is_absolute() or not (data / name).is_file():
            sys.exit(f"{study}: {name} is no file under {data}, and cannot be carried; copy it there first")
    return names


def model_folders(study: str, *, data: Path, store: Path, lists: dict[str, str]) -> list[Path]:
    """Folders of the models that the chosen part of a study needs, as far as a store has them."""
    from isoglot.store import Store

    there = Store(store)
    return [there.verified_folder(stage) for stage in models(study, data=data, lists=lists) if there.has(stage)]


def models(study: str, *, data: Path, lists: dict[str, str]) -> list["Stage"]:
    from isoglot.cli.options import StudyOptions
    from isoglot.pipeline.exhibits import targets
    from isoglot.pipeline.stages.models import PretrainedEncoder
    from isoglot.store import inputs_first

    chosen = StudyOptions(study=study, data=str(data), **lists).chosen_study()
    return [stage for stage in inputs_first(targets(chosen)).values() if isinstance(stage, PretrainedEncoder)]


def unpack_packages(site: Path, *, pure: list[str], python: str, platform: str) -> None:
    """Put the locked packages into one folder: wheels of that platform, and `pure` ones that are built here."""
    from packaging.version import Version

    # Lines with another marker are torch's needs, or another system's.
    below_3_13 = r"(?:; python_full_version < '3\.13' )?" if Version(python) < Version("3.13") else ""
    locks = [(ROOT / "requirements" / lock).read_text() for lock in ("lock.txt", "dev-lock.txt")]
    line = rf"^([a-z0-9-]+)==(\S+) {below_3_13}\\$"
    locked, more = (dict(re.findall(line, lock, re.MULTILINE)) for lock in locks)
    packages = locked | {name: more[name] for name in FROM_DEV_LOCK if name in more}
    versions = [f"{name}=={version}" for name, version in packages.items() if name not in {*LEFT_OUT, *pure}]
    pip = [sys.executable, "-m", "pip"]
    with TemporaryDirectory() as wheels:
        target = ["--only-binary=:all:", "--platform", platform, "--python-version", python]
        subprocess.run([*pip, "download", "--quiet", "--no-deps", "--dest", wheels, *target, *versions], check=True)
        if pure:
            built = (f"{name}=={locked[name]}" for name in pure)
            subprocess.run([*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", wheels, *built], check=True)
        for wheel in Path(wheels).glob("*.whl"):
            zipfile.ZipFile(wheel).extractall(site)
    if shutil.which("strip"):
        # Debug symbols are most of what some libraries weigh. Those of another processor may stay.
        subprocess.run(["strip", "--strip-all", *site.rglob("*.so*")], check=False, capture_output=True)
