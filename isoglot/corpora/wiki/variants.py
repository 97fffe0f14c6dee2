"""Wikitext that gives words in several ways of writing a language, as that of Chinese does, shown in one of them."""

import re

_VARIANTS = re.compile(r"-\{([^{}]*)\}-")
_DEEPEST = 4
_FLAG = r"\s*(?:[A-Z+-]|[a-z]{2,3}(?:-[a-z]+)*)\s*"
_FLAGS = re.compile(rf"{_FLAG}(?:;{_FLAG})*")
_HIDDEN_FLAGS = {"H", "T", "-"}
"""Rules for the rest of the page or for its title, and rules taken back."""
_VARIANT = re.compile(r"(?:^|;)\s*([a-z]{2,3}(?:-[a-z]+)*)\s*:")
_PREFERRED = ("zh-hans", "zh-cn", "zh", "zh-sg", "zh-my")


def one_variant(text: str) -> str:
    """Text that shows one of the ways in which a Wikipedia writes its language: "a" for -{zh-hans:a;zh-hant:b}-."""
    for _ in range(_DEEPEST):
        text, found = _VARIANTS.subn(lambda variants: _shown_of_variants(variants[1]), text)
        if not found:
            break
    return text.replace("-{", "").replace("}-", "")


def _shown_of_variants(content: str) -> str:
    flags, bar, rest = content.partition("|")
    if bar and _FLAGS.fullmatch(flags):
        if _HIDDEN_FLAGS & {flag.strip() for flag in flags.split(";")}:
            return ""
        content = rest
    marks = list(_VARIANT.finditer(content))
    if not marks:
        return content
    ends = [mark.start() for mark in marks[1:]] + [len(content)]
    shown = {mark[1]: content[mark.end() : end].strip(" \n;") for mark, end in zip(marks, ends, strict=True)}
    return next((shown[name] for name in _PREFERRED if name in shown), shown[marks[0][1]])
