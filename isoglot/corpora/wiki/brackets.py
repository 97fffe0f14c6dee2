"""Wikitext without templates, tables and links, in one pass over its brackets, however nested or broken they are."""

import re
import tomllib
from collections.abc import Set
from pathlib import Path

NAMES = tomllib.loads(Path(__file__).with_name("names.toml").read_text(encoding="utf-8"))


def folded_name(name: str) -> str:
    """Names of namespaces and templates are the same in any case, and with spaces for underscores."""
    return name.strip().replace(" ", "_").casefold()


def names(text: str) -> frozenset[str]:
    """Folded names with white space between them."""
    return frozenset(map(folded_name, text.split()))


HIDDEN_NAMESPACES = names(NAMES["files"]) | names(NAMES["categories"])
PROJECTS = names(NAMES["projects"])
SHOWN_TEMPLATES = {name: each["shows"] for each in NAMES["templates"] for name in names(each["names"])}
INTERLANGUAGE = re.compile(r"(?:[a-z]{2,3}(?:-[a-z]{2,12}){0,2}|simple):(?! )")
"""The beginning of a link to the same article in another language, shown beside the page and not in it."""

# Most links have no other brackets and no namespace, and need no pass.
_PLAIN_LINK = re.compile(r"\[\[(?:[^\[\]{}|\n:]*+\|)?([^\[\]{}|\n:#]++)\]\]")
_BRACKETS = re.compile(r"(\[\[|\]\]+|\{\{+|\}\}+|\n[ \t:]*\{\||\n[ \t]*\|\}+|\n==)")
_AFTER_TITLE = re.compile(r"[(,\N{FULLWIDTH LEFT PARENTHESIS}]")
_ARGUMENT_NUMBER = re.compile(r"\s*\d\s*=")
DEEPEST_LINK = 8
"""Links are not nested but in the captions of pictures; more that are open are forgotten marks."""
LONGEST_SHOWN = 500
"""Characters of a template that stands within a sentence."""


def without_brackets(text: str, *, hidden: Set[str]) -> str:
    """The part of a text that a reader sees; it begins with a line end, and links to hidden namespaces show nothing.

    Where nobody closed a bracket before the next heading, only the bracket goes, and the text stays.
    """
    page = _Page(hidden)
    for number, piece in enumerate(_BRACKETS.split(_PLAIN_LINK.sub(r"\1", text))):
        # Every second one is a bracket.
        if number % 2:
            page.take(piece)
        else:
            page.pieces.append(piece)
    return "".join(page.pieces)


class _Page:
    """Pieces of text and the brackets among them that are still open.

    An end closes the innermost beginning of its kind, and replaces the pieces since then by the text they show. Each
    piece is dropped or joined once, so that a page takes time in proportion to its length, however broken it is.
    """

    def __init__(self, hidden: Set[str]) -> None:
        self.pieces: list[str] = []
        self._hidden = hidden
        self._links: list[int] = []
        """After how many pieces each open link began."""
        self._blocks: list[tuple[int, int]] = []
        """The same for templates and tables, and how many braces are left to close; 0 for a table."""

    def take(self, bracket: str) -> None:
        start = len(self.pieces)
        if bracket == "[[":
            self._links = [*self._links, start][-DEEPEST_LINK:]
        elif bracket[0] == "]":
            self._close_links(len(bracket))
        elif bracket[0] == "{":
            self._blocks.append((start, len(bracket)))
        elif bracket[0] == "}":
            self._close_braces(len(bracket))
        elif bracket == "\n==":
            self._blocks.clear()
            self._links.clear()
            self.pieces.append(bracket)
        elif bracket[-1] == "|":
            self.pieces.append("\n")
            self._blocks.append((start + 1, 0))
        elif self._blocks and self._blocks[-1][1] == 0:
            self._cut(self._blocks.pop()[0])
            self._close_braces(bracket.count("}") - 1)
        else:
            self.pieces.append("\n")
            self._close_braces(bracket.count("}"))

    def _close_braces(self, braces: int) -> None:
        while braces >= 2 and self._blocks and self._blocks[-1][1]:
            start, opened = self._blocks.pop()
            closed = min(braces, opened)
            braces -= closed
            if opened - closed >= 2:
                self._blocks.append((start, opened - closed))
            else:
                held = self._cut(start)
                self.pieces.append(_shown_of_template(held) if closed == 2 and held else "")
        if braces == 1:
            # It may be the end of a language variant: -{ {{a}}}-
            self.pieces.append("}")

    def _cut(self, start: int) -> list[str]:
        """Take out the pieces of a template or table, with the links that began in it."""
        self._links = [link for link in self._links if link < start]
        held = self.pieces[start:]
        del self.pieces[start:]
        return held

    def _close_links(self, brackets: int) -> None:
        if brackets % 2:
            # As in [[File:A.jpg|[http://b.org C]]], the odd one is the inner.
            self.pieces.append("]")
        for _ in range(brackets // 2):
            if self._links and not (self._blocks and self._blocks[-1][0] > self._links[-1]):
                start = self._links.pop()
                content = "".join(self.pieces[start:])
                # No link goes beyond its paragraph: this is an end without its beginning, or the other way round.
                is_link = "\n\n" not in content
                self.pieces[start:] = [_shown_of_link(content, hidden=self._hidden) if is_link else content]


def _shown_of_link(content: str, *, hidden: Set[str]) -> str:
    """The text shown for [[content]]: "b" for "a|b", "Cats" for ":Category:Cats", nothing for "Category:Cats"."""
    target, bar, label = content.partition("|")
    prefix, colon, title = target.partition(":")
    if colon:
        name = folded_name(prefix)
        if name in hidden or INTERLANGUAGE.match(target.lstrip()):
            return ""
        if not name or name in PROJECTS:
            target = title.rpartition(":")[2]
    if bar and label.strip():
        target = label
    elif bar:
        # The pipe trick: [[Boston (band)|]], [[Boston, Lincolnshire|]] and [[Portal:Boston|]] show "Boston".
        target = _AFTER_TITLE.split(target.rpartition(":")[2])[0].strip()
    return target.removeprefix("#").replace("\n", " ")


def _shown_of_template(pieces: list[str]) -> str:
    name = folded_name(pieces[0].partition("|")[0])
    if name.startswith("formatnum:"):
        return name.partition(":")[2]
    forms = SHOWN_TEMPLATES.get(name)
    if forms is None or sum(map(len, pieces)) > LONGEST_SHOWN:
        return ""
    arguments = [_ARGUMENT_NUMBER.sub("", argument) for argument in "".join(pieces).split("|")[1:]]
    arguments = [argument.strip() for argument in arguments if "=" not in argument] + [""] * 3
    return next((text for form in forms if (text := form.format(*arguments).strip())), "")
