"""Damage as disks, copies and hands do it to files, drawn by a seed that is printed."""

import os
import random
from collections.abc import Callable
from pathlib import Path


def flip(path: Path, draw: random.Random) -> None:
    content = bytearray(path.read_bytes())
    content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    path.write_bytes(content)


def change_digit(path: Path, draw: random.Random) -> None:
    """Another digit, so that the file can still be read: the damage that no parser notices."""
    content = bytearray(path.read_bytes())
    places = [place for place, byte in enumerate(content) if chr(byte).isdigit()]
    if not places:
        flip(path, draw)
        return
    place = draw.choice(places)
    content[place] = ord(draw.choice(sorted({*"0123456789"} - {chr(content[place])})))
    path.write_bytes(content)


def cut(path: Path, draw: random.Random) -> None:
    os.truncate(path, draw.randrange(path.stat().st_size))


def zero(path: Path, draw: random.Random) -> None:
    """A block that was never written, as after a power cut."""
    content = bytearray(path.read_bytes())
    start = draw.randrange(len(content))
    length = min(draw.choice([1, 16, 512, 4096]), len(content) - start)
    content[start : start + length] = bytes(length)
    path.write_bytes(content)


def double(path: Path, draw: random.Random) -> None:  # noqa: ARG001
    path.write_bytes(path.read_bytes() * 2)


def lose(path: Path, draw: random.Random) -> None:  # noqa: ARG001
    path.unlink()


DAMAGES: tuple[Callable[[Path, random.Random], None], ...] = (flip, change_digit, change_digit, cut, zero, double, lose)


def damage(path: Path, draw: random.Random) -> str:
    """Damage a file that is not empty, and say how."""
    before = path.read_bytes()
    while True:
        way = draw.choice(DAMAGES)
        way(path, draw)
        if not path.exists() or path.read_bytes() != before:
            return f"{way.__name__} {path.parent.name}/{path.name}"
