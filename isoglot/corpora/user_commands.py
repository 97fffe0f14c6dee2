"""Programs of the user's own that answer every line they are given with a line."""

import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from isoglot.errors import IsoglotError
from isoglot.files import sha256_of, text_sum

COMPLAINT_LINES = 3


@dataclass(frozen=True, kw_only=True)
class UserCommand:
    """A program and its arguments."""

    words: tuple[str, ...]
    name: str
    """For messages: "the aligner 'eflomal.sh'"."""
    task: str
    """For messages: "each line must give one line of words"."""

    def answers(self, lines: Sequence[str]) -> list[str]:
        """Its answer to each line; it starts once, and reads UTF-8 until its standard input ends."""
        program = self._program()
        given = "".join(f"{line}\n" for line in lines).encode()
        # Without a timeout: one that loads a large model looks like one that hangs.
        try:
            run = subprocess.run([str(program), *self.words[1:]], input=given, capture_output=True, check=False)
        except OSError as error:
            raise IsoglotError(f"{self.name} did not start ({error}); can it be run by hand?") from error
        if run.returncode:
            complaint = " | ".join(run.stderr.decode(errors="replace").splitlines()[-COMPLAINT_LINES:]) or "nothing"
            raise IsoglotError(f"{self.name} ended with exit status {run.returncode}, saying: {complaint}")
        answers = run.stdout.removesuffix(b"\n").split(b"\n") if run.stdout else []
        if len(answers) != len(lines):
            raise IsoglotError(f"{self.name} got {len(lines)} lines and gave {len(answers)}; {self.task}")
        try:
            return [answer.decode() for answer in answers]
        except UnicodeDecodeError as error:
            number = answers.index(error.object) + 1
            raise IsoglotError(f"{self.name} gave a line {number} that is not UTF-8 ({error}); it must be") from error

    def version(self) -> str:
        """A digest that another build of its program, or a change in a file it names, changes."""
        files = [self._program()]
        for word in self.words[1:]:
            # A script in place of a name, as after `sh -c`, may be longer than any name.
            with suppress(OSError):
                files += [Path(word)] if Path(word).is_file() else []
        return text_sum("".join(map(sha256_of, files)))[:16]

    def _program(self) -> Path:
        program = shutil.which(self.words[0])
        if program is None:
            raise IsoglotError(f"{self.name} was not found, or may not be run; give its full path, or set PATH")
        # Absolute, as "./segment" without its "./" would be looked for on the PATH.
        return Path(program).absolute()
