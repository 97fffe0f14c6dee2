"""Wikitext without templates, tables and links, in one pass over its brackets, however nested or broken they are."""

import re
from collections.abc import Mapping, Set


def folded_name(name: str) -> str:
    """Names of namespaces and templates are the same in any case, and with spaces for underscores."""
    return name.strip().replace(" ", "_").casefold()


def names(text: str) -> frozenset[str]:
    """Folded names with white space between them."""
    return frozenset(map(folded_name, text.split()))


# A dump has the names in its own language; these are the English ones, valid everywhere, and older ones still in use.
FILE_NAMES = names("""
    File Image Media Fichier Datei Bild Файл Изображение 文件 檔案 档案 图像 圖像 图片 圖片 媒体文件
    Archivo Imagen Immagine Ficheiro Arquivo Imagem Bestand Afbeelding Plik Grafika Fil Billede Bilde Tiedosto Kuva
    Soubor Súbor Obrázok Fájl Kép Fișier Imagine Картинка Зображення Датотека Слика Datoteka Slika Fitxer Imatge
    Αρχείο Εικόνα Dosya Resim ملف صورة پرونده تصویر فائل קובץ תמונה ファイル 画像 파일 그림 Tập_tin Hình Berkas Gambar
    ไฟล์ ภาพ चित्र Picha Faili Fitxategi Irudi Dosiero Fasciculus Imago Fail Pilt Vaizdas Attēls
""")
CATEGORY_NAMES = names("""
    Category Catégorie Kategorie Категория 分类 分類 Categoría Categoria Categorie Kategoria Kategori Luokka Kategória
    Категорія Категорија Kategorija Κατηγορία تصنيف رده زمرہ קטגוריה カテゴリ 분류 Thể_loại หมวดหมู่ श्रेणी Jamii
    Kategorio Kategooria
""")
HIDDEN_NAMESPACES = FILE_NAMES | CATEGORY_NAMES
"""A link to one of these is a picture or a mark on the page, and no text."""

PROJECTS = names("""
    w wikipedia wikt wiktionary b wikibooks s wikisource q wikiquote n wikinews v wikiversity voy wikivoyage species
    wikispecies m meta c commons d wikidata
""")
"""Prefixes of links to other wikis, whose text is shown."""
INTERLANGUAGE = re.compile(r"(?:[a-z]{2,3}(?:-[a-z]{2,12}){0,2}|simple):(?! )")
"""The beginning of a link to the same article in another language, shown beside the page and not in it."""

SHOWN_TEMPLATES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(names("lang langue"), ("{1}",)),
    **dict.fromkeys(names("nowrap nobr nobreak abbr ill interlanguage_link lien num 僻字 le"), ("{0}",)),
    **dict.fromkeys(names("link-en link-de link-fr link-ja link-ru link-ko link-es link-it"), ("{0}",)),
    **dict.fromkeys(names("convert cvt unité nombre nb"), ("{0} {1}",)),
    **dict.fromkeys(names("date date-"), ("{0} {1} {2}",)),
    **dict.fromkeys(names("s s-"), ("{0}e siècle",)),
    **{ending: (ending,) for ending in ("e", "er", "re", "1er", "1re")},
    "etc.": (", etc.",),
    "tsl": ("{2}", "{1}"),
    **dict.fromkeys(names("нп нп2 нп3 нп4 нп5 iw не_переведено не_переведено_5"), ("{1}", "{0}")),
}
"""Templates that stand within sentences and what they show of their arguments, or failing that; others show nothing."""

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
