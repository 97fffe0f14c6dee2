"""Files with odd bytes, lines and values are read, or refused by their name: never a traceback, and soon."""

import hashlib
import random
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pytest
from study_texts import TINY_STUDY

from isoglot.corpora.download.checking import recorded_digests
from isoglot.corpora.readers.dictionaries import read_dictionary
from isoglot.corpora.readers.line_files import LineFile
from isoglot.corpora.readers.parallel_sentences import read_parallel
from isoglot.corpora.wiki.dump import dump_lines
from isoglot.corpora.word_vectors import read_word_vectors
from isoglot.corpora.words import split_lines
from isoglot.evaluation.geometry.parallel_lines import read_parallel_lines
from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.exhibits import targets
from isoglot.report.planning import plan_costs
from isoglot.report.report_files import read_report_data
from isoglot.store import Store, plan
from isoglot.study.languages import Splitter, WordSplitting, default_splitting
from isoglot.study.study import Study
from isoglot.study.study_file import read_study
from tests.corpora.readers.compressed_texts import COMPRESSED
from tests.corpora.wiki.test_dump import DUMP
from tests.damages import Trials, change_digit, mutated
from tests.killed_processes import CHECKOUT

SEED = 20261119
PAIR, EN = ("en", "fr"), default_splitting("en")

TEXT = 'A "quoted" cat, 3.5 kg.\nDon\'t (ever) sit... on #5 & co.\n\nLe chat — «noir» — dort.\n猫坐在垫子上,很好。\n'
LONGER = "".join(f"{word * 3} sits on the mat {number}.\n" for number, word in enumerate("abcdefghijklmnopqrstu" * 3))
CONLLU = """# sent_id = 1
# text = Cats don't sleep
1\tCats\tcat\tNOUN\t_\t_\t4\tnsubj\t_\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\tdo\tAUX\t_\t_\t4\taux\t_\t_
3\tn't\tnot\tPART\t_\t_\t4\tadvmod\t_\t_
4\tsleep\tsleep\tVERB\t_\t_\t0\troot\t_\t_

# sent_id = 2
# text = Hi
1\tHi\thi\tINTJ\t_\t_\t0\troot\t_\t_
1.1\tyou\t_\t_\t_\t_\t_\t_\t_\t_

"""
ROWS = "premise\thypothesis\tlabel\nA cat sits.\tIt sits.\tentailment\nA cat.\tA dog.\tcontradictory\tmnli\n"
ROW = "{0}\t{1}\tA cat {2}.\tIt {2}.\t{2}\n"
XNLI = "language\tgold_label\tsentence1\tsentence2\tpairID\n" + "".join(
    ROW.format(language, "neutral", number) for number in range(3) for language in PAIR
)
CONLL = "-DOCSTART- -X- O O\n\nEU NNP I-NP B-ORG\nrejects VBZ I-VP O\nGerman JJ I-NP B-MISC\n\nPeter NNP I-NP B-PER\n"
WIKIANN = "en:Paris\tB-LOC\nen:Hilton\tI-LOC\n\nen:is\tO\nen:big\tO\n\n"
MSRA = "".join(f"{sign}\t{tag}\n" for sign, tag in zip("我在北京。", ["O", "O", "B-LOC", "I-LOC", "O"], strict=True))
DIGESTS = "".join(f"{hashlib.sha256(name.encode()).hexdigest()}  text/{name}.txt\n" for name in PAIR)
REPORT = {
    path.name: path.read_bytes() if path.suffix == ".json" else b"".join(path.read_bytes().splitlines(True)[:4])
    for name in ("measurements.jsonl", "provenance.json", "curves.jsonl", "state.json")
    for path in [CHECKOUT / "results/replication" / name]
}


def words_of(path: Path, splitter: Splitter) -> object:
    return split_lines(list(LineFile(path)), WordSplitting(splitter=splitter, language="en"))


def examples(task: str, path: Path) -> object:
    return task_named(task).read_official([path], splitting=EN if "zh" not in path.name else default_splitting("ja"))


