"""Speed of reading a Wikipedia dump with one and two workers, plain and as bz2: one JSON line."""

import bz2
import json
import random
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.sax.saxutils import escape

from isoglot.corpora.wiki.dump import dump_lines

MEGABYTES = 24
HEADER = '<mediawiki version="0.11" xml:lang="en"><siteinfo></siteinfo>\n'
PAGE = "  <page><title>{title}</title><ns>0</ns><revision><text>{text}</text></revision></page>\n"


def made_up_article(draw: random.Random, words: list[str]) -> str:
    """Markup about as dense as that of a long English article: a good half of it is not text."""

    def some(least: int, most: int) -> str:
        return " ".join(draw.choices(words, k=draw.randint(least, most)))

    def cite() -> str:
        name, site, title = some(1, 1), some(1, 1), some(4, 9)
        return (
            f"<ref name={name}>{{{{cite web |url=https://{site}.org/{name} |title={title} |date=12 May 2019}}}}</ref>"
        )

    def sentence() -> str:
        links = [f"[[{some(1, 3)}|{some(1, 2)}]]", f"[[{some(1, 2)}]]s", f"''{some(1, 3)}''"]
        parts = [*links, some(3, 9), some(2, 6), some(1, 5)]
        draw.shuffle(parts)
        return " ".join(parts).capitalize() + "." + cite() * draw.randint(0, 1)

    infobox = (
        "{{Infobox thing\n"
        + "".join(f"| {some(1, 1)} = {{{{{some(1, 1)}|{some(1, 3)}}}}}\n" for _ in range(12))
        + "}}\n"
    )
    sections = []
    for _ in range(draw.randint(2, 8)):
        prose = "\n\n".join(" ".join(sentence() for _ in range(draw.randint(3, 6))) for _ in range(draw.randint(1, 4)))
        picture = f"[[File:{some(1, 2)}.jpg|thumb|{some(5, 9)} [[{some(1, 2)}]]]]\n" * draw.randint(0, 1)
        rows = "".join(
            f"|-\n| {some(1, 2)} || [[{some(1, 2)}]] || {draw.randint(1, 2000)}\n" for _ in range(draw.randint(2, 9))
        )
        table = f'{{| class="wikitable"\n{rows}|}}\n' * draw.randint(0, 1)
        items = "".join(f"* [[{some(1, 3)}]], {some(2, 6)}\n" for _ in range(draw.randint(0, 6)))
        sections.append(f"== {some(1, 3)} ==\n{picture}{prose}\n{table}{items}")
    return infobox + "\n".join(sections) + f"{{{{reflist}}}}\n[[Category:{some(1, 2)}]]"


def made_up_dump() -> list[bytes]:
    """The header, pages in hundreds, and the end: what Wikipedia makes streams of its own in a multistream dump."""
    draw = random.Random(0)
    words = ["".join(draw.choices("aeioubdgklmnprst", k=draw.randint(2, 10))) for _ in range(20_000)]
    parts, size = [HEADER], 0
    while size < MEGABYTES * 1e6:
        articles = (escape(made_up_article(draw, words)) for _ in range(100))
        parts.append("".join(PAGE.format(title=f"Page {i}", text=article) for i, article in enumerate(articles)))
        size += len(parts[-1])
    return [part.encode() for part in [*parts, "</mediawiki>\n"]]


def megabytes_per_second(path: Path, *, size: int, workers: int) -> float:
    start = time.perf_counter()
    for _ in dump_lines(path, workers=workers):
        pass
    return round(size / 1e6 / (time.perf_counter() - start), 1)


def main() -> None:
    parts = made_up_dump()
    size = sum(map(len, parts))
    with TemporaryDirectory() as folder:
        dumps = {Path(folder) / "dump.xml": bytes, Path(folder) / "dump.xml.bz2": bz2.compress}
        for path, written in dumps.items():
            path.write_bytes(b"".join(map(written, parts)))
        speeds = {
            path.name: {workers: megabytes_per_second(path, size=size, workers=workers) for workers in (1, 2)}
            for path in dumps
        }
    result = {"bench": "wikipedia", "xml_megabytes": round(size / 1e6), "xml_megabytes_per_second_by_workers": speeds}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
