"""Wikitext without its tags: references, formulas, galleries and code go with what they hold, others leave it."""

import html
import re

from isoglot.corpora.wiki.names import names

_INLINE = names("""
    abbr b bdi bdo big cite data del dfn em font i ins kbd label mark nobr noinclude nowiki onlyinclude poem q rb ruby s
    samp section small span strike strong sub sup time translate tt tvar u var wbr
""")
_BLOCKS = names("blockquote caption center div dl figure hr ol p tbody td th thead tr ul")
_DROPPED = names("""
    categorytree ce charinsert chem code gallery graph hiero imagemap includeonly indicator inputbox mapframe maplink
    math pre ref references rp rt score script source style syntaxhighlight templatedata templatestyles timeline
""")
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
    if "<" not in text:
        return text
    pieces = []
    ends = _Ends(text)
    place = 0
    while tag := _TAG.search(text, place):
        pieces.append(text[place : tag.start()])
        if pieces[-1].endswith("'"):
            # The quotes of ''<ref>a</ref>'' are two pairs, and no four quotes.
            pieces.append(TYPE_MARK)
        place = tag.end()
        name, attributes = tag[1].lower(), tag[2]
        if name == "!--":
            place = ends.after(name, tag.start() + 4)[1]
        elif attributes is None:
            pieces.append("" if name == "ref" else tag[0])
        elif name not in _ENDS or attributes.rstrip().endswith("/"):
            pieces.append(_REPLACEMENTS.get(name, "" if name in _ENDS else tag[0]))
        elif name == "nowiki":
            start, place = ends.after(name, place)
            pieces.append(html.unescape(text[tag.end() : start]).translate(_AS_ENTITIES))
        elif name == "ref" and _REFERENCE.search(text, place, ends.after(name, place)[0]):
            # The end is that of another one, and the text between is none of this.
            place = _line_end(text, place)
        else:
            place = ends.after(name, place)[1]
    pieces.append(text[place:])
    return "".join(pieces)


class _Ends:
    """Where elements end, found once each, so that a page of tags that nobody closed takes no longer than another."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._next: dict[str, re.Match[str] | None] = {}

    def after(self, name: str, place: int) -> tuple[int, int]:
        """Where the end tag begins and ends; of an element without one, what is left of the line."""
        end = self._next.get(name)
        if name not in self._next or (end and end.start() < place):
            end = self._next[name] = _ENDS[name].search(self._text, place)
        if end is None:
            line_end = _line_end(self._text, place)
            return line_end, line_end
        return end.span()


def _line_end(text: str, place: int) -> int:
    end = text.find("\n", place)
    return len(text) if end < 0 else end
