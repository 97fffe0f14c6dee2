"""Packs artifacts into one file to carry to another machine: a tar.xz whose first member lists the others.

All small files travel, and so most artifacts travel whole. The same artifacts always give the same bytes.
"""

import io
import json
import lzma
import stat
import tarfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from isoglot.errors import IsoglotError
from isoglot.files import flush, lease, new_file, text_sum
from isoglot.store.file_sums import RECORD_NAME, FileSum, check_files, sum_of
from isoglot.store.record import summarised_files
from isoglot.store.stage import Stage
from isoglot.store.store import Store

MANIFEST = "isoglot-pack.json"
FORMAT = 2
ARTIFACTS, SUMMARIES, LOGS = "artifacts", "summaries", "logs"
"""Folders of the archive: whole artifacts, those that leave large files behind, and the logs of both."""
OTHER_ARCHIVES = (".bz2", ".gz", ".tar", ".tgz", ".zip", ".zst")
XZ_MAGIC = b"\xfd7zXZ\0"
# Nearly as small as with xz's defaults, in a ninth of the time. Gold answers, which many runs share, are stored once:
# they lie less than the dictionary's 16 MB apart.
FILTERS: Sequence[Mapping[str, Any]] = ({"id": lzma.FILTER_LZMA2, "preset": 3, "dict_size": 1 << 24},)


@dataclass(frozen=True, kw_only=True)
class Packed:
    """The contents of an archive."""

    whole: int
    summaries: int
    num_bytes: int  # the size of the archive


def write_pack(
    path: Path, stages: Iterable[Stage], store: Store, *, largest_file: int, always: Collection[str]
) -> Packed:
    """Pack what a store has of the stages: files of up to `largest_file` bytes, and those named in `always`."""

    def travels(name: str, num_bytes: int) -> bool:
        return num_bytes <= largest_file or name in always

    files: dict[str, Path | bytes] = {}
    sums: dict[str, FileSum] = {}
    logs, counts = list[str](), Counter[str]()
    for stage in stages:
        artifact = store.lookup(stage, read=())
        if artifact is None:
            continue
        record, folder = artifact.record, artifact.folder
        present = record.files if folder == store.folder(record) else summarised_files(folder, record)
        names = [name for name, file in record.files.items() if name in present and travels(name, file.bytes)]
        # Files that stay need not be read: weights may have many gigabytes.
        check_files(folder, {name: record.files[name] for name in names}, read=names)
        top = ARTIFACTS if names == [*record.files] else SUMMARIES
        counts[top] += 1
        place = f"{top}/{record.folder_name}"
        files |= {f"{place}/{name}": folder / name for name in names}
        sums |= {f"{place}/{name}": record.files[name] for name in names}
        files[f"{place}/{RECORD_NAME}"] = (folder / RECORD_NAME).read_bytes()
        log = store.log_folder(stage)
        if log.is_dir():
            logs.append(log.name)
            files |= {f"{LOGS}/{log.name}/{name}": content for name, content in _log_files(log, travels)}
    draft = path.with_name(f"{path.name}.partial")
    try:
        with lease(path.with_name(f"{path.name}.lease")):
            try:
                _write_archive(draft, files, sums=sums, logs=logs)
                flush(draft)
                draft.replace(path)  # an older archive stays until this one is whole
                flush(path.parent)
            finally:
                draft.unlink(missing_ok=True)
    except OSError as error:
        raise IsoglotError(f"{path}: cannot be written ({error.strerror or error}); choose another place") from error
    return Packed(whole=counts[ARTIFACTS], summaries=counts[SUMMARIES], num_bytes=path.stat().st_size)


def archive_path(to: str | Path, *, option: str) -> Path:
    """The path of an archive to write, which may replace an older archive and nothing else."""
    path = Path(to)
    if not str(to).strip():
        raise IsoglotError(f"{option} names no file; is a variable of your shell not set?")
    if path.is_dir():
        raise IsoglotError(f"{option} {to}: that is a folder; name a file in it, as in {path / 'demo.tar.xz'}")
    if not path.parent.is_dir():
        raise IsoglotError(f"{option} {to}: there is no folder {path.parent}; make it first")
    if path.suffix.lower() in OTHER_ARCHIVES:
        raise IsoglotError(f"{option} {to}: an archive is a .tar.xz, which {path.suffix} does not say; name it so")
    if path.exists() and not (is_xz(path) and _begins_with_manifest(path)):
        raise IsoglotError(f"{option} {to}: that is there and is no archive of isoglot; name another file")
    return path


def _begins_with_manifest(path: Path) -> bool:
    """Whether it is an archive of ours: texts are kept in .xz files as well."""
    with suppress(lzma.LZMAError, EOFError), lzma.open(path) as file:
        return file.read(len(MANIFEST)) == MANIFEST.encode()
    return False


def is_xz(path: Path) -> bool:
    """Whether a file begins as every archive does."""
    try:
        # Reading from a pipe might block.
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(XZ_MAGIC)) == XZ_MAGIC
    except OSError as error:
        raise IsoglotError(f"{path}: cannot be read ({error.strerror})") from error


def is_program(name: str) -> bool:
    """Whether a log could be run where it is read, as submitit's pickles are, which serve one cluster alone."""
    return name.lower().endswith((".pkl", ".pickle", ".sh", ".py", ".so", ".pt", ".pth"))


def manifest_sum(content: Mapping[str, Any]) -> str:
    """The checksum of a manifest, over all that it says but this."""
    return text_sum(json.dumps({name: value for name, value in content.items() if name != "sha256"}, sort_keys=True))


def _log_files(log: Path, travels: Callable[[str, int], bool]) -> Iterator[tuple[str, bytes]]:
    """Names and contents of logs; links that a cluster makes stay behind."""
    for path in log.rglob("*"):
        name = path.relative_to(log).as_posix()
        # Contents are read at once, since a running stage may cut or remove a log before it is packed.
        with suppress(FileNotFoundError):
            status = path.lstat()
            if stat.S_ISREG(status.st_mode) and not is_program(name) and travels(name, status.st_size):
                with path.open("rb") as file:
                    yield name, file.read(status.st_size)


def _write_archive(
    path: Path, files: Mapping[str, Path | bytes], *, sums: Mapping[str, FileSum], logs: Sequence[str]
) -> None:
    """Files by name, with the sums of those that are not given as bytes."""
    members = {
        name: asdict(sum_of(file) if isinstance(file, bytes) else sums[name]) for name, file in sorted(files.items())
    }
    content: dict[str, Any] = {"format": FORMAT, "logs": sorted(logs), "members": members}
    content["sha256"] = manifest_sum(content)
    manifest = (json.dumps(content, indent=1) + "\n").encode()
    with (
        new_file(path) as archive,
        lzma.open(archive, "wb", format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC64, filters=FILTERS) as packed,
        tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT) as tar,
    ):
        for name, source in [(MANIFEST, manifest), *sorted(files.items())]:
            # A header without owner and date, which would differ from one machine or day to the next.
            header = tarfile.TarInfo(name)
            header.size, header.mode = (members[name]["bytes"] if name in members else len(manifest)), 0o644
            with io.BytesIO(source) if isinstance(source, bytes) else source.open("rb") as file:
                tar.addfile(header, file)
