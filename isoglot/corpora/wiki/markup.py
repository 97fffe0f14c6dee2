"""Wikitext as paragraphs of plain text, each one line, as WikiExtractor and hence XLM cut them."""

import html
import re
from collections.abc import Set

from isoglot.corpora.wiki.brackets import without_brackets
from isoglot.corpora.wiki.names import HIDDEN_NAMESPACES, folded_name
from isoglot.corpora.wiki.tags import TYPE_MARK, without_tags
from isoglot.corpora.wiki.variants import one_variant

# Headings, rules, items of lists and what is left of broken tables: WikiExtractor keeps none of them.
_NO_PROSE = re.compile(r"\n(?:[*#:;|][^\n]*|=[^\n]*=[ \t]*(?=\n|\Z)|-{4,})")
_MAGIC_WORD = re.compile(r"__[^\W\d_]++(?:_[^\W\d_]++)*__")
_EXTERNAL_LINK = re.compile(
    r"\[(?:(?:https?|ftps?|ircs?|git|svn|ssh):)?(?://|(?:mailto|news|tel):)[^\s\[\]]*+[ \t]*+([^\[\]\n]*+)\]"
)
# Han characters end an address, as no space does where they are written.
_ADDRESS_PART = r"[^\s<>\[\]{}|\"()\u3000-\u9fff\uff00-\uffef]"
_ADDRESS = re.compile(rf"(?:https?|ftp)://(?:{_ADDRESS_PART}|\({_ADDRESS_PART}*\))*(?<![.,;:!?])")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")

# The last of each are those of Chinese.
_OPENING, _CLOSING = r"(\uff08", r")\uff09"
_COMMAS = r",;\uff0c\uff1b\u3001"
_SEPARATORS = rf" :\uff1a{_COMMAS}"
_UNTIDY = re.compile(rf"[{_SEPARATORS}{_OPENING}\[][{_COMMAS}{_CLOSING}\].]|[{_OPENING}] ")
# Not those of "main()".
_EMPTY_BRACKETS = re.compile(rf"(?: |(?<![a-zA-Z0-9_]))[{_OPENING}\[][/\u2013\u2014{_SEPARATORS}]*+[{_CLOSING}\]]")
_AFTER_OPENING = re.compile(rf"([{_OPENING}])[{_SEPARATORS}]++")
_BEFORE_CLOSING = re.compile(rf"(?<![{_SEPARATORS}])[{_SEPARATORS}]++([{_CLOSING}])")
_DOUBLED = re.compile(rf"(?<![{_SEPARATORS}]) ?[:\uff1a{_COMMAS}](?: ?([{_COMMAS}]|\.(?![\w.])))++")
_SPACE_BEFORE = re.compile(r" ([,.])(?= |$)")


def paragraphs(wikitext: str, *, hidden: Set[str] = HIDDEN_NAMESPACES) -> list[str]:
    """The prose of an article; links to hidden namespaces show nothing."""
    text = without_tags("\n" + wikitext)
    if "''" in text:
        text = _with_marks_for_quotes(text)
    text = without_brackets(text, hidden=hidden)
    if "-{" in text:
        text = one_variant(text)
    text = _NO_PROSE.sub("\n", text).replace(TYPE_MARK, "")
    if "__" in text:
        text = _MAGIC_WORD.sub(lambda word: "" if word[0].upper() == word[0] else word[0], text)
    if "//" in text or "[" in text:
        text = _ADDRESS.sub("", _EXTERNAL_LINK.sub(r"\1", text))
    if "&" in text:
        text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
    lines = (_tidy(" ".join(line.split())) for line in text.split("\n"))
    return [line for line in lines if any(map(str.isalpha, line)) and not _is_broken_link(line, hidden=hidden)]


def _with_marks_for_quotes(text: str) -> str:
    """Text with a mark for each change of type, so that ''{{a}}'' does not come to be bold, nor '''*NSYNC''' a list."""
    # Four quotes are an apostrophe and bold type; of more than five, five are both and the rest is taken as it comes.
    for quotes, meaning in (("'''''", TYPE_MARK), ("''''", "'" + TYPE_MARK), ("'''", TYPE_MARK), ("''", TYPE_MARK)):
        text = text.replace(quotes, meaning)
    return text


def _is_broken_link(line: str, *, hidden: Set[str]) -> bool:
    """Whether this is a picture whose brackets nobody closed: "File:Cat.jpg|thumb|A cat"."""
    return "|" in line and folded_name(line.partition(":")[0]) in hidden


def _tidy(line: str) -> str:
    """A line without what the templates and references taken out of it leave: "(, )", "a , b", "( 1900)"."""
    if not _UNTIDY.search(line):
        return line
    line = _DOUBLED.sub(r"\1", _EMPTY_BRACKETS.sub("", line))
    line = _BEFORE_CLOSING.sub(r"\1", _AFTER_OPENING.sub(r"\1", line))
    return _SPACE_BEFORE.sub(r"\1", line).strip()
