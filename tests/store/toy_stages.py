"""Small stages to try the store with, and processes that make them."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from isoglot.errors import IsoglotError
from isoglot.store import NOT_IDENTITY, Amount, Stage, Store, Work
from tests.ctrl_c import hearing_ctrl_c
from tests.killed_processes import CHECKOUT, KILLED, exit_code_of
from tests.killed_processes import files_of as all_files_of


@dataclass(frozen=True, kw_only=True)
class Text(Stage):
    """Writes lines a file each, going on from the files it finds."""

    kind = "toy-text"
    resumes = ("lines/*.txt",)
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
class Size:
    """A setting within a setting."""

    width: int


@dataclass(frozen=True, kw_only=True)
class Sized(Text):
    """Takes the longer the wider it is, and guesses its time."""

    kind = "toy-sized"
    rate_settings = ("size.width",)
    size: Size

    def guessed_seconds(self) -> float:
        return 7.0


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
    resumes = ("checkpoint",)
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


def python(code: str, *, arguments: list[str], **variables: str) -> "subprocess.Popen[str]":
    """A Python process that runs code, with all of this module imported."""
    program = "import sys; from pathlib import Path; from tests.store.toy_stages import *\n" + code
    command = [sys.executable, "-c", program, *arguments]
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT)} | variables
    with hearing_ctrl_c():
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def lives_through(text: Text, *, root: Path, moment: int) -> bool:
    """Make a text in a process that gets kill -9 at the moment-th thing it asks of the system, if it lives so long."""
    code = exit_code_of(lambda: Store(root).ensure(text) and None, moment=moment)
    assert code in (0, KILLED)
    return code == 0


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file but the record."""
    return {name: content for name, content in all_files_of(folder).items() if not name.endswith("record.json")}
