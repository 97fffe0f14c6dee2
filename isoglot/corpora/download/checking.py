"""Whether the files of a data folder are what they should be: whole, unchanged, and of their format."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from isoglot.corpora.download.catalogue import OFFICIAL_SHA256, DataSet, files_of
from isoglot.corpora.readers.bio_files import read_bio
from isoglot.corpora.readers.conllu import read_conllu
from isoglot.corpora.readers.decompression import found, plain_blocks, plain_name
from isoglot.corpora.readers.dictionaries import read_dictionary
from isoglot.corpora.readers.inference_pairs import inference_pairs
from isoglot.corpora.readers.line_files import LineFile, tab_columns
from isoglot.corpora.readers.parallel_sentences import read_parallel
from isoglot.errors import IsoglotError
from isoglot.files import lease, write_whole

RECORD = "isoglot.sha256"
"""In the data folder; `sha256sum -c isoglot.sha256` understands it too."""
LINE = re.compile(r"([0-9a-f]{64})  (.+)")

Progress = Callable[[int], None]
"""Takes how many bytes of the file have been read."""


def recorded_digests(root: Path) -> dict[str, str]:
    """Path under the data folder -> sha256 of the bytes that were fetched to it."""
    path = root / RECORD
    if not path.exists():
        return {}
    digests = {}
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
        match = LINE.fullmatch(line)
        if match is None:
            raise IsoglotError(
                f"{path}:{number}: {line!r} is not a sha256 and a path with two spaces between them: "
                "delete the line; the file it stood for is then no longer compared"
            )
        digests[match[2]] = match[1]
    return digests


def record_digest(root: Path, name: str, sha256: str | None) -> None:
    """Record a file's digest, or with None drop it."""
    with lease(root / f"{RECORD}.lease"):
        before = recorded_digests(root)
        after = {other: digest for other, digest in (before | {name: sha256}).items() if digest}
        if after != before:
            write_whole(root / RECORD, "".join(f"{after[name]}  {name}\n" for name in sorted(after)))


def file_digest(path: Path, *, decompressed: bool = False, progress: Progress = lambda _: None) -> str:
    """sha256 of a file's bytes, or of the bytes it holds compressed."""
    digest = hashlib.sha256()
    for block in plain_blocks(path, progress=progress, decompressed=decompressed):
        digest.update(block)
    return digest.hexdigest()


def _plain_path(path: Path, *, root: Path) -> str:
    return path.with_name(plain_name(path)).relative_to(root).as_posix()


def refuse_other_content(path: Path, official: str | None, *, root: Path, progress: Progress) -> bool:
    """Compare a file that is there with its official digest, or else the recorded one; False if none is known."""
    recorded = recorded_digests(root)
    name = path.relative_to(root).as_posix()
    expected = official or recorded.get(name) or recorded.get(_plain_path(path, root=root))
    if expected is None:
        return False
    # Known digests are those of the plain file, unless the compressed one itself was fetched.
    digest = file_digest(path, decompressed=bool(official) or name not in recorded, progress=progress)
    if digest != expected:
        raise IsoglotError(
            f"{path}: it is not {'the official file' if official else 'what was fetched first'} "
            f"(sha256 {digest[:12]}... where {expected[:12]}... is known): delete it and fetch it again"
        )
    return True


UNFINISHED = (".part", ".part.json", ".lease")
DUMP_START, DUMP_END = b"<mediawiki", b"</mediawiki>"


def files_there(root: Path, data_sets: Sequence[DataSet] | None) -> list[Path]:
    """The files of some data sets that are there, or else all files whose path has a known format."""
    if data_sets is not None:
        names = dict.fromkeys(file.path for data_set in data_sets for file in files_of(data_set))
        return [path for name in names if (path := found(root / name)) is not None]
    if not root.is_dir():
        raise IsoglotError(f"there is no data folder {root}: name it with --data or ISOGLOT_DATA")
    folders = {root / Path(pattern).parent for pattern in CHECKS}
    paths = sorted(path for folder in folders for path in folder.glob("*"))
    has_format = (path for path in paths if any(fnmatchcase(_plain_path(path, root=root), each) for each in CHECKS))
    return [path for path in has_format if path.is_file() and not path.name.endswith(UNFINISHED)]


def problem_of(path: Path, *, root: Path, progress: Progress = lambda _: None) -> str | None:
    """Read a file to its end, twice if its digest is known: what is wrong with it, if anything is."""
    name = _plain_path(path, root=root)
    check = next((check for pattern, check in CHECKS.items() if fnmatchcase(name, pattern)), None)
    try:
        refuse_other_content(path, OFFICIAL_SHA256.get(name), root=root, progress=progress)
        if check is not None:
            with LineFile(path, progress=progress) as file:
                check(file)
    except IsoglotError as error:
        return str(error)
    return None


def _dump(file: LineFile) -> None:
    # By blocks: a page of data may be one line, longer than lines of text are allowed to be.
    first, last = b"", b""
    for block in plain_blocks(file.path, progress=file.progress):
        first = first or block[: len(DUMP_START)]
        last = (last + block)[-2 * len(DUMP_END) :]
    if first != DUMP_START or not last.rstrip().endswith(DUMP_END):
        raise IsoglotError(f"{file.path}: a dump of Wikipedia begins with {DUMP_START!r} and ends with {DUMP_END!r}")


def _text(file: LineFile) -> None:
    if not sum(bool(line.strip()) for line in file):  # not any(): the file is read to its end
        raise file.error("all lines are blank", line=1)


def _table(file: LineFile) -> None:
    """A header with a column for each language, and as many columns in every row."""
    width = 0
    for line in file:
        width = width or max(len(line.split("\t")), 2)
        tab_columns(line, [width], where=f"{file.path}:{file.number}", expected=f"{width} were expected")


def _dictionary(file: LineFile) -> None:
    source, _, target = plain_name(file.path).split(".")[0].partition("-")
    read_dictionary(file.path, languages=(source, target))


def _parallel(file: LineFile) -> None:
    """`tatoeba.fra-eng.fra` and `tatoeba.fra-eng.eng` are checked together, with the first of them."""
    stem, pair, side = plain_name(file.path).rsplit(".", 2)
    first, _, second = pair.partition("-")
    other = found(file.path.with_name(f"{stem}.{pair}.{second if side == first else first}"))
    if other is None:
        raise IsoglotError(f"{file.path}: the other side of the pair is not there: fetch it again")
    if side == first:
        read_parallel([file.path, other], languages=(first, second))


CHECKS: Mapping[str, Callable[[LineFile], object]] = {
    "text/*.xml": _dump,
    "text/*.txt": _text,
    "eval/xnli/xnli.15way.*.tsv": _table,
    "eval/xnli/xnli.dev.tsv": _table,
    "eval/xnli/xnli.test.tsv": _table,
    "eval/xnli/*.tsv": lambda file: inference_pairs(list(file), path=file.path),
    "eval/muse/*-*.txt": _dictionary,
    "eval/dict/*-*.tsv": _dictionary,
    "eval/tatoeba/tatoeba.*-*.*": _parallel,
    "eval/ud/*.conllu": lambda file: read_conllu(file.path),
    "eval/ner/*.bio": lambda file: read_bio(file.path),
}
"""Functions that raise an error for a bad file, by its path under the data folder; the first match counts."""
