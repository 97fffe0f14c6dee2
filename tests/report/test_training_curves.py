"""Learning curves are those of the logs, and of models in training those of their checkpoints."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from commands import Workplace

from isoglot.pipeline.exhibits import cells
from isoglot.pipeline.measurements import measurements
from isoglot.pipeline.stages.emergence import Emergence
from isoglot.pipeline.stages.models import PretrainedEncoder
from isoglot.pretraining import loop
from isoglot.report.training_curves import Curve, learning_curves
from isoglot.store import Store, Work
from isoglot.study.study import Study


def encoder(study: Study, condition: str, *, seed: int) -> PretrainedEncoder:
    stages = [cell.stage for cell in cells(study) if (cell.condition, cell.seed) == (condition, seed)]
    found = (stage.encoder for stage in stages if isinstance(stage, Emergence))
    return next(each for each in found if isinstance(each, PretrainedEncoder))


def of(curves: Sequence[Curve], condition: str, *, language: str, seed: int) -> Curve:
    (found,) = (each for each in curves if (each.condition, each.language, each.seed) == (condition, language, seed))
    return found


@pytest.fixture
def store(finished: Workplace, tmp_path: Path) -> Store:
    """A copy that may be damaged."""
    return Store(Path(shutil.copytree(finished.store.root, tmp_path / "store")))


def test_every_language_of_every_model_has_the_curve_of_its_log(finished: Workplace) -> None:
    curves = learning_curves(finished.study, finished.store)
    assert [(each.condition, each.seed, each.language) for each in curves] == [
        (condition, seed, language)
        for condition in ("default", "no-anchors", "sep-emb-l1-6")
        for seed in (0, 1)
        for language in ("ela", "oru")
    ]
    model = encoder(finished.study, "no-anchors", seed=1)
    log = (finished.store.folder(model) / "log.jsonl").read_text().splitlines()
    expected = tuple((row["update"], row["perplexity"]["oru"]) for row in map(json.loads, log))
    found = of(curves, "no-anchors", language="oru", seed=1)
    assert (found.points, found.languages, found.is_finished) == (expected, ("ela", "oru"), True)
    assert [update for update, _ in found.points] == [20, 40, 60, 80]
    best = {each.value for each in measurements(finished.study, finished.store)[0] if each.metric == "dev_perplexity"}
    assert min(value for _, value in of(curves, "default", language="ela", seed=0).points) in best


class KilledError(Exception):
    """Stands for kill -9."""


@pytest.mark.parametrize("damage", [None, b"\xff" * 40])
def test_a_model_in_training_has_a_curve_up_to_its_checkpoint(
    finished: Workplace, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes | None
) -> None:
    """The training loop itself wrote the checkpoint, stopped half-way."""
    study = finished.study.replace(seeds=[0], conditions=["default"], exhibits=["emergence"])
    model = encoder(study, "default", seed=0)
    whole = of(learning_curves(study, store), "default", language="oru", seed=0)
    shutil.rmtree(store.folder(model))
    partial = Path(f"{store.folder(model)}.partial")
    partial.mkdir()

    def stop_half_way(done: float, total: float, *_: str) -> None:
        if done > total / 2:
            raise KilledError

    monkeypatch.setattr(loop, "SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    folders = {each.digest: store.folder(each) for each in model.inputs.values()}
    work = Work(folder=partial, input_folders=folders, progress=stop_half_way, log_folder=tmp_path / "logs")
    with pytest.raises(KilledError):
        model.make(work)
    if damage is not None:
        (partial / "checkpoints" / "latest.safetensors").write_bytes(damage)
        assert learning_curves(study, store) == []
        assert model.share_done(partial) == 0
        return
    assert 0.5 < model.share_done(partial) < 1
    so_far = of(learning_curves(study, store), "default", language="oru", seed=0)
    assert not so_far.is_finished
    assert so_far.points == whole.points[: len(so_far.points)]
    assert 2 <= len(so_far.points) < len(whole.points)


def test_a_log_that_is_no_log_leaves_its_curve_out(finished: Workplace, store: Store, tmp_path: Path) -> None:
    (store.folder(encoder(finished.study, "default", seed=0)) / "log.jsonl").write_text('{"update": 20}\n')
    curves = learning_curves(finished.study, store)
    assert ("default", 0) not in {(each.condition, each.seed) for each in curves}
    assert len(curves) == 10
    assert learning_curves(finished.study, Store(tmp_path / "nowhere")) == []
