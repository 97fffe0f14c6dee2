"""Whether the files of a data folder are what they should be: whole, unchanged, and of their format."""

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from isoglot.corpora.download.catalogue import DATA_SETS, DataSet, files_of
from isoglot.corpora.download.official_files import DataFile
from isoglot.corpora.readers.decompression import DamagedCompressionError, found, plain_blocks, plain_name
from isoglot.corpora.readers.dictionaries import read_dictionary
from isoglot.corpora.readers.line_files import LineFile
from isoglot.corpora.readers.parallel_sentences import read_parallel
from isoglot.errors import IsoglotError
from isoglot.files import lease, write_whole

RECORD = "isoglot.sha256"
"""In the data folder; `sha256sum -c isoglot.sha256` understands it too."""
LINE = re.compile(r"([0-9a-f]{64})  (.+)")
CHUNK_BYTES = 1 << 20

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
        after = {other: digest for other, digest in before.items() if other != name}
        if sha256 is not None:
            after[name] = sha256
        if after != before:
            write_whole(root / RECORD, "".join(f"{after[name]}  {name}\n" for name in sorted(after)))


def _blocks(path: Path, progress: Progress, *, decompressed: bool = True) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            for block in plain_blocks(file) if decompressed else iter(lambda: file.read(CHUNK_BYTES), b""):
                yield block
                progress(file.tell())
    except DamagedCompressionError as error:
        raise IsoglotError(f"{path}: {error}: delete it and fetch it again") from error
    except OSError as error:
        raise IsoglotError(f"{path}: it cannot be read ({error.strerror}): see `ls -l` and `chmod`") from error


def file_digest(path: Path, *, decompressed: bool = False, progress: Progress = lambda _: None) -> str:
    """sha256 of a file's bytes, or of the bytes it holds compressed."""
    digest = hashlib.sha256()
    for block in _blocks(path, progress, decompressed=decompressed):
        digest.update(block)
    return digest.hexdigest()


def _plain_path(path: Path, *, root: Path) -> str:
    return path.with_name(plain_name(path)).relative_to(root).as_posix()


def refuse_other_content(path: Path, file: DataFile, *, root: Path, progress: Progress = lambda _: None) -> bool:
    """Compare a file that is there with the digest known for it; False if none is."""
    recorded = recorded_digests(root)
    name = path.relative_to(root).as_posix()
    expected = file.sha256 or recorded.get(name) or recorded.get(_plain_path(path, root=root))
    if expected is None:
        return False
    # Known digests are those of the plain file, unless the compressed one itself was fetched.
    digest = file_digest(path, decompressed=bool(file.sha256) or name not in recorded, progress=progress)
    if digest != expected:
        raise IsoglotError(
            f"{path}: it is not {'the official file' if file.sha256 else 'what was fetched first'} "
            f"(sha256 {digest[:12]}... where {expected[:12]}... is known): delete it and fetch it again"
        )
    return True


CONLLU_COLUMNS = 10
ID, HEAD = 0, 6
NLI_LABELS = ("entailment", "neutral", "contradiction")
BIO_TAG = re.compile(r"O|[BI]-\S+")


def _fault(file: LineFile, problem: str, *, line: int | None = None) -> IsoglotError:
    return IsoglotError(f"{file.path}:{line or file.number}: {problem}")


def check_text(file: LineFile) -> None:
    """Text: at least one line that is not blank."""
    if not sum(bool(line.strip()) for line in file):  # not any(): the file is read to its end
        raise _fault(file, "all lines are blank", line=1)


def check_conllu(file: LineFile) -> None:
    """CoNLL-U: ten columns, words counted from 1, heads in the sentence, a blank line after every sentence."""
    heads: list[tuple[int, int]] = []
    for line in file:
        if not line:
            for place, (head, number) in enumerate(heads, start=1):
                if head > len(heads) or head == place:
                    problem = f"the head of word {place} is {head} in a sentence of {len(heads)} words"
                    raise _fault(file, problem, line=number)
            heads = []
        elif not line.startswith("#"):
            columns = line.split("\t")
            if len(columns) != CONLLU_COLUMNS:
                raise _fault(file, f"{len(columns)} columns where CoNLL-U has {CONLLU_COLUMNS}")
            # Ranges ("1-2") and empty words ("3.1") have no head.
            if columns[ID].isdecimal():
                if int(columns[ID]) != len(heads) + 1:
                    raise _fault(file, f"word {columns[ID]} stands where word {len(heads) + 1} should")
                if not columns[HEAD].isdecimal():
                    raise _fault(file, f"the head {columns[HEAD]!r} is not a whole number")
                heads.append((int(columns[HEAD]), file.number))
    if heads:
        raise _fault(file, "no blank line ends the last sentence: the file may be cut off")


