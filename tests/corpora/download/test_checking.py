"""A check reads what is there to its end, and says of each file what is wrong with it, and where."""

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from isoglot.corpora.download import checking
from isoglot.corpora.download.checking import checked, file_digest, files_there, record_digest
from isoglot.errors import IsoglotError

CONLLU = """# sent_id = 1
# text = Du pain est
1-2\tDu\t_\t_\t_\t_\t_\t_\t_\t_
1\tDe\tde\tADP\t_\t_\t3\tcase\t_\t_
2\tle\tle\tDET\t_\t_\t3\tdet\t_\t_
3\tpain\tpain\tNOUN\t_\t_\t0\troot\t_\t_
3.1\test\têtre\tAUX\t_\t_\t_\t_\t3:cop\t_

1\tOui\toui\tINTJ\t_\t_\t0\troot\t_\t_

"""


def complaint(check: Callable[[checking.Numbered], None], text: str) -> tuple[int, str] | None:
    lines = text.removesuffix("\n").split("\n")
    try:
        check(enumerate(lines, start=1))
    except checking.FormatError as error:
        return error.line, str(error)
    return None


@pytest.mark.parametrize(
    ("check", "text", "line", "problem"),
    [
        (checking.check_text, "\n \n\t\n", 1, "all lines are blank"),
        (checking.check_conllu, CONLLU.replace("\t3\tcase\t_", "\t3\tcase"), 4, "9 columns where CoNLL-U has 10"),
        (
            checking.check_conllu,
            CONLLU.replace("\t3\tcase", "\t4\tcase"),
            4,
            "the head of word 1 is 4 in a sentence",
        ),
        (
            checking.check_conllu,
            CONLLU.replace("\t3\tcase", "\t1\tcase"),
            4,
            "the head of word 1 is 1 in a sentence",
        ),
        (checking.check_conllu, CONLLU.replace("\t3\tdet", "\t-1\tdet"), 5, "the head '-1' is not a whole number"),
        (checking.check_conllu, CONLLU.replace("\t3\tdet", "\t_\tdet"), 5, "the head '_' is not a whole number"),
        (checking.check_conllu, CONLLU.replace("2\tle", "3\tle"), 5, "word 3 stands where word 2 should"),
        (checking.check_conllu, CONLLU.removesuffix("\n\n"), 9, "no blank line ends the last sentence"),
        (checking.check_nli, "a\tb\tneutral\na\tb\n", 2, "2 columns where 3 or 4 were expected"),
        (checking.check_nli, "a\tb\tmaybe\n", 1, "the label 'maybe' is none of entailment, neutral, contradiction"),
        (checking.check_bio, "Paris\n", 1, "1 columns where a token and a tag were expected"),
        (checking.check_bio, "a\tO\nParis\tLOC\n", 2, "the tag 'LOC' is not O, B-something or I-something"),
        (checking.check_table, "en\tfr\nyes\n", 2, "1 columns where 2 were expected"),
        (checking.check_table, "en\n", 1, "1 columns where 2 were expected"),
    ],
)
def test_bad(check: Callable[[checking.Numbered], None], text: str, line: int, problem: str) -> None:
    found = complaint(check, text)
    assert found is not None
    assert found[0] == line
    assert found[1].startswith(problem)


TREE = "1\tYes\tyes\tINTJ\t_\t_\t0\troot\t_\t_\n\n"
DUMP = "<mediawiki>\n<page/>\n</mediawiki>\n"
GOOD = {
    "text/wiki.en.txt": "A line.\n\nAnother.\n",
    "text/enwiki-latest-pages-articles.xml": DUMP,
    "eval/ud/xx_own-ud-test.conllu": TREE,
    "eval/xnli/xnli.dev.fr.tsv": "Un.\tDeux.\tneutral\n",
    "eval/xnli/xnli.15way.orig.tsv": "en\tfr\nOne.\tUn.\n",
    "eval/xnli/xnli.test.tsv": "language\tgold_label\nfr\tneutral\n",
    "eval/ner/wikiann.fr.dev.bio": "Paris\tB-LOC\n\n",
    "eval/muse/en-fr.txt": "the le\nthe la\n",
    "eval/dict/en-fr.tsv": "abacus\tboulier\t3\tfreedict\n",
    "eval/tatoeba/tatoeba.spa-eng.spa": "Oui.\nNon.\n",
    "eval/tatoeba/tatoeba.spa-eng.eng": "Yes.\nNo.\n",
}
PACKING: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
    ".zst": lambda content: zstandard.ZstdCompressor().compress(content),
}


