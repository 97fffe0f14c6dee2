"""Fine-tuning that was interrupted ends with the same bytes as one that was not."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from isoglot.errors import IsoglotError
from isoglot.evaluation.transfer import fine_tuning
from isoglot.evaluation.transfer.fine_tuning import CHECKPOINTS, FineTuner
from isoglot.evaluation.transfer.model import drawn_layers
from isoglot.evaluation.transfer.tasks.nli import TASK as NLI
from isoglot.evaluation.transfer.tasks.parsing import TASK as PARSING
from isoglot.machine import Machine
from isoglot.study.conditions import Separate
from isoglot.study.searches import Schedule
from tests.evaluation.transfer.tiny_transfer import (
    EVERYTHING,
    RUN,
    chain_trees,
    inferences,
    labelled,
    silent,
    tagged_sentences,
    tiny_encoder,
    tuner_of,
)
from tests.killed_processes import files_of, nursed
from tests.slow_disks import slow_disk

UNSTEADY = replace(RUN, epochs=3, schedule=Schedule.CONSTANT, learning_rate=0.02, head_learning_rate=0.05)
CASES: dict[str, dict[str, Any]] = {
    "ner, dropout": {"run": UNSTEADY},
    "nli, epochs that cut passes": {
        "run": replace(UNSTEADY, epoch_examples=11),
        "task": NLI,
        "train": inferences(18),
        "dev": inferences(9, seed=1),
    },
    "parsing": {"run": replace(RUN, epochs=3), "task": PARSING, "train": chain_trees(), "dev": chain_trees()},
    "own parts": {"run": UNSTEADY, "separate": EVERYTHING},
    "frozen": {"run": replace(UNSTEADY, freeze_encoder=True)},
    "new layers": {"run": UNSTEADY, "layer": 1},
}
QUICK = ("ner, dropout", "nli, epochs that cut passes", "new layers")


def new_tuner(folder: Path, *, separate: Separate | None = None, layer: int | None = None, **case: Any) -> FineTuner:
    """As it is when the process starts: with the encoder as it was before fine-tuning, or with new layers on one."""
    encoder = tiny_encoder(separate=separate, dropout=0.2)
    layers = encoder if layer is None else drawn_layers(encoder, layer=layer, count=2, seed=0)
    return tuner_of(folder, encoder=layers, **case)


def assert_same_state(ours: FineTuner, theirs: FineTuner) -> None:
    for name, tensor in theirs.both.state_dict().items():
        assert ours.both.state_dict()[name].equal(tensor), name
    for (name, mine), other in zip(ours.model.named_parameters(), theirs.model.parameters(), strict=True):
        moments, expected = ours.optimizer.state.get(mine, {}), theirs.optimizer.state.get(other, {})
        assert moments.keys() == expected.keys()
        for moment, tensor in expected.items():
            assert moments[moment].equal(tensor), (name, moment)
    assert ours.state == theirs.state


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=name, marks=[] if name in QUICK else pytest.mark.campaign) for name, case in CASES.items()],
)
def test_going_on_from_any_epoch_changes_nothing(
    case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = new_tuner(tmp_path / "whole", **case)
    monkeypatch.setattr(fine_tuning, "SECONDS_BETWEEN_CHECKPOINTS", 0.0)  # one after each epoch
    parts = new_tuner(tmp_path / "parts", **case)
    for epoch in range(1, whole.run.epochs + 1):
        whole.advance(silent)
        parts.advance(silent)
        parts = new_tuner(tmp_path / "parts", **case)
        assert parts.state.epoch == epoch
        assert_same_state(parts, whole)
        torch.rand(epoch)  # what else is drawn in the process must not matter
    assert [row["epoch"] for row in whole.state.log] == list(range(1, whole.run.epochs + 1))
    expected, found = (
        labelled(each.task, list(whole.dev), model=each.best, labels=each.labels, language="fr")
        for each in (whole, parts)
    )
    assert found == expected


@pytest.mark.gpu
@pytest.mark.parametrize("layer", [None, 1], ids=["whole encoder", "new layers"])
def test_on_a_gpu_a_run_with_graphs_is_one_without_and_goes_on_from_its_checkpoint(
    layer: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Epochs end with a smaller batch, and the dev set is scored between replays."""
    monkeypatch.setattr(fine_tuning, "SECONDS_BETWEEN_CHECKPOINTS", -1.0)
    run = replace(RUN, epochs=6, batch=8)

    def advanced(name: str, *, epochs: int, has_graphs: bool = True) -> FineTuner:
        encoder = tiny_encoder()
        layers = encoder if layer is None else drawn_layers(encoder, layer=layer, count=2, seed=0)
        machine = Machine(device=torch.device("cuda"))
        tuner = tuner_of(tmp_path / name, run=run, encoder=layers, train=tagged_sentences(45), machine=machine)
        tuner.updates.recorded.is_used = has_graphs
        frozen = {name: each.clone() for name, each in tuner.model.named_parameters() if not each.requires_grad}
        for _ in range(epochs):
            tuner.advance(silent)
        assert bool(tuner.updates.recorded.graphs) == has_graphs
        assert bool(frozen) == (layer is not None)
        assert all(tensor.equal(tuner.model.state_dict()[name]) for name, tensor in frozen.items())
        return tuner

    whole, eager = advanced("whole", epochs=6), advanced("eager", epochs=6, has_graphs=False)
    advanced("parts", epochs=3)
    resumed = advanced("parts", epochs=3)
    losses, of_eager, of_resumed = ([row["loss"] for row in each.state.log] for each in (whole, eager, resumed))
    assert len(losses) == 6
    assert losses == pytest.approx(of_eager, rel=0.05, abs=0.02)
    assert losses == pytest.approx(of_resumed, rel=0.05, abs=0.02)
    assert losses[-1] < 0.7 * losses[0]


