"""BPE and tables are learned from training lines alone, and each condition shares the ids that it should."""

from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from oracles import bpe_by_rescan
from real_studies import write_real_study
from study_texts import TINY_STUDY

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.code_switching import SwitchableText
from isoglot.corpora.numbered_text import NumberedText, Split
from isoglot.corpora.streams import TokenStream
from isoglot.corpora.synthetic import dictionary
from isoglot.corpora.vocabulary import END, UNK
from isoglot.pipeline.model_graph import ModelGraph
from isoglot.pipeline.stages.vocabulary import MERGES, LearnedBpe
from isoglot.store import Store
from isoglot.study.conditions import CONDITIONS, Segmentation, condition_named
from isoglot.study.study_file import parse_study, read_study
from isoglot.study.synthetic_languages import Synthetic
from tests.pipeline.making import made, made_alone, values

STUDY = parse_study(TINY_STUDY, origin="tiny.toml")
SWITCHED = {
    "joint": CONDITIONS["extra-anchors"],
    "each": replace(CONDITIONS["extra-anchors"], name="extra-anchors-each", segmentation=Segmentation.EACH),
}


def graph(name: str) -> ModelGraph:
    condition = SWITCHED.get(name) or CONDITIONS[name]
    return ModelGraph(study=STUDY, condition=condition, languages=("ela", "oru"), seed=0)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Streams of every kind of table, and switchable text."""
    graphs = [graph(name) for name in ("default", "default-anchors", "no-anchors", "sep-emb", *SWITCHED)]
    stages = [stage for each in graphs for stage in (*each.streams.values(), *each.switchable.values())]
    return made(*stages, folder=tmp_path_factory.mktemp("store"))


def words_of(folder: Path, *, most: int | None = None) -> Counter[str]:
    lines = NumberedText.read(folder).lines(Split.TRAIN)
    return Counter([word for line in lines for word in line][:most])


def merges_in(folder: Path) -> list[tuple[str, str]]:
    return list(Bpe.read(folder / MERGES).merges)


def test_bpe_is_learned_from_as_many_training_words_of_both_or_from_those_of_one(store: Store) -> None:
    joint, each = graph("default"), graph("no-anchors")
    folders = {language: store.folder(text) for language, text in joint.texts.items()}
    totals = [words_of(folder).total() for folder in folders.values()]
    assert min(totals) < max(totals), "nothing to balance"
    first, second = (words_of(folder, most=min(totals)) for folder in folders.values())
    assert merges_in(store.folder(joint.bpe["ela"])) == bpe_by_rescan(first + second, merges=200)
    for language, folder in folders.items():
        assert merges_in(store.folder(each.bpe[language])) == bpe_by_rescan(words_of(folder), merges=100)


def test_bpe_is_learned_from_no_more_words_than_it_may(store: Store, tmp_path: Path) -> None:
    text = graph("no-anchors").texts["ela"]
    bounded = LearnedBpe(texts=(text,), merges=30, most_words=100)
    folder = made_alone(bounded, tmp_path, {text.digest: store.folder(text)})
    assert merges_in(folder) == bpe_by_rescan(words_of(store.folder(text), most=100), merges=30)


def spelled_types(text: SwitchableText) -> list[tuple[int, ...]]:
    return [tuple(tokens) for tokens in np.split(text.token_S, text.token_end_T[:-1])]


@pytest.mark.parametrize("name", SWITCHED)
@pytest.mark.parametrize(("language", "other"), [("ela", "oru"), ("oru", "ela")])
def test_switchable_text_is_the_stream_with_the_translations_of_the_dictionary(
    name: str, language: str, other: str, store: Store
) -> None:
    model = graph(name)
    text = SwitchableText.read(store.folder(model.switchable[language]))
    types = spelled_types(text)
    stream = TokenStream.open(store.folder(model.streams[language])).ids(Split.TRAIN)
    assert [id for number in text.type_N for id in types[number]] == stream.tolist()

    encoding = model.streams[other].encoding(store.folder)
    translations: defaultdict[str, list[tuple[int, ...]]] = defaultdict(list)
    assert isinstance(STUDY.text, Synthetic)
    for pair in dictionary(STUDY.text.language("ela"), STUDY.text.language("oru"), world=STUDY.text.world):
        own, foreign = pair if language == "ela" else reversed(pair)
        spelling = tuple(encoding.vocabulary.encode(other, next(encoding.bpe.segment_all([foreign]))))
        if UNK not in spelling:
            translations[own].append(spelling)
    words, ends = NumberedText.read(store.folder(model.texts[language])).types, text.translation_end_W.tolist()
    for number, word in enumerate(words):
        found = [types[target] for target in text.translation_K[ends[number] : ends[number + 1]]]
        assert sorted(found) == sorted(translations[word])
    assert np.diff(text.weight_end_K, prepend=0).tolist() == [1.0] * len(text.translation_K)
    # Nearly every word of a synthetic text has an entry; a full stop has none.
    assert sum(bool(translations[word]) for word in words) > 0.8 * len(words)
    assert translations["."] == []


@pytest.mark.parametrize("name", ["sep-emb", "extra-anchors", "anchors-50"])
def test_statistics_are_counted_on_the_streams(name: str, tmp_path: Path) -> None:
    study = read_study(write_real_study(tmp_path))
    # Letters that the training lines do not have.
    with (tmp_path / "text/fr-2.txt").open("a", encoding="utf-8") as file:
        file.writelines(f"le ch{chr(0x100 + number)}t\n" for number in range(60))
    model = ModelGraph(study=study, condition=condition_named(name), languages=("en", "fr"), seed=0)
    stage = model.vocabulary_statistics
    store = made(stage, folder=tmp_path / "store")
    scores = values(store.folder(stage))

    streams = {language: TokenStream.open(store.folder(each)) for language, each in model.streams.items()}
    counts = {language: Counter(stream.ids(Split.TRAIN).tolist()) for language, stream in streams.items()}
    for each in counts.values():
        del each[END]
    shared = set() if name == "sep-emb" else counts["en"].keys() & counts["fr"].keys()
    assert scores[None, "anchor_types"] == len(shared)
    assert bool(shared) is (name != "sep-emb")
    for language, count in counts.items():
        words = NumberedText.read(store.folder(model.texts[language])).num_words(Split.TRAIN)
        dev = streams[language].ids(Split.DEV).tolist()
        expected = {
            "training_words": words,
            "training_tokens": count.total(),
            "tokens_per_word": count.total() / words,
            "subword_types": len(count),
            "anchor_token_share": 100 * sum(count[id] for id in shared) / count.total(),
            "unknown_share_held_out": 100 * dev.count(UNK) / (len(dev) - dev.count(END)),
        }
        if name == "extra-anchors":
            text = SwitchableText.read(store.folder(model.switchable[language]))
            expected["dictionary_word_share"] = 100 * text.known_share()
        assert {metric: scores[language, metric] for metric in expected} == pytest.approx(expected, abs=1e-3)
    assert scores["fr", "unknown_share_held_out"] > 0
