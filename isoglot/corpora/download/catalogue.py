"""Every data set of the paper's study: its description, home page, licence and size."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from isoglot.corpora.download import official_files as files
from isoglot.corpora.download.official_files import GB, MB, DataFile
from isoglot.errors import IsoglotError, suggestion


@dataclass(frozen=True, kw_only=True)
class DataSet:
    """A line of `isoglot data list`."""

    name: str
    what: str
    home: str
    licence: str
    bytes: int
    """About how many are fetched for all of its languages."""
    files: Callable[[str], tuple[DataFile, ...]]
    """The files of a language; a file of two languages belongs to the one that is not English."""
    by_hand: str = ""
    """How to get files that cannot be fetched."""

    @property
    def languages(self) -> list[str]:
        """The languages of the paper that it has files of."""
        return [language for language in PAPER if self.files(language)]


PAPER = ("en", "fr", "de", "ru", "zh")
TOO_LARGE_TO_FETCH_UNASKED = 5 * GB
LANGUAGE_CODE = re.compile(r"[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*")

DATA_SETS = (
    DataSet(
        name="text",
        what="text you have, in place of the next two",
        home="docs/data.md",
        licence="its own",
        bytes=0,
        files=files.own_text,
        by_hand="put text of your own there, one paragraph or sentence a line, a blank line between documents",
    ),
    DataSet(
        name="wikipedia",
        what="newest dump of the articles (pretraining)",
        home="https://dumps.wikimedia.org",
        licence="CC BY-SA 4.0, GFDL",
        bytes=46 * GB,
        files=files.wikipedia,
    ),
    DataSet(
        name="cc100",
        what="web text from Common Crawl (the Wiki-CC row)",
        home="https://data.statmt.org/cc-100/",
        licence="Common Crawl terms of use",
        bytes=174 * GB,
        files=files.cc100,
    ),
    DataSet(
        name="ud",
        what="Universal Dependencies 2.3 (parsing)",
        home="https://universaldependencies.org",
        licence="CC BY-SA 4.0; GSD: CC BY-NC-SA",
        bytes=26 * MB,
        files=files.treebanks,
    ),
    DataSet(
        name="pud",
        what="1000 parallel sentences of UD 2.3 (alignment)",
        home="https://universaldependencies.org",
        licence="CC BY-SA 3.0",
        bytes=8 * MB,
        files=files.parallel_treebanks,
    ),
    DataSet(
        name="xnli",
        what="XNLI 1.0 dev and test (NLI)",
        home="https://github.com/facebookresearch/XNLI",
        licence="CC BY-NC 4.0",
        bytes=17 * MB,
        files=files.xnli,
    ),
    DataSet(
        name="xnli-15way",
        what="10k parallel sentences (alignment, CKA)",
        home="https://github.com/facebookresearch/XNLI",
        licence="CC BY-NC 4.0",
        bytes=12 * MB,
        files=files.xnli_15way,
    ),
    DataSet(
        name="multinli",
        what="MultiNLI 1.0, English training pairs (NLI)",
        home="https://cims.nyu.edu/~sbowman/multinli/",
        licence="OANC; fiction: CC BY 3.0, CC BY-SA 3.0",
        bytes=227 * MB,
        files=files.multinli,
    ),
    DataSet(
        name="wikiann",
        what="names in Wikipedia (NER)",
        home="https://github.com/afshinrahimi/mmner",
        licence="none stated",
        bytes=234 * MB,
        files=files.wikiann,
    ),
    DataSet(
        name="conll2003",
        what="names in English news (NER with Chinese)",
        home="https://www.clips.uantwerpen.be/conll2003/ner/",
        licence="Reuters corpus agreement",
        bytes=5 * MB,
        files=partial(files.tagged_by_hand, name="conll2003", of="en"),
        by_hand="NIST gives the Reuters text to those who sign its agreement; put token<TAB>tag lines, IOB2, there",
    ),
    DataSet(
        name="msra",
        what="names in Chinese news, SIGHAN 2006 (NER)",
        home="https://aclanthology.org/W06-0115/",
        licence="for research, by agreement",
        bytes=14 * MB,
        files=partial(files.tagged_by_hand, name="msra", of="zh"),
        by_hand="the bakeoff gave it to its participants; put character<TAB>tag lines, IOB2, there",
    ),
    DataSet(
        name="muse",
        what="bilingual dictionaries (alignment)",
        home="https://github.com/facebookresearch/MUSE",
        licence="CC BY-NC 4.0",
        bytes=12 * MB,
        files=files.muse,
    ),
    DataSet(
        name="panlex",
        what="weighted dictionaries (extra anchors)",
        home="https://panlex.org",
        licence="CC0 1.0",
        bytes=1300 * MB,
        files=files.panlex,
        by_hand="its download server is gone; put a dictionary there, english<TAB>translation<TAB>weight a line",
    ),
    DataSet(
        name="tatoeba",
        what="1000 sentence pairs of LASER v1 (retrieval)",
        home="https://github.com/facebookresearch/LASER",
        licence="Tatoeba terms of use (CC BY 2.0 FR)",
        bytes=350_000,
        files=files.tatoeba,
    ),
)


def named_data_set(name: str) -> DataSet:
    known = {data_set.name: data_set for data_set in DATA_SETS}
    if name not in known:
        hint = suggestion(name, known) or f"; there are {', '.join(known)}"
        raise IsoglotError(f"no data set is called {name!r}{hint}")
    return known[name]


def files_of(data_set: DataSet, languages: Sequence[str] | None = None) -> tuple[DataFile, ...]:
    """Its files of the given languages, or of all languages of the paper, each once."""
    for language in languages or ():
        if not LANGUAGE_CODE.fullmatch(language):
            raise IsoglotError(f"--languages: {language!r} is not the code of a language, such as fr or zh-yue")
        if not data_set.files(language):
            known = ", ".join(data_set.languages)
            raise IsoglotError(f"--languages: {data_set.name} has no files of {language!r} here; try {known}")
    chosen = data_set.languages if languages is None else languages
    return tuple(dict.fromkeys(file for language in chosen for file in data_set.files(language)))


def files_to_fetch(data_set: DataSet, languages: Sequence[str] | None) -> tuple[DataFile, ...]:
    """The same files, but a set that would fill a disk must be requested by language."""
    if languages is None and data_set.bytes > TOO_LARGE_TO_FETCH_UNASKED:
        raise IsoglotError(
            f"{data_set.name} is about {data_set.bytes / GB:.0f} GB for {', '.join(data_set.languages)}: "
            "say which languages you want, as in --languages fr"
        )
    return files_of(data_set, languages)
