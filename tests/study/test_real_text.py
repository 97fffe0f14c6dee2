"""Studies of real languages: what a file may say of text, words and resources, and what it may not."""

from collections import Counter
from pathlib import Path

import pytest
from real_data import DATA

from isoglot.errors import IsoglotError, MissingDataError
from isoglot.pipeline.exhibits import cells, gap_sentences
from isoglot.pipeline.stages.models import PretrainedEncoder
from isoglot.store import inputs_first
from isoglot.study.conditions import Domain
from isoglot.study.languages import Splitter, WordSplitting
from isoglot.study.real_text import HubDataset, RealText, TextFiles
from isoglot.study.study_file import parse_study, read_study

REAL = """
name = "mine"
scale = "small"
languages = ["en", "fr", "zh"]
[text]
en = "text/en.txt.xz"
fr = ["a.txt", "/abs/b.txt.gz"]
zh = "zhwiki-latest-pages-articles.xml.bz2"
"""
FILES = """
ner.en.train = ["wiki-a", "wiki-b"]
ner.en.dev = "wiki-dev"
ner.fr.test = "/abs/fr-test"
ner.en-zh.train = "conll"
parsing.en.train = "ewt"
parsing.fr.test = "gsd"
pos.en.train = "tags"
dictionary.en-fr = "words.tsv"
"""
FR, ZH = ("en", "fr"), ("en", "zh")
STUDIES = sorted((Path(__file__).parents[2] / "studies").glob("*.toml"))
REPLICATION = Path(__file__).parents[2] / "studies/replication.toml"
CONTROLS = [path for path in STUDIES if path.stem.startswith("control-")]


def real_text(more: str = "") -> RealText:
    text = parse_study(REAL + more, origin="mine.toml", data=Path("/data")).text
    assert isinstance(text, RealText)
    return text


def resources(lines: str) -> RealText:
    return real_text(f"[resources]\n{lines}\n")


def test_paths_start_from_the_data_folder() -> None:
    text = real_text()
    assert text.main["en"] == TextFiles(paths=(Path("/data/text/en.txt.xz"),))
    assert text.main["fr"] == TextFiles(paths=(Path("/data/a.txt"), Path("/abs/b.txt.gz")))
    wikipedia = {code: source.is_wikipedia for code, source in text.main.items() if isinstance(source, TextFiles)}
    assert wikipedia == {"en": False, "fr": False, "zh": True}


@pytest.mark.parametrize(
    ("data", "path", "written"),
    [
        ("/data", "/data/text/en.txt", "text/en.txt"),
        ("/data", "/data/../x.txt", "../x.txt"),
        ("/data", "/abs/b.txt", "/abs/b.txt"),
        ("/data", "/data-2/b.txt", "/data-2/b.txt"),
        (".", "text/en.txt", "text/en.txt"),
        (".", "/abs/b.txt", "/abs/b.txt"),
        ("../data", "../data/en.txt", "en.txt"),
    ],
)
def test_a_path_is_shown_as_the_study_writes_it(data: str, path: str, written: str) -> None:
    text = parse_study(REAL, origin="mine.toml", data=Path(data)).text
    assert isinstance(text, RealText)
    assert text.as_written(Path(path)) == Path(written)


def test_paths_start_from_the_studys_own_folder_unless_another_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(REAL)
    for data, start in ((None, tmp_path), (Path("/d"), Path("/d"))):
        text = read_study(tmp_path / "mine.toml", data=data).text
        assert isinstance(text, RealText)
        assert text.main["en"] == TextFiles(paths=(start / "text/en.txt.xz",))


def test_a_data_set_of_the_hub() -> None:
    hub = REAL.replace(
        '"text/en.txt.xz"', '{ dataset = "user/set", config = "20231101.en", revision = "' + "ab" * 20 + '" }'
    )
    text = parse_study(hub, origin="mine.toml").text
    assert isinstance(text, RealText)
    assert text.main["en"] == HubDataset(dataset="user/set", config="20231101.en", revision="ab" * 20)


