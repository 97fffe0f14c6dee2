"""Switchable texts are the training lines, and both languages translate into each other by the dictionary."""

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from study_texts import TINY_STUDY

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.code_switching import SwitchableText
from isoglot.corpora.numbered_text import NumberedText, Split
from isoglot.corpora.streams import TokenStream
from isoglot.corpora.synthetic import lexicon as dictionary
from isoglot.corpora.vocabulary import UNK, Vocabulary
from isoglot.pipeline.model_graph import ModelGraph
from isoglot.pipeline.stages.vocabulary import MERGES, VOCABULARY
from isoglot.store import Store, run_plan
from isoglot.study.conditions import CONDITIONS, Segmentation
from isoglot.study.study import Synthetic, parse_study

STUDY = parse_study(TINY_STUDY, origin="tiny.toml")
JOINT = CONDITIONS["extra-anchors"]
EACH = replace(JOINT, name="extra-anchors-each", segmentation=Segmentation.EACH)
MODELS = [ModelGraph(study=STUDY, condition=condition, languages=("ela", "oru"), seed=0) for condition in (JOINT, EACH)]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = Store(tmp_path_factory.mktemp("store"))
    targets = [stage for model in MODELS for stage in (*model.streams.values(), *model.switchable.values())]
    assert run_plan(targets, store).failed == {}
    return store


def text_of(model: ModelGraph, language: str, store: Store) -> SwitchableText:
    return SwitchableText.read(store.folder(model.switchable[language]))


def spelled_types(text: SwitchableText) -> list[tuple[int, ...]]:
    return [tuple(tokens) for tokens in np.split(text.token_S, text.token_end_T[:-1])]


@pytest.mark.parametrize("model", MODELS, ids=["joint", "each"])
@pytest.mark.parametrize("language", ["ela", "oru"])
def test_unchanged_it_is_the_stream(model: ModelGraph, language: str, store: Store) -> None:
    text = text_of(model, language, store)
    types = spelled_types(text)
    stream = TokenStream.open(store.folder(model.streams[language])).ids(Split.TRAIN)
    assert [id for number in text.type_N for id in types[number]] == stream.tolist()


@pytest.mark.parametrize("model", MODELS, ids=["joint", "each"])
@pytest.mark.parametrize(("language", "other"), [("ela", "oru"), ("oru", "ela")])
def test_words_give_way_to_those_of_the_dictionary_as_the_other_language_spells_them(
    model: ModelGraph, language: str, other: str, store: Store
) -> None:
    bpe = Bpe.read(store.folder(model.bpe[other]) / MERGES)
    vocabulary = Vocabulary.read(store.folder(model.vocabulary) / VOCABULARY)
    meanings: defaultdict[str, list[tuple[int, ...]]] = defaultdict(list)
    made_up = model.study.text
    assert isinstance(made_up, Synthetic)
    for pair in dictionary(made_up.language("ela"), made_up.language("oru"), world=made_up.world):
        own, foreign = pair if language == "ela" else reversed(pair)
        spelling = tuple(vocabulary.encode(other, bpe.segment(foreign)))
        if UNK not in spelling:
            meanings[own].append(spelling)
    words = NumberedText.read(store.folder(model.texts[language])).types

    text = text_of(model, language, store)
    types, ends = spelled_types(text), text.translation_end_W.tolist()
    found = {
        word: [types[target] for target in text.translation_K[ends[number] : ends[number + 1]]]
        for number, word in enumerate(words)
    }
    assert {word: sorted(targets) for word, targets in found.items()} == {
        word: sorted(meanings.get(word, [])) for word in words
    }
    assert np.diff(text.weight_end_K, prepend=0).tolist() == [1.0] * len(text.translation_K)
    # Nearly every word of a made-up text has an entry; a full stop has none.
    assert len([word for word in words if found[word]]) > 0.8 * len(words)
    assert found["."] == []