def check_nli(file: LineFile) -> None:
    """Premise, hypothesis, label, and perhaps a source."""
    for line in file:
        columns = line.split("\t")
        if len(columns) not in (3, 4):
            raise _fault(file, f"{len(columns)} columns where 3 or 4 were expected")
        if columns[2] not in NLI_LABELS:
            raise _fault(file, f"the label {columns[2]!r} is none of {', '.join(NLI_LABELS)}")


def check_bio(file: LineFile) -> None:
    """Token and IOB2 tag; a blank line between sentences."""
    for line in filter(None, file):
        columns = line.split("\t")
        if len(columns) != 2:
            raise _fault(file, f"{len(columns)} columns where a token and a tag were expected")
        if not BIO_TAG.fullmatch(columns[1]):
            raise _fault(file, f"the tag {columns[1]!r} is not O, B-something or I-something")


def check_table(file: LineFile) -> None:
    """A header with a column for each language, and as many columns in every row."""
    width = 0
    for line in file:
        columns = len(line.split("\t"))
        width = width or columns
        if columns != width or width == 1:
            raise _fault(file, f"{columns} columns where {max(width, 2)} were expected")


UNFINISHED = (".part", ".part.json", ".lease")
DUMP_START, DUMP_END = b"<mediawiki", b"</mediawiki>"

Check = Callable[[Path, Progress], None]


def files_there(root: Path, data_sets: Sequence[DataSet] | None) -> list[Path]:
    """The files of some data sets that are there, or else all files whose path has a known format."""
    if data_sets is not None:
        names = dict.fromkeys(file.path for data_set in data_sets for file in files_of(data_set))
        return [path for name in names if (path := found(root / name)) is not None]
    if not root.is_dir():
        raise IsoglotError(f"there is no data folder {root}: name it with --data or ISOGLOT_DATA")
    folders = sorted({str(Path(pattern).parent) for pattern in CHECKS})
    return [
        path
        for folder in folders
        for path in sorted((root / folder).glob("*"))
        if path.is_file() and not path.name.endswith(UNFINISHED) and _check(path, root=root) is not None
    ]


def problem_of(path: Path, *, root: Path, progress: Progress = lambda _: None) -> str | None:
    """Read a file to its end, twice if its digest is known: what is wrong with it, if anything is."""
    name = _plain_path(path, root=root)
    try:
        refuse_other_content(path, CATALOGUED.get(name, DataFile(path=name)), root=root, progress=progress)
        if (check := _check(path, root=root)) is not None:
            check(path, progress)
    except IsoglotError as error:
        return str(error)
    return None


def _check(path: Path, *, root: Path) -> Check | None:
    name = _plain_path(path, root=root)
    return next((check for pattern, check in CHECKS.items() if fnmatchcase(name, pattern)), None)


def _by_lines(check: Callable[[LineFile], None]) -> Check:
    def run(path: Path, progress: Progress) -> None:
        with LineFile(path, progress=progress) as file:
            check(file)

    return run


def _dictionary(path: Path, progress: Progress) -> None:  # noqa: ARG001
    source, _, target = plain_name(path).split(".")[0].partition("-")
    read_dictionary(path, languages=(source, target))


def _parallel(path: Path, progress: Progress) -> None:  # noqa: ARG001
    """`tatoeba.fra-eng.fra` and `tatoeba.fra-eng.eng` are checked together, with the first of them."""
    stem, pair, side = plain_name(path).rsplit(".", 2)
    first, _, second = pair.partition("-")
    other = found(path.with_name(f"{stem}.{pair}.{second if side == first else first}"))
    if other is None:
        raise IsoglotError(f"{path}: the other side of the pair is not there: fetch it again")
    if side == first:
        read_parallel([path, other], languages=(first, second))


def _dump(path: Path, progress: Progress) -> None:
    first, last = b"", b""
    for block in _blocks(path, progress):
        first = first or block[: len(DUMP_START)]
        last = (last + block)[-2 * len(DUMP_END) :]
    if first != DUMP_START or not last.rstrip().endswith(DUMP_END):
        raise IsoglotError(f"{path}: a dump of Wikipedia begins with {DUMP_START!r} and ends with {DUMP_END!r}")


CHECKS: dict[str, Check] = {
    "text/*.xml": _dump,
    "text/*.txt": _by_lines(check_text),
    "eval/ud/*.conllu": _by_lines(check_conllu),
    "eval/xnli/xnli.15way.*.tsv": _by_lines(check_table),
    "eval/xnli/xnli.dev.tsv": _by_lines(check_table),
    "eval/xnli/xnli.test.tsv": _by_lines(check_table),
    "eval/xnli/*.tsv": _by_lines(check_nli),
    "eval/ner/*.bio": _by_lines(check_bio),
    "eval/muse/*-*.txt": _dictionary,
    "eval/dict/*-*.tsv": _dictionary,
    "eval/tatoeba/tatoeba.*-*.*": _parallel,
}
"""The check for each path under the data folder; the first pattern that matches counts."""

CATALOGUED = {file.path: file for data_set in DATA_SETS for file in files_of(data_set)}
