"""Words from a program of the user's own, such as the Stanford segmenter: lines in, lines of words out."""

from collections.abc import Sequence

from isoglot.errors import IsoglotError
from isoglot.user_commands import UserCommand


def split_lines(lines: Sequence[str], *, command: Sequence[str]) -> list[list[str]]:
    """The words of each line as the command finds them; a blank line has none and is not shown to it.

    The command starts once for each call, so it pays to give many lines; its words are apart by white space.
    """
    # White space within a line might be a line end to the program.
    texts = [" ".join(line.split()) for line in lines]
    told = [text for text in texts if text]
    answers = iter(_splitter(command).answers(told) if told else [])
    return [next(answers).split() if text else [] for text in texts]


def command_version(command: Sequence[str]) -> str:
    """What a command is known by."""
    return _splitter(command).version()


def _splitter(command: Sequence[str]) -> UserCommand:
    if not command:
        raise IsoglotError("the study's [words] is an empty command; name a program and its arguments")
    return UserCommand(
        words=tuple(command),
        name=f"the command {command[0]!r} of the study's [words]",
        task="each line must give one line of words",
    )