@pytest.mark.parametrize(
    ("case", "frozen"),
    [
        pytest.param({"run": replace(RUN, freeze_encoder=True)}, "encoder.", id="frozen"),
        pytest.param({"run": RUN, "layer": 1}, "encoder.below.", id="new layers"),
        pytest.param({"run": RUN, "separate": EVERYTHING}, "encoder.embeddings.owned_by.fr.", id="own parts"),
    ],
)
def test_what_is_frozen_is_in_no_checkpoint(
    case: dict[str, Any], frozen: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fine_tuning, "SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    tuner = new_tuner(tmp_path, **case)
    tuner.advance(silent)
    stored = load_file(tmp_path / CHECKPOINTS / "latest.safetensors")
    weights = {name.removeprefix("weights/") for name in stored if name.startswith("weights/")}
    left_out = tuner.both.state_dict().keys() - weights
    assert {name for name in tuner.both.state_dict() if frozen in name} <= left_out
    assert weights == {name for name, parameter in tuner.both.named_parameters() if parameter.requires_grad}


def test_a_finished_run_is_not_tuned_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fine_tuning, "SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    reports: list[int] = []

    def go_on() -> fine_tuning.FineTuned:
        tuner = new_tuner(tmp_path, run=replace(RUN, epochs=2, batch=1), train=tagged_sentences(20))
        return tuner.finish(lambda done, _: reports.append(done))

    first = go_on()
    assert reports == [20, 40]
    again = go_on()
    assert reports == [20, 40]
    assert again.log == first.log
    for name, tensor in first.model.state_dict().items():
        assert again.model.state_dict()[name].equal(tensor), name


def test_training_goes_on_while_a_checkpoint_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fine_tuning, "SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    tuner = new_tuner(tmp_path, run=replace(RUN, epochs=2, batch=1), train=tagged_sentences(20))
    there: list[bool] = []
    with slow_disk(tmp_path) as disk:

        def look(done: int, _: int) -> None:
            there.append((tmp_path / CHECKPOINTS / "latest.safetensors").exists())
            if done == 40:
                disk.release(2)

        tuner.finish(look)
    assert there == [False, False]
    again = new_tuner(tmp_path, run=replace(RUN, epochs=2, batch=1), train=tagged_sentences(20))
    assert_same_state(again, tuner)


@pytest.mark.parametrize("share", [0.0, 0.999])
def test_a_damaged_checkpoint_is_named(share: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fine_tuning, "SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    new_tuner(tmp_path, run=RUN).advance(silent)
    path = tmp_path / CHECKPOINTS / "latest.safetensors"
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(IsoglotError, match=r"latest\.safetensors: cannot be read .*; delete it to train from"):
        new_tuner(tmp_path, run=RUN)


def test_killed_once_after_a_checkpoint(tmp_path: Path) -> None:
    place, fates = nursed("tests.evaluation.transfer.nursery", tmp_path, "once")
    assert fates["once"] == [[-9, "tuned"], [0, "scored"]]
    assert files_of(place / "killed") == files_of(place / "whole")


@pytest.mark.campaign
def test_killed_at_each_thing_it_asks_of_the_system(tmp_path: Path) -> None:
    place, fates = nursed("tests.evaluation.transfer.nursery", tmp_path)
    whole = files_of(place / "whole")
    assert whole.keys() == {
        "log.jsonl",
        "scores.json",
        *(f"{language}.{kind}.bio" for language in ("ela", "oru") for kind in ("gold", "predicted")),
    }
    states = [("begun", "tuned", "scored").index(state) for code, state in fates["at_each"] if code == -9]
    assert min(map(states.count, range(3))) >= 2
    # At no moment is there no checkpoint any more.
    assert states == sorted(states)
    for moment in range(len(fates["at_each"]) - 1):
        assert files_of(place / f"at-each-{moment}") == whole, moment
