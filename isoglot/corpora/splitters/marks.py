"""Words for scripts without spaces where no better splitter is at hand: every character is one."""

import re
from collections.abc import Sequence

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


# Ranges are written out, as what `\w` and the categories of Unicode hold grows with the editions that come with Python.
# Hangul is not among them: Korean has spaces.
THAI_AND_LAO = "\u0e00-\u0eff"
TIBETAN = "\u0f00-\u0fff"
MYANMAR = "\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f"
KHMER = "\u1780-\u17ff\u19e0-\u19ff"
KANA = "\u3031-\u3035\u3041-\u3096\u3099-\u30ff\uff66-\uff9f\U0001aff0-\U0001b16f"
HAN = (
    "\u2e80-\u2fff\u3005-\u3007\u3021-\u3029\u3038-\u303c\u3100-\u312f\u3190-\u9fff\uf900-\ufaff"
    "\U00016fe2-\U00016fff\U00020000-\U0003ffff"
)
WITHOUT_SPACES = THAI_AND_LAO + TIBETAN + MYANMAR + KHMER + KANA + HAN

VARIANTS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
# Vowel signs, tones, subjoined letters and voicing marks, whether or not Unicode calls them combining.
ATTACHED = (
    "\u0300-\u036f\u0e30-\u0e3a\u0e45\u0e47-\u0e4e\u0eb0-\u0ebd\u0ec8-\u0ece"
    "\u0f18\u0f19\u0f35\u0f37\u0f39\u0f3e\u0f3f\u0f71-\u0f84\u0f86\u0f87\u0f8d-\u0fbc\u0fc6"
    "\u102b-\u103e\u1056-\u1059\u105e-\u1060\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f\u109a-\u109d"
    "\ua9e5\uaa7b-\uaa7d\u17b4-\u17d3\u17dd\u302a-\u302f\u3099\u309a\uff9e\uff9f" + VARIANTS
)
# Thai and Lao write some vowels before their consonant; in Khmer and Myanmar a sign sets a consonant below another.
VOWEL_BEFORE = "[\u0e40-\u0e44][\u0e01-\u0e2e]|[\u0ec0-\u0ec4][\u0e81-\u0eae\u0edc-\u0edf]"
SET_BELOW = "(?<=\u17d2)[\u1780-\u17b3]|(?<=\u1039)[\u1000-\u102a\u103f\u1050-\u1055]"

SYMBOLS = (
    r"!-/:-@\[-`{-~\u00a1-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7\u2010-\u2027\u2030-\u205e"
    r"\u20a0-\u20cf\u2190-\u2bff\u2e00-\u2e7f\u3001-\u3004\u3008-\u3020\u3030\u3036\u3037\u303d-\u303f"
    r"\ufe10-\ufe1f\ufe30-\ufe6f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\uffe0-\uffee\U0001f000-\U0001faff"
)
WORD = re.compile(
    rf"(?:{VOWEL_BEFORE}|[{WITHOUT_SPACES}])(?:[{ATTACHED}]|{SET_BELOW})*"
    rf"|(?:[^\s{SYMBOLS}{WITHOUT_SPACES}]+|(?<=[0-9])[.,](?=[0-9]))+"
    rf"|[{SYMBOLS}][{VARIANTS}]*"
)


def split_lines(lines: Sequence[str]) -> list[list[str]]:
    """The words of each line; a blank line has none.

    A character keeps the signs attached to it. A run of other characters ends at white space and at every mark but
    those in 3.14 and 1,000. Marks are first made plain as for other languages.
    """
    return [WORD.findall(plain(line)) for line in lines]
