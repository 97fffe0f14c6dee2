"""Punctuation marks and wide digits as the scripts of Moses write them, so that languages share them."""

import re

MARKS = "`´‘’‚" + "«»“”„《》「」" + "–—━" + "∶：；，、。．！？％～" + "（）〈〉【】" + "０１２３４５６７８９"  # noqa: RUF001
PLAIN = "'''''" + '"""""""""' + "---" + "::;,,..!?%~" + "()<>[]" + "0123456789"
PLAIN_MARKS: dict[int, str] = dict(zip(map(ord, MARKS), PLAIN, strict=True)) | {ord("…"): "..."}
"""For `str.translate`."""

# Written out, as a category of Unicode grows with the editions that come with Python. White space is not among them.
CONTROLS = (
    range(0x00, 0x09),
    range(0x0E, 0x1C),
    range(0x7F, 0x85),
    range(0x86, 0xA0),
    range(0xAD, 0xAE),  # the soft hyphen
    range(0x61C, 0x61D),
    range(0x180E, 0x180F),
    range(0x200B, 0x2010),  # without width, or only a direction
    range(0x202A, 0x202F),
    range(0x2060, 0x2070),
    range(0xE000, 0xF900),  # for private use
    range(0xFEFF, 0xFF00),  # the byte order mark
    range(0xFFF9, 0xFFFC),
    range(0xE0001, 0xE0080),
    range(0xF0000, 0x110000),  # for private use
)
"""Code points that are not printed."""

CONTROL = re.compile("[" + "".join(f"{chr(codes[0])}-{chr(codes[-1])}" for codes in CONTROLS) + "]")


def plain(text: str) -> str:
    """With plain marks, and without what is not printed."""
    return CONTROL.sub("", text.translate(PLAIN_MARKS))
