"""Text is made up by seed, each language's apart."""

import bz2
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.errors import IsoglotError
from isoglot.pipeline.stages.source_files import source_file
from isoglot.pipeline.stages.text import (
    LINES,
    FileText,
    HubText,
    SyntheticText,
    WikipediaText,
    read_lines,
    text_lines,
    write_lines,
)
from isoglot.store import Store, Work, run_plan
from isoglot.study.conditions import Domain
from isoglot.study.real_text import HubDataset, TextFiles
from isoglot.study.synthetic_languages import SyntheticLanguage, World

ELA = SyntheticLanguage(name="ela")


def lines_of(stage: SyntheticText, store: Store) -> list[str]:
    run_plan([stage], store)
    return read_lines(store.folder(stage) / LINES)


def test_languages_and_domains_say_different_things(tmp_path: Path) -> None:
    store = Store(tmp_path)
    text = SyntheticText(world=World(), language=ELA, domain=Domain.MAIN, sentences=50)
    # Numerals and punctuation are common to all, so equal meanings would show as equal numbers of words.
    others = (
        replace(text, language=SyntheticLanguage(name="oru")),
        replace(text, domain=Domain.OTHER),
        replace(text, world=World(seed=1)),
    )
    lengths = [[len(line.split()) for line in lines_of(stage, store)] for stage in (text, *others)]
    assert all(len(each) == 50 for each in lengths)
    assert all(each != lengths[0] for each in lengths[1:])


@given(lines=st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])), min_size=1))
def test_lines_come_back_as_they_were_written(tmp_path_factory, lines: list[str]) -> None:
    path = tmp_path_factory.mktemp("lines") / LINES
    write_lines(path, lines)
    assert read_lines(path) == lines


DUMP = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/"><siteinfo><sitename>W</sitename></siteinfo>
<page><title>Cat</title><ns>0</ns><revision><text>A '''cat''' sees [[dog|dogs]].{{cite|x}}</text></revision></page>
<page><title>Talk:Cat</title><ns>1</ns><revision><text>Not this one.</text></revision></page>
</mediawiki>
"""


def test_a_wikipedia_dump_becomes_paragraphs(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("w1.xml-p1p9.bz2", "w2.xml.bz2")]
    for path in paths:
        path.write_bytes(bz2.compress(DUMP.encode()))
    assert TextFiles(paths=tuple(paths)).is_wikipedia
    stage = WikipediaText(dumps=tuple(source_file(path, wanted_by="here") for path in paths))
    store = Store(tmp_path / "store")
    assert run_plan([stage], store).failed == {}
    assert [line for line in read_lines(store.folder(stage) / LINES) if line] == ["A cat sees dogs."] * 2


def test_a_dump_by_another_name_is_not_taken_for_text(tmp_path: Path) -> None:
    (tmp_path / "dump.txt").write_text(DUMP, encoding="utf-8")
    text = FileText(files=(source_file(tmp_path / "dump.txt", wanted_by="here"),))
    work = Work(folder=tmp_path, input_folders={}, progress=lambda *_: None)
    with pytest.raises(IsoglotError, match=r"dump\.txt:1: this is a Wikipedia dump, not text"):
        list(text_lines(text, work))


def test_a_folder_is_no_data_set_of_the_hub(tmp_path: Path) -> None:
    stage = HubText(dataset=HubDataset(dataset=str(tmp_path), revision="0" * 40))
    (error,) = run_plan([stage], Store(tmp_path / "store")).failed.values()
    assert "is a folder here, not a data set of the hub" in str(error)


def test_lines_of_several_files_follow_each_other_and_progress_is_told(tmp_path: Path) -> None:
    files = []
    for name, count in (("a.txt", 1500), ("b.txt", 2500)):
        (tmp_path / name).write_text("".join(f"{name} {number}\n" for number in range(count)))
        files.append(source_file(tmp_path / name, wanted_by="here"))
    told: list[float] = []
    work = Work(folder=tmp_path, input_folders={}, progress=lambda done, total, *_: told.append(done / total))
    lines = list(text_lines(FileText(files=tuple(files)), work))
    assert (len(lines), lines[0], lines[-1]) == (4000, "a.txt 0", "b.txt 2499")
    assert told == sorted(told)
    assert 0 < told[0] <= told[-1] <= 1
    assert len(told) == 3
