"""Processes that get a file and are killed at any moment of it."""

import itertools
import json
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

from isoglot.corpora.download import fetching
from isoglot.corpora.download.catalogue import DataFile
from isoglot.corpora.download.getting import Getter
from isoglot.corpora.download.unpacking import wikiann_words

CHECKOUT = Path(__file__).parents[3]


def unpacked_file(url: str) -> DataFile:
    """A file that is fetched in an archive, taken out of it and rewritten."""
    rewrite = partial(wikiann_words, language="en")
    return DataFile(path="eval/ner/train.bio", url=url, member=("train",), most_bytes=10**6, rewrite=rewrite)


def getter(root: Path) -> Getter:
    fetching.FIRST_WAIT_SECONDS, fetching.TIMEOUT_SECONDS = 0.001, 300
    return Getter(root=root, home="https://home.example")


class Mortals:
    """Forks processes from one without threads, since forking the one that runs the tests might be unsafe."""

    def __init__(self) -> None:
        code = "from tests.corpora.download.mortals import serve; serve()"
        self._server = subprocess.Popen(
            [sys.executable, "-c", code], cwd=CHECKOUT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def get(self, url: str, *, root: Path, moment: int) -> bool:
        """Whether the process lived to the end; it gets kill -9 at the moment-th thing it asks of the system."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps([url, str(root), moment]) + "\n")
        self._server.stdin.flush()
        status = os.waitstatus_to_exitcode(int(self._server.stdout.readline()))
        assert status in (0, -signal.SIGKILL)
        return status == 0

    def close(self) -> None:
        self._server.communicate()


def serve() -> None:
    """What the forking process does."""
    for line in sys.stdin:
        url, root, moment = json.loads(line)
        child = os.fork()
        if child == 0:
            _live(url, root=Path(root), moment=moment)
        print(os.waitpid(child, 0)[1], flush=True)


def _live(url: str, *, root: Path, moment: int) -> None:
    moments = itertools.count()

    def reap(event: str, arguments: tuple[object, ...]) -> None:
        # Modules that are loaded on the way are no moments of the work.
        ours = not str(arguments[:1]).count("python3")
        if event.startswith(("open", "os.", "fcntl.", "socket.")) and ours and next(moments) == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(reap)
    try:
        getter(root).get(unpacked_file(url))
    except BaseException:
        os._exit(1)
    os._exit(0)
