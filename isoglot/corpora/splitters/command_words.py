"""Words from a program of the user's own, such as the Stanford segmenter: lines in, lines of words out."""

import hashlib
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from isoglot.errors import IsoglotError

COMPLAINT_LINES = 3


def split_lines(lines: Sequence[str], *, command: Sequence[str]) -> list[list[str]]:
    """The words of each line as the command finds them; a blank line has none and is not shown to it.

    The command starts once for each call, so it pays to give many lines. It reads UTF-8 lines from its standard input
    until that ends, and writes as many, words apart by white space. It may take as long as it likes: a program that
    loads a large model cannot be told from one that hangs.
    """
    # White space within a line might be a line end to the program.
    texts = [" ".join(line.split()) for line in lines]
    told = [text for text in texts if text]
    answers = iter(_answers(told, command=command) if told else [])
    return [next(answers).split() if text else [] for text in texts]


def command_version(command: Sequence[str]) -> str:
    """What a command is known by: another build of its program, or a change in a file it names, makes another."""
    files = [_program(command), *(Path(word) for word in command[1:] if Path(word).is_file())]
    digests = "".join(hashlib.sha256(file.read_bytes()).hexdigest() for file in files)
    return hashlib.sha256(digests.encode()).hexdigest()[:16]


def _answers(texts: Sequence[str], *, command: Sequence[str]) -> list[str]:
    program = _program(command)
    given = "".join(f"{text}\n" for text in texts).encode()
    try:
        run = subprocess.run([str(program), *command[1:]], input=given, capture_output=True, check=False)
    except OSError as error:
        raise IsoglotError(f"{_named(command)} did not start ({error}); can it be run by hand?") from error
    if run.returncode:
        complaint = run.stderr.decode(errors="replace").splitlines()[-COMPLAINT_LINES:]
        raise IsoglotError(
            f"{_named(command)} ended with exit status {run.returncode}, saying: {' | '.join(complaint) or 'nothing'}"
        )
    answers = run.stdout.removesuffix(b"\n").split(b"\n") if run.stdout else []
    if len(answers) != len(texts):
        raise IsoglotError(
            f"{_named(command)} got {len(texts)} lines and gave {len(answers)}; each line must give one line of words"
        )
    return [_decoded(answer, number=number, command=command) for number, answer in enumerate(answers, start=1)]


def _decoded(answer: bytes, *, number: int, command: Sequence[str]) -> str:
    try:
        return answer.decode()
    except UnicodeDecodeError as error:
        raise IsoglotError(f"{_named(command)} gave a line {number} that is not UTF-8 ({error}); it must be") from error


def _program(command: Sequence[str]) -> Path:
    if not command:
        raise IsoglotError("the study's [words] is an empty command; name a program and its arguments")
    program = shutil.which(command[0])
    if program is None:
        raise IsoglotError(f"{_named(command)} was not found, or may not be run; give its full path, or set PATH")
    # Absolute, as "./segment" without its "./" would be looked for on the PATH.
    return Path(program).absolute()


def _named(command: Sequence[str]) -> str:
    return f"the command {command[0]!r} of the study's [words]"
