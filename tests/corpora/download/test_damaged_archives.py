"""An archive with any damage gives the file that it should, or is refused by its name and leaves nothing behind."""

import gzip
import hashlib
import random
import shutil
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest

from isoglot.corpora.download.catalogue import DataFile
from isoglot.corpora.download.getting import Getter
from isoglot.corpora.download.unpacking import wikiann_words
from tests.corpora.download.archives import tarred, zipped
from tests.corpora.readers.compressed_texts import COMPRESSED
from tests.damages import Trials, damage, mutated
from tests.killed_processes import files_of

SEED = 20261121
ARCHIVED = b"en:Paris\tB-LOC\nen:Hilton\tI-LOC\n\nen:is\tO\nen:big\tO\n\n" * 40
BARE = b"".join(wikiann_line.removeprefix(b"en:") for wikiann_line in ARCHIVED.splitlines(keepends=True))
MEMBERS = {"a/train": ARCHIVED, "noise": random.Random(0).randbytes(3000), "a/dev": ARCHIVED[:300]}
ARCHIVES: Mapping[str, tuple[bytes, tuple[str, ...]]] = {
    "x.zip": (zipped(MEMBERS), ("train",)),
    "outer.zip": (zipped({"inner.tar.gz": tarred(MEMBERS), "noise": b""}), ("inner.tar.gz", "a/train")),
    "x.tar": (tarred(MEMBERS, gzipped=False), ("a/train",)),
    "x.tar.gz": (tarred(MEMBERS), ("a/train",)),
    **{f"train.bio.{end}": (compress(BARE), ()) for end, compress in COMPRESSED.items()},
}


def damaged_archive(path: Path, draw: random.Random) -> str:
    """Damage in the bytes, under the compression of a tar.gz, or to the names of its members."""
    name = path.name
    if name.endswith(".tar.gz") and draw.random() < 0.5:
        path.write_bytes(gzip.compress(mutated(gzip.decompress(path.read_bytes()), draw), mtime=0))
        return f"{name}: mutated under the compression"
    if name.startswith("x.") and draw.random() < 0.2:
        odd = draw.choice(
            ["../../evil", "/../evil/train", "../../../a/train", "a/train/", "a\\train", "\u202etrain", "a" * 300]
        )
        make = zipped if name.endswith("zip") else partial(tarred, gzipped=name.endswith("gz"))
        path.write_bytes(make(MEMBERS | {odd: MEMBERS["noise"]}))
        return f"{name}: with {odd}"
    if draw.random() < 0.5:
        path.write_bytes(mutated(path.read_bytes(), draw) or b"\0")
        return f"{name}: mutated"
    return damage(path, draw)


@pytest.mark.parametrize("count", [48, pytest.param(3000, marks=pytest.mark.campaign)])
def test_no_damaged_archive_escapes(tmp_path: Path, count: int) -> None:
    draw, trials = random.Random(SEED), Trials()
    for number in range(count):
        place, name = tmp_path / str(number), [*ARCHIVES][number % len(ARCHIVES)]
        content, member = ARCHIVES[name]
        target = "eval/ner/train.bio"
        archive = place / "data" / (f"downloads/{name}" if member else f"eval/ner/{name}")
        archive.parent.mkdir(parents=True)
        archive.write_bytes(content)
        what = f"{number} {damaged_archive(archive, draw)}"
        if not archive.exists():
            archive.write_bytes(b"")
        file = DataFile(
            path=target,
            url=f"https://nowhere.invalid/{name}",
            member=member,
            most_bytes=10**6,
            rewrite=partial(wikiann_words, language="en") if member else None,
            sha256=hashlib.sha256(BARE).hexdigest(),
        )
        before = files_of(place)
        is_there = trials.end(what, partial(Getter(root=place / "data", home="h").get, file), names=name)
        after = {each: bytes_ for each, bytes_ in files_of(place).items() if not each.endswith("isoglot.sha256")}
        unpacked = {f"data/{target}": BARE} if is_there and member else {}
        assert after == before | unpacked, what
        shutil.rmtree(place)
    trials.report(seed=SEED)