def test_words_are_split_as_languages_are_unless_the_study_says_otherwise() -> None:
    assert {code: each.splitter for code, each in real_text().splittings.items()} == {
        "en": Splitter.MOSES,
        "fr": Splitter.MOSES,
        "zh": Splitter.JIEBA,
    }
    words = '[words]\nlowercase = true\nfr = "whitespace"\nzh = { command = ["seg", "pku"] }\n'
    assert real_text(words).splittings == {
        "en": WordSplitting(splitter=Splitter.MOSES, language="en", lowercase=True),
        "fr": WordSplitting(splitter=Splitter.WHITESPACE, language="fr", lowercase=True),
        "zh": WordSplitting(splitter=Splitter.COMMAND, language="zh", lowercase=True, command=("seg", "pku")),
    }


def test_resources_are_found_by_kind_and_by_language_or_pair() -> None:
    text = resources(
        'paraphrase.en = ["a", "a", "b", "c"]\nvectors.fr = "v"\nmapping.en-fr = ["a", "b", "c", "d"]\n'
        'dictionary.en-fr = "d.tsv"\nretrieval.en-zh = ["a", "b"]'
    )
    assert text.resource("paraphrase", "en") == tuple(Path("/data") / name for name in "aabc")
    assert text.resource("vectors", "fr") == (Path("/data/v"),)
    assert len(text.resource("mapping", "en", "fr")) == 4
    assert text.resource("dictionary", "en", "fr") == (Path("/data/d.tsv"),)
    assert text.resource("retrieval", "en", "zh") == (Path("/data/a"), Path("/data/b"))
    with pytest.raises(MissingDataError, match=r"resources\.vectors\.en is missing: add a file of word vectors"):
        text.resource("vectors", "en")
    with pytest.raises(MissingDataError, match=r"resources\.dictionary\.en-zh is missing: add a file of word tr"):
        text.resource("dictionary", "en", "zh")


def test_a_second_domain_may_be_missing() -> None:
    text = real_text('[text.other-domain]\nfr = "o.txt"\n')
    assert text.source("fr", Domain.OTHER) == TextFiles(paths=(Path("/data/o.txt"),))
    assert text.source("zh", Domain.MAIN) == text.main["zh"]
    with pytest.raises(MissingDataError, match=r"text\.other-domain\.zh is missing"):
        text.source("zh", Domain.OTHER)


EN = '"text/en.txt.xz"'


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("zh =", "hz =", r"text.hz: unknown key; the keys here are 'en', 'fr', 'zh', 'other-domain'"),
        ('\nzh = "zh', '\n# "zh', r"text.zh: 'zh' has no text; name its file here"),
        (EN, "3", r"text.en: should be a string in quotes"),
        (EN, "[]", r"text.en: names no file"),
        (EN, '["x", "y", "x"]', r"text.en: 'x' stands there twice; name it once"),
        (EN, '""', r"text.en: names no file"),
        (EN, '{ file = "x" }', r"text.en: should name a file, .* or a data set"),
        (EN, '{ dataset = "x" }', r"text.en.revision: should be the commit"),
        (EN, '{ dataset = "x", revision = "main" }', r"text.en.revision: should be"),
        ('"a.txt"', '"a.xml"', r"text.fr: names Wikipedia dumps \(.xml\) and other files"),
    ],
)
def test_mistakes_in_text_are_named(old: str, new: str, message: str) -> None:
    with pytest.raises(IsoglotError, match=f"^mine.toml: {message}"):
        parse_study(REAL.replace(old, new), origin="mine.toml")