def report_of(path: Path) -> object:
    for name, content in REPORT.items():
        if name != path.name:
            (path.parent / name).write_bytes(content)
    return read_report_data(path.parent)


READERS: Mapping[str, tuple[str | bytes, Callable[[Path], object]]] = {
    "moses.txt": (TEXT, partial(words_of, splitter=Splitter.MOSES)),
    "perl.txt": (TEXT, partial(words_of, splitter=Splitter.MOSES_PERL_QUOTES)),
    "characters.txt": (TEXT, partial(words_of, splitter=Splitter.CHARACTERS)),
    "jieba.txt": (TEXT, partial(words_of, splitter=Splitter.JIEBA)),
    **{f"text.txt.{end}": (TEXT, lambda path: list(LineFile(path))) for end in COMPRESSED},
    "wiki.xml": (DUMP, lambda path: list(dump_lines(path, workers=1))),
    "wiki.xml.bz2": (DUMP, lambda path: list(dump_lines(path, workers=1))),
    "conll.bio": (CONLL, partial(examples, "ner")),
    "wikiann.bio": (WIKIANN, partial(examples, "ner")),
    "msra.zh.bio": (MSRA, partial(examples, "ner")),
    "treebank.conllu": (CONLLU, partial(examples, "parsing")),
    "tags.conllu": (CONLLU, partial(examples, "pos")),
    "rows.tsv": (ROWS, partial(examples, "nli")),
    "xnli.tsv": (XNLI, partial(examples, "nli")),
    "pairs.tsv": ("A cat.\tUn chat.\nHi.\tSalut.\n", lambda path: read_parallel([path], languages=PAIR)),
    "15way.tsv": ("ar\ten\tfr\nx\tHi.\tSalut.\n", lambda path: read_parallel([path], languages=PAIR)),
    "xnli.both.tsv": (XNLI, lambda path: read_parallel([path], languages=PAIR)),
    "side.tsv": (ROWS, lambda path: read_parallel([path, path], languages=PAIR)),
    "side.conllu": (CONLLU, lambda path: read_parallel([path, path], languages=PAIR)),
    "side.txt": (LONGER, lambda path: read_parallel_lines(path, path)),
    "muse.txt": ("cat chat\ndog\tchien\n", lambda path: read_dictionary(path, languages=PAIR)),
    "weighted.tsv": ("cat\tchat\t3\ndog\tchien\t1e-3\tx\n", lambda path: read_dictionary(path, languages=PAIR)),
    "panlex.csv": (
        'txt_eng,txt_fra,trans_quality\ncat,"le ""chat""",7\ndog,chien,2.5\n',
        lambda path: read_dictionary(path, languages=PAIR),
    ),
    "fasttext.vec": (
        "3 2\nthe 0.1 -2e-3\ncat 1 2\nNew York 3 4 \n",
        lambda path: read_word_vectors(path, most_words=9),
    ),
    "glove.txt": ("the 0.1 -2e-3 4\ncat 1 2 3\n", lambda path: read_word_vectors(path, most_words=2)),
    "isoglot.sha256": (DIGESTS, lambda path: recorded_digests(path.parent)),
    **{name: (content, report_of) for name, content in REPORT.items()},
}


@pytest.mark.parametrize("count", [160, pytest.param(20_000, marks=pytest.mark.campaign)])
def test_no_input_of_a_reader_escapes(tmp_path: Path, count: int) -> None:
    draw, trials = random.Random(SEED), Trials()
    for number in range(count):
        name = [*READERS][number % len(READERS)]
        content, read = READERS[name]
        plain = content.encode() if isinstance(content, str) else content
        path = tmp_path / name
        if compress := COMPRESSED.get(path.suffix[1:]):
            # Damaged under the compression, or in it.
            path.write_bytes(compress(mutated(plain, draw)) if draw.random() < 0.5 else mutated(compress(plain), draw))
        else:
            path.write_bytes(mutated(plain, draw))
        trials.end(f"{number} {name}", partial(read, path), names=name)
        path.unlink()
    trials.report(seed=SEED)


