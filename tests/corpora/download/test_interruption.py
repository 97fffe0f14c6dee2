"""kill -9 at any moment leaves nothing half-written at its place, and the next run ends with the same bytes."""

import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from isoglot.corpora.download.catalogue import DataFile
from isoglot.corpora.download.checking import file_digest, recorded_digests
from tests.corpora.download.archives import zipped
from tests.corpora.download.local_server import LocalServer
from tests.corpora.download.mortals import CHECKOUT, Mortals, getter, unpacked_file

CONTENT = random.Random(0).randbytes(3_000_000)
TRAIN = b"en:Paris\tB-LOC\n\n" * 500
PACKED = zipped({"train": TRAIN, "noise": CONTENT[:300_000]})
EXPECTED = {"downloads/x.zip": PACKED, "eval/ner/train.bio": b"Paris\tB-LOC\n\n" * 500}


@pytest.fixture
def mortals() -> Iterator[Mortals]:
    mortals = Mortals()
    yield mortals
    mortals.close()


def assert_sound(root: Path) -> None:
    """What is at its place is whole, and its digest is written down."""
    recorded = recorded_digests(root)
    for name, content in EXPECTED.items():
        if (root / name).exists():
            assert (root / name).read_bytes() == content
            assert recorded[name] == file_digest(root / name)


def assert_survives(server: LocalServer, root: Path, mortals: Mortals, *, moment: int) -> bool:
    """Whether the process lived; in any case the next run ends with the right files and nothing else."""
    url = server.serve("x.zip", PACKED)
    lived = mortals.get(url, root=root, moment=moment)
    assert_sound(root)
    getter(root).get(unpacked_file(url))
    assert_sound(root)
    left = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    assert {name for name in left if not name.endswith(".lease")} == {*EXPECTED, "isoglot.sha256"}
    return lived


def test_killed_at_some_moments(server: LocalServer, tmp_path: Path, mortals: Mortals) -> None:
    # Within the download, between the record of a digest and the rename, and within the unpacking.
    for moment in (12, 28, 40, 48):
        assert not assert_survives(server, tmp_path / str(moment), mortals, moment=moment)


@pytest.mark.campaign
def test_killed_at_every_moment(server: LocalServer, tmp_path: Path, mortals: Mortals) -> None:
    moment = 0
    while not assert_survives(server, tmp_path / str(moment), mortals, moment=moment):
        moment += 1
    assert moment > 30


@pytest.mark.campaign
def test_killed_at_every_moment_of_one_folder(server: LocalServer, root: Path, mortals: Mortals) -> None:
    """Each attempt continues from the remains of the one before."""
    url = server.serve("x.zip", PACKED)
    moment = 0
    while not mortals.get(url, root=root, moment=moment):
        assert_sound(root)
        moment += 1
    assert_sound(root)
    assert all((root / name).exists() for name in EXPECTED)


GET = """
import sys
from pathlib import Path
from isoglot.corpora.download.catalogue import DataFile
from tests.corpora.download.mortals import getter
getter(Path(sys.argv[1])).get(DataFile(path="text/a", url=sys.argv[2]))
"""


def test_killed_in_the_middle_of_a_download(server: LocalServer, root: Path) -> None:
    url = server.serve("a", CONTENT, stalls_after=1_000_000)
    part = root / "text/a.part"
    process = subprocess.Popen([sys.executable, "-c", GET, str(root), url], cwd=CHECKOUT)
    deadline = time.monotonic() + 120
    while not (part.exists() and part.stat().st_size == 1_000_000):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert not (root / "text/a").exists()
    assert part.read_bytes() == CONTENT[:1_000_000]

    server.files["/a"].stalls_after = None
    getter(root).get(DataFile(path="text/a", url=url))
    assert (root / "text/a").read_bytes() == CONTENT
    assert server.ranges_asked("a") == [None, "bytes=1000000-"]
    assert sorted(path.name for path in root.rglob("*") if path.is_file()) == ["a", "isoglot.sha256"]


@pytest.mark.campaign
def test_two_processes_fetch_a_file_once(server: LocalServer, root: Path) -> None:
    url = server.serve("a", CONTENT)
    processes = [subprocess.Popen([sys.executable, "-c", GET, str(root), url], cwd=CHECKOUT) for _ in range(2)]
    assert [process.wait(timeout=300) for process in processes] == [0, 0]
    assert (root / "text/a").read_bytes() == CONTENT
    assert len(server.asked) == 1
