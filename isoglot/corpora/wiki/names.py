"""Names in wikitext whose meaning a reader must know, in the languages of several Wikipedias."""

import re
from collections.abc import Mapping


def folded_name(name: str) -> str:
    """Names of namespaces and templates are the same in any case, and with spaces for underscores."""
    return name.strip().replace(" ", "_").casefold()


def names(text: str) -> frozenset[str]:
    """Folded names with white space between them."""
    return frozenset(map(folded_name, text.split()))


# A dump tells the name of its own language; these are the English ones, valid everywhere, and older ones still in use.
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

_DISAMBIGUATION = re.compile(
    r"""__DISAMBIG__|\{\{\s*(?:
        disambig(?:uation(?:[ _]page)?)? | disamb | dab | (?:hn|geo|number)dis
        | [^|{}\n]{1,40}[ _]disambiguation
        | homonymie(?:[ _]de[ _][^|{}\n]{1,40})? | paronymie | begriffsklärung
        | неоднозначность | многозначность | (?:список[ _])?однофамиль(?:цы|цев)
        | 消歧[义義]?[页頁]? | desambigua(?:ción|ção|ció) | disambigua | doorverwijspagina | ujednoznacznienie
        | förgrening | aimai | 曖昧さ回避 | неоднозначність
    )\s*(?:\||\}\})""",
    re.IGNORECASE | re.VERBOSE,
)


def is_disambiguation(wikitext: str) -> bool:
    """Whether a page only lists what its title may mean, by the template that says so."""
    return _DISAMBIGUATION.search(wikitext) is not None


SHOWN_TEMPLATES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("lang", "langue"), ("{1}",)),
    **dict.fromkeys(
        ("nowrap", "nobr", "nobreak", "abbr", "ill", "interlanguage_link", "lien", "num", "僻字"), ("{0}",)
    ),
    **dict.fromkeys(("convert", "cvt", "unité", "nombre", "nb"), ("{0} {1}",)),
    **dict.fromkeys(("date", "date-"), ("{0} {1} {2}",)),
    **dict.fromkeys(("s", "s-"), ("{0}e siècle",)),
    **{ending: (ending,) for ending in ("e", "er", "re", "1er", "1re")},
    "etc.": (", etc.",),
    **dict.fromkeys(("le", *(f"link-{code}" for code in ("en", "de", "fr", "ja", "ru", "ko", "es", "it"))), ("{0}",)),
    "tsl": ("{2}", "{1}"),
    **dict.fromkeys(("нп", "нп2", "нп3", "нп4", "нп5", "iw", "не_переведено", "не_переведено_5"), ("{1}", "{0}")),
}
"""Templates that stand within sentences and what they show of their arguments, or failing that; others show nothing."""
