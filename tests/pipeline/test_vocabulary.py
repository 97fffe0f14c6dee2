"""BPE and tables are learned from training lines alone, and each condition's tables share what it says."""

from collections import Counter
from pathlib import Path

import pytest
from oracles import bpe_by_rescan
from study_texts import TINY_STUDY

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.numbered_text import NumberedText, Split
from isoglot.corpora.streams import TokenStream
from isoglot.corpora.vocabulary import SPECIALS, Vocabulary
from isoglot.pipeline.model_graph import ModelGraph
from isoglot.pipeline.stages.vocabulary import MERGES, VOCABULARY, LearnedBpe
from isoglot.store import Store, Work, run_plan
from isoglot.study.conditions import CONDITIONS
from isoglot.study.study import parse_study

STUDY = parse_study(TINY_STUDY, origin="tiny.toml")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Streams of every kind of table."""
    store = Store(tmp_path_factory.mktemp("store"))
    names = ("default", "default-anchors", "no-anchors", "sep-emb")
    outcome = run_plan([stream for name in names for stream in graph(name).streams.values()], store)
    assert outcome.failed == {}
    return store


def graph(name: str) -> ModelGraph:
    return ModelGraph(study=STUDY, condition=CONDITIONS[name], languages=("ela", "oru"), seed=0)


def words_of(folder: Path, *, most: int | None = None) -> Counter[str]:
    lines = NumberedText.read(folder).lines(Split.TRAIN)
    return Counter([word for line in lines for word in line][:most])


def test_joint_bpe_is_learned_from_as_many_training_words_of_both(store: Store) -> None:
    model = graph("default")
    folders = [store.folder(text) for text in model.texts.values()]
    totals = [words_of(folder).total() for folder in folders]
    assert min(totals) < max(totals), "nothing to balance"
    counts = [words_of(folder, most=min(totals)) for folder in folders]
    learned = Bpe.read(store.folder(model.bpe["ela"]) / MERGES).merges
    assert list(learned) == bpe_by_rescan(counts[0] + counts[1], merges=200)


def test_own_bpe_is_learned_from_the_training_lines_of_one(store: Store) -> None:
    model = graph("no-anchors")
    for language, text in model.texts.items():
        learned = Bpe.read(store.folder(model.bpe[language]) / MERGES).merges
        assert list(learned) == bpe_by_rescan(words_of(store.folder(text)), merges=100)


def ids_in_training(name: str, store: Store) -> list[set[int]]:
    streams = graph(name).streams.values()
    return [set(TokenStream.open(store.folder(each)).ids(Split.TRAIN).tolist()) for each in streams]


def test_conditions_share_ids_as_they_should(store: Store) -> None:
    specials = set(range(len(SPECIALS)))
    for name in ("default", "default-anchors"):
        ours, theirs = ids_in_training(name, store)
        assert len((ours & theirs) - specials) > 10
        assert len(ours - theirs) > 10
    ours, theirs = ids_in_training("no-anchors", store)
    assert (ours & theirs) - specials == set()


def test_separate_tables_are_each_languages_own(store: Store) -> None:
    model = graph("sep-emb")
    vocabulary = Vocabulary.read(store.folder(model.vocabulary) / VOCABULARY)
    for language in model.languages:
        size = TokenStream.open(store.folder(model.streams[language])).table_size
        assert size == vocabulary.size(language)
        assert size < Vocabulary.read(store.folder(graph("no-anchors").vocabulary) / VOCABULARY).size(language)


def test_bpe_is_learned_from_no_more_words_than_it_may(store: Store, tmp_path: Path) -> None:
    (text, _) = graph("no-anchors").texts.values()
    bounded = LearnedBpe(texts=(text,), merges=30, most_words=100)
    bounded.make(Work(folder=tmp_path, input_folders={text.digest: store.folder(text)}, progress=lambda *_: None))
    expected = bpe_by_rescan(words_of(store.folder(text), most=100), merges=30)
    assert list(Bpe.read(tmp_path / MERGES).merges) == expected
