"""Maps and similarities of models, against numpy and scipy on the vectors of the very same files."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.linalg import orthogonal_procrustes
from study_texts import TINY_STUDY

from isoglot.corpora.bpe import Bpe
from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.hidden_states import sentence_vectors
from isoglot.pipeline.model_pairs import ModelPair
from isoglot.pipeline.stages.parallel_text import AnyParallelText, parallel_lines
from isoglot.pipeline.stages.readers import opened_reader
from isoglot.pipeline.stages.scores import read_scores
from isoglot.pipeline.stages.sentence_alignment import SentenceAlignment, Similarity, apart_from
from isoglot.pipeline.stages.two_models import SENTENCES_CUT, TwoModelStage
from isoglot.pipeline.stages.vocabulary import MERGES
from isoglot.store import Store, run_plan
from isoglot.study.conditions import CONDITIONS
from isoglot.study.study import parse_study

STUDY = parse_study(TINY_STUDY.replace("updates = 80", "updates = 8"), origin="tiny.toml")
PAIR = ("ela", "oru")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(tmp_path_factory.mktemp("store"))


def made(stage: TwoModelStage, store: Store) -> dict[tuple[str, int | None], float]:
    assert run_plan([stage], store).failed == {}
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
    stage = ModelPair.monolingual(STUDY, PAIR, seed=0).sentence_alignment()
    scores = made(stage, store)
    source, target = (vectors(stage, stage.fit, language, store) for language in PAIR)
    own, other = (vectors(stage, stage.test, language, store) for language in PAIR)
    assert scores["aligned_retrieval_p1_chance", None] == 100 / own.shape[1]
    assert scores["fitted_pairs", None] == source.shape[1] == 1000
    for layer in range(STUDY.scale.shape.layers + 1):
        rotation, _ = orthogonal_procrustes(normalised(target[layer], 5), normalised(source[layer], 5))
        centred = (other[layer] - target[layer].mean(0)) @ rotation + source[layer].mean(0)
        to_target, to_source = precision_at_1(own[layer], centred), precision_at_1(centred, own[layer])
        assert scores["aligned_retrieval_p1_to_target", layer] == pytest.approx(to_target, abs=1e-3)
        assert scores["aligned_retrieval_p1_to_source", layer] == pytest.approx(to_source, abs=1e-3)
        assert scores["aligned_retrieval_p1", layer] == pytest.approx((to_target + to_source) / 2, abs=1e-3)
        rotated = other[layer] @ rotation
        assert scores["aligned_retrieval_p1_rotated_to_source", layer] == pytest.approx(
            precision_at_1(rotated, own[layer]), abs=1e-3
        )


def test_no_map_is_fitted_on_a_sentence_that_tests_it() -> None:
    tests = [["a b", "c"], ["A B", "C"]]
    texts = [["x", "c", "y", "z"], ["X", "Q", "A B", "Z"]]
    assert apart_from(tests, texts) == [["x", "z"], ["X", "Z"]]
    with pytest.raises(IsoglotError, match=r"all parallel sentences .* name other files under resources\.mapping"):
        apart_from(tests, [["c"], ["C"]])


def test_how_many_sentences_are_cut_is_told(store: Store) -> None:
    stage = ModelPair.monolingual(STUDY, PAIR, seed=0).similarity()
    made(stage, store)
    told = {score.language: score.value for score in read_scores(store.folder(stage)) if score.metric == SENTENCES_CUT}
    for language in PAIR:
        bpe = Bpe.read(store.folder(stage.bpe[language]) / MERGES)
        lines = parallel_lines(store.folder(stage.parallel), language)
        lengths = [2 + sum(len(bpe.segment(word)) for word in line.split()) for line in lines]
        cut = sum(length > STUDY.scale.window for length in lengths)
        assert told[language] == pytest.approx(100 * cut / len(lines), abs=1e-3)
        assert 0 < cut < len(lines)


def test_the_studys_way_to_map_new_vectors_has_the_plain_name(store: Store) -> None:
    stage = ModelPair.monolingual(STUDY, PAIR, seed=0).sentence_alignment()
    other = replace(stage, new_vectors=type(stage.new_vectors).ROTATED)
    assert isinstance(other, SentenceAlignment)
    ours, theirs = made(stage, store), made(other, store)
    for layer in range(STUDY.scale.shape.layers + 1):
        assert ours["aligned_retrieval_p1_rotated", layer] == theirs["aligned_retrieval_p1", layer]
        assert ours["aligned_retrieval_p1", layer] == theirs["aligned_retrieval_p1_centred", layer]


def gram_cka(x: np.ndarray, y: np.ndarray) -> float:
    centring = np.eye(len(x)) - 1 / len(x)
    k, m = (centring @ z @ z.T @ centring for z in (x, y))
    return float((k * m).sum() / np.sqrt((k * k).sum() * (m * m).sum()))


@pytest.mark.parametrize("kind", ["monolingual", "default", "paraphrases"])
def test_similarity_is_that_of_the_sentences_vectors(kind: str, store: Store) -> None:
    languages = ("ela", "ela-prime") if kind == "paraphrases" else PAIR
    if kind == "default":
        pair = ModelPair.bilingual(STUDY, CONDITIONS["default"], languages, seed=0)
    else:
        pair = ModelPair.monolingual(STUDY, languages, seed=0)
    stage = pair.similarity()
    assert isinstance(stage, Similarity)
    scores = made(stage, store)
    x, y = (vectors(stage, stage.parallel, language, store) for language in languages)
    for layer in range(STUDY.scale.shape.layers + 1):
        assert scores["cka", layer] == pytest.approx(gram_cka(x[layer], y[layer]), abs=1e-4)
        assert 0 <= scores["cka", layer] <= 1
        assert {metric for metric, at in scores if at == layer} == {
            "cka",
            "cka_debiased",
            "svcca",
            "neuron_correlation",
        }


def test_scores_do_not_hang_on_when_they_are_made(store: Store, tmp_path: Path) -> None:
    stage = ModelPair.monolingual(STUDY, PAIR, seed=0).similarity()
    assert made(stage, store) == made(stage, Store(tmp_path))
