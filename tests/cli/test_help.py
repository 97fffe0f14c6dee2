"""Help of every command: both ways to ask for it, no types of Python, and options that explain themselves."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from commands import answered

from isoglot.cli import app

# Words that lean on the name of the option, which a reader of its text alone has not seen.
LEANING = ("Of", "Whose", "Where", "In", "If", "As", "All", "There", "It")


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, group
    for name, command in getattr(group, "commands", {}).items():
        yield from commands(command, (*path, name))


COMMANDS = dict(commands(typer.main.get_command(app)))
assert {("run",), ("data", "get"), ()} <= COMMANDS.keys()


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_help_has_two_spellings_and_no_types(path: tuple[str, ...], tmp_path: Path) -> None:
    short, long = (answered(*path, flag, folder=tmp_path) for flag in ("-h", "--help"))
    assert (short.returncode, short.stderr) == (0, "")
    assert short.stdout == long.stdout
    assert re.search(r"Usage: .*" + " ".join(path), short.stdout)
    assert re.findall(r"<(?:str|bool|int|float|path|file|Path|list\[.*?\])>", short.stdout) == []


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_option_explains_itself(path: tuple[str, ...]) -> None:
    texts = {each.name: getattr(each, "help", "") or "" for each in COMMANDS[path].params}
    unclear = {
        name: text
        for name, text in texts.items()
        if not re.fullmatch(r"[A-Z1].*\.", text) or len(text.split()) < 4 or text.split()[0] in LEANING
    }
    assert unclear == {}