WRONG_TABLES = {
    "most_words = 0": r"text.most_words: should be at least 1, not 0",
    'most_words = "all"': r"text.most_words: should be a whole number",
    "other-domain = 3": r"text.other-domain: should be a table",
    'other-domain = { de = "x" }': r"text.other-domain.de: unknown key",
    'other-domain = { en = "x" }': r"text.other-domain.en: unknown key; the keys here are 'fr', 'zh'",
    "[words]\nde = 3": r"words.de: unknown key",
    '[words]\nzh = "jeiba"': r"words.zh: 'jeiba' is not one of .*did you mean 'jieba'\?",
    "[words]\nzh = { command = [] }": r"words.zh.command: names no command",
    '[words]\nzh = { cmd = ["x"] }': r"words.zh.cmd: unknown key; .*did you mean 'command'\?",
    "[words]\nlowercase = 1": r"words.lowercase: should be true or false",
    "[synthetic]\nsentences = 3": r"text: a study with a \[synthetic\] table makes up its text",
}
WRONG_RESOURCES = {
    'dict.en-fr = "x"': r": 'dict' is not one of 'dictionary', 'retrieval'",
    'dictionary.fr-en = "x"': r".dictionary.fr-en: the pairs of this study",
    'dictionary.en-fr = ["x", "y"]': r".dictionary.en-fr: takes no more than 1 file",
    'paraphrase.en-fr = "a"': r".paraphrase.en-fr: the languages of this study are 'en'",
    'mapping.en-fr = ["a", "b", "c"]': r".mapping.en-fr: takes one file of both languages, or files by twos",
    'nil.en.train = "x"': r": 'nil' is not one of 'dictionary', .*'nli', .*did you mean 'nli'\?",
    'ner.de.test = "x"': r".ner.de: the languages and pairs of this study are 'en', 'fr', 'zh', 'en-fr'",
    'ner.en-hz.test = "x"': r".ner.en-hz: the languages and pairs .*; did you mean 'en-zh'\?",
    'ner.fr-zh.test = "x"': r".ner.fr-zh: the languages and pairs",
    'ner.en.tets = "x"': r".ner.en.tets: unknown key; .*'train', 'dev', 'test'; did you mean 'test'\?",
    'ner.fr.train = "x"': r".ner.fr.train: zero-shot transfer never reads it, .*in 'en' alone \(section",
    "ner = 3": r".ner: should be a table",
    'ner.en = "x"': r".ner.en: should be a table, not the string 'x'",
    "ner.en.train = 3": r".ner.en.train: should be a string in quotes",
    'ner.fr.test = ""': r".ner.fr.test: names no file",
}
MORE = WRONG_TABLES | {f"[resources]\n{line}": f"resources{message}" for line, message in WRONG_RESOURCES.items()}


@pytest.mark.parametrize(("more", "message"), MORE.items())
def test_mistakes_in_other_tables_are_named(more: str, message: str) -> None:
    with pytest.raises(IsoglotError, match=f"^mine.toml: {message}"):
        parse_study(REAL + more, origin="mine.toml")


@pytest.mark.parametrize(
    ("task", "language", "split", "pair", "names"),
    [
        ("ner", "en", "train", FR, ["/data/wiki-a", "/data/wiki-b"]),
        ("ner", "en", "train", ZH, ["/data/conll"]),
        ("ner", "en", "dev", FR, ["/data/wiki-dev"]),
        ("ner", "en", "dev", ZH, ["/data/wiki-dev"]),
        ("ner", "fr", "test", FR, ["/abs/fr-test"]),
        ("pos", "en", "train", FR, ["/data/tags"]),
        ("pos", "fr", "test", FR, ["/data/gsd"]),
        ("parsing", "en", "train", FR, ["/data/ewt"]),
    ],
)
def test_files_are_found_by_pair_then_by_language(
    task: str, language: str, split: str, pair: tuple[str, str], names: list[str]
) -> None:
    found = resources(FILES).task_files(task, language=language, split=split, pair=pair)
    assert found == tuple(map(Path, names))


def test_tasks_of_their_own_come_before_those_whose_files_they_may_read() -> None:
    text = resources('parsing.en-fr.test = "trees of the pair"\npos.en.test = "tags"')
    assert text.task_files("pos", language="en", split="test", pair=FR) == (Path("/data/tags"),)
    text = resources('parsing.en-fr.test = "trees of the pair"\nparsing.en.test = "trees"')
    assert text.task_files("pos", language="en", split="test", pair=FR) == (Path("/data/trees of the pair"),)
    assert text.task_files("pos", language="en", split="test", pair=ZH) == (Path("/data/trees"),)