def put(root: Path, name: str, content: bytes) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def problems(root: Path) -> dict[str, str]:
    outcomes = [checked(path, root=root) for path in files_there(root, None)]
    return {each.path.relative_to(root).as_posix(): each.problem for each in outcomes if each.problem is not None}


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
        ("text/wiki.en.txt", b"A line.\n\xff\n", ":2: byte 0xFF at place 1 of the line is not UTF-8"),
        ("text/wiki.en.txt", b"", ": the file is empty"),
        ("text/wiki.en.txt", b"\n\n", ":1: all lines are blank"),
        ("text/enwiki-latest-pages-articles.xml", DUMP[:-3].encode(), ": a dump of Wikipedia begins with"),
        ("text/enwiki-latest-pages-articles.xml", b"<html>", ": a dump of Wikipedia begins with"),
        ("eval/ud/xx_own-ud-test.conllu", TREE[:-2].encode(), ":1: no blank line ends the last sentence"),
        ("eval/xnli/xnli.dev.fr.tsv", b"Un.\tDeux.\n", ":1: 2 columns where 3 or 4 were expected"),
        ("eval/xnli/xnli.15way.orig.tsv", b"en\tfr\nOne.\n", ":2: 1 columns where 2 were expected"),
        ("eval/ner/wikiann.fr.dev.bio", b"Paris B-LOC\n", ":1: 1 columns where a token and a tag"),
        ("eval/muse/en-fr.txt", b"the le\nthe\n", ":2: two words with one tab or one space"),
        ("eval/dict/en-fr.tsv", b"abacus\tboulier\t-1\n", ":1: the weight must be a number above 0"),
        ("eval/tatoeba/tatoeba.spa-eng.spa", b"Si.\nNo.\nSi.\n", ":3: no line of"),
    ],
)
def test_one_bad_file(root: Path, name: str, content: bytes, problem: str) -> None:
    for place, text in GOOD.items():
        put(root, place, text.encode())
    path = put(root, name, content)
    found = problems(root)
    assert list(found) == [name]
    assert found[name].startswith(f"{path}{problem}")
    assert "\n" not in found[name]


@pytest.mark.parametrize("suffix", [suffix for suffix in PACKING if suffix])
def test_damaged_compression(root: Path, suffix: str) -> None:
    for name in ("text/wiki.en.txt", "text/enwiki-latest-pages-articles.xml"):
        packed = PACKING[suffix](GOOD[name].encode() * 500)
        put(root, f"{name}{suffix}", packed[: len(packed) // 2])
    found = problems(root)
    assert len(found) == 2
    assert all("cut off" in problem for problem in found.values())


def test_a_side_that_is_missing(root: Path) -> None:
    put(root, "eval/tatoeba/tatoeba.spa-eng.eng.gz", gzip.compress(b"Yes.\n"))
    (problem,) = problems(root).values()
    assert problem.endswith("the other side of the pair is not there: have it again")


@pytest.mark.parametrize("suffix", PACKING)
def test_a_change_that_the_format_does_not_show(root: Path, suffix: str) -> None:
    path = put(root, f"text/wiki.en.txt{suffix}", PACKING[suffix](b"A line.\n"))
    record_digest(root, "text/wiki.en.txt", file_digest(path, decompressed=True))
    assert problems(root) == {}
    put(root, path.relative_to(root).as_posix(), PACKING[suffix](b"A lime.\n"))
    assert "it is not what was fetched first" in problems(root)[f"text/wiki.en.txt{suffix}"]


def test_an_official_file_that_was_changed(root: Path) -> None:
    put(root, "eval/ud/en_ewt-ud-dev.conllu.gz", gzip.compress(TREE.encode()))
    assert "it is not the official file" in problems(root)["eval/ud/en_ewt-ud-dev.conllu.gz"]


def test_no_data_folder(root: Path) -> None:
    with pytest.raises(IsoglotError, match=r"there is no data folder .*: name it with --data or ISOGLOT_DATA"):
        files_there(root, None)
