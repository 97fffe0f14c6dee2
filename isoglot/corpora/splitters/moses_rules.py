"""Rules of sacremoses, each a pattern and what takes its place, made to run on many lines at once."""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache, reduce

Rule = tuple[str | re.Pattern[str], str]
"""As sacremoses keeps it: what is found in a line, and the template of what is put there."""
Rewriting = Callable[[str], str]
"""Lines in, lines out, with a line end before each and after the last; no line knows of another."""

REMEMBERED = 1 << 14
# Longer ones are rare, and text could make the memory of them as large as it likes.
LONGEST_REMEMBERED = 5

_ATOM = re.compile(
    r"""(?:\\[ds]|\[[^]]*\])[*+]?           # any character of a set, or many
    |[()]
    |(?:\\\W|[^][\\(){}.*+?^$|])[*+]
    |\\(\W)|([^][\\(){}.*+?^$|])            # one that stands for itself
    """,
    re.VERBOSE,
)


def rewriting(rules: Iterable[Rule]) -> Rewriting:
    """Rules one after the other, each only where it can match at all."""
    steps = [_step(re.compile(pattern).pattern.replace(r"\r", "\r"), template) for pattern, template in rules]
    return lambda text: reduce(lambda changed, step: step(changed), steps, text)


def _step(pattern: str, template: str) -> Rewriting:
    if (pattern, template) == (" +", " "):
        spaces = re.compile("  +")
        return lambda text: spaces.sub(" ", text) if "  " in text else text
    trigger = _literal(pattern)
    # One character is found many times faster than two, and the highest is likely the rarest.
    rarest = max(trigger, default="")
    if re.sub(r"\\(\W)", r"\1", pattern) == trigger and "\\" not in template:
        return lambda text: text.replace(trigger, template) if rarest in text else text
    rewritten = _rewritten_line(pattern, template)
    return lambda text: _where(trigger, rewritten, text) if rarest in text else text


def _literal(pattern: str) -> str:
    r"""The longest string that every match holds: " %" for "(\d) %", "" for a pattern that is not understood."""
    atoms = list(_ATOM.finditer(pattern))
    if "".join(atom[0] for atom in atoms) != pattern:
        return ""
    return max("".join(atom[1] or atom[2] or "\n" for atom in atoms).split("\n"), key=len)


def _rewritten_line(pattern: str, template: str) -> Callable[[str], str]:
    compiled = re.compile(pattern)
    if not pattern.startswith(r'(\.+)"'):
        return lambda line: compiled.sub(template, line)
    # A run of dots without what must follow is passed over whole: to try each of its dots takes minutes on a long one.
    passing = re.compile(pattern.replace('"', '(?:"', 1) + ")?")
    return lambda line: passing.sub(
        lambda match: match[0] if match.end() == match.end(1) else match.expand(template), line
    )


def _where(trigger: str, rewritten: Callable[[str], str], text: str) -> str:
    """The text with each line rewritten that holds the trigger."""
    pieces = ["\n"]
    done = 1
    while done < len(text) and (found := text.find(trigger, done)) >= 0:
        start, end = text.rindex("\n", 0, found) + 1, text.index("\n", found)
        pieces += [text[done:start], rewritten(text[start:end]), "\n"]
        done = end + 1
    return "".join(pieces) + text[done:]


def local_rewriting(rules: Iterable[Rule], *, marks: str) -> Rewriting:
    """Rules that look one character to either side of a mark: tried once on each neighbourhood, then remembered.

    One match of the marks must hold all that stand so close together that a rule's match may take in two of them.
    """
    compiled = [(re.compile(pattern), template) for pattern, template in rules]

    def rewritten(neighbourhood: str) -> str:
        before, after = (character != "\n" for character in (neighbourhood[0], neighbourhood[-1]))
        text = neighbourhood.strip("\n")
        for pattern, template in compiled:
            text = pattern.sub(template, text)
        return text[before : len(text) - after]

    remembered = lru_cache(maxsize=REMEMBERED)(rewritten)

    def around(match: re.Match[str]) -> str:
        start, end = match.span()
        neighbourhood = match.string[start - 1 : end + 1]
        return remembered(neighbourhood) if len(neighbourhood) <= LONGEST_REMEMBERED else rewritten(neighbourhood)

    found = re.compile(marks)
    return lambda text: found.sub(around, text)
