"""Links translate words; maps of words in context are fitted on the states of linked words."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from isoglot.corpora.synthetic import dictionary
from isoglot.corpora.vocabulary import END
from isoglot.corpora.words import split_lines
from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.vectors import VectorMap, read_maps
from isoglot.pipeline.stages.contextual_maps import LINKS, ContextualMaps, WordAlignments, read_links
from isoglot.pipeline.stages.models import chosen_model
from isoglot.pipeline.stages.readers import MAPS
from isoglot.pipeline.stages.scores import read_scores
from isoglot.pipeline.stages.text import SyntheticText
from isoglot.pipeline.stages.translations import SyntheticParallelText, parallel_lines
from isoglot.pipeline.stages.vocabulary import opened_encoding
from isoglot.store import Store
from isoglot.study.conditions import Domain
from isoglot.study.languages import Splitter, WordSplitting
from isoglot.study.searches import NewVectors, Subwords
from isoglot.study.synthetic_languages import Script, Side, SyntheticLanguage, World
from tests.pipeline.making import failure, input_folders, made, made_alone, values
from tests.pipeline.tiny_layers import ORDER_D, contextual_maps, monolingual, planted

ELA = SyntheticLanguage(name="ela")
ORU = SyntheticLanguage(name="oru", script=Script.CYRILLIC, adjectives=Side.AFTER)
LAST_WORDS = """
import sys
for line in sys.stdin:
    source, target = (side.split() for side in line.split("|||"))
    print(f"{len(source) - 1}-{len(target) - 1}")
