"""A picture on the page: drawn for a wide window and for a narrow one, with links to its files and its numbers."""

import re

from isoglot.report.figures.picture import NARROW, WIDE, Picture
from isoglot.report.page.markup import Html, folded, listed, tag

FOLDER = "figures"
BESIDE = "beside"
"""Pictures that a wide window has beside each other, each as narrow as on a phone."""
NARROW_PICTURE = re.compile(r'<div class="narrow">.*?</div>', re.DOTALL)
STYLE = re.compile(r"<style>[^<]*</style>\n?")
DESCRIPTION = re.compile(r"<title>[^<]*</title>\n<desc>[^<]*</desc>\n")
COLOUR = re.compile(r'(<g class="[^"]*") color="[^"]*"')
WORDS = re.compile(r"<title>[^<]*</title>")


def figure(picture: Picture, *, numbers: Html | None = None, notes: tuple[str, ...] = ()) -> Html:
    """Under the picture: what is to be said of it, its numbers as a table, and its files for papers."""
    return tag(
        "figure",
        tag("div", _inline(picture, WIDE), class_="wide"),
        tag("div", _inline(picture, NARROW), class_="narrow"),
        tag(
            "figcaption",
            listed(notes, class_="notes"),
            tag("p", "For papers: ", _file(picture, "svg"), " ", _file(picture, "png"), class_="files"),
        ),
        folded("The numbers as a table", numbers, class_="on-paper") if numbers is not None else Html(),
        id=f"picture-{picture.file_stem}",
    )


def without_narrow(page: str) -> str:
    """The same page for half the bytes; on a phone its pictures are wider than the window."""
    stacked = NARROW_PICTURE.sub("", page).replace(f'<div class="{BESIDE}">', "<div>")
    return stacked.replace('<div class="wide">', '<div class="wide alone">')


def _inline(picture: Picture, width: float) -> Html:
    """Without what the page has once for all: colours, and the words of each mark, which the script copies.

    What is read aloud stands in a label as well.
    """
    drawn = COLOUR.sub(r"\1", DESCRIPTION.sub("", STYLE.sub("", picture.draw(width))))
    if width < WIDE:
        drawn = WORDS.sub("<title/>", drawn)
    return Html(drawn.replace("<svg ", '<svg class="chart" tabindex="0" '))


def _file(picture: Picture, ending: str) -> Html:
    return tag("a", ending.upper(), href=f"{FOLDER}/{picture.file_stem}.{ending}")
