"""kill -9 at any moment leaves nothing half-written at its place, and the next run ends with the same bytes."""

import itertools
import os
import random
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from isoglot.corpora.download import fetching
from isoglot.corpora.download.catalogue import DataFile
from isoglot.corpora.download.checking import file_digest, recorded_digests
from isoglot.corpora.download.getting import Getter
from isoglot.corpora.download.unpacking import wikiann_words
from tests.corpora.download.archives import zipped
from tests.corpora.download.local_server import LocalServer
from tests.killed_processes import CHECKOUT, until

CONTENT = random.Random(0).randbytes(3_000_000)
TRAIN = b"en:Paris\tB-LOC\n\n" * 500
PACKED = zipped({"train": TRAIN, "noise": CONTENT[:300_000]})
EXPECTED = {"downloads/x.zip": PACKED, "eval/ner/train.bio": b"Paris\tB-LOC\n\n" * 500}


def get(url: str, root: Path) -> None:
    """A file as it is, or one that is fetched in an archive, taken out of it and rewritten."""
    fetching.TIMEOUT_SECONDS = 300
    rewrite = partial(wikiann_words, language="en")
    packed = DataFile(path="eval/ner/train.bio", url=url, member=("train",), most_bytes=10**6, rewrite=rewrite)
    file = packed if url.endswith(".zip") else DataFile(path="text/a", url=url)
    Getter(root=root, home="https://home.example").get(file)


def main() -> None:
    """Get a file in a process of its own, which gets kill -9 at the moment-th thing it asks of the system."""
    url, root, moment = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    moments = itertools.count()

    def reap(event: str, arguments: tuple[object, ...]) -> None:
        # Modules that are loaded on the way are no moments of the work.
        ours = not str(arguments[:1]).count("python3")
        if event.startswith(("open", "os.", "fcntl.", "socket.")) and ours and next(moments) == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(reap)
    get(url, root)


def started(url: str, root: Path, *, moment: int = -1) -> subprocess.Popen[bytes]:
    code = "from tests.corpora.download.test_interruption import main; main()"
    return subprocess.Popen([sys.executable, "-c", code, url, str(root), str(moment)], cwd=CHECKOUT)


def lived(url: str, root: Path, *, moment: int) -> bool:
    status = started(url, root, moment=moment).wait(timeout=300)
    assert status in (0, -signal.SIGKILL)
    return status == 0


def assert_sound(root: Path) -> None:
    """The file at its place is whole, and its digest is written down."""
    recorded = recorded_digests(root)
    for name, content in EXPECTED.items():
        if (root / name).exists():
            assert (root / name).read_bytes() == content
            assert recorded[name] == file_digest(root / name)


def assert_survives(url: str, root: Path, *, moment: int) -> bool:
    """Whether the process lived; in any case the next run ends with the right files and nothing else."""
    has_lived = lived(url, root, moment=moment)
    assert_sound(root)
    get(url, root)
    assert_sound(root)
    left = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    assert {name for name in left if not name.endswith(".lease")} == {*EXPECTED, "isoglot.sha256"}
    return has_lived


def test_killed_at_some_moments(server: LocalServer, tmp_path: Path) -> None:
    # Within the download, within the record of a digest before the rename, and within the unpacking.
    for moment in (20, 28, 44):
        assert not assert_survives(server.serve("x.zip", PACKED), tmp_path / str(moment), moment=moment)


@pytest.mark.campaign
def test_killed_at_every_moment(server: LocalServer, tmp_path: Path) -> None:
    url = server.serve("x.zip", PACKED)
    moment = 0
    while not assert_survives(url, tmp_path / str(moment), moment=moment):
        moment += 1
    assert moment > 30
    # Each attempt continues from the remains of the one before.
    kills = moment
    for each in range(moment + 1):
        kills += not lived(url, tmp_path / "same", moment=each)
        assert_sound(tmp_path / "same")
    print(kills, "kills")
    assert all((tmp_path / "same" / name).exists() for name in EXPECTED)


def test_killed_in_the_middle_of_a_download(server: LocalServer, root: Path) -> None:
    url = server.serve("a", CONTENT, stalls_after=1_000_000)
    part = root / "text/a.part"
    process = started(url, root)
    until(lambda: part.exists() and part.stat().st_size == 1_000_000, seconds=120)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert not (root / "text/a").exists()
    assert part.read_bytes() == CONTENT[:1_000_000]

    server.files["/a"].stalls_after = 0
    get(url, root)
    assert (root / "text/a").read_bytes() == CONTENT
    assert server.ranges_asked("a") == [None, "bytes=1000000-"]
    assert sorted(path.name for path in root.rglob("*") if path.is_file()) == ["a", "isoglot.sha256"]


@pytest.mark.campaign
def test_two_processes_fetch_a_file_once(server: LocalServer, root: Path) -> None:
    url = server.serve("a", CONTENT)
    assert [process.wait(timeout=300) for process in [started(url, root), started(url, root)]] == [0, 0]
    assert (root / "text/a").read_bytes() == CONTENT
    assert len(server.asked) == 1
