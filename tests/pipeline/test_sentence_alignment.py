"""Maps and similarities of sentences, against numpy and scipy on the vectors of the same files."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.linalg import orthogonal_procrustes
from study_texts import TINY_STUDY

from isoglot.corpora.bpe import Bpe
from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.hidden_states import sentence_vectors
from isoglot.pipeline.model_pairs import ModelPair
from isoglot.pipeline.stages.readers import SENTENCES_CUT, TwoModelStage, opened_reader
from isoglot.pipeline.stages.scores import read_scores
from isoglot.pipeline.stages.sentence_alignment import apart_from
from isoglot.pipeline.stages.translations import AnyParallelText, parallel_lines
from isoglot.pipeline.stages.vocabulary import MERGES
from isoglot.store import Store
from isoglot.study.conditions import CONDITIONS
from isoglot.study.searches import NewVectors
from isoglot.study.study import parse_study
from tests.pipeline.making import made, values

TEXT = TINY_STUDY.replace("parallel_sentences = 20", "parallel_sentences = 20\nmapping_sentences = 100")
STUDY = parse_study(TEXT.replace("updates = 80", "updates = 4"), origin="tiny.toml")
PAIR = ("ela", "oru")
PAIRS = {
    "monolingual": ModelPair.monolingual(STUDY, PAIR, seed=0),
    "default": ModelPair.bilingual(STUDY, CONDITIONS["default"], PAIR, seed=0),
    "paraphrases": ModelPair.monolingual(STUDY, ("ela", "ela-prime"), seed=0),
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
    reader = opened_reader(
        store.folder,
        encoder=stage.encoders[language],
        vocabulary=stage.vocabularies[language],
        bpe=stage.bpe[language],
        language=language,
        splitting=stage.splittings[language],
    )
    lines = parallel_lines(store.folder(text), language)
    each = [sentence_vectors(reader, reader.sentences([line])) for line in lines]
    return torch.cat(each, dim=1).double().numpy()


def normalised(x: np.ndarray, rounds: int) -> np.ndarray:
    for _ in range(rounds):
        x = x / np.linalg.norm(x, axis=1, keepdims=True)
        x = x - x.mean(0)
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def precision_at_1(queries: np.ndarray, answers: np.ndarray) -> float:
    right = 0
    for row, query in enumerate(queries):
        cosines = [query @ answer / np.linalg.norm(query) / np.linalg.norm(answer) for answer in answers]
        right += int(np.argmax(cosines)) == row
    return 100 * right / len(queries)


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
