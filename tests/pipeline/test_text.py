"""Text is drawn by seed or read from files, which are their content wherever they lie; its words are split once."""

import bz2
import gzip
import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from real_studies import write_real_study

from isoglot.corpora.numbered_text import NumberedText, Split
from isoglot.corpora.words import split_lines
from isoglot.errors import IsoglotError, MissingDataError
from isoglot.pipeline.model_graph import ModelGraph
from isoglot.pipeline.stages import source_files
from isoglot.pipeline.stages.source_files import SourceFile, source_file
from isoglot.pipeline.stages.text import (
    LINES,
    FileText,
    HubText,
    SplitText,
    SyntheticText,
    WikipediaText,
    read_lines,
    text_lines,
    write_lines,
)
from isoglot.store import Work
from isoglot.study.conditions import CONDITIONS, Domain
from isoglot.study.languages import default_splitting
from isoglot.study.real_text import HubDataset, TextFiles
from isoglot.study.study_file import read_study
from isoglot.study.synthetic_languages import SyntheticLanguage, World
from tests.pipeline.making import failure, made

DUMP = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/"><siteinfo><sitename>W</sitename></siteinfo>
<page><title>Cat</title><ns>0</ns><revision><text>A '''cat''' sees [[dog|dogs]].{{cite|x}}</text></revision></page>
<page><title>Talk:Cat</title><ns>1</ns><revision><text>Not this one.</text></revision></page>
</mediawiki>
"""


def test_languages_domains_and_seeds_draw_different_meanings(tmp_path: Path) -> None:
    text = SyntheticText(world=World(), language=SyntheticLanguage(name="ela"), domain=Domain.MAIN, sentences=50)
    others = (
        replace(text, language=SyntheticLanguage(name="oru")),
        replace(text, domain=Domain.OTHER),
        replace(text, world=World(seed=1)),
    )
    store = made(text, *others, folder=tmp_path)
    # Equal meanings would show as equal numbers of words.
    lengths = [[len(line.split()) for line in read_lines(store.folder(each) / LINES)] for each in (text, *others)]
    assert all(len(each) == 50 for each in lengths)
    assert all(each != lengths[0] for each in lengths[1:])


@given(lines=st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])), min_size=1))
def test_lines_come_back_as_they_were_written(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    path = tmp_path_factory.mktemp("lines") / LINES
    write_lines(path, lines)
    assert read_lines(path) == lines


def test_a_wikipedia_dump_becomes_paragraphs(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("w1.xml-p1p9.bz2", "w2.xml.bz2")]
    for path in paths:
        path.write_bytes(bz2.compress(DUMP.encode()))
    assert TextFiles(paths=tuple(paths)).is_wikipedia
    stage = WikipediaText(dumps=tuple(source_file(path, wanted_by="here") for path in paths))
    folder = made(stage, folder=tmp_path / "store").folder(stage)
    assert [line for line in read_lines(folder / LINES) if line] == ["A cat sees dogs."] * 2


def test_a_dump_by_another_name_is_not_taken_for_text(tmp_path: Path) -> None:
    (tmp_path / "dump.txt").write_text(DUMP, encoding="utf-8")
    text = FileText(files=(source_file(tmp_path / "dump.txt", wanted_by="here"),))
    work = Work(folder=tmp_path, input_folders={}, progress=lambda *_: None, log_folder=tmp_path)
    with pytest.raises(IsoglotError, match=r"dump\.txt:1: this is a Wikipedia dump, not text"):
        list(text_lines(text, work))


def test_a_folder_is_no_data_set_of_the_hub(tmp_path: Path) -> None:
    stage = HubText(dataset=HubDataset(dataset=str(tmp_path), revision="0" * 40))
    assert "is a folder here, not a data set of the hub" in failure(stage, tmp_path / "store")


def test_lines_of_several_files_follow_each_other_and_progress_is_reported(tmp_path: Path) -> None:
    files = []
    for name, count in (("a.txt", 1500), ("b.txt", 2500)):
        (tmp_path / name).write_text("".join(f"{name} {number}\n" for number in range(count)))
        files.append(source_file(tmp_path / name, wanted_by="here"))
    shares: list[float] = []
    work = Work(
        folder=tmp_path,
        input_folders={},
        progress=lambda done, total, *_: shares.append(done / total),
        log_folder=tmp_path,
    )
    lines = list(text_lines(FileText(files=tuple(files)), work))
    assert (len(lines), lines[0], lines[-1]) == (4000, "a.txt 0", "b.txt 2499")
    assert shares == sorted(shares)
    assert 0 < shares[0] <= shares[-1] <= 1
    assert len(shares) == 3


def texts(study: Path, condition: str = "default") -> dict[str, SplitText]:
    graph = ModelGraph(study=read_study(study), condition=CONDITIONS[condition], languages=("en", "fr"), seed=0)
    return dict(graph.texts)


def words(stage: SplitText, folder: Path) -> NumberedText:
    return NumberedText.read(made(stage, folder=folder / "store").folder(stage))


def test_every_line_of_every_file_is_there_once(tmp_path: Path) -> None:
    text = words(texts(write_real_study(tmp_path))["fr"], tmp_path)
    found = [" ".join(line) for split in Split for line in text.lines(split)]
    lines = gzip.decompress((tmp_path / "text/fr-1.txt.gz").read_bytes()).decode().splitlines()
    lines += (tmp_path / "text/fr-2.txt").read_text().splitlines()
    expected = [" ".join(line) for line in split_lines(lines, default_splitting("fr"))]
    assert sorted(found) == sorted(expected)
    assert (text.num_lines(Split.DEV), text.num_lines(Split.TEST)) == (20, 60)


def test_a_second_domain_is_another_text_no_larger_than_the_first(tmp_path: Path) -> None:
    study = write_real_study(tmp_path)
    other = texts(study, "wiki-cc")["fr"]
    assert isinstance(other.text, FileText)
    assert [file.path.name for file in other.text.files] == ["fr-other.txt"]
    assert other.no_larger_than is not None
    assert other.no_larger_than.digest == texts(study)["fr"].digest
    whole = words(replace(other, no_larger_than=None), tmp_path)
    main, matched = words(other.no_larger_than, tmp_path), words(other, tmp_path)
    assert main.num_words(Split.TRAIN) - 150 < matched.num_words(Split.TRAIN) <= main.num_words(Split.TRAIN)
    kept = list(matched.lines(Split.TRAIN))
    assert kept == list(whole.lines(Split.TRAIN))[: len(kept)]
    assert list(matched.lines(Split.DEV)) == list(whole.lines(Split.DEV))


@pytest.mark.parametrize("condition", ["default", "wiki-cc"])
def test_a_limit_of_words_holds_for_every_text(condition: str, tmp_path: Path) -> None:
    path = write_real_study(tmp_path)
    path.write_text(path.read_text().replace("[text]\n", "[text]\nmost_words = 300\n"))
    assert 150 < words(texts(path, condition)["fr"], tmp_path).num_words(Split.TRAIN) <= 300


def opened(path: Path) -> SourceFile:
    return source_file(path, wanted_by="mine.toml")


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that counts as large and was written long ago."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(source_files, "LARGE_BYTES", 3)
    path = tmp_path / "large.txt"
    path.write_text("one")
    os.utime(path, (1e9, 1e9))
    return path


def test_an_artifact_made_from_a_file_depends_on_its_bytes_alone(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.txt", "b.txt", "c.txt")]
    for path, text in zip(paths, ("one", "one", "two"), strict=True):
        path.write_text(text)
    a, b, c = (WikipediaText(dumps=(opened(path),)).digest for path in paths)
    assert a == b != c
    assert opened(paths[0]).sha256 == sha256("one")


def test_a_missing_file_is_named_with_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "wiki.en.txt.xz").touch()
    for path, message in (
        ("wikis.en.txt", r"^mine.toml: .*wikis\.en\.txt: No such file .*; did you mean wiki.en.txt.xz\?"),
        ("wiki.fr.txt", r"wiki\.fr\.txt: No such file or directory$"),
        ("nowhere/wiki.en.txt", "is data= or ISOGLOT_DATA the folder"),
        (".", "not a file"),
    ):
        with pytest.raises(MissingDataError, match=message):
            opened(tmp_path / path)


def test_a_large_file_is_read_once_until_it_changes(large: Path, tmp_path: Path) -> None:
    opened(large)
    cache = tmp_path / "cache" / "isoglot" / "digests.json"
    (key,) = json.loads(cache.read_text())
    cache.write_text(json.dumps({key: 64 * "c"}))
    assert opened(large).sha256 == 64 * "c", "from the cache"
    large.write_text("two")
    os.utime(large, (1e9 + 1, 1e9 + 1))
    assert opened(large).sha256 == sha256("two")
    _, key = json.loads(cache.read_text())
    no_digests = json.dumps({key: 5}), json.dumps({key: "no digest"})
    for damaged in ("{", "[" * 100_000, "[1, 2]", "5", "\0", *no_digests):
        cache.write_text(damaged)
        assert opened(large).sha256 == sha256("two")
        assert json.loads(cache.read_text()) == {key: sha256("two")}


def test_a_file_written_just_now_is_not_cached(large: Path, tmp_path: Path) -> None:
    large.write_text("two")
    assert opened(large).sha256 == sha256("two")
    assert not (tmp_path / "cache").exists()


def test_a_cache_that_cannot_be_written_is_no_error(large: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").touch()
    assert opened(large).sha256 == sha256("one")