# Values that are TOML, or nearly so, and no value of most keys.
ODD_VALUES = [
    *("true", "-1", "0", "1.5", "nan", "inf", "-1e308", "1e308", "9" * 18, "9" * 400, "9" * 5000, "0x" + "f" * 5000),
    *("[]", "{}", "[[[1]]]", "[" * 400 + "]" * 400, "[" * 3000, "{" + "a." * 2000 + "a = 1}", "{ a = [{ b = 1 }] }"),
    *('""', '"."', '"/"', '".."', r'"\u0000"', '"a b"', f'"{"a" * 5000}"', '["default", "default"]', '["en", 1]'),
    *("1979-05-27T07:32:00Z", "07:32:00", "1000", "20000", "[0, 1, 2, 3, 4]", '["en", "fr", "de"]', '"fr"'),
]
VALUE = re.compile(r"(?<== )(?:\[[^\]\n]*\]|\"[^\"\n]*\"|[^,}\n]+)")
REAL = """
name = "mine"
scale = "small"
languages = ["en", "fr", "zh"]
exhibits = ["table-1", "figure-4", "growth"]
tasks = ["ner", "parsing"]
seeds = [0, 1]
[only.table-1]
targets = ["fr"]
seeds = [1]
[text]
en = "en.txt.xz"
fr = ["fr.txt", "more.txt.gz"]
zh = "zhwiki-latest-pages-articles.xml.bz2"
other-domain = { fr = "other.txt" }
most_words = 5000
[words]
en = "whitespace"
fr = { command = ["cat", "-u"] }
lowercase = true
[resources]
ner.en.train = ["wiki.bio", "more.bio"]
ner.en-zh.dev = "dev.bio"
parsing.fr.test = "gsd.conllu"
dictionary.en-fr = "words.tsv"
retrieval.en-fr = ["en.txt", "fr.txt"]
vectors.zh = "zh.vec"
"""


def odd_study(draw: random.Random) -> bytes:
    """A study with an odd value, an unknown key, or mutated as any text is."""
    text = draw.choice([TINY_STUDY, REAL])
    match draw.randrange(5):
        case 0:
            return mutated(text.encode(), draw)
        case 1:
            return change_digit(change_digit(text.encode(), draw), draw)
        case 2:
            line = draw.choice([each for each in TINY_STUDY.splitlines() + REAL.splitlines() if " = " in each])
            place = draw.choice([found.start() for found in re.finditer("\n", text)])
            return f"{text[:place]}\n{line}{draw.choice(['', ' ', 'x'])}{text[place:]}".encode()
    for _ in range(draw.choice([1, 1, 3])):
        place = draw.choice([found.span() for found in VALUE.finditer(text)])
        text = text[: place[0]] + draw.choice(ODD_VALUES) + text[place[1] :]
    return text.encode()


def planned(study: Study, store: Store) -> object:
    found = plan(targets(study), store)
    costs, need = plan_costs.costs_here(found, store)
    return [*plan_costs.plan_parts(found, store), *plan_costs.costs_in_full(costs, need), study.shown_exhibits]


@pytest.mark.parametrize("count", [60, pytest.param(2000, marks=pytest.mark.campaign)])
def test_no_study_file_escapes(tmp_path: Path, count: int) -> None:
    draw, trials = random.Random(SEED + 1), Trials()
    for name in ("en.txt.xz", "fr.txt", "more.txt.gz", "wiki.bio"):
        (tmp_path / name).write_text(TEXT)
    path = tmp_path / "odd.toml"
    plans = Trials()
    for number in range(count):
        path.write_bytes(odd_study(draw))
        if trials.end(f"{number}", lambda: read_study(path), names="odd.toml"):
            plans.end(f"{number}", lambda: planned(read_study(path), Store(tmp_path / "store")), names="")
    trials.report(seed=SEED + 1)
    print("planned", end=" ")
    plans.report(seed=SEED + 1)
