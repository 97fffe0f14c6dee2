"""Synthetic examples mean the same in every language; those of files are read as they are released."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from isoglot.corpora.synthetic import dictionary
from isoglot.corpora.words import splitter_version
from isoglot.errors import IsoglotError
from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.stages.examples import AnyExamples, ExampleFiles, SyntheticExamples, read_counts, read_examples
from isoglot.pipeline.stages.source_files import source_file
from isoglot.store import Store
from isoglot.study.languages import Splitter, WordSplitting
from isoglot.study.synthetic_languages import Synthetic
from tests.pipeline.making import failure, made, made_alone
from tests.pipeline.tiny_transfers import tiny_graph, tiny_study
from tests.tiny_worlds import TINY_WORLD

TASKS = ("nli", "ner", "parsing", "pos")
ENGLISH = WordSplitting(splitter=Splitter.MOSES, language="en")
TEXTS = {
    "nli": "A man isn't here.\tNobody.\tneutral\nYes\tNo\tcontradictory\n",
    "ner": "Paris\tB-LOC\nis\tO\n\nOK\tO\n\n",
    "parsing": "1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\t_\n2\t!\t!\tPUNCT\t_\t_\t1\tpunct\t_\t_\n\n"
    "1\tOK\tok\tINTJ\t_\t_\t0\troot\t_\t_\n\n",
}
TEXTS["pos"] = TEXTS["parsing"]


def synthetic(task: str, language: str, split: str, *, train: int = 400) -> SyntheticExamples:
    graph = tiny_graph()
    assert isinstance(graph.study.text, Synthetic)
    graph = replace(graph, study=replace(graph.study, text=replace(graph.study.text, train_examples=train)))
    stage = graph.sources.examples(task, language=language, split=split, pair=("ela", "oru"))
    assert isinstance(stage, SyntheticExamples)
    return stage


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """All splits of all tasks in both languages."""
    stages = [synthetic(task, "ela", split) for task in TASKS for split in ("train", "dev", "test")]
    stages += [synthetic(task, "oru", "test") for task in TASKS]
    return made(*stages, folder=tmp_path_factory.mktemp("examples"))


def examples(stage: AnyExamples, store: Store) -> list[Any]:
    return read_examples(task_named(stage.task), store.folder(stage))


@pytest.mark.parametrize("task", TASKS)
def test_examples_of_a_split_mean_the_same_in_both_languages(task: str, store: Store) -> None:
    text, reader = tiny_study().text, task_named(task)
    assert isinstance(text, Synthetic)
    in_oru = dict(dictionary(*text.languages, world=TINY_WORLD)) | {".": "."}
    source, target = (examples(synthetic(task, language, "test"), store) for language in ("ela", "oru"))
    assert len(source) == len(target) == 20
    for ours, theirs in zip(source, target, strict=True):
        for words, other_words in zip(reader.segments(ours), reader.segments(theirs), strict=True):
            assert Counter(in_oru[word] for word in words) == Counter(other_words)
        assert Counter(reader.gold_labels(ours)) == Counter(reader.gold_labels(theirs))
    assert source != target


@pytest.mark.parametrize("task", TASKS)
def test_no_two_splits_have_a_meaning_in_common(task: str, store: Store, tmp_path: Path) -> None:
    """In a world so small, splits drawn without care would share many."""
    segments = task_named(task).segments
    train, dev, test = (examples(synthetic(task, "ela", split), store) for split in ("train", "dev", "test"))
    assert [len(each) for each in (train, dev, test)] == [400, 16, 20]
    meanings = [{segments(example) for example in each} for each in (train, dev, test)]
    assert len(set.union(*meanings)) == sum(map(len, meanings))
    careless = replace(synthetic(task, "ela", "test"), count=400, apart_from=())
    anyhow = examples(careless, made(careless, folder=tmp_path))
    assert {segments(example) for example in anyhow} & meanings[0]


def test_labels_of_pairs_are_equally_frequent_in_every_split(store: Store) -> None:
    """Although fewer examples of one label than of another are new."""
    for split in ("train", "dev", "test"):
        counts = Counter(pair.label for pair in examples(synthetic("nli", "ela", split), store))
        assert len(counts) == 3
        assert max(counts.values()) - min(counts.values()) <= 1


def test_tasks_and_seeds_are_drawn_independently(store: Store, tmp_path: Path) -> None:
    drawn = [examples(synthetic(task, "ela", "train"), store) for task in ("parsing", "pos", "ner")]
    other_seed = replace(synthetic("ner", "ela", "train"), world=replace(TINY_WORLD, seed=1))
    drawn.append(examples(other_seed, made(other_seed, folder=tmp_path)))
    assert len({tuple(example.words for example in each) for each in drawn}) == 4


def test_more_examples_than_a_world_has_are_refused(tmp_path: Path) -> None:
    stage = synthetic("nli", "oru", "dev", train=4000)
    small = replace(
        TINY_WORLD, nouns=1, verbs=1, adjectives=1, adpositions=1, people=2, places=1, organisations=1, numbers=1
    )
    (train,) = stage.apart_from
    stage = replace(stage, world=small, count=200, apart_from=(replace(train, world=small),))
    assert "lower synthetic.dev_examples or enlarge the world" in failure(stage, tmp_path)


def files_stage(task: str, paths: Sequence[Path], *, splitting: WordSplitting = ENGLISH) -> ExampleFiles:
    return ExampleFiles(
        task=task,
        task_version=1,
        split="test",
        files=tuple(source_file(path, wanted_by="mine.toml") for path in paths),
        splitting=splitting,
        splitter_version=splitter_version(splitting),
    )


@pytest.mark.parametrize("task", TASKS)
def test_files_of_each_format_are_read_in_order_and_in_lower_case_where_the_text_is(task: str, tmp_path: Path) -> None:
    paths, reader = [tmp_path / "a.txt", tmp_path / "b.txt"], task_named(task)
    for path in paths:
        path.write_text(TEXTS[task], encoding="utf-8")
    stage, lower = (
        files_stage(task, paths, splitting=replace(ENGLISH, lowercase=lowercase)) for lowercase in (False, True)
    )
    store = made(stage, lower, folder=tmp_path / "store")
    expected, _ = reader.read_official(paths[:1], splitting=ENGLISH)
    assert examples(stage, store) == expected * 2
    assert len(expected) == 2
    assert read_counts(store.folder(stage)) == {"examples": 4}
    for ours, theirs in zip(examples(lower, store), expected * 2, strict=True):
        words = [[word.lower() for word in segment] for segment in reader.segments(theirs)]
        assert [list(segment) for segment in reader.segments(ours)] == words
        assert reader.gold_labels(ours) == reader.gold_labels(theirs)


def test_chinese_characters_are_realigned_and_the_changes_counted(tmp_path: Path) -> None:
    tagged = [("我", "O"), ("爱", "O"), ("北", "B-LOC"), ("京", "I-LOC"), ("大", "O"), ("学", "O")]
    text = "".join(f"{character}\t{tag}\n" for character, tag in tagged) + "\n"
    (tmp_path / "zh.bio").write_text(text, encoding="utf-8")
    splitting = WordSplitting(splitter=Splitter.JIEBA, language="zh")
    stage = files_stage("ner", [tmp_path / "zh.bio"], splitting=splitting)
    store = made(stage, folder=tmp_path / "store")
    (example,) = examples(stage, store)
    assert example.words == ("我", "爱", "北京大学")
    assert example.tags == ("O", "O", "B-LOC")
    counts = read_counts(store.folder(stage))
    assert (counts["examples"], counts["straddling_words"], counts["changed_spans"]) == (1, 1, 1)


@pytest.mark.parametrize(
    ("task", "text", "message"),
    [
        *((task, "", "bad.txt") for task in TASKS),
        ("ner", "\n", "bad.txt"),
        ("nli", "\n", "bad.txt"),
        ("nli", "premise\thypo\tlabel\n", "no examples of NLI"),
    ],
)
def test_a_file_without_examples_is_refused(task: str, text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_text(text, encoding="utf-8")
    assert message in failure(files_stage(task, [tmp_path / "bad.txt"]), tmp_path / "store")


def test_a_file_written_while_it_is_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.bio"
    path.write_text(TEXTS["ner"], encoding="utf-8")
    stage = files_stage("ner", [path])
    path.write_text(TEXTS["ner"] * 2, encoding="utf-8")
    with pytest.raises(IsoglotError, match="changed while it was read"):
        made_alone(stage, tmp_path / "made", {})
