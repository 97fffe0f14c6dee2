"""Words are those of the files, whatever their number and compression; a second domain is cut to size."""

import gzip
from dataclasses import replace
from pathlib import Path

from real_studies import write_real_study

from isoglot.corpora.numbered_text import NumberedText, Split
from isoglot.corpora.words import split_lines
from isoglot.pipeline.model_graph import ModelGraph
from isoglot.pipeline.stages.split_text import SplitText
from isoglot.pipeline.stages.text import FileText
from isoglot.store import Store, run_plan
from isoglot.study.conditions import CONDITIONS
from isoglot.study.languages import default_splitting
from isoglot.study.study import read_study


def graph(folder: Path, condition: str = "default") -> ModelGraph:
    study = read_study(write_real_study(folder))
    return ModelGraph(study=study, condition=CONDITIONS[condition], languages=("en", "fr"), seed=0)


def made(stage: SplitText, folder: Path) -> NumberedText:
    store = Store(folder / "store")
    assert run_plan([stage], store).failed == {}
    return NumberedText.read(store.folder(stage))


def test_every_line_of_every_file_is_there_once(tmp_path: Path) -> None:
    text = made(graph(tmp_path).texts["fr"], tmp_path)
    found = [" ".join(line) for split in Split for line in text.lines(split)]
    lines = gzip.decompress((tmp_path / "text/fr-1.txt.gz").read_bytes()).decode().splitlines()
    lines += (tmp_path / "text/fr-2.txt").read_text().splitlines()
    expected = [" ".join(words) for words in split_lines(lines, default_splitting("fr"))]
    assert sorted(found) == sorted(expected)
    assert (text.num_lines(Split.DEV), text.num_lines(Split.TEST)) == (20, 60)


def test_splitter_version_and_switches_are_part_of_what_the_words_are(tmp_path: Path) -> None:
    stage = graph(tmp_path).texts["fr"]
    assert stage.splitter_version.startswith("sacremoses")
    others = (
        replace(stage, splitter_version="sacremoses 0"),
        replace(stage, splitting=replace(stage.splitting, lowercase=True)),
        replace(stage, most_words=100),
    )
    assert len({each.digest for each in (stage, *others)}) == 4


def test_a_second_domain_is_another_text_no_larger_than_the_first(tmp_path: Path) -> None:
    model = graph(tmp_path, "wiki-cc")
    other = model.texts["fr"]
    assert isinstance(other.text, FileText)
    assert [file.path.name for file in other.text.files] == ["fr-other.txt"]
    assert other.no_larger_than.digest == graph(tmp_path / "again").texts["fr"].digest
    whole = made(replace(other, no_larger_than=None), tmp_path)
    main, matched = made(other.no_larger_than, tmp_path), made(other, tmp_path)
    assert main.num_words(Split.TRAIN) - 150 < matched.num_words(Split.TRAIN) <= main.num_words(Split.TRAIN)
    kept = list(matched.lines(Split.TRAIN))
    assert kept == list(whole.lines(Split.TRAIN))[: len(kept)]
    assert list(matched.lines(Split.DEV)) == list(whole.lines(Split.DEV))


def test_a_limit_of_words_holds_for_every_text(tmp_path: Path) -> None:
    path = write_real_study(tmp_path)
    path.write_text(path.read_text().replace("[text]\n", "[text]\nmost_words = 300\n"))
    study = read_study(path)
    for condition in ("default", "wiki-cc"):
        model = ModelGraph(study=study, condition=CONDITIONS[condition], languages=("en", "fr"), seed=0)
        for stage in model.texts.values():
            assert 150 < made(stage, tmp_path).num_words(Split.TRAIN) <= 300
