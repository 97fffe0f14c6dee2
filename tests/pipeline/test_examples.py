"""Labelled examples: made-up ones mean the same in every language, those of files are read as they are released."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from isoglot.corpora.synthetic import lexicon as dictionary
from isoglot.corpora.words import splitter_version
from isoglot.errors import IsoglotError
from isoglot.evaluation.transfer.tasks import task_named
from isoglot.pipeline.stages.examples import ExampleFiles, SyntheticExamples, read_counts, read_examples
from isoglot.pipeline.stages.source_files import source_file
from isoglot.store import Store, Work, run_plan
from isoglot.study.languages import Splitter, WordSplitting
from isoglot.study.study import Synthetic
from tests.pipeline.tiny_transfers import tiny_graph, tiny_study
from tests.tiny_worlds import TINY_WORLD

TASKS = ("nli", "ner", "parsing", "pos")
ENGLISH = WordSplitting(splitter=Splitter.MOSES, language="en")


def made(stage: SyntheticExamples | ExampleFiles, store: Store) -> list[Any]:
    outcome = run_plan([stage], store)
    assert outcome.failed == {}
    return read_examples(task_named(stage.task), store.folder(stage))


def synthetic(task: str, language: str, split: str, *, train: int = 400) -> SyntheticExamples:
    graph = tiny_graph()
    study = graph.study
    assert isinstance(study.text, Synthetic)
    graph = replace(graph, study=replace(study, text=replace(study.text, train_examples=train)))
    stage = graph.sources.examples(task, language=language, split=split, pair=("ela", "oru"))
    assert isinstance(stage, SyntheticExamples)
    return stage


@pytest.mark.parametrize("task", TASKS)
def test_examples_of_a_split_mean_the_same_in_both_languages(task: str, tmp_path: Path) -> None:
    store, text = Store(tmp_path), tiny_study().text
    assert isinstance(text, Synthetic)
    in_oru = dict(dictionary(*text.languages, world=TINY_WORLD)) | {".": "."}
    source, target = (made(synthetic(task, language, "test"), store) for language in ("ela", "oru"))
    assert len(source) == len(target) == 20
    for ours, theirs in zip(source, target, strict=True):
        for words, other_words in zip(task_named(task).segments(ours), task_named(task).segments(theirs), strict=True):
            assert Counter(in_oru[word] for word in words) == Counter(other_words)
        assert Counter(task_named(task).gold_labels(ours)) == Counter(task_named(task).gold_labels(theirs))
    assert source != target


@pytest.mark.parametrize("task", TASKS)
def test_splits_are_drawn_apart(task: str, tmp_path: Path) -> None:
    """What the training set says is asked in no language, though in a world so small much would be said again."""
    store = Store(tmp_path)
    train, dev, test = (made(synthetic(task, "ela", split), store) for split in ("train", "dev", "test"))
    assert [len(each) for each in (train, dev, test)] == [400, 16, 20]
    segments = task_named(task).segments
    said = {segments(example) for example in train}
    assert not said & {segments(example) for example in (*dev, *test)}
    assert dev != test[: len(dev)]
    # Which would not be so by chance.
    stage = synthetic(task, "ela", "test")
    anyhow = made(replace(stage, count=400, apart_from=()), store)
    assert {segments(example) for example in anyhow} & said


@pytest.mark.parametrize("task", TASKS)
def test_no_two_splits_have_a_meaning_in_common(task: str, tmp_path: Path) -> None:
    segments, store = task_named(task).segments, Store(tmp_path)
    said = {
        split: {segments(example) for example in made(synthetic(task, "ela", split), store)}
        for split in ("train", "dev", "test")
    }
    assert said["train"] & said["dev"] == said["train"] & said["test"] == said["dev"] & said["test"] == set()


def test_labels_of_pairs_are_as_frequent_as_each_other_in_every_split(tmp_path: Path) -> None:
    """Though fewer of one label than of another are new."""
    for split in ("train", "dev", "test"):
        counts = Counter(pair.label for pair in made(synthetic("nli", "oru", split), Store(tmp_path)))
        assert len(counts) == 3
        assert max(counts.values()) - min(counts.values()) <= 1


def test_more_examples_than_a_world_has_are_refused(tmp_path: Path) -> None:
    stage = synthetic("nli", "oru", "dev", train=4000)
    small = replace(
        TINY_WORLD, nouns=1, verbs=1, adjectives=1, adpositions=1, people=2, places=1, organisations=1, numbers=1
    )
    (train,) = stage.apart_from
    stage = replace(stage, world=small, count=200, apart_from=(replace(train, world=small),))
    (error,) = run_plan([stage], Store(tmp_path)).failed.values()
    assert "lower synthetic.dev_examples or enlarge the world" in str(error)


def test_tasks_seeds_and_splits_are_drawn_for_themselves(tmp_path: Path) -> None:
    store = Store(tmp_path)
    words = {
        name: [example.words for example in made(stage, store)]
        for name, stage in {
            "parsing": synthetic("parsing", "ela", "train"),
            "pos": synthetic("pos", "ela", "train"),
            "ner": synthetic("ner", "ela", "train"),
            "other seed": replace(synthetic("ner", "ela", "train"), world=replace(TINY_WORLD, seed=1)),
        }.items()
    }
    assert len({tuple(each) for each in words.values()}) == 4


def files_stage(
    task: str, paths: Sequence[Path], *, splitting: WordSplitting = ENGLISH, split: str = "test"
) -> ExampleFiles:
    return ExampleFiles(
        task=task,
        task_version=1,
        split=split,
        files=tuple(source_file(path, wanted_by="mine.toml") for path in paths),
        splitting=splitting,
        splitter_version=splitter_version(splitting),
    )


TEXTS = {
    "nli": "A man isn't here.\tNobody.\tneutral\nYes\tNo\tcontradictory\n",
    "ner": "Paris\tB-LOC\nis\tO\n\nOK\tO\n\n",
    "parsing": "1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\t_\n2\t!\t!\tPUNCT\t_\t_\t1\tpunct\t_\t_\n\n"
    "1\tOK\tok\tINTJ\t_\t_\t0\troot\t_\t_\n\n",
}
TEXTS["pos"] = TEXTS["parsing"]


@pytest.mark.parametrize("task", TASKS)
def test_files_of_each_format_are_read_one_after_the_other(task: str, tmp_path: Path) -> None:
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for path in paths:
        path.write_text(TEXTS[task], encoding="utf-8")
    stage, store = files_stage(task, paths), Store(tmp_path / "store")
    examples = made(stage, store)
    expected, _ = task_named(task).read_official(paths[:1], splitting=ENGLISH)
    assert examples == expected * 2
    assert len(expected) == 2
    assert read_counts(store.folder(stage)) == {"examples": 4}
    assert "a.txt, b.txt" in stage.title


@pytest.mark.parametrize("task", TASKS)
def test_words_are_lower_case_where_the_text_is(task: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXTS[task], encoding="utf-8")
    stage = files_stage(task, [tmp_path / "a.txt"], splitting=replace(ENGLISH, lowercase=True))
    examples = made(stage, Store(tmp_path / "store"))
    words = [word for each in examples for words in task_named(task).segments(each) for word in words]
    assert words == [word.lower() for word in words]
    assert {"nli": "yes", "ner": "paris", "parsing": "go", "pos": "go"}[task] in words
    as_written = made(files_stage(task, [tmp_path / "a.txt"]), Store(tmp_path / "store"))
    assert [task_named(task).gold_labels(each) for each in examples] == [
        task_named(task).gold_labels(each) for each in as_written
    ]


def test_chinese_characters_are_realigned_and_what_changed_is_counted(tmp_path: Path) -> None:
    tagged = [("我", "O"), ("爱", "O"), ("北", "B-LOC"), ("京", "I-LOC"), ("大", "O"), ("学", "O")]
    text = "".join(f"{character}\t{tag}\n" for character, tag in tagged) + "\n"
    (tmp_path / "zh.bio").write_text(text, encoding="utf-8")
    splitting = WordSplitting(splitter=Splitter.JIEBA, language="zh")
    stage, store = files_stage("ner", [tmp_path / "zh.bio"], splitting=splitting), Store(tmp_path / "store")
    (example,) = made(stage, store)
    assert example.words == ("我", "爱", "北京大学")
    assert example.tags == ("O", "O", "B-LOC")
    counts = read_counts(store.folder(stage))
    assert (counts["examples"], counts["straddling_words"], counts["changed_spans"]) == (1, 1, 1)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("text", ["", "\n"], ids=["empty", "blank"])
def test_a_file_without_examples_is_refused_by_name(task: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_text(text, encoding="utf-8")
    stage = files_stage(task, [tmp_path / "bad.txt"])
    (error,) = run_plan([stage], Store(tmp_path / "store")).failed.values()
    assert "bad.txt" in str(error)


def test_a_file_with_a_header_alone_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("premise\thypo\tlabel\n", encoding="utf-8")
    (error,) = run_plan([files_stage("nli", [tmp_path / "a.tsv"])], Store(tmp_path / "store")).failed.values()
    assert "no examples of NLI" in str(error)


def test_examples_are_what_their_bytes_and_their_words_are_wherever_they_lie(tmp_path: Path) -> None:
    for name in ("a.bio", "b.bio"):
        (tmp_path / name).write_text(TEXTS["ner"], encoding="utf-8")
    (tmp_path / "c.bio").write_text(TEXTS["ner"] * 2, encoding="utf-8")
    a, b, c = (files_stage("ner", [tmp_path / name]) for name in ("a.bio", "b.bio", "c.bio"))
    assert a.digest == b.digest != c.digest
    others = (
        c,
        replace(a, splitter_version="sacremoses 0"),
        replace(a, splitting=replace(a.splitting, lowercase=True)),
        replace(a, files=a.files * 2),
    )
    assert len({each.digest for each in (a, *others)}) == 5


def test_a_file_written_while_it_is_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.bio"
    path.write_text(TEXTS["ner"], encoding="utf-8")
    stage = files_stage("ner", [path])
    path.write_text(TEXTS["ner"] * 2, encoding="utf-8")
    with pytest.raises(IsoglotError, match="changed while it was read"):
        stage.make(Work(folder=tmp_path, input_folders={}, progress=lambda *_: None))