@pytest.mark.parametrize(
    ("task", "language", "split", "purpose"),
    [
        ("nli", "en", "train", "labelled examples to fine-tune on"),
        ("nli", "en", "dev", "labelled examples to choose models by"),
        ("nli", "fr", "test", "labelled examples to score by"),
        ("parsing", "zh", "test", "labelled examples to score by"),
        ("pos", "zh", "test", "labelled examples to score by"),
    ],
)
def test_what_is_missing_is_named(task: str, language: str, split: str, purpose: str) -> None:
    pair = ZH if language == "zh" else FR
    with pytest.raises(MissingDataError) as raised:
        resources(FILES + 'pos.fr.test = "not parsed"').task_files(task, language=language, split=split, pair=pair)
    assert str(raised.value) == f"resources.{task}.{language}.{split} is missing: add a file of {purpose}"


@pytest.mark.parametrize(("given", "task"), [("pos.zh.test", "parsing"), ("ner.en-zh.test", "ner")])
def test_files_of_another_task_or_of_the_pair_are_not_a_targets(given: str, task: str) -> None:
    with pytest.raises(MissingDataError, match=rf"resources\.{task}\.zh\.test is missing"):
        resources(f'{given} = "x"').task_files(task, language="zh", split="test", pair=ZH)


def test_the_replication_reads_a_billion_tokens_and_scores_every_row_as_it_grows() -> None:
    study = read_study(REPLICATION)
    assert (study.name, len(study.conditions), len(study.seeds)) == (REPLICATION.stem, 10, 2)
    assert (study.scale.tokens >= 1e9, study.scale.moments) == (True, 8)
    assert {"table-1", "baselines", "growth", "growth-tasks"} <= set(study.exhibits)


@pytest.mark.parametrize(
    "path", [path for path in STUDIES if path not in (REPLICATION, *CONTROLS)], ids=lambda path: path.stem
)
def test_the_studies_that_come_with_the_repository_are_right(path: Path) -> None:
    study = read_study(path)
    assert study.name == path.stem
    assert isinstance(study.text, RealText)
    source, *targets = study.languages
    is_of_figures = len(targets) > 1
    of_pairs = ["retrieval", "word-translation", "mapping", "word-mapping", *([] if is_of_figures else ["dictionary"])]
    kinds = {f"{kind}.{source}-{target}" for kind in of_pairs for target in targets}
    of_source = {f"{task}.{source}.{split}" for task in study.tasks for split in ("train", "dev", "test")}
    of_targets = {f"{task}.{target}.test" for task in study.tasks for target in targets}
    assert set(study.text.resources) == kinds | of_source | of_targets
    assert list(study.text.other_domain) == ([] if is_of_figures else targets)
    shown = {"figure-4", "figure-6", "figure-7"} if is_of_figures else {"emergence", "table-1"}
    assert shown <= set(study.exhibits)
    assert study.tasks == (("ner", "parsing") if is_of_figures else ("nli", "ner", "parsing"))


@pytest.mark.real_data
@pytest.mark.skipif(not (DATA / "eval").is_dir(), reason=f"no files of real languages in {DATA}: set ISOGLOT_DATA")
def test_and_asks_for_each_model_once() -> None:
    study = read_study(REPLICATION, data=DATA)
    assert gap_sentences(study) == []
    stages = inputs_first(cell.stage for cell in cells(study)).values()
    runs = Counter("-".join(stage.run.languages) for stage in stages if isinstance(stage, PretrainedEncoder))
    once = ["en", "fr", "de", "ru", "zh", "en-prime", "en-en-prime"]
    assert runs == dict.fromkeys(once, 1) | {f"en-{target}": 20 for target in ("fr", "de", "ru", "zh")}


@pytest.mark.real_data
@pytest.mark.skipif(not (DATA / "eval").is_dir(), reason=f"no files of real languages in {DATA}: set ISOGLOT_DATA")
@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_and_the_files_they_name_are_there(path: Path) -> None:
    text = read_study(path, data=DATA).text
    assert isinstance(text, RealText)
    assert [name for paths in text.resources.values() for name in paths if not name.is_file()] == []
