"""Models in the store: the untrained one is where the pretrained one starts, and the pretrained one has learned."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from commands import Workplace

from isoglot.errors import IsoglotError
from isoglot.pipeline.exhibits import cells
from isoglot.pipeline.stages.models import PretrainedEncoder, UntrainedEncoder, chosen_model
from isoglot.pretraining.loop import untrained_model
from isoglot.store import Amount, Work, inputs_first


def encoders(finished: Workplace) -> list[UntrainedEncoder | PretrainedEncoder]:
    stages = inputs_first(cell.stage for cell in cells(finished.study)).values()
    return [stage for stage in stages if isinstance(stage, UntrainedEncoder | PretrainedEncoder)]


def weights(finished: Workplace, stage: UntrainedEncoder | PretrainedEncoder) -> dict[str, torch.Tensor]:
    return dict(chosen_model(finished.store.folder(stage)).state_dict())


def read_log(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


def test_the_untrained_model_is_the_start_of_the_run(finished: Workplace) -> None:
    for stage in encoders(finished):
        if isinstance(stage, UntrainedEncoder):
            model = chosen_model(finished.store.folder(stage))
            start = untrained_model(stage.run, table_sizes=model.encoder.table_sizes, pad_id=model.encoder.pad_id)
            found = model.state_dict()
            assert all(torch.equal(found[name], tensor) for name, tensor in start.state_dict().items())


def test_training_moves_every_weight_of_both_languages_from_where_it_started(finished: Workplace) -> None:
    by_label = {(type(stage), stage.label): stage for stage in encoders(finished)}
    labels = {label for _, label in by_label}
    assert len(labels) == 6
    for label in labels:
        before = weights(finished, by_label[UntrainedEncoder, label])
        after = weights(finished, by_label[PretrainedEncoder, label])
        assert [name for name in before if torch.equal(before[name], after[name])] == []


def test_seeds_start_apart(finished: Workplace) -> None:
    first, second = (
        next(each for each in encoders(finished) if isinstance(each, UntrainedEncoder) and each.run.seed == seed)
        for seed in (0, 1)
    )
    name = "encoder.embeddings.owned_by.shared.token.weight"
    assert not torch.equal(weights(finished, first)[name], weights(finished, second)[name])


def test_pretraining_leaves_its_log_and_no_checkpoints(finished: Workplace) -> None:
    for stage in encoders(finished):
        if isinstance(stage, PretrainedEncoder):
            folder = finished.store.folder(stage)
            assert [row["update"] for row in read_log(folder)] == [20, 40, 60, 80]
            assert sorted(path.name for path in folder.iterdir()) == [
                "best",
                "intermediate",
                "log.jsonl",
                "record.json",
            ]


@pytest.mark.parametrize("name", ["default", "sep-emb-l1-6"])
def test_the_job_is_as_large_as_its_tokens(finished: Workplace, name: str) -> None:
    stage = next(each for each in encoders(finished) if isinstance(each, PretrainedEncoder) and name in each.label)
    assert stage.amount() == Amount(units=80 * 8 * 16, of="tokens")


def test_processes_that_train_together_come_to_the_same_model_and_keep_a_log(
    finished: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ISOGLOT_PROCESSES_PER_MODEL", "2")
    stage = next(each for each in encoders(finished) if isinstance(each, PretrainedEncoder))
    inputs = {each.digest: finished.store.folder(each) for each in stage.inputs.values()}
    told: list[tuple[float, float, str]] = []
    work = Work(
        folder=tmp_path / "model",
        input_folders=inputs,
        progress=lambda done, total, unit, _="": told.append((done, total, unit)),
        log_folder=tmp_path / "logs",
    )
    stage.make(work)
    assert told[-1] == (80 * 8 * 16, 80 * 8 * 16, "tokens")
    ours, alone = (read_log(folder) for folder in (tmp_path / "model", finished.store.folder(stage)))
    for row, expected in zip(ours, alone, strict=True):
        assert row["perplexity"] == pytest.approx(expected["perplexity"], rel=0.01)
    assert not chosen_model(tmp_path / "model").training
    assert sorted(path.name for path in (tmp_path / "logs").iterdir()) == ["health.jsonl", "torchrun.log"]


@pytest.mark.parametrize("wanted", ["0", "two"])
def test_a_wrong_number_of_processes_is_named(
    wanted: str, finished: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ISOGLOT_PROCESSES_PER_MODEL", wanted)
    stage = next(each for each in encoders(finished) if isinstance(each, PretrainedEncoder))
    with pytest.raises(IsoglotError, match=f"ISOGLOT_PROCESSES_PER_MODEL='{wanted}' is no number of processes"):
        stage.make(Work(folder=tmp_path, input_folders={}, progress=lambda *_: None))


def test_the_health_of_every_training_is_on_record(finished: Workplace) -> None:
    for stage in encoders(finished):
        log = finished.store.log_folder(stage) / "health.jsonl"
        assert log.exists() == isinstance(stage, PretrainedEncoder)
        if log.exists():
            lines = [json.loads(line) for line in log.read_text().splitlines()]
            assert lines[-1]["update"] == 80
            assert lines[-1]["tokens"] == 80 * 8 * 16
            assert lines[-1]["skipped"] == 0


def test_what_ends_a_training_stands_in_its_log(finished: Workplace, tmp_path: Path) -> None:
    stage = next(each for each in encoders(finished) if isinstance(each, PretrainedEncoder))
    optimization = replace(stage.run.optimization, learning_rate=1e25, warmup_updates=0)
    astray = replace(stage, run=replace(stage.run, optimization=optimization))
    inputs = {each.digest: finished.store.folder(each) for each in stage.inputs.values()}
    work = Work(folder=tmp_path, input_folders=inputs, progress=lambda *_: None, log_folder=tmp_path / "logs")
    with pytest.raises(IsoglotError, match="lower optimization") as raised:
        astray.make(work)
    *_, last, remark = [json.loads(line) for line in (tmp_path / "logs" / "health.jsonl").read_text().splitlines()]
    assert last["skipped"] >= 19
    assert remark["remark"] == str(raised.value)
