"""Small stages to try the store with, and processes that make them until kill -9."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from isoglot.errors import IsoglotError
from isoglot.store import NOT_IDENTITY, Amount, Stage, Store, Work
from isoglot.store.record import maker
from tests.ctrl_c import hearing_ctrl_c

CHECKOUT = Path(__file__).parents[2]


@dataclass(frozen=True, kw_only=True)
class Text(Stage):
    """Writes lines a file each, going on from the files it finds."""

    kind = "toy-text"
    rate_settings = ("word",)
    word: str = "tree"
    lines: int = 2
    log: Path | None = field(default=None, metadata=NOT_IDENTITY)
    """Gets a line each time make runs."""

    def make(self, work: Work) -> None:
        if self.log:
            with self.log.open("a") as log:
                log.write(f"{os.getpid()}\n")
        (work.folder / "lines").mkdir(exist_ok=True)
        for number in range(self.lines):
            path = work.folder / "lines" / f"{number}.txt"
            if not path.exists():
                draft = work.folder / "draft"
                draft.write_text(f"{self.word} {number}\n")
                draft.rename(path)
            work.progress(number + 1, self.lines, "lines")

    def amount(self) -> Amount:
        return Amount(units=self.lines, of="lines")

    def share_done(self, folder: Path) -> float:
        return len(list(folder.glob("lines/*.txt"))) / self.lines

    @property
    def title(self) -> str:
        return f"text of {self.word}"


@dataclass(frozen=True, kw_only=True)
class Joined(Stage):
    """All lines of its texts in one file."""

    kind = "toy-joined"
    texts: tuple[Text, ...] | Mapping[str, Text]
    separator: str = " "

    def make(self, work: Work) -> None:
        folders = [work.path(text) for text in self.inputs.values() if isinstance(text, Text)]
        lines = [path.read_text().strip() for folder in folders for path in sorted(folder.glob("lines/*.txt"))]
        (work.folder / "joined.txt").write_text(self.separator.join(lines))


@dataclass(frozen=True, kw_only=True)
class Count(Stage):
    """Letters of a joined text, or an error the user can fix."""

    kind = "toy-count"
    joined: Joined
    at_most: int = 1000

    def make(self, work: Work) -> None:
        letters = len((work.path(self.joined) / "joined.txt").read_text())
        if letters > self.at_most:
            raise IsoglotError(f"{letters} letters are more than {self.at_most}: raise at_most")
        (work.folder / "count.json").write_text(json.dumps(letters))


@dataclass(frozen=True, kw_only=True)
class Patient(Stage):
    """Reports progress and keeps a checkpoint until a file says to end."""

    kind = "toy-patient"
    end: Path = field(metadata=NOT_IDENTITY)

    def make(self, work: Work) -> None:
        checkpoint, draft = work.folder / "checkpoint", work.folder / "draft"
        attempts = int(checkpoint.read_text()) + 1 if checkpoint.exists() else 1
        # It is whole as soon as it is there, since a test that sees it may kill this process.
        draft.write_text(str(attempts))
        draft.replace(checkpoint)
        while not self.end.exists():
            work.progress(1, 2, "steps")
            time.sleep(0.01)
        (work.folder / "attempts.txt").write_text(str(attempts))
        checkpoint.unlink()


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file but the record."""
    paths = (path for path in folder.rglob("*") if path.is_file() and path.name != "record.json")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def python(code: str, *, arguments: list[str], **variables: str) -> "subprocess.Popen[str]":
    """A Python process that runs code, with all of this module imported."""
    program = "import sys; from pathlib import Path; from tests.store.toy_stages import *\n" + code
    command = [sys.executable, "-c", program, *arguments]
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT)} | variables
    with hearing_ctrl_c():
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class Mortals:
    """Forks processes that ensure a Text and get kill -9 at the moment-th thing they ask of the system.

    They come from a process without threads, since forking the one that runs the tests might be unsafe.
    """

    def __init__(self) -> None:
        code = "from tests.store.toy_stages import serve; serve()"
        self._server = subprocess.Popen(
            [sys.executable, "-c", code], cwd=CHECKOUT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ensure(self, text: Text, *, root: Path, moment: int) -> bool:
        """Whether the process lived to the end."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps([text.word, text.lines, str(root), moment]) + "\n")
        self._server.stdin.flush()
        status = os.waitstatus_to_exitcode(int(self._server.stdout.readline()))
        assert status in (0, -signal.SIGKILL)
        return status == 0

    def close(self) -> None:
        """Ends the forking process."""
        self._server.communicate()


def serve() -> None:
    """The work of the forking process."""
    # Once for all: it asks the system for hundreds of things that have nothing to do with a kill.
    made_by = maker()
    for line in sys.stdin:
        word, lines, root, moment = json.loads(line)
        child = os.fork()
        if child == 0:
            _live(Text(word=word, lines=lines), root=Path(root), moment=moment, made_by=made_by)
        print(os.waitpid(child, 0)[1], flush=True)


def _live(text: Text, *, root: Path, moment: int, made_by: dict[str, Any]) -> None:
    moments = itertools.count()

    def reap(event: str, arguments: tuple[object, ...]) -> None:  # noqa: ARG001
        if event.startswith(("open", "os.", "fcntl.")) and next(moments) == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(reap)
    try:
        store = Store(root)
        store.maker = made_by
        store.ensure(text)
    except BaseException:
        os._exit(1)
    os._exit(0)
