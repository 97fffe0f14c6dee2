"""The files a data set has of a language: the address or archive each comes from, and its place in the data folder."""

from functools import partial

from isoglot.data_sets.checksums import MEASURED
from isoglot.data_sets.data_set import Archive, DataFile, Link, Member
from isoglot.data_sets.rewriting import nli_pairs, wikiann_words

MB, GB = 10**6, 10**9

UD = "https://raw.githubusercontent.com/UniversalDependencies"
TREEBANKS = {
    "en": (("UD_English-EWT", "r2.3", "en_ewt", ("train", "dev", "test")),),
    "fr": (("UD_French-GSD", "r2.3", "fr_gsd", ("dev", "test")),),
    "de": (("UD_German-GSD", "r2.3", "de_gsd", ("dev", "test")),),
    "ru": (("UD_Russian-GSD", "r2.3", "ru_gsd", ("dev", "test")),),
    # The paper's is in traditional characters; the other is the same in simplified ones, and first came out with 2.5.
    "zh": (
        ("UD_Chinese-GSD", "r2.3", "zh_gsd", ("dev", "test")),
        ("UD_Chinese-GSDSimp", "r2.5", "zh_gsdsimp", ("dev", "test")),
    ),
}
PARALLEL_TREEBANKS = {"en": "English", "fr": "French", "de": "German", "ru": "Russian", "zh": "Chinese"}

XNLI_FILES = "https://dl.fbaipublicfiles.com/XNLI"
XNLI_LANGUAGES = ("ar", "bg", "de", "el", "en", "es", "fr", "hi", "ru", "sw", "th", "tr", "ur", "vi", "zh")
XNLI = Archive(link=Link(url=f"{XNLI_FILES}/XNLI-1.0.zip"), path="downloads/XNLI-1.0.zip", most_bytes=400 * MB)
XNLI_15WAY = Archive(
    link=Link(url=f"{XNLI_FILES}/XNLI-15way.zip"), path="downloads/XNLI-15way.zip", most_bytes=200 * MB
)
MULTINLI = Archive(
    link=Link(url="https://cims.nyu.edu/~sbowman/multinli/multinli_1.0.zip"),
    path="downloads/multinli_1.0.zip",
    most_bytes=3 * GB,
)
NLI_COLUMNS = ("sentence1", "sentence2", "gold_label")

WIKIANN = Archive(
    link=Link(url="https://www.dropbox.com/s/12h3qqog6q4bjve/panx_dataset.tar?dl=1"),
    path="downloads/panx_dataset.tar",
    most_bytes=GB,
)

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
    return tuple(
        _linked(f"eval/ud/{stem}-ud-{split}.conllu", url=f"{UD}/{repository}/{tag}/{stem}-ud-{split}.conllu")
        for repository, tag, stem, splits in TREEBANKS.get(language, ())
        for split in splits
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
