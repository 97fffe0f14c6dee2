"""Maps of words in context are fitted on the very states of linked words, and a planted rotation is found."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.vocabulary import END, Vocabulary
from isoglot.corpora.words import split_lines
from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.vector_maps import VectorMap, read_maps
from isoglot.pipeline.stages.contextual_maps import MAPS, ContextualMaps
from isoglot.pipeline.stages.models import chosen_model
from isoglot.pipeline.stages.parallel_text import parallel_lines
from isoglot.pipeline.stages.scores import read_scores
from isoglot.pipeline.stages.word_alignments import read_links
from isoglot.store import Store, Work, run_plan
from isoglot.study.searches import NewVectors, Subwords
from tests.pipeline.tiny_layers import ORDER_D, bilingual, contextual_maps, made, monolingual, planted

LAYERS = 4


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = Store(tmp_path_factory.mktemp("maps"))
    stages = [contextual_maps(monolingual()), contextual_maps(monolingual(), subwords=Subwords.MEAN)]
    assert run_plan(stages, store).failed == {}
    return store


@torch.no_grad()
def word_states(stage: ContextualMaps, store: Store, language: str) -> list[dict[int, list[Tensor]]]:
    """Of each sentence alone, by the place of a word: [S, T, D] of those of its subwords that fit."""
    vocabulary = Vocabulary.read(store.folder(stage.vocabularies[language]) / "vocabulary.json")
    bpe = Bpe.read(store.folder(stage.bpe[language]) / "merges.txt")
    encoder = chosen_model(store.folder(stage.encoders[language])).encoder
    found = []
    for words in split_lines(parallel_lines(store.folder(stage.parallel), language), stage.splittings[language]):
        ids, places = [END], {}
        for place, word in enumerate(words):
            subwords = vocabulary.encode(language, bpe.segment(word))
            if len(ids) + len(subwords) > 15:
                break
            places[place] = range(len(ids), len(ids) + len(subwords))
            ids += subwords
        states = torch.stack(encoder.hidden_states(torch.tensor([[*ids, END]]), language=language))[:, 0]
        found.append({place: states[:, list(at)] for place, at in places.items()})
    return found


@pytest.mark.parametrize("subwords", Subwords)
def test_each_link_is_a_pair_of_the_states_of_its_words(subwords: Subwords, store: Store) -> None:
    stage = contextual_maps(monolingual(), subwords=subwords)
    links = read_links(store.folder(stage.links))
    source, target = (word_states(stage, store, language) for language in ("ela", "oru"))
    linked = [
        (own[i], other[j])
        for own, other, of_sentence in zip(source, target, links, strict=True)
        for i, j in of_sentence
        if i in own and j in other
    ]
    total = sum(map(len, links))
    assert 16 < len(linked) < total

    def vectors(states: list[Tensor], layer: int) -> Tensor:
        rows = [each[layer] for each in states]
        return torch.stack([each[0] if subwords is Subwords.FIRST else each.mean(0) for each in rows])

    maps = read_maps(store.folder(stage) / MAPS)
    scores = read_scores(store.folder(stage))
    assert len(maps) == LAYERS
    for layer, found in enumerate(maps):
        origin_KD, goal_KD = (vectors([pair[side] for pair in linked], layer) for side in (1, 0))
        expected = VectorMap.fit(origin_KD, goal_KD, rounds=5)
        for new_vectors in NewVectors:
            ours, theirs = (each.mapped(origin_KD, new_vectors=new_vectors) for each in (found, expected))
            torch.testing.assert_close(ours, theirs, rtol=0, atol=2e-3)
        cosine = torch.cosine_similarity(
            expected.mapped(origin_KD, new_vectors=NewVectors.NORMALIZED),
            expected.compared(goal_KD, new_vectors=NewVectors.NORMALIZED),
        ).mean()
        (told,) = [score.value for score in scores if score.metric == "link_cosine" and score.layer == layer]
        assert told == pytest.approx(float(cosine), abs=1e-3)
        assert told > 0.1
    rest = {score.metric: score.value for score in scores if score.layer is None}
    assert rest == {"linked_words": len(linked), "links_read": pytest.approx(100 * len(linked) / total, abs=1e-4)}


def test_a_planted_rotation_is_found_at_every_layer(tmp_path: Path) -> None:
    pair, folders = planted(tmp_path)
    folder = made(contextual_maps(pair), folders, tmp_path / "maps")
    maps = read_maps(folder / MAPS)
    assert len(maps) == LAYERS
    for found in maps:
        torch.testing.assert_close(found.rotation_DD.float(), torch.eye(16)[ORDER_D], rtol=0, atol=1e-3)
        torch.testing.assert_close(found.origin.mean_D, found.goal.mean_D[ORDER_D], rtol=0, atol=1e-4)
    cosines = [score.value for score in read_scores(folder) if score.metric == "link_cosine"]
    assert cosines == pytest.approx([1.0] * LAYERS, abs=1e-3)


def test_a_text_without_links_is_refused(store: Store, tmp_path: Path) -> None:
    stage = contextual_maps(monolingual())
    folders = {each.digest: store.folder(each) for each in stage.inputs.values()}
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "links.txt").write_text("\n" * len(read_links(folders[stage.links.digest])))
    folders[stage.links.digest] = tmp_path / "links"
    with pytest.raises(IsoglotError, match="no word of the parallel text is linked"):
        stage.make(Work(folder=tmp_path, input_folders=folders, progress=lambda *_: None))


def test_links_of_another_text_are_refused() -> None:
    stage = contextual_maps(monolingual())
    with pytest.raises(ValueError, match="links must be of the text whose words are mapped"):
        replace(stage, parallel=replace(stage.parallel, sentences=61))


def test_what_maps_are() -> None:
    stage = contextual_maps(monolingual())
    assert replace(stage, label="by another name").digest == stage.digest
    others = [
        contextual_maps(monolingual(), rounds=4),
        contextual_maps(monolingual(), subwords=Subwords.MEAN),
        contextual_maps(bilingual()),
        replace(stage, links=replace(stage.links, aligner=("./align",))),
    ]
    assert len({each.digest for each in (stage, *others)}) == 5
    assert stage.title == "maps of words in context, monolingual ela and oru, seed 0"
