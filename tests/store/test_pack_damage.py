"""No damage to an archive, in its bytes or under its compression, changes what is unpacked."""

import json
import lzma
import random
import shutil
from collections import Counter
from pathlib import Path

import pytest

from isoglot.errors import IsoglotError
from isoglot.store import Store
from isoglot.store.unpacking import unpack
from tests.damages import damage
from tests.killed_processes import files_of
from tests.oracles import sealed
from tests.store.toy_archives import MANIFEST, members_of, toy_archive, write_members

SEED = 20261118


def changed_score(archive: Path, draw: random.Random) -> None:
    """A file with another digit under its own digest, and every sum that a careless hand would correct."""
    members = members_of(archive)
    name = draw.choice(sorted(each for each in members if each.endswith(".txt") and not each.startswith("logs")))
    folder = "/".join(name.split("/")[:2])
    content = members[name]
    assert isinstance(content, bytes)
    members[name] = content[:-2] + str(draw.randrange(10)).encode() + b"x"
    if draw.random() < 0.5:
        record = json.loads(members[f"{folder}/record.json"])
        record["seconds"] = draw.random()
        members[f"{folder}/record.json"] = (
            json.dumps(record).encode() if draw.random() < 0.5 else sealed(record).encode()
        )
    write_members(archive, members, complete=draw.random() < 0.5)


def damaged(archive: Path, draw: random.Random) -> str:
    match draw.randrange(4):
        case 0:
            return damage(archive, draw)
        case 1:
            changed_score(archive, draw)
            return "changed score"
        case 2:
            # One field of the manifest, as somebody would who does not know of its checksum.
            members = members_of(archive)
            manifest = json.loads(members[MANIFEST])
            key = draw.choice(["format", "logs", "members"])
            manifest[key] = {"format": draw.choice([0, 1, 2.0, "2"]), "logs": [], "members": {}}[key]
            write_members(archive, members | {MANIFEST: json.dumps(manifest).encode()}, complete=False)
            return f"manifest {key}"
    tar = archive.with_suffix("")
    tar.write_bytes(lzma.decompress(archive.read_bytes()))
    way = damage(tar, draw)
    archive.write_bytes(lzma.compress(tar.read_bytes() if tar.exists() else b"", preset=0))
    return f"{way} under the compression"


@pytest.mark.parametrize("count", [60, pytest.param(3000, marks=pytest.mark.campaign)])
def test_no_damage_of_an_archive_is_silent(tmp_path: Path, count: int) -> None:
    print(f"seed {SEED}")
    draw, fates = random.Random(SEED), Counter[str]()
    archive = toy_archive(tmp_path)
    unpack(archive, Store(tmp_path / "sound"))
    sound = files_of(tmp_path / "sound")
    for number in range(count):
        place = tmp_path / str(number)
        place.mkdir()
        copy = Path(shutil.copy(archive, place))
        what = damaged(copy, draw)
        try:
            unpack(copy, Store(place / "store"))
        except IsoglotError:
            fates["refused"] += 1
            assert not (place / "store").exists(), what
        else:
            # Such as a byte of padding, or a blank of the manifest.
            fates["harmless"] += 1
            assert files_of(place / "store") == sound, what
        shutil.rmtree(place)
    print(dict(fates))
    assert fates.total() == count
    assert fates["refused"] > count / 2
