"""A check reads what is there to its end, and says of each file what is wrong with it, and where."""

import gzip
from pathlib import Path

import pytest

from isoglot.corpora.download.checking import file_digest, files_there, problem_of, record_digest
from tests.corpora.readers.compressed_texts import COMPRESSED

TEXT, WIKIPEDIA = "text/wiki.en.txt", "text/enwiki-latest-pages-articles.xml"
TREEBANK, NER = "eval/ud/xx_own-ud-test.conllu", "eval/ner/wikiann.fr.dev.bio"
NLI, TABLE = "eval/xnli/xnli.dev.fr.tsv", "eval/xnli/xnli.15way.orig.tsv"
TREE = "1\tYes\tyes\tINTJ\t_\t_\t0\troot\t_\t_\n\n"
DUMP = "<mediawiki>\n<page/>\n</mediawiki>\n"
GOOD = {
    TEXT: "A line.\n\nAnother.\n",
    WIKIPEDIA: DUMP,
    TREEBANK: TREE,
    NLI: "Un.\tDeux.\tneutral\nA\tB\tentailment\tmnli\n",
    TABLE: "en\tfr\nOne.\tUn.\n",
    "eval/xnli/xnli.test.tsv": "language\tgold_label\nfr\tneutral\n",
    NER: "Paris\tB-LOC\n\n",
    "eval/muse/en-fr.txt": "the le\nthe la\n",
    "eval/dict/en-fr.tsv": "abacus\tboulier\t3\tfreedict\n",
    "eval/tatoeba/tatoeba.spa-eng.spa": "Oui.\nNon.\n",
    "eval/tatoeba/tatoeba.spa-eng.eng": "Yes.\nNo.\n",
}
PACKING = {"": bytes, **{f".{suffix}": compress for suffix, compress in COMPRESSED.items()}}


def put(root: Path, name: str, content: bytes) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def problems(root: Path) -> dict[str, str]:
    paths = files_there(root, None)
    outcomes = {path.relative_to(root).as_posix(): problem_of(path, root=root) for path in paths}
    return {name: problem for name, problem in outcomes.items() if problem is not None}


@pytest.mark.parametrize("suffix", PACKING)
def test_all_in_order(root: Path, suffix: str) -> None:
    for name, text in GOOD.items():
        put(root, f"{name}{suffix}", PACKING[suffix](text.encode()))
    put(root, "text/README.md", b"\xff not looked at")
    for unfinished in (".part", ".part.json", ".lease"):
        put(root, f"eval/tatoeba/tatoeba.fra-eng.fra{unfinished}", b"not looked at")
    assert len(files_there(root, None)) == len(GOOD)
    assert problems(root) == {}


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        (TEXT, b"A line.\n\xff\n", ":2: byte 0xFF at place 1 of the line is not UTF-8"),
        (TEXT, "", ": the file is empty"),
        (WIKIPEDIA, DUMP[:-3], ": a dump of Wikipedia begins with"),
        (TEXT, "\n \n\t\n", ":1: all lines are blank"),
        (TREEBANK, TREE.replace("\t0\t", "\t2\t"), ":1: the head of word 1 'Yes' is 2 in a sentence of 1 words"),
        (TREEBANK, TREE.removesuffix("\n"), ":1: no blank line ends the last sentence"),
        (NLI, "a\tb\tneutral\na\tb\n", ":2: 2 columns where premise, hypothesis and label were expected"),
        (NLI, "a\tb\tmaybe\n", ":1: the label is 'maybe', none of entailment, neutral, contradiction"),
        (NER, "a\tO\nParis\tLOC\n", ":2: the tag is 'LOC', not O, or B- or I- with a type"),
        (TABLE, "en\tfr\nyes\n", ":2: 1 columns where 2 were expected"),
        (TABLE, "en\n", ":1: 1 columns where 2 were expected"),
        ("eval/muse/en-fr.txt", "the le\nthe\n", ":2: two words with one tab or one space"),
        ("eval/dict/en-fr.tsv", "abacus\tboulier\t-1\n", ":1: the weight must be a number above 0"),
        ("eval/tatoeba/tatoeba.spa-eng.spa", "Si.\nNo.\nSi.\n", ":3: no line of"),
    ],
)
def test_one_bad_file(root: Path, name: str, content: str | bytes, problem: str) -> None:
    for place, text in GOOD.items():
        put(root, place, text.encode())
    path = put(root, name, content.encode() if isinstance(content, str) else content)
    found = problems(root)
    assert list(found) == [name]
    assert found[name].startswith(f"{path}{problem}")
    assert "\n" not in found[name]


def test_what_the_format_does_not_show(root: Path) -> None:
    packed = gzip.compress(GOOD[WIKIPEDIA].encode() * 500)
    put(root, f"{WIKIPEDIA}.gz", packed[: len(packed) // 2])
    put(root, "eval/tatoeba/tatoeba.spa-eng.eng.gz", gzip.compress(b"Yes.\n"))
    put(root, "eval/ud/en_ewt-ud-dev.conllu.gz", gzip.compress(TREE.encode()))
    found = problems(root)
    assert "cut off" in found.pop(f"{WIKIPEDIA}.gz")
    assert "it is not the official file" in found.pop("eval/ud/en_ewt-ud-dev.conllu.gz")
    ((_, problem),) = found.items()
    assert problem.endswith("the other side of the pair is not there: fetch it again")


@pytest.mark.parametrize("suffix", PACKING)
def test_a_file_that_was_changed(root: Path, suffix: str) -> None:
    path = put(root, f"{TEXT}{suffix}", PACKING[suffix](b"A line.\n"))
    record_digest(root, TEXT, file_digest(path, decompressed=True))
    assert problems(root) == {}
    path.write_bytes(PACKING[suffix](b"A lime.\n"))
    assert "it is not what was fetched first" in problems(root)[f"{TEXT}{suffix}"]
