"""Models at moments of training: which are kept, what is scored of them, and that fine-tuning starts from them."""

import shutil
from pathlib import Path

import pytest
import torch
from study_texts import TINY_STUDY

from isoglot.errors import IsoglotError
from isoglot.pipeline.cells import EMERGENCE, GROWTH, GROWTH_TASKS, TABLE_1, UNTRAINED, VOCABULARY, Cell
from isoglot.pipeline.exhibits import cells
from isoglot.pipeline.measurements import Measurement, measurements
from isoglot.pipeline.stages.fine_tuning import ZeroShotTransfer
from isoglot.pipeline.stages.models import EncoderAtMoment, chosen_model, kept_models
from isoglot.pipeline.stages.scores import read_scores
from isoglot.report.report_files import read_report_data
from isoglot.report.writing import write_current_report
from isoglot.store import Store, inputs_first
from isoglot.study.study import Study
from isoglot.study.study_file import parse_study
from tests.pipeline.making import made, made_alone

TEXT = (
    TINY_STUDY.replace("updates = 80", "updates = 40\nmoments = 4")
    .replace("parallel_sentences = 20", "parallel_sentences = 20\nmapping_sentences = 30")
    .replace('["emergence", "table-1"]', '["emergence", "table-1", "growth", "growth-tasks"]')
    .replace("seeds = [0, 1]", 'seeds = [0]\n[only.growth-tasks]\nconditions = ["default"]')
    .replace('conditions = ["default", "no-anchors", "sep-emb-l1-6"]', 'conditions = ["default", "sep-emb-l1-6"]')
)
STUDY = parse_study(TEXT, origin="growing.toml")


def of(exhibit: str, study: Study = STUDY) -> list[Cell]:
    return [cell for cell in cells(study) if cell.exhibit == exhibit and cell.condition == "default"]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    wanted = [cell.stage for cell in cells(STUDY) if cell.condition == "default" and cell.exhibit != VOCABULARY]
    return made(*wanted, folder=tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def found(store: Store) -> list[Measurement]:
    numbers, damage = measurements(STUDY, store)
    assert damage == []
    return numbers


def at_moments() -> list[EncoderAtMoment]:
    stages = inputs_first(cell.stage for cell in of(GROWTH_TASKS)).values()
    return [stage for stage in stages if isinstance(stage, EncoderAtMoment)]


def test_tasks_are_learned_at_every_moment_and_the_last_is_that_of_table_1() -> None:
    assert [cell.variant for cell in of(GROWTH_TASKS)] == [UNTRAINED, "@5", "@10", "@20", None]
    assert {cell.task for cell in of(GROWTH_TASKS)} == {"parsing"}
    assert of(GROWTH_TASKS)[-1].stage.digest == of(TABLE_1)[0].stage.digest
    assert [each.update for each in at_moments()] == [5, 10, 20]
    # [only] leaves the other condition its structure.
    others = {cell.exhibit for cell in cells(STUDY) if cell.condition == "sep-emb-l1-6"}
    assert GROWTH in others
    assert GROWTH_TASKS not in others


def test_an_encoder_at_a_moment_is_the_model_kept_then_at_half_the_bytes(store: Store, tmp_path: Path) -> None:
    stage = at_moments()[1]
    model = store.folder(stage.encoder)
    assert list(kept_models(model, source="ela"))[:3] == [5, 10, 20]
    kept = model / "intermediate" / "00000010"
    own, files = store.folder(stage) / "best", ("model.json", "model.safetensors")
    assert all((own / name).read_bytes() == (kept / name).read_bytes() for name in files)
    assert (own / "model.safetensors").stat().st_ino == (kept / "model.safetensors").stat().st_ino, "no room of its own"
    full, half = ((folder / "model.safetensors").stat().st_size for folder in (model / "best", kept))
    assert half < 0.6 * full
    # Read as any other model, in full precision; a kill while it is linked leaves nothing in the way.
    assert {each.dtype for each in chosen_model(store.folder(stage)).parameters()} == {torch.float32}
    (tmp_path / "again" / "best").mkdir(parents=True)
    (tmp_path / "again" / "best" / "model.json").write_text("half of")
    again = made_alone(stage, tmp_path / "again", {stage.encoder.digest: model})
    assert (again / "best" / "model.json").read_bytes() == (own / "model.json").read_bytes()


def test_scores_of_tasks_stand_at_their_updates(found: list[Measurement], store: Store) -> None:
    here = [each for each in found if (each.exhibit, each.metric, each.language) == (GROWTH_TASKS, "las", "oru")]
    chosen = next(int(each.value) for each in found if each.metric == "chosen_update")
    assert [(each.update, each.variant) for each in here] == [
        (None, UNTRAINED),
        *((update, None) for update in (5, 10, 20, chosen)),
    ]
    table = [each.value for each in found if (each.exhibit, each.metric, each.language) == (TABLE_1, "las", "oru")]
    assert [here[-1].value] == table
    first = of(GROWTH_TASKS)[1].stage
    assert isinstance(first, ZeroShotTransfer)
    (score,) = (each for each in read_scores(store.folder(first)) if (each.metric, each.language) == ("las", "oru"))
    assert here[1].value == score.value


def test_a_score_whose_moment_cannot_be_read_is_damaged_and_not_left_out(store: Store, tmp_path: Path) -> None:
    copy = Store(Path(shutil.copytree(store.root, tmp_path / "store")))
    log = copy.folder(at_moments()[0].encoder) / "log.jsonl"
    log.write_bytes(log.read_bytes()[:-9])
    last = of(GROWTH_TASKS)[-1]
    _, damage = measurements(STUDY, copy)
    assert last in [each.cell for each in damage]
    state = read_report_data(write_current_report(STUDY, copy).page.parent).state
    assert any(str(log) in failure for failure in state.failures)
    place = (GROWTH_TASKS, "default", ("ela", "oru"), "parsing")
    assert state.absences[place] == "failed"


def test_words_are_scored_at_every_moment_as_emergence_scores_the_chosen_model(found: list[Measurement]) -> None:
    def words(exhibit: str, update: int | None) -> list[float]:
        place = (exhibit, "word_translation_p1", update, None)
        return [each.value for each in found if (each.exhibit, each.metric, each.update, each.variant) == place]

    chosen = next(int(each.value) for each in found if each.metric == "chosen_update")
    assert words(GROWTH, chosen) == words(EMERGENCE, None)
    assert len({tuple(words(GROWTH, update)) for update in (5, 10, 20, chosen)}) > 1
    assert all(len(words(GROWTH, update)) == STUDY.scale.shape.layers + 1 for update in (5, 10, 20, chosen))
    metrics = {each.metric for each in found if each.exhibit == GROWTH}
    assert metrics == {
        *("retrieval_p1", "retrieval_p1_chance", "cka", "word_translation_p1"),
        *("word_translation_p1_chance", "word_translation_coverage"),
    }


def test_moments_beyond_the_first_update_are_refused() -> None:
    message = r"change\.moments: should be at most 6: 40 updates cannot be halved more often"
    with pytest.raises(IsoglotError, match=message):
        parse_study(TEXT.replace("moments = 4", "moments = 7"), origin="growing.toml")
