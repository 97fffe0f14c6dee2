"""The codes that files call languages by: "en", "eng", "en-GB" and PanLex's "eng-000" are one language."""

import re
from collections.abc import Sequence

from isoglot.errors import IsoglotError

# ISO 639-1, ISO 639-3, and the one language that PanLex and Tatoeba mean where the second is a code of several.
_CODES = """
    aa/aar ab/abk ae/ave af/afr ak/aka am/amh an/arg ar/ara/arb as/asm av/ava ay/aym az/aze/azj ba/bak be/bel bg/bul
    bi/bis bm/bam bn/ben bo/bod br/bre bs/bos ca/cat ce/che ch/cha co/cos cr/cre cs/ces cu/chu cv/chv cy/cym da/dan
    de/deu dv/div dz/dzo ee/ewe el/ell en/eng eo/epo es/spa et/est/ekk eu/eus fa/fas/pes ff/ful fi/fin fj/fij fo/fao
    fr/fra fy/fry ga/gle gd/gla gl/glg gn/grn gu/guj gv/glv ha/hau he/heb hi/hin ho/hmo hr/hrv ht/hat hu/hun hy/hye
    hz/her ia/ina id/ind ie/ile ig/ibo ii/iii ik/ipk io/ido is/isl it/ita iu/iku ja/jpn jv/jav ka/kat kg/kon ki/kik
    kj/kua kk/kaz kl/kal km/khm kn/kan ko/kor kr/kau ks/kas ku/kur/kmr kv/kom kw/cor ky/kir la/lat lb/ltz lg/lug
    li/lim ln/lin lo/lao lt/lit lu/lub lv/lav/lvs mg/mlg/plt mh/mah mi/mri mk/mkd ml/mal mn/mon/khk mr/mar
    ms/msa/zsm mt/mlt my/mya na/nau nb/nob nd/nde ne/nep/npi ng/ndo nl/nld nn/nno no/nor/nob nr/nbl nv/nav ny/nya
    oc/oci oj/oji om/orm or/ori/ory os/oss pa/pan pi/pli pl/pol ps/pus/pbu pt/por qu/que rm/roh rn/run ro/ron ru/rus
    rw/kin sa/san sc/srd sd/snd se/sme sg/sag sh/hbs si/sin sk/slk sl/slv sm/smo sn/sna so/som sq/sqi/als sr/srp
    ss/ssw st/sot su/sun sv/swe sw/swa/swh ta/tam te/tel tg/tgk th/tha ti/tir tk/tuk tl/tgl tn/tsn to/ton tr/tur
    ts/tso tt/tat tw/twi ty/tah ug/uig uk/ukr ur/urd uz/uzb/uzn ve/ven vi/vie vo/vol wa/wln wo/wol xh/xho yi/yid/ydd
    yo/yor za/zha zh/zho/cmn zu/zul
"""
_LANGUAGES = [set(codes.split("/")) for codes in _CODES.split()]
# A code may be that of two languages: nob is nb, and what no mostly is.
_GROUPS = {code: set().union(*(each for each in _LANGUAGES if code in each)) for one in _LANGUAGES for code in one}


def is_language_code(name: str) -> bool:
    """Whether a name is that of a language in ISO 639-1, or of the same one in ISO 639-3 or PanLex."""
    return _language_part(name) in _GROUPS


def language_columns(names: Sequence[str], *, language: str) -> list[int]:
    """Where a language stands in a row of names; one that is spelled exactly so is taken alone: of zh zh-TW, the first.

    Columns of merged tables, as txt_eng beside txt_fra, count as well.
    """
    exact = [place for place, name in enumerate(names) if name.strip() == language]
    wanted = _language_part(language)
    group = _GROUPS.get(wanted, {wanted})
    return exact or [place for place, name in enumerate(names) if _language_part(name) in group]


def language_column(names: Sequence[str], *, language: str) -> int:
    return single_column(language_columns(names, language=language), repr(language), names=names)


def single_column(places: Sequence[int], name: str, *, names: Sequence[str]) -> int:
    """The one place of several that a header's column may have, or an error that lists the header."""
    if len(places) != 1:
        has = ", ".join(names)
        raise IsoglotError(f"the header should name one column {name}, and names {len(places)} such; it has {has}")
    return places[0]


def _language_part(name: str) -> str:
    return re.split("[-_]", name.strip().lower().removeprefix("txt_"), maxsplit=1)[0]
