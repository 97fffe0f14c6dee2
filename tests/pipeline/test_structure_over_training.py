"""Structure at moments of training, against the stages that measure the chosen model and against loops."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from oracles import precision_by_loops
from real_studies import write_real_study
from study_texts import TINY_STUDY

from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.hidden_states import sentence_vectors
from isoglot.model.cloze import read_model
from isoglot.pipeline.cells import EMERGENCE, TRAINING
from isoglot.pipeline.exhibits import cells, gap_sentences
from isoglot.pipeline.measurements import measurements
from isoglot.pipeline.stages.evaluation_log import Evaluation, chosen_evaluation, evaluations
from isoglot.pipeline.stages.parallel_text import parallel_lines
from isoglot.pipeline.stages.readers import opened_reader
from isoglot.pipeline.stages.scores import SCORES, Score, read_scores, write_scores
from isoglot.pipeline.stages.structure_over_training import StructureOverTraining, kept_models
from isoglot.store import Store, run_plan
from isoglot.study.study import parse_study, read_study, with_conditions, with_exhibits, with_seeds

TEXT = TINY_STUDY.replace("parallel_sentences = 20", "parallel_sentences = 20\nmapping_sentences = 30")
STUDY = with_seeds(parse_study(TEXT, origin="tiny.toml"), [0])
# Its position tables and layers are apart, so that a language read with the other's would be noticed.
SHOWN = with_conditions(with_exhibits(STUDY, ["training", "emergence", "figure-7"]), ["sep-emb-l1-6"])
LAYERS = range(5)
UPDATES = [1, 2, 5, 10, 20, 40]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = Store(tmp_path_factory.mktemp("store"))
    assert run_plan([cell.stage for cell in cells(SHOWN)], store).failed == {}
    return store


def stage() -> StructureOverTraining:
    (found,) = (cell.stage for cell in cells(SHOWN) if cell.exhibit == TRAINING)
    assert isinstance(found, StructureOverTraining)
    return found


def by_layer(store: Store, metric: str, update: int) -> list[float]:
    scores = [each for each in read_scores(store.folder(stage())) if (each.metric, each.update) == (metric, update)]
    assert [each.layer for each in scores] == list(LAYERS)
    return [each.value for each in scores]


def test_the_last_moment_is_the_chosen_model_of_the_other_exhibits(store: Store) -> None:
    found, _ = measurements(SHOWN, store)
    chosen = next(int(each.value) for each in found if each.metric == "chosen_update")
    for metric, exhibit in (("retrieval_p1", EMERGENCE), ("cka", "figure-7")):
        here = [
            each.value
            for each in found
            if (each.exhibit, each.metric, each.condition, each.languages)
            == (exhibit, metric, "sep-emb-l1-6", ("ela", "oru"))
        ]
        assert by_layer(store, metric, chosen) == here
        assert len(here) == len(LAYERS)


def test_earlier_moments_are_of_the_models_that_were_kept_then(store: Store) -> None:
    encoder = stage().encoders["ela"]
    kept = kept_models(store.folder(encoder), source="ela")
    assert list(kept)[: len(UPDATES)] == UPDATES
    vectors = []
    for language in stage().languages:
        reader = opened_reader(
            store.folder,
            encoder=encoder,
            vocabulary=stage().vocabularies[language],
            bpe=stage().bpe[language],
            language=language,
            splitting=stage().splittings[language],
        )
        reader.encoder = read_model(store.folder(encoder) / "intermediate" / "00000020").encoder
        assert stage().retrieval is not None
        lines = parallel_lines(store.folder(stage().retrieval), language)
        vectors.append(torch.cat([sentence_vectors(reader, reader.sentences([line])) for line in lines], dim=1))
    same = [(row, row) for row in range(20)]
    for layer, (a_ND, b_ND) in enumerate(zip(*vectors, strict=True)):
        a, b = ((each - each.mean(0)).tolist() for each in (a_ND, b_ND))
        expected = (precision_by_loops(a, b, same) + precision_by_loops(b, a, same)) / 2
        assert by_layer(store, "retrieval_p1", 20)[layer] == pytest.approx(expected)
    assert by_layer(store, "cka", 20) != by_layer(store, "cka", 1)


def test_measurements_tell_the_update_and_no_other_exhibit_has_one(store: Store) -> None:
    found, damage = measurements(SHOWN, store)
    assert damage == []
    of_training = [each for each in found if each.exhibit == TRAINING and each.layer is not None]
    assert {each.metric for each in of_training} == {"retrieval_p1", "cka"}
    assert {each.update for each in of_training} >= set(UPDATES)
    assert {each.update for each in found if each.exhibit != TRAINING} == {None}
    assert json.loads(of_training[0].json_line())["update"] == 1
    (chance,) = (each.value for each in found if each.exhibit == TRAINING and each.metric == "retrieval_p1_chance")
    assert chance == 5.0


def test_scores_without_an_update_are_written_as_they_always_were(tmp_path: Path) -> None:
    write_scores(tmp_path, [Score(metric="las", value=1.00001, language="oru")])
    assert json.loads((tmp_path / SCORES).read_text()) == [
        {"metric": "las", "value": 1.0, "layer": None, "language": "oru"}
    ]
    write_scores(tmp_path, [Score(metric="cka", value=0.5, layer=2, update=7)])
    assert read_scores(tmp_path) == [Score(metric="cka", value=0.5, layer=2, update=7)]


def test_the_first_of_equally_good_models_is_the_chosen_one() -> None:
    rows = [(10, 9.0), (20, 7.0), (30, 7.0), (40, 8.0)]
    found = [Evaluation(update=update, perplexity={"ela": value, "oru": -value}) for update, value in rows]
    assert chosen_evaluation(found, source="ela").update == 20


def test_a_model_that_was_chosen_half_way_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "intermediate" / "00000040").mkdir(parents=True)
    (tmp_path / "intermediate" / "00000020").mkdir()
    rows = [{"update": update, "perplexity": {"ela": value}} for update, value in ((20, 5.0), (40, 4.0), (80, 6.0))]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert kept_models(tmp_path, source="ela") == {20: tmp_path / "intermediate" / "00000020", 40: tmp_path / "best"}
    assert evaluations(tmp_path / "nowhere") == []


@pytest.mark.parametrize(
    "line", ['{"update": 40, "perple', '{"update": 40}', "[]", '{"update": 40, "perplexity": {"ela": "\udcff"}}']
)
def test_a_bad_line_of_the_log_is_named(tmp_path: Path, line: str) -> None:
    good = json.dumps({"update": 20, "perplexity": {"ela": 5.0}})
    path = tmp_path / "log.jsonl"
    path.write_text(f"{good}\n{line}\n", encoding="utf-8", errors="surrogateescape")
    with pytest.raises(
        IsoglotError, match=f"^{path} has no evaluation in line 2: delete the folder {tmp_path} and run"
    ):
        evaluations(tmp_path)


def test_what_a_real_study_lacks_leaves_the_other_half(tmp_path: Path) -> None:
    study = replace(read_study(write_real_study(tmp_path)), exhibits=("training",))
    stages = [cell.stage for cell in cells(study) if cell.exhibit == TRAINING]
    assert stages
    assert all(isinstance(each, StructureOverTraining) and each.similarity is None for each in stages)
    assert all(isinstance(each, StructureOverTraining) and each.retrieval is not None for each in stages)
    (told,) = (each for each in gap_sentences(study) if "mapping.en-fr" in each)
    assert "(training)" in told
    path = tmp_path / "real.toml"
    path.write_text("".join(line for line in path.read_text().splitlines(True) if not line.startswith("retrieval.")))
    bare = replace(read_study(path), exhibits=("training",))
    assert not [cell for cell in cells(bare) if cell.exhibit == TRAINING]
    assert "resources.retrieval.en-fr is not given" in "\n".join(gap_sentences(bare))