"""


def alignments(*, aligner: tuple[str, ...] = ()) -> WordAlignments:
    ours, theirs = (
        SyntheticText(world=World(), language=language, domain=Domain.MAIN, sentences=2) for language in (ELA, ORU)
    )
    return WordAlignments(
        parallel=SyntheticParallelText(world=World(), languages=(ELA, ORU), texts=(ours, theirs), sentences=500),
        languages=("ela", "oru"),
        splittings={name: WordSplitting(splitter=Splitter.WHITESPACE, language=name) for name in ("ela", "oru")},
        splitter_versions={"ela": "1", "oru": "1"},
        aligner=aligner,
    )


def test_linked_words_translate_each_other_whichever_language_is_the_source(tmp_path: Path) -> None:
    stage, turned = alignments(), replace(alignments(), languages=("oru", "ela"))
    store = made(stage, turned, folder=tmp_path)
    there, back = (read_links(store.folder(each)) for each in (stage, turned))
    source, target = (parallel_lines(store.folder(stage.parallel), name) for name in stage.languages)
    translations = set(dictionary(ELA, ORU, world=World())) | {(".", ".")}
    linked = [(a.split()[i], b.split()[j]) for a, b, links in zip(source, target, there, strict=True) for i, j in links]
    assert sum(pair in translations for pair in linked) > 0.9 * len(linked)
    assert len(linked) > 0.9 * sum(len(line.split()) for line in source)
    same = sum(len(set(a) & {(i, j) for j, i in b}) for a, b in zip(there, back, strict=True))
    assert same > 0.95 * len(linked)
    assert any(i != j for links in there for i, j in links)


def test_a_program_of_the_user_replaces_our_model(tmp_path: Path) -> None:
    stage = alignments(aligner=(sys.executable, "-c", LAST_WORDS))
    store = made(stage, folder=tmp_path)
    lengths = [len(line.split()) for line in parallel_lines(store.folder(stage.parallel), "ela")]
    assert (store.folder(stage) / LINKS).read_text() == "".join(f"{length - 1}-{length - 1}\n" for length in lengths)
    assert read_links(store.folder(stage)) == [[(length - 1, length - 1)] for length in lengths]


def test_a_program_that_is_missing_fails_the_stage_by_name(tmp_path: Path) -> None:
    assert "'no-such-aligner' was not found" in failure(alignments(aligner=("no-such-aligner",)), tmp_path)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    stages = [contextual_maps(monolingual(), subwords=subwords) for subwords in Subwords]
    return made(*stages, folder=tmp_path_factory.mktemp("maps"))


@torch.no_grad()
def word_states(stage: ContextualMaps, store: Store, language: str) -> list[dict[int, Tensor]]:
    """The states [S, T, D] of the subwords of each word that fits, each sentence read alone."""
    bpe, vocabulary = stage.bpe[language], stage.vocabularies[language]
    encoding = opened_encoding(store.folder, language=language, bpe=bpe, vocabulary=vocabulary)
    encoder = chosen_model(store.folder(stage.encoders[language])).encoder
    found = []
    for words in split_lines(parallel_lines(store.folder(stage.parallel), language), stage.splittings[language]):
        ids, places = [END], {}
        for place, word in enumerate(words):
            subwords = encoding.vocabulary.encode(language, next(encoding.bpe.segment_all([word])))
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
        for own, other, sentence_links in zip(source, target, links, strict=True)
        for i, j in sentence_links
        if i in own and j in other
    ]
    total = sum(map(len, links))
    assert 16 < len(linked) < total

    def vectors(side: int, layer: int) -> Tensor:
        states = [pair[side][layer] for pair in linked]
        return torch.stack([each[0] if subwords is Subwords.FIRST else each.mean(0) for each in states])

    maps = read_maps(store.folder(stage) / MAPS)
    cosines = {each.layer: each.value for each in read_scores(store.folder(stage)) if each.metric == "link_cosine"}
    assert len(maps) == len(cosines) == 4
    for layer, fitted in enumerate(maps):
        origin_KD, goal_KD = vectors(1, layer), vectors(0, layer)
        expected = VectorMap.fit(origin_KD, goal_KD, rounds=5)
        for new_vectors in NewVectors:
            ours, theirs = (each.mapped(origin_KD, new_vectors=new_vectors) for each in (fitted, expected))
            torch.testing.assert_close(ours, theirs, rtol=0, atol=2e-3)
        normalised = NewVectors.NORMALIZED
        mapped_KD = expected.mapped(origin_KD, new_vectors=normalised)
        cosine = torch.cosine_similarity(mapped_KD, expected.compared(goal_KD, new_vectors=normalised)).mean()
        assert cosines[layer] == pytest.approx(float(cosine), abs=1e-3)
        assert cosines[layer] > 0.1
    scores = values(store.folder(stage))
    assert scores[None, "linked_words"] == len(linked)
    assert scores[None, "links_read"] == pytest.approx(100 * len(linked) / total, abs=1e-4)


def test_a_planted_rotation_is_found_at_every_layer(tmp_path: Path) -> None:
    pair, folders = planted(tmp_path)
    folder = made_alone(contextual_maps(pair), tmp_path / "maps", folders)
    maps = read_maps(folder / MAPS)
    assert len(maps) == 4
    for fitted in maps:
        torch.testing.assert_close(fitted.rotation_DD.float(), torch.eye(16)[ORDER_D], rtol=0, atol=1e-3)
        torch.testing.assert_close(fitted.origin.mean_D, fitted.goal.mean_D[ORDER_D], rtol=0, atol=1e-4)
    cosines = [score.value for score in read_scores(folder) if score.metric == "link_cosine"]
    assert cosines == pytest.approx([1.0] * 4, abs=1e-3)


def test_a_text_without_links_and_links_of_another_text_are_refused(store: Store, tmp_path: Path) -> None:
    stage = contextual_maps(monolingual())
    inputs = input_folders(stage, store)
    (tmp_path / LINKS).write_text("\n" * len(read_links(inputs[stage.links.digest])))
    with pytest.raises(IsoglotError, match="no word of the parallel text is linked"):
        made_alone(stage, tmp_path / "made", inputs | {stage.links.digest: tmp_path})
    with pytest.raises(ValueError, match="links must be of the text whose words are mapped"):
        replace(stage, parallel=replace(stage.parallel, sentences=61))
