"""Wikitext as paragraphs of plain text, each one line, as WikiExtractor and hence XLM cut them."""

import html
import re
from collections.abc import Set

from isoglot.corpora.wiki.brackets import HIDDEN_NAMESPACES, NAMES, folded_name, names, without_brackets

_INLINE, _BLOCKS, _DROPPED = (names(NAMES[f"{kind}_tags"]) for kind in ("inline", "block", "dropped"))
_REPLACEMENTS = {
    **dict.fromkeys(_INLINE, ""),
    **dict.fromkeys(_BLOCKS, "\n"),
    **dict.fromkeys((f"/{name}" for name in _INLINE | _DROPPED), ""),
    **dict.fromkeys((f"/{name}" for name in (*_BLOCKS, "li", "dt", "dd")), "\n"),
    **dict.fromkeys(("br", "/br"), " "),
    # What HTML has of tables, headings and lists becomes that of wikitext, and is treated like it.
    **{"table": "\n{|\n", "/table": "\n|}\n"},
    **{f"h{level}": "\n==" for level in range(1, 7)},
    **{f"/h{level}": "==\n" for level in range(1, 7)},
    **dict.fromkeys(("li", "dt", "dd"), "\n*"),
}
_ENDS = {name: re.compile(rf"</{name}\s*>", re.IGNORECASE) for name in (*_DROPPED, "nowiki")}
_ENDS["!--"] = re.compile("-->")

# Without its ">", a tag is none, but for a reference, whose text is none either.
_TAG = re.compile(r"<(!--|/?[a-zA-Z][a-zA-Z0-9]*)(?:([^<>]*)>)?")
_REFERENCE = re.compile(r"<ref(?:\s[^<>]*)?(?<!/)>", re.IGNORECASE)
TYPE_MARK = "\x01"
"""Stands where the type changes or might, and is no text; no XML holds this character."""
_AS_ENTITIES = str.maketrans({mark: f"&#{ord(mark)};" for mark in "[]{}|'<>&*#:;=-_"})


def without_tags(text: str) -> str:
    """Text of which comments are gone as well, and which spells in entities the marks that nowiki protects."""
    next_end: dict[str, re.Match[str] | None] = {}

    def end_of(name: str, place: int) -> tuple[int, int]:
        """Where the end tag begins and ends; of an element without one, what is left of the line."""
        # Each end is searched once, so that a page of tags that nobody closed takes no longer than another.
        end = next_end.get(name)
        if name not in next_end or (end and end.start() < place):
            end = next_end[name] = _ENDS[name].search(text, place)
        return end.span() if end else (_line_end(text, place),) * 2

    pieces = []
    place = 0
    while tag := _TAG.search(text, place):
        pieces.append(text[place : tag.start()])
        if pieces[-1].endswith("'"):
            # The quotes of ''<ref>a</ref>'' are two pairs, and no four quotes.
            pieces.append(TYPE_MARK)
        place = tag.end()
        name, attributes = tag[1].lower(), tag[2]
        if name == "!--":
            place = end_of(name, tag.start() + 4)[1]
        elif attributes is None:
            pieces.append("" if name == "ref" else tag[0])
        elif name not in _ENDS or attributes.rstrip().endswith("/"):
            pieces.append(_REPLACEMENTS.get(name, "" if name in _ENDS else tag[0]))
        elif name == "nowiki":
            start, place = end_of(name, place)
            pieces.append(html.unescape(text[tag.end() : start]).translate(_AS_ENTITIES))
        elif name == "ref" and _REFERENCE.search(text, place, end_of(name, place)[0]):
            # The end is that of another one, and the text between is none of this.
            place = _line_end(text, place)
        else:
            place = end_of(name, place)[1]
    return "".join([*pieces, text[place:]])


def _line_end(text: str, place: int) -> int:
    end = text.find("\n", place)
    return len(text) if end < 0 else end


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
        text, replaced = _VARIANTS.subn(lambda variants: _shown_of_variants(variants[1]), text)
        if not replaced:
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
    # A mark for each change of type, so that ''{{a}}'' does not come to be bold, nor '''*NSYNC''' a list. Four quotes
    # are an apostrophe and bold type; of more than five, five are both and the rest is taken as it comes.
    for quotes, meaning in (("'''''", TYPE_MARK), ("''''", "'" + TYPE_MARK), ("'''", TYPE_MARK), ("''", TYPE_MARK)):
        text = text.replace(quotes, meaning)
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
    with_letters = (line for line in lines if any(map(str.isalpha, line)))
    # A picture whose brackets nobody closed: "File:Cat.jpg|thumb|A cat".
    return [line for line in with_letters if "|" not in line or folded_name(line.partition(":")[0]) not in hidden]


def _tidy(line: str) -> str:
    """A line without what the templates and references taken out of it leave: "(, )", "a , b", "( 1900)"."""
    if not _UNTIDY.search(line):
        return line
    line = _DOUBLED.sub(r"\1", _EMPTY_BRACKETS.sub("", line))
    line = _BEFORE_CLOSING.sub(r"\1", _AFTER_OPENING.sub(r"\1", line))
    return _SPACE_BEFORE.sub(r"\1", line).strip()
