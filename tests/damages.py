"""Damage as disks, copies and hands do it to files, drawn by a seed that is printed."""

import random
import re
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from isoglot.errors import IsoglotError

Damage = Callable[[bytes, random.Random], bytes]


def flip(content: bytes, draw: random.Random) -> bytes:
    changed = bytearray(content)
    changed[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def change_digit(content: bytes, draw: random.Random) -> bytes:
    """Another digit, so that the file can still be read: the damage that no parser notices."""
    places = [place for place, byte in enumerate(content) if chr(byte).isdigit()]
    if not places:
        return flip(content, draw)
    place = draw.choice(places)
    digit = draw.choice(sorted({*"0123456789"} - {chr(content[place])}))
    return content[:place] + digit.encode() + content[place + 1 :]


def cut(content: bytes, draw: random.Random) -> bytes:
    return content[: draw.randrange(len(content))]


def zero(content: bytes, draw: random.Random) -> bytes:
    """A block that was never written, as after a power cut."""
    start = draw.randrange(len(content))
    length = min(draw.choice([1, 16, 512, 4096]), len(content) - start)
    return content[:start] + bytes(length) + content[start + length :]


def double(content: bytes, draw: random.Random) -> bytes:  # noqa: ARG001
    return content * 2


def lose(content: bytes, draw: random.Random) -> bytes:  # noqa: ARG001
    """In place of an empty file there is none."""
    return b""


DAMAGES: tuple[Damage, ...] = (flip, change_digit, change_digit, cut, zero, double, lose)


def damage(path: Path, draw: random.Random) -> str:
    """Damage a file that is not empty, and say how."""
    before = path.read_bytes()
    while True:
        way = draw.choice(DAMAGES)
        after = way(before, draw)
        if after != before:
            path.unlink() if way is lose else path.write_bytes(after)
            return f"{way.__name__} {path.parent.name}/{path.name}"


# What editors, converters and hostile hands write into texts.
ODD_PIECES = [
    *(b"\0", b"\xff\xfe", b"\xed\xa0\x80", b"\x1b]0;title\x07", b"\r", b"\r\n"),
    *(b"\n\n", b"\t", b" ", b'"', b"\\", b"'"),
    *(each.encode() for each in ("\u2028", "\u202e", "\ufeff", "\x85", "\xa0", "\u200d", "e\u0301", "\U0010ffff", "İ")),
    *(each.encode() for each in ("\u0661", "\xb2", "nan", "-inf", "1e999", "-1", "0x1f", "1_0", "\\ud800", "\\u0000")),
    *(b"9" * 400, b"9" * 5000, b"0x" + b"f" * 5000, b"-" * 3000, b"a" * 70_000, b"{" * 3000, b"[" * 3000, b"a." * 3000),
    *(b"<", b"&#xD800;", b"&#0;", b"<page>", b"</page>", b"<!DOCTYPE a>", b"{{", b"}}", b"[[", b"]]", b"{|", b"<ref>"),
]


def insert(content: bytes, draw: random.Random) -> bytes:
    place = draw.randrange(len(content) + 1)
    return content[:place] + draw.choice(ODD_PIECES) + content[place:]


def replace_field(content: bytes, draw: random.Random) -> bytes:
    """Something odd as a whole word, column or value."""
    start = draw.randrange(len(content))
    ends = [place for place, byte in enumerate(content) if byte in b' \t\n,="<>']
    before = max((end + 1 for end in ends if end < start), default=0)
    after = min((end for end in ends if end >= start), default=len(content))
    return content[:before] + draw.choice(ODD_PIECES) + content[after:]


def drop_piece(content: bytes, draw: random.Random) -> bytes:
    start, end = sorted(draw.randrange(len(content) + 1) for _ in range(2))
    return content[:start] + content[end:]


def repeat_piece(content: bytes, draw: random.Random) -> bytes:
    start, end = sorted(draw.randrange(len(content) + 1) for _ in range(2))
    return content[:end] + content[start:end] * draw.choice([1, 2, 50]) + content[end:]


def swap_lines(content: bytes, draw: random.Random) -> bytes:
    lines = content.splitlines(keepends=True)
    a, b = draw.randrange(len(lines)), draw.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    return b"".join(lines)


MUTATIONS: tuple[Damage, ...] = (
    *(flip, change_digit, cut, zero, double, insert, insert, replace_field, replace_field),
    *(drop_piece, repeat_piece, swap_lines),
)


def mutated(content: bytes, draw: random.Random) -> bytes:
    """Some mutations one after the other, at most until nothing is left."""
    for _ in range(draw.choice([1, 1, 2, 4])):
        content = draw.choice(MUTATIONS)(content, draw) if content else content
    return content


SECONDS = 5  # of the processor, for a file of some kilobytes
SURROGATE = re.compile(r"(?<!\\)(?:\\\\)*\\ud[89a-f]")  # as repr shows half of a pair


class Trials:
    """Counts how trials end; any end that is not allowed is an escape."""

    def __init__(self) -> None:
        self.fates, self.escapes = Counter[str](), list[str]()

    def end(self, what: str, action: Callable[[], object], *, names: str) -> bool:
        """Whether an action came to its end: otherwise it refused a file by its name."""
        begun, fate, escape = time.process_time(), "read", ""
        try:
            if SURROGATE.search(repr(action())):
                escape = "half of a surrogate pair was read"
        except IsoglotError as error:
            fate, escape = "refused", "" if names in str(error) else f"no name: {error}"
        except Exception as error:
            escape = repr(error)
        if (seconds := time.process_time() - begun) > SECONDS:
            escape = f"{seconds:.0f} seconds; {escape}"
        self.fates["escaped" if escape else fate] += 1
        self.escapes += [f"{what}: {escape[:300]}"] if escape else []
        return fate == "read" and not escape

    def report(self, *, seed: int) -> None:
        print(f"seed {seed}", dict(self.fates))
        assert not self.escapes, "\n".join(self.escapes[:40])
        assert self.fates["read"] > 0
