"""Maps and similarities of sentences and of words in context, against numpy and scipy on vectors of the same files."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from oracles import precision_by_loops
from scipy.linalg import orthogonal_procrustes
from study_texts import TINY_STUDY
from torch import Tensor

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.synthetic import dictionary
from isoglot.corpora.vocabulary import END
from isoglot.corpora.words import split_lines
from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.hidden_states import sentence_vectors
from isoglot.evaluation.geometry.vectors import VectorMap, read_maps
from isoglot.pipeline.model_pairs import ModelPair
from isoglot.pipeline.stages.emergence import apart_from
from isoglot.pipeline.stages.layer_transfer import LINKS, ContextualMaps, WordAlignments, read_links
from isoglot.pipeline.stages.models import chosen_model
from isoglot.pipeline.stages.readers import MAPS, SENTENCES_CUT, TwoModelStage, opened_reader
from isoglot.pipeline.stages.scores import read_scores
from isoglot.pipeline.stages.text import SyntheticText
from isoglot.pipeline.stages.translations import AnyParallelText, SyntheticParallelText, parallel_lines
from isoglot.pipeline.stages.vocabulary import MERGES
from isoglot.store import Store
from isoglot.study.conditions import CONDITIONS, MONOLINGUAL, Domain
from isoglot.study.languages import Splitter, WordSplitting
from isoglot.study.searches import NewVectors, Subwords
from isoglot.study.study_file import parse_study
from isoglot.study.synthetic_languages import Script, Side, SyntheticLanguage, World
from tests.pipeline.making import input_folders, made, made_alone, values
from tests.pipeline.tiny_transfers import contextual_maps, monolingual

TEXT = TINY_STUDY.replace("parallel_sentences = 20", "parallel_sentences = 20\nmapping_sentences = 100")
STUDY = parse_study(TEXT.replace("updates = 80", "updates = 4"), origin="tiny.toml")
PAIR = ("ela", "oru")
PAIRS = {
    "monolingual": ModelPair.of(STUDY, MONOLINGUAL, PAIR, seed=0),
    "default": ModelPair.of(STUDY, CONDITIONS["default"], PAIR, seed=0),
    "paraphrases": ModelPair.of(STUDY, MONOLINGUAL, ("ela", "ela-prime"), seed=0),
}
LAYERS = range(5)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    alignment = PAIRS["monolingual"].sentence_alignment()
    stages = [pair.similarity() for pair in PAIRS.values()]
    rotated = replace(alignment, new_vectors=NewVectors.ROTATED)
    return made(alignment, rotated, *stages, folder=tmp_path_factory.mktemp("store"))


def scores_of(stage: TwoModelStage, store: Store) -> dict[tuple[str, int | None], float]:
    return {(score.metric, score.layer): score.value for score in read_scores(store.folder(stage))}


def vectors(stage: TwoModelStage, text: AnyParallelText, language: str, store: Store) -> np.ndarray:
    """[S, N, D], one sentence at a time."""
    reader = opened_reader(store.folder, stage.encoders[language], language=language)
    lines = parallel_lines(store.folder(text), language)
    each = [sentence_vectors(reader, reader.sentences([line])) for line in lines]
    return torch.cat(each, dim=1).double().numpy()


def normalised(x: np.ndarray, rounds: int) -> np.ndarray:
    for _ in range(rounds):
        x = x / np.linalg.norm(x, axis=1, keepdims=True)
        x = x - x.mean(0)
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def precision_at_1(queries: np.ndarray, answers: np.ndarray) -> float:
    return precision_by_loops(queries.tolist(), answers.tolist(), [(row, row) for row in range(len(queries))])


def test_retrieval_after_a_map(store: Store) -> None:
    stage = PAIRS["monolingual"].sentence_alignment()
    scores = scores_of(stage, store)
    rotated_scores = scores_of(replace(stage, new_vectors=NewVectors.ROTATED), store)
    source, target = (vectors(stage, stage.fit, language, store) for language in PAIR)
    own, other = (vectors(stage, stage.test, language, store) for language in PAIR)
    assert scores["aligned_retrieval_p1_chance", None] == 100 / own.shape[1]
    assert scores["fitted_pairs", None] == source.shape[1] == 100
    for layer in LAYERS:
        rotation, _ = orthogonal_procrustes(normalised(target[layer], 5), normalised(source[layer], 5))
        centred = (other[layer] - target[layer].mean(0)) @ rotation + source[layer].mean(0)
        to_target, to_source = precision_at_1(own[layer], centred), precision_at_1(centred, own[layer])
        rotated = precision_at_1(other[layer] @ rotation, own[layer])
        expected = {
            "aligned_retrieval_p1_to_target": to_target,
            "aligned_retrieval_p1_to_source": to_source,
            "aligned_retrieval_p1": (to_target + to_source) / 2,
            "aligned_retrieval_p1_rotated_to_source": rotated,
        }
        assert {name: scores[name, layer] for name in expected} == pytest.approx(expected, abs=1e-3)
        # The study's way to map new vectors has the plain name.
        assert scores["aligned_retrieval_p1_rotated", layer] == rotated_scores["aligned_retrieval_p1", layer]
        assert scores["aligned_retrieval_p1", layer] == rotated_scores["aligned_retrieval_p1_centred", layer]


def test_no_map_is_fitted_on_a_sentence_that_tests_it() -> None:
    tests = [["a b", "c"], ["A B", "C"]]
    texts = [["x", "c", "y", "z"], ["X", "Q", "A B", "Z"]]
    assert apart_from(tests, texts) == [["x", "z"], ["X", "Z"]]
    with pytest.raises(IsoglotError, match=r"all parallel sentences .* name other files under resources\.mapping"):
        apart_from(tests, [["c"], ["C"]])


def test_the_share_of_cut_sentences_is_a_score(store: Store) -> None:
    stage = PAIRS["monolingual"].similarity()
    scores = values(store.folder(stage))
    for language in PAIR:
        bpe = Bpe.read(store.folder(stage.bpe[language]) / MERGES)
        lines = parallel_lines(store.folder(stage.parallel), language)
        lengths = [2 + sum(len(next(bpe.segment_all([word]))) for word in line.split()) for line in lines]
        num_cut = sum(length > STUDY.scale.window for length in lengths)
        assert scores[language, SENTENCES_CUT] == pytest.approx(100 * num_cut / len(lines), abs=1e-3)
        assert 0 < num_cut < len(lines)


def gram_cka(x: np.ndarray, y: np.ndarray) -> float:
    centring = np.eye(len(x)) - 1 / len(x)
    k, m = (centring @ z @ z.T @ centring for z in (x, y))
    return float((k * m).sum() / np.sqrt((k * k).sum() * (m * m).sum()))


@pytest.mark.parametrize("kind", PAIRS)
def test_similarity_is_that_of_the_sentence_vectors(kind: str, store: Store) -> None:
    stage = PAIRS[kind].similarity()
    scores = scores_of(stage, store)
    x, y = (vectors(stage, stage.parallel, language, store) for language in stage.languages)
    for layer in LAYERS:
        assert scores["cka", layer] == pytest.approx(gram_cka(x[layer], y[layer]), abs=1e-4)
        measures = {metric for metric, at in scores if at == layer}
        assert measures == {"cka", "cka_debiased", "svcca", "neuron_correlation"}


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
    word_store = made(stage, turned, folder=tmp_path)
    there, back = (read_links(word_store.folder(each)) for each in (stage, turned))
    source, target = (parallel_lines(word_store.folder(stage.parallel), name) for name in stage.languages)
    translations = set(dictionary(ELA, ORU, world=World())) | {(".", ".")}
    linked = [(a.split()[i], b.split()[j]) for a, b, links in zip(source, target, there, strict=True) for i, j in links]
    assert sum(pair in translations for pair in linked) > 0.9 * len(linked)
    assert len(linked) > 0.9 * sum(len(line.split()) for line in source)
    same = sum(len(set(a) & {(i, j) for j, i in b}) for a, b in zip(there, back, strict=True))
    assert same > 0.95 * len(linked)
    assert any(i != j for links in there for i, j in links)


def test_a_program_of_the_user_replaces_our_model(tmp_path: Path) -> None:
    stage = alignments(aligner=(sys.executable, "-c", LAST_WORDS))
    word_store = made(stage, folder=tmp_path)
    lengths = [len(line.split()) for line in parallel_lines(word_store.folder(stage.parallel), "ela")]
    assert (word_store.folder(stage) / LINKS).read_text() == "".join(
        f"{length - 1}-{length - 1}\n" for length in lengths
    )
    assert read_links(word_store.folder(stage)) == [[(length - 1, length - 1)] for length in lengths]


@pytest.fixture(scope="module")
def word_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    stages = [contextual_maps(monolingual(), subwords=subwords) for subwords in Subwords]
    return made(*stages, folder=tmp_path_factory.mktemp("maps"))


@torch.no_grad()
def word_states(stage: ContextualMaps, word_store: Store, language: str) -> list[dict[int, Tensor]]:
    """The states [S, T, D] of the subwords of each word that fits, each sentence read alone."""
    encoding = stage.encoders[language].streams[language].encoding(word_store.folder)
    encoder = chosen_model(word_store.folder(stage.encoders[language])).encoder
    found = []
    for words in split_lines(parallel_lines(word_store.folder(stage.parallel), language), stage.splittings[language]):
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
def test_each_link_is_a_pair_of_the_states_of_its_words(subwords: Subwords, word_store: Store) -> None:
    stage = contextual_maps(monolingual(), subwords=subwords)
    links = read_links(word_store.folder(stage.links))
    source, target = (word_states(stage, word_store, language) for language in ("ela", "oru"))
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

    maps = read_maps(word_store.folder(stage) / MAPS)
    cosines = {each.layer: each.value for each in read_scores(word_store.folder(stage)) if each.metric == "link_cosine"}
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
    scores = values(word_store.folder(stage))
    assert scores[None, "linked_words"] == len(linked)
    assert scores[None, "links_read"] == pytest.approx(100 * len(linked) / total, abs=1e-4)


def test_a_text_without_links_is_refused(word_store: Store, tmp_path: Path) -> None:
    stage = contextual_maps(monolingual())
    inputs = input_folders(stage, word_store)
    (tmp_path / LINKS).write_text("\n" * len(read_links(inputs[stage.links.digest])))
    with pytest.raises(IsoglotError, match="no word of the parallel text is linked"):
        made_alone(stage, tmp_path / "made", inputs | {stage.links.digest: tmp_path})
