import gzip
import re
import tracemalloc
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.corpora.readers import decompression
from isoglot.corpora.wiki import dump as dumps
from isoglot.corpora.wiki.dump import dump_lines
from isoglot.errors import IsoglotError
from tests.corpora.readers.compressed_texts import COMPRESSED, WRITTEN

HEADER = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="eo">
  <siteinfo><namespaces>
    <namespace key="0" case="first-letter" />
    <namespace key="6" case="first-letter">Bildo</namespace>
    <namespace key="10" case="first-letter">Ŝablono</namespace>
    <namespace key="14" case="first-letter">Kategorio</namespace>
  </namespaces></siteinfo>
"""
END = "</mediawiki>\n"


def page(title: str, text: str, *, namespace: int = 0, redirect: bool = False) -> str:
    return f"""  <page>
    <title>{escape(title)}</title>
    <ns>{namespace}</ns>{'<redirect title="Elsewhere" />' if redirect else ""}
    <revision>
      <id>8</id>
      <text bytes="{len(text)}" xml:space="preserve">{escape(text)}</text>
    </revision>
  </page>
"""


def dump_of(*pages: str) -> bytes:
    return (HEADER + "".join(pages) + END).encode()


PAGES = [
    page("First", "'''First''' & [[last|best]].\n\nSecond &nbsp;line &lt;b&gt;.<ref>x</ref>\n[[Bildo:A.jpg|A [[b]]]]"),
    page("Template:Box", "Never seen.", namespace=10),
    page("Old name", "#REDIRECT [[First]]\nNever seen.", redirect=True),
    page("Mercury", "'''Mercury''' may be never seen:\n* [[a]]\n{{disambiguation}}"),
    page("Nothing", "{{only|templates}}"),
    page("Deleted", ""),
    page("猫", "猫是[[动物]]。\n[[Kategorio:猫]]"),
]
LINES = ["First & best.", "Second line <b>.", "", "猫是动物。"]
BAD = page("Bad & co", "x").replace(">x<", "><b><")
BAD_AT = len((HEADER + PAGES[0]).encode()) - 1
# Entities cannot be made to grow.
DTD = '<!DOCTYPE mediawiki [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>\n'


DUMP = dump_of(*PAGES)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a test may write its dump."""
    return tmp_path_factory.mktemp("dumps") / "dump.xml"


def lines_of(path: Path, content: bytes, *, workers: int = 1) -> list[str]:
    path.write_bytes(content)
    return list(dump_lines(path, workers=workers))


def complaint(path: Path, content: bytes) -> str:
    with pytest.raises(IsoglotError) as error:
        lines_of(path, content)
    message = str(error.value)
    assert re.fullmatch(rf"{path}: .*", message)
    return message


@given(st.sampled_from(sorted(WRITTEN)), st.integers(1, 400), st.integers(1, 3000))
def test_articles_are_read_however_the_dump_is_packed_and_cut(path: Path, kind: str, chunk: int, batch: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decompression, "CHUNK", chunk)
        patch.setattr(dumps, "BATCH", batch)
        assert lines_of(path, WRITTEN[kind](DUMP)) == LINES


@pytest.mark.parametrize("workers", [1, 2])
def test_many_workers_give_the_lines_of_one(workers: int, path: Path) -> None:
    texts = [[f"Page {i} has line {j}." + " Word." * 99 for j in range(3)] for i in range(1200)]
    pages = [page(f"Page {i}", "\n\n".join(text).replace("line", "[[link|line]]")) for i, text in enumerate(texts)]
    dump = dump_of(*pages)
    assert len(dump) > 2 * dumps.BATCH
    assert lines_of(path, dump, workers=workers) == [line for text in texts for line in ["", *text]][1:]


def test_a_long_dump_is_never_in_memory_as_a_whole(path: Path) -> None:
    other = page("Template:Long", "text " * 8000, namespace=10)
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write((HEADER + page("A", "First.")).encode())
        for _ in range(45):
            file.write((other * 25).encode())
        file.write((page("B", "Last.") + END).encode())
    tracemalloc.start()
    assert list(dump_lines(path, workers=1)) == ["First.", "", "Last."]
    assert tracemalloc.get_traced_memory()[1] < 10_000_000 < 45 * 25 * len(other) / 4
    tracemalloc.stop()


@given(st.data())
def test_a_dump_that_is_cut_off_is_refused(path: Path, data: st.DataObject) -> None:
    way = data.draw(st.sampled_from(list(WRITTEN.values())))
    content = way(DUMP)
    cut = data.draw(st.integers(0, len(content) - (1 if way in COMPRESSED.values() else len(END))))
    complaint(path, content[:cut])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"One line.\nAnother.", "not a MediaWiki export"),
        (b"<!DOCTYPE html><html><body>Not found</body></html>", "not a MediaWiki export"),
        (HEADER.encode(), "no <page> in the first"),
        (HEADER.replace("</namespaces>", "").encode() + END.encode(), "mismatched tag"),
        (dump_of(), "no article with text"),
        (dump_of(*PAGES[1:6]), "no article with text"),
        (DUMP.rstrip()[:-9], "cut off after"),
        (DUMP + DUMP, "<page> expected, not '</mediawiki>"),
        (dump_of(PAGES[0], BAD), f"byte {BAD_AT:,} of the XML: in the page 'Bad &amp; co', mismatched tag"),
        (DTD.encode() + DUMP, "document type (DTD)"),
        (dump_of(page("A", "x").replace("<title>", DTD + "<title>")), "in the page 'A', "),
        (dump_of(page("Bad", "x").replace(">x<", ">&nbsp;<")), "in the page 'Bad', undefined entity"),
    ],
)
def test_what_is_wrong_is_told(content: bytes, message: str, path: Path) -> None:
    assert message in complaint(path, content)


def test_a_page_without_end_is_not_read_to_its_end(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dumps, "LONGEST_PAGE", 393_216)
    assert "has more than 393,216 bytes" in complaint(path, dump_of(page("A", "a" * 600_000)))
