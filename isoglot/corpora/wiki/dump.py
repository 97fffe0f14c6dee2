"""Articles of a Wikipedia dump, pages-articles in XML, as lines of text: streamed, and in several processes."""

import re
from collections.abc import Callable, Iterator, Set
from functools import partial
from itertools import chain
from pathlib import Path
from xml.etree import ElementTree

from isoglot.corpora.in_parallel import ordered_map
from isoglot.corpora.readers.decompression import plain_blocks
from isoglot.corpora.wiki.brackets import HIDDEN_NAMESPACES, NAMES, folded_name
from isoglot.corpora.wiki.markup import paragraphs
from isoglot.errors import IsoglotError

BATCH = 1 << 20
LONGEST_HEADER = 1 << 20
LONGEST_PAGE = 1 << 24
LONGEST_TEXT = 1 << 22
"""All in bytes but the text, in characters; MediaWiki itself takes no text of more than 2 MB. Markup takes a while."""

EXPECTED = "a dump of a Wikipedia, named pages-articles"
# The text of a page cannot hold these, as XML spells its "<" as "&lt;".
PAGE, PAGE_END, DUMP_END = b"<page>", b"</page>", b"</mediawiki>"
HIDDEN_KEYS = {"-2", "6", "14"}  # the namespaces of media, files and categories

_DISAMBIGUATION = re.compile(NAMES["disambiguation"], re.IGNORECASE | re.VERBOSE)


def dump_lines(path: Path, *, workers: int, progress: Callable[[int], None] = lambda _: None) -> Iterator[str]:
    """Paragraphs in the order of the dump, one a line, and a blank line between articles.

    Articles are the pages of the main namespace, less redirects and pages that a template marks as disambiguation.
    """
    # Departure: articles come without titles, lists and headings; the paper does not say what of Wikipedia it read.
    blocks = plain_blocks(path, progress=progress)
    header, rest = _header_and_rest(path, blocks)
    articles_of = partial(_articles, path=path, hidden=HIDDEN_NAMESPACES | _hidden_names(path, header))
    batches = _batches(path, blocks, rest, start=len(header))
    is_empty = True
    for article in chain.from_iterable(ordered_map(articles_of, batches, workers=workers)):
        if not is_empty:
            yield ""
        is_empty = False
        yield from article.split("\n")
    if is_empty:
        raise IsoglotError(f"{path}: there is no article with text in this dump; fetch one named pages-articles")


def _header_and_rest(path: Path, blocks: Iterator[bytes]) -> tuple[bytes, bytearray]:
    """The XML before the first page, or before the end where there is none, and the bytes read beyond it."""
    read = bytearray()
    end = -1
    for block in blocks:
        read += block
        end = read.find(PAGE if PAGE in read else DUMP_END)
        if end >= 0 or len(read) > LONGEST_HEADER:
            break
    root = re.search(rb"<([^\s<>?!/]+)", read)
    if root is None or root[1] != b"mediawiki":
        raise IsoglotError(f"{path}: not a MediaWiki export; it should be {EXPECTED}")
    if end < 0:
        raise IsoglotError(f"{path}: no <page> in the first {len(read):,} bytes of the XML; fetch the file again")
    return bytes(read[:end]), read[end:]


def _hidden_names(path: Path, header: bytes) -> frozenset[str]:
    # Entities that grow without end need a DTD, which no dump has.
    if b"<!DOCTYPE" in header:
        raise IsoglotError(f"{path}: a document type (DTD) before the first page, which no dump of a Wikipedia has")
    try:
        root = ElementTree.fromstring(header + DUMP_END)
    # The last two are of encodings that its first line may name.
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise IsoglotError(f"{path}: not the XML of a dump: {error}; fetch the file again") from error
    spaces = (element for element in root.iter() if element.get("key") in HIDDEN_KEYS)
    return frozenset(folded_name(space.text) for space in spaces if space.text)


def _batches(path: Path, blocks: Iterator[bytes], rest: bytearray, *, start: int) -> Iterator[tuple[int, bytes]]:
    """Whole pages as they stand in the dump, many at once, each time with the place of the first in the XML."""
    for block in blocks:
        rest += block
        if len(rest) >= BATCH and (end := _end_of_pages(rest)):
            yield start, bytes(rest[:end])
            del rest[:end]
            start += end
        if len(rest) > LONGEST_PAGE:
            problem = f"the page at byte {start:,} of the XML has more than {LONGEST_PAGE:,} bytes"
            raise IsoglotError(f"{path}: {problem}; it should be {EXPECTED}")
    end = _end_of_pages(rest)
    if rest[end:].strip() != DUMP_END:
        raise IsoglotError(f"{path}: the XML is cut off after {start + len(rest):,} bytes; fetch the file again")
    yield start, bytes(rest[:end])


def _end_of_pages(text: bytearray) -> int:
    end = text.rfind(PAGE_END)
    return end + len(PAGE_END) if end >= 0 else 0


def _articles(batch: tuple[int, bytes], *, path: Path, hidden: Set[str]) -> list[str]:
    """The paragraphs of each article that has any, with line ends between them."""
    start, pages = batch
    articles = []
    for page in pages.split(PAGE_END)[:-1]:
        place = f"{path}: byte {start:,} of the XML"
        articles.append("\n".join(_paragraphs_of_page(page.lstrip() + PAGE_END, place=place, hidden=hidden)))
        start += len(page) + len(PAGE_END)
    return list(filter(None, articles))


def _paragraphs_of_page(xml: bytes, *, place: str, hidden: Set[str]) -> list[str]:
    if not xml.startswith(PAGE):
        raise IsoglotError(f"{place}: <page> expected, not {xml[:40].decode(errors='replace')!r}; fetch the file again")
    try:
        page = ElementTree.fromstring(xml)
    except ElementTree.ParseError as error:
        title = re.search(rb"<title>(.*?)</title>", xml)
        name = title[1].decode(errors="replace") if title else ""
        raise IsoglotError(f"{place}: in the page {name!r}, {error}; fetch the file again") from error
    if page.findtext("ns", "0") != "0" or page.find("redirect") is not None:
        return []
    text = page.findtext("revision[last()]/text", "")
    if len(text) > LONGEST_TEXT:
        problem = f"the text of the page {page.findtext('title', '')!r} has {len(text):,} characters"
        raise IsoglotError(f"{place}: {problem}, more than any page of a Wikipedia; fetch the file again")
    return [] if is_disambiguation(text) else paragraphs(text, hidden=hidden)


def is_disambiguation(wikitext: str) -> bool:
    """Whether a page only lists what its title may mean, by the template that says so."""
    return _DISAMBIGUATION.search(wikitext) is not None
