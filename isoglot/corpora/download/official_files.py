"""The official files of each data set by language: where each comes from, and its path under the data folder."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from isoglot.errors import IsoglotError

Rewrite = Callable[[Iterable[str]], Iterator[str]]
"""Lines of an official file in, lines as our readers take them out; none with its line end."""


@dataclass(frozen=True, kw_only=True)
class Link:
    """A file that an address serves as it is."""

    url: str
    suffix: str = ""
    """The compression the file comes in, and is kept in: `.xz`, or nothing."""
    changes: bool = False
    """Whether newer versions appear at the same address."""


@dataclass(frozen=True, kw_only=True)
class Archive:
    """A zip, tar or tar.gz with several files in it, kept under the data folder as it was fetched."""

    link: Link
    most_bytes: int
    """An archive that would expand to more is not the one meant."""

    @property
    def path(self) -> str:
        return f"downloads/{PurePosixPath(urlsplit(self.link.url).path).name}"


@dataclass(frozen=True, kw_only=True)
class Member:
    """A file in an archive."""

    archive: Archive
    names: tuple[str, ...]
    """The end of its path; several names for a file in an archive in an archive: `("en.tar.gz", "train")`."""
    rewrite: Rewrite | None = None


@dataclass(frozen=True, kw_only=True)
class DataFile:
    """One file, present if it lies at its path plain or compressed."""

    path: str
    """Under the data folder, without the suffix of a compression."""
    source: Link | Member | None = None
    """None: it can only be put there by hand."""
    sha256: str | None = None
    """The digest of the uncompressed bytes, where we measured it on the official file."""


# UD: release 2.3, GSDSimp 2.5. Tatoeba: LASER's v1.
MEASURED = {
    "eval/ud/de_gsd-ud-dev.conllu": "a565a4659de3527e408250e74721791236c2d712244caa3705c638455701670b",
    "eval/ud/de_gsd-ud-test.conllu": "35b5f28ab8e2c2da320c330815fe448c98fa571d85b55cb96fd1cf7d96b9036e",
    "eval/ud/de_pud-ud-test.conllu": "7d1ec9aa3f2e7682d4e4f53db6454b24a934d1912c55a230651f37aa0b4949c9",
    "eval/ud/en_ewt-ud-dev.conllu": "9e0340da5b4ede956b52c4ad2b6ce2a3192c1c7e14d5addbd2f0679a41864432",
    "eval/ud/en_ewt-ud-test.conllu": "849d1814228f7b124daf22c1a1bd7428fcf6d2f3337698f714fe2ea7f0b7e600",
    "eval/ud/en_ewt-ud-train.conllu": "0d3c2af34502b6a2f590a30b26353e3d08f5e3dc01a6edd9c78696f49e69f2b8",
    "eval/ud/en_pud-ud-test.conllu": "1c869b5f697a6f384a88a430669279a08815041eebdc7f6f79346c894c402e00",
    "eval/ud/fr_gsd-ud-dev.conllu": "de0a41762d9606e87089c2441d7dd2dd60e7cf9bbac5e13e2bc65fbd53176f5f",
    "eval/ud/fr_gsd-ud-test.conllu": "9d4d43caa42c84cf71af419e44d3213cb0bdd8085d84e36570716816556d00f8",
    "eval/ud/fr_pud-ud-test.conllu": "cfd6ccdfcc58b5f98c6fc450565cc1856b8320f0c80349b815a11b0e3c88babe",
    "eval/ud/ru_gsd-ud-dev.conllu": "36bb3c2eb665b8a54bf4952311c3b80c1ca2250535d9f44609b5cc35ec26aba3",
    "eval/ud/ru_gsd-ud-test.conllu": "6fc0d3a6c6988c2e14f791b40017e2a6c61fa2e1015d7f05e4bab5afde011a81",
    "eval/ud/ru_pud-ud-test.conllu": "20740deebc5abaf42fa531a6e785b95e7e0caec22f91d53b863511ad25ee3f0a",
    "eval/ud/zh_gsd-ud-dev.conllu": "bf07b2f4f58b051c178c4facb22f100d21a8bbcf56156f568c75c811304eb59c",
    "eval/ud/zh_gsd-ud-test.conllu": "cc1dfe9f881268d7e31c1a9fb3ae181038c588b5d2ebd1ceaf8cb42fcc0cbddb",
    "eval/ud/zh_gsdsimp-ud-dev.conllu": "d3011140f5eca1176155cbb3f0bae9b565daff234e87f3bad9bc4d430ff475d3",
    "eval/ud/zh_gsdsimp-ud-test.conllu": "72f7f45d0f084b85b2fe7b8161a4f83412cbbeb38179e01b8044ddae582813f0",
    "eval/ud/zh_pud-ud-test.conllu": "5d60995919ae918d9964fd071ae92bbec392cd3305531b7d4c55ef4fcbee7019",
    "eval/tatoeba/tatoeba.cmn-eng.cmn": "965d033966fcd186c89741ad49ab4b0a0b2bbd33e02666635ff3b2be23c1ac1f",
    "eval/tatoeba/tatoeba.cmn-eng.eng": "29ba36232488f5806aceccac57c59c5e750ddd08edb40eef417e3ada9ff9a239",
    "eval/tatoeba/tatoeba.deu-eng.deu": "edfa6f75a42554df388f45891735d5e4214158a99def4b73b5908af4a3054551",
    "eval/tatoeba/tatoeba.deu-eng.eng": "eb9cc83a42f2c4b22f310d05311207e41abb56c2a084666cac3ee0f84d2d0b84",
    "eval/tatoeba/tatoeba.fra-eng.eng": "5634220f8a26a9a23b84753a9aec0b0832e6bdaa9da3f83e0bd84c928c3f46e3",
    "eval/tatoeba/tatoeba.fra-eng.fra": "644172ff9642fefa9e41c29b7d6f44196518e84350dc44d4992e943c0cca92b6",
    "eval/tatoeba/tatoeba.rus-eng.eng": "7b26f52d6085b7c4944d6f5f6f5b6e1932085b42112f1444db515ce59e878fb8",
    "eval/tatoeba/tatoeba.rus-eng.rus": "446ff2cae66053c2277d9735b2c2df6b786cae258385f7ade7bed68d8835c6a0",
}

NO_LABEL = "-"
"""The label of MultiNLI and XNLI where their annotators did not agree."""


def nli_pairs(
    lines: Iterable[str], *, columns: tuple[str, ...], language: str | None = None, source: str = ""
) -> Iterator[str]:
    """Premise, hypothesis and label of an official NLI table, and the source if given; only rows of one language."""
    rows = (line.split("\t") for line in lines)
    header = next(rows, [])
    wanted = [*columns, *(["language"] if language else [])]
    if missing := [name for name in wanted if name not in header]:
        raise IsoglotError(f"line 1: the header has no column {missing[0]!r}: this is not the table it should be")
    places = [header.index(name) for name in wanted]
    for number, row in enumerate(rows, start=2):
        if len(row) <= max(places):
            raise IsoglotError(f"line {number}: {len(row)} columns where the header has {len(header)}")
        fields = [row[place] for place in places]
        if (language is None or fields.pop() == language) and fields[-1] != NO_LABEL:
            yield "\t".join([*fields, source] if source else fields)


def wikiann_words(lines: Iterable[str], *, language: str) -> Iterator[str]:
    """`en:Paris<TAB>B-LOC` becomes `Paris<TAB>B-LOC`."""
    prefix = f"{language}:"
    for number, line in enumerate(lines, start=1):
        if line and not line.startswith(prefix):
            raise IsoglotError(f"line {number}: {line!r} should begin with {prefix!r}")
        yield line.removeprefix(prefix)


MB, GB = 10**6, 10**9

UD = "https://raw.githubusercontent.com/UniversalDependencies"
TREEBANKS = {
    "en": {"UD_English-EWT": "r2.3"},
    "fr": {"UD_French-GSD": "r2.3"},
    "de": {"UD_German-GSD": "r2.3"},
    "ru": {"UD_Russian-GSD": "r2.3"},
    # The paper's is in traditional characters; the other is the same in simplified ones, and first came out with 2.5.
    "zh": {"UD_Chinese-GSD": "r2.3", "UD_Chinese-GSDSimp": "r2.5"},
}
PARALLEL_TREEBANKS = {"en": "English", "fr": "French", "de": "German", "ru": "Russian", "zh": "Chinese"}

XNLI_FILES = "https://dl.fbaipublicfiles.com/XNLI"
XNLI_LANGUAGES = ("ar", "bg", "de", "el", "en", "es", "fr", "hi", "ru", "sw", "th", "tr", "ur", "vi", "zh")
XNLI = Archive(link=Link(url=f"{XNLI_FILES}/XNLI-1.0.zip"), most_bytes=400 * MB)
XNLI_15WAY = Archive(link=Link(url=f"{XNLI_FILES}/XNLI-15way.zip"), most_bytes=200 * MB)
MULTINLI = Archive(link=Link(url="https://cims.nyu.edu/~sbowman/multinli/multinli_1.0.zip"), most_bytes=3 * GB)
WIKIANN = Archive(link=Link(url="https://www.dropbox.com/s/12h3qqog6q4bjve/panx_dataset.tar?dl=1"), most_bytes=GB)
NLI_COLUMNS = ("sentence1", "sentence2", "gold_label")

MUSE = "https://dl.fbaipublicfiles.com/arrival/dictionaries"
LASER = (
    "https://raw.githubusercontent.com/facebookresearch/LASER/74bc6ae7ffb7cba670fe0f428d0ede9f666fb821/data/tatoeba/v1"
)
TATOEBA_CODES = {"fr": "fra", "de": "deu", "ru": "rus", "zh": "cmn", "es": "spa", "it": "ita", "pt": "por"} | {
    **{"nl": "nld", "bg": "bul", "el": "ell", "tr": "tur", "ar": "ara", "hi": "hin", "ja": "jpn", "ko": "kor"},
    **{"vi": "vie", "th": "tha", "sw": "swh", "ur": "urd", "fi": "fin", "et": "est", "hu": "hun", "eu": "eus"},
}


def wikipedia(language: str) -> tuple[DataFile, ...]:
    wiki = f"{language.replace('-', '_')}wiki"
    name = f"{wiki}-latest-pages-articles.xml"
    url = f"https://dumps.wikimedia.org/{wiki}/latest/{name}.bz2"
    return (DataFile(path=f"text/{name}", source=Link(url=url, suffix=".bz2", changes=True)),)


def cc100(language: str) -> tuple[DataFile, ...]:
    code = "zh-Hans" if language == "zh" else language
    link = Link(url=f"https://data.statmt.org/cc-100/{code}.txt.xz", suffix=".xz")
    return (DataFile(path=f"text/cc100.{language}.txt", source=link),)


def own_text(language: str) -> tuple[DataFile, ...]:
    return tuple(DataFile(path=f"text/{domain}.{language}.txt") for domain in ("wiki", "other"))


def _linked(path: str, *, url: str) -> DataFile:
    return DataFile(path=path, source=Link(url=url), sha256=MEASURED.get(path))


def treebanks(language: str) -> tuple[DataFile, ...]:
    splits = ("train", "dev", "test") if language == "en" else ("dev", "test")
    return tuple(
        _linked(f"eval/ud/{name}", url=f"{UD}/{repository}/{release}/{name}")
        for repository, release in TREEBANKS.get(language, {}).items()
        for split in splits
        for name in [f"{language}_{repository.partition('-')[2].lower()}-ud-{split}.conllu"]
    )


def parallel_treebanks(language: str) -> tuple[DataFile, ...]:
    name = f"{language}_pud-ud-test.conllu"
    known = PARALLEL_TREEBANKS.get(language)
    return (_linked(f"eval/ud/{name}", url=f"{UD}/UD_{known}-PUD/r2.3/{name}"),) if known else ()


def xnli(language: str) -> tuple[DataFile, ...]:
    rewrite = partial(nli_pairs, columns=NLI_COLUMNS, language=language)
    return tuple(
        DataFile(
            path=f"eval/xnli/xnli.{split}.{language}.tsv",
            source=Member(archive=XNLI, names=(f"xnli.{split}.tsv",), rewrite=rewrite),
        )
        for split in ("dev", "test")
        if language in XNLI_LANGUAGES
    )


def xnli_15way(language: str) -> tuple[DataFile, ...]:
    name = "xnli.15way.orig.tsv"
    file = DataFile(path=f"eval/xnli/{name}", source=Member(archive=XNLI_15WAY, names=(name,)))
    return (file,) if language in XNLI_LANGUAGES else ()


def multinli(language: str) -> tuple[DataFile, ...]:
    rewrite = partial(nli_pairs, columns=NLI_COLUMNS, source="mnli_train")
    member = Member(archive=MULTINLI, names=("multinli_1.0_train.txt",), rewrite=rewrite)
    return (DataFile(path="eval/xnli/nli.train.en.tsv", source=member),) if language == "en" else ()


def wikiann(language: str) -> tuple[DataFile, ...]:
    rewrite = partial(wikiann_words, language=language)
    return tuple(
        DataFile(
            path=f"eval/ner/wikiann.{language}.{split}.bio",
            source=Member(archive=WIKIANN, names=(f"{language}.tar.gz", split), rewrite=rewrite),
        )
        for split in ("train", "dev", "test")
    )


def tagged_by_hand(language: str, *, name: str, of: str) -> tuple[DataFile, ...]:
    splits = ("train", "dev", "test") if language == of else ()
    return tuple(DataFile(path=f"eval/ner/{name}.{language}.{split}.bio") for split in splits)


def muse(language: str) -> tuple[DataFile, ...]:
    directions = (f"en-{language}", f"{language}-en") if language != "en" else ()
    names = [f"{pair}{part}.txt" for pair in directions for part in ("", ".0-5000", ".5000-6500")]
    return tuple(_linked(f"eval/muse/{name}", url=f"{MUSE}/{name}") for name in names)


def panlex(language: str) -> tuple[DataFile, ...]:
    return (DataFile(path=f"eval/dict/en-{language}.tsv"),) if language != "en" else ()


def tatoeba(language: str) -> tuple[DataFile, ...]:
    code = TATOEBA_CODES.get(language)
    names = [f"tatoeba.{code}-eng.{side}" for side in (code, "eng") if code]
    return tuple(_linked(f"eval/tatoeba/{name}", url=f"{LASER}/{name}") for name in names)
