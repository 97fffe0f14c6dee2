"""A study file from the data that is there: found by names, parsed, planned, and clear about what is missing."""

import re
from pathlib import Path

import pytest
from commands import answered
from real_data import DATA

from isoglot.corpora.download.catalogue import DATA_SETS
from isoglot.study.real_text import RealText, TextFiles
from isoglot.study.study import Study
from isoglot.study.study_file import KEYS, read_study

# A folder such as people have: parts compressed, one treebank that no catalogue knows, no labels of a test set.
FILES = """
text/wiki.en.txt.xz text/large.en.txt.xz text/other.en.txt
text/large.es.txt text/other.es.txt.gz
eval/tatoeba/tatoeba.spa-eng.spa.gz eval/tatoeba/tatoeba.spa-eng.eng.gz
eval/ner/wikiann.en.train.bio.gz eval/ner/wikiann.en.dev.bio.gz eval/ner/wikiann.en.test.bio.gz
eval/ner/wikiann.es.dev-b.bio.gz eval/ner/wikiann.est.test.bio eval/ner/conll2002.es.test.bio
eval/ud/en_ewt-ud-train.conllu eval/ud/en_ewt-ud-dev.conllu eval/ud/en_ewt-ud-test.conllu
eval/ud/en_pud-ud-test.conllu eval/ud/es_pud-ud-test.conllu eval/ud/es_ancora-ud-test.conllu.gz
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for name in FILES.split():
        path = tmp_path / "mine" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("a\n", encoding="utf-8")
    return tmp_path / "mine"


def written(path: Path, data: Path) -> tuple[Study, RealText]:
    study = read_study(path, data=data)
    assert isinstance(study.text, RealText)
    return study, study.text


def resources(text: RealText, key: str) -> list[str]:
    return [text.as_written(path).as_posix() for path in text.resources[key]]


def test_files_are_found_by_the_languages_in_their_names(data: Path, tmp_path: Path) -> None:
    answer = answered("init", "en", "es", "--data", "mine", "--scale", "laptop", folder=tmp_path)
    assert (answer.returncode, answer.stderr) == (0, "")
    study, text = written(tmp_path / "en-es.toml", data)
    assert (study.name, study.languages, study.scale.name) == ("en-es", ("en", "es"), "laptop")
    sources = {language: source.paths for language, source in text.main.items() if isinstance(source, TextFiles)}
    assert sources == {"en": (data / "text/wiki.en.txt.xz",), "es": (data / "text/large.es.txt",)}
    assert text.source("es", next(iter(study.conditions)).target_domain) == text.main["es"]
    assert resources(text, "retrieval.en-es") == [
        "eval/tatoeba/tatoeba.spa-eng.eng.gz",
        "eval/tatoeba/tatoeba.spa-eng.spa.gz",
    ]
    assert resources(text, "parsing.es.test") == ["eval/ud/es_ancora-ud-test.conllu.gz"], "PUD is kept for alignment"
    assert resources(text, "mapping.en-es") == ["eval/ud/en_pud-ud-test.conllu", "eval/ud/es_pud-ud-test.conllu"]
    assert resources(text, "ner.es.test") == ["eval/ner/wikiann.es.dev-b.bio.gz"], "same corpus, and not Estonian"
    assert "scores on it are not scores on wikiann.es.test.bio" in (tmp_path / "en-es.toml").read_text()
    assert study.tasks == ("ner", "parsing")


def test_all_that_is_missing_is_named_with_how_to_get_it(data: Path, tmp_path: Path) -> None:
    (data / "text/large.es.txt").unlink()
    (data / "text/other.es.txt.gz").unlink()
    answer = answered("init", "en", "es", "--data", "mine", folder=tmp_path)
    named = dict(re.findall(r"^  not there: (.+?) \(.*?\): (.*)$", answer.stdout, flags=re.MULTILINE))
    _, text = written(tmp_path / "en-es.toml", data)
    files = {key: [text.as_written(path).as_posix() for path in paths] for key, paths in text.resources.items()}
    absent = {", ".join(names) for names in files.values() if not all((data / name).exists() for name in names)}
    assert {path for path in named if path.startswith("eval/")} == absent
    assert "isoglot data get wikipedia --languages es --data mine" in named["text/eswiki-latest-pages-articles.xml"]
    assert named["eval/muse/en-es.0-5000.txt"] == "isoglot data get muse --languages es --data mine"
    by_hand = {each.name: each.by_hand for each in DATA_SETS}["panlex"]
    assert named["eval/dict/en-es.tsv"] == f"by hand, {by_hand}"
    for how in named.values():
        assert how in (tmp_path / "en-es.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("scale", ["laptop", "small", "paper"])
def test_every_key_is_explained_and_the_plan_works(scale: str, data: Path, tmp_path: Path) -> None:
    answered("init", "en", "es", "--data", "mine", "--scale", scale, "--to", "my.toml", folder=tmp_path)
    before = ""
    keys = set()
    for line in (tmp_path / "my.toml").read_text(encoding="utf-8").splitlines():
        if table := re.match(r"(?:# )?\[([\w.-]+)\]", line):
            keys.add(table[1].split(".")[0])
        elif key := re.match(r"([\w.-]+) = ", line):
            keys.add(key[1])
            assert "#" in line or before.startswith("#"), f"{line!r} is not explained"
        before = line
    assert {*KEYS} - {"like", "only", "synthetic"} <= keys
    planned = answered("plan", "my.toml", "--data", str(data), folder=tmp_path)
    assert planned.returncode == 0, planned.stderr
    assert re.search(r"^en-es: 0 artifacts done, \d+ to make", planned.stdout, flags=re.MULTILINE)


def test_rows_of_table_1_that_lack_data_are_left_out(data: Path, tmp_path: Path) -> None:
    for scale in ("laptop", "small"):
        answered("init", "en", "es", "--data", "mine", "--scale", scale, "--to", f"{scale}.toml", folder=tmp_path)
    small = {each.name for each in read_study(tmp_path / "small.toml", data=data).conditions}
    assert "wiki-cc" in small
    assert "extra-anchors" not in small, "there is no dictionary"
    assert len(small) == 9
    assert {each.name for each in read_study(tmp_path / "laptop.toml", data=data).conditions} < small


def test_without_a_gpu_the_study_is_of_a_laptops_size(data: Path, tmp_path: Path) -> None:
    answered("init", "en", "es", "--data", "mine", folder=tmp_path, ISOGLOT_DEVICE="cpu")
    study, text = written(tmp_path / "en-es.toml", data)
    assert study.scale.name == "laptop"
    assert text.most_words == 1_500_000
    limits = "too small to\n# show whether structure emerges without them"
    assert limits in (tmp_path / "en-es.toml").read_text(encoding="utf-8")


def test_nothing_is_written_over_and_mistakes_write_nothing(data: Path, tmp_path: Path) -> None:
    answered("init", "en", "es", "--data", "mine", folder=tmp_path)
    (tmp_path / "en-es.toml").write_text("mine", encoding="utf-8")
    for words, message in (
        (["en", "es"], "en-es.toml is there already; delete it, or write another with --to FILE"),
        (["en"], "LANGUAGE: needs at least 2, and has 1"),
        (["en", "en"], "'en' stands there twice"),
        (["en", "Español"], "should be lower-case letters"),
        (["en", "es", "--scale", "tiny"], "--scale: 'tiny' is not one of"),
        (["en", "es", "--data", "none"], "--data none: there is no such folder"),
        (["en", "es", "--to", "no/x.toml"], "--to no/x.toml: cannot be written"),
    ):
        answer = answered("init", *words, folder=tmp_path)
        assert (answer.returncode, answer.stdout) == (1, "")
        assert message in answer.stderr
    assert (tmp_path / "en-es.toml").read_text(encoding="utf-8") == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["en-es.toml", data.name]


def test_where_there_is_no_data_all_of_it_is_named(tmp_path: Path) -> None:
    answer = answered("init", "en", "de", folder=tmp_path)
    assert answer.returncode == 0
    assert "with 0 of 20 kinds of data from data." in answer.stdout
    assert "isoglot data get ud --languages de" in answer.stdout
    study = read_study(tmp_path / "en-de.toml", data=tmp_path / "data")
    assert study.exhibits == ("vocabulary", "emergence")


@pytest.mark.real_data
@pytest.mark.skipif(not (DATA / "eval").is_dir(), reason=f"no files of real languages in {DATA}: set ISOGLOT_DATA")
@pytest.mark.parametrize("target", ["de", "fr", "ru", "zh"])
def test_the_files_of_real_languages_are_found(target: str, tmp_path: Path) -> None:
    answer = answered("init", "en", target, "--data", str(DATA), folder=tmp_path)
    assert "with 20 of 20 kinds of data" in answer.stdout
    _, text = written(tmp_path / f"en-{target}.toml", DATA)
    named = [path for paths in text.resources.values() for path in paths]
    assert [path for path in named if not path.is_file()] == []
