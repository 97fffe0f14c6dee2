"""Fine-tuning that was interrupted ends with the same bytes as one that was not."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from isoglot.evaluation.transfer import fine_tuning
from isoglot.evaluation.transfer.fine_tuning import CHECKPOINTS, FineTuner
from isoglot.evaluation.transfer.model import drawn_layers
from isoglot.machine import Machine
from isoglot.study.searches import Schedule
from isoglot.study.separate import Separate
from tests.evaluation.transfer import tiny_transfer as tiny
from tests.killed_processes import files_of, nursed
from tests.slow_disks import slow_disk

UNSTEADY = replace(tiny.RUN, epochs=3, schedule=Schedule.CONSTANT, learning_rate=0.02, head_learning_rate=0.05)
CASES: dict[str, dict[str, Any]] = {
    "ner, dropout": {"run": UNSTEADY},
    "nli, epochs that cut passes": {
        "run": replace(UNSTEADY, epoch_examples=11),
        "task": tiny.NLI,
        "train": tiny.inferences(18),
        "dev": tiny.inferences(9, seed=1),
    },
    "parsing": {
        "run": replace(tiny.RUN, epochs=3),
        "task": tiny.PARSING,
        "train": tiny.chain_trees(),
        "dev": tiny.chain_trees(),
    },
    "own parts": {"run": UNSTEADY, "separate": tiny.EVERYTHING},
    "frozen": {"run": replace(UNSTEADY, freeze_encoder=True)},
    "new layers": {"run": UNSTEADY, "layer": 1},
}
QUICK = ("ner, dropout", "nli, epochs that cut passes", "new layers")


@pytest.fixture(autouse=True)
def _checkpoint_after_each_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fine_tuning, "SECONDS_BETWEEN_CHECKPOINTS", -1.0)


def new_tuner(
    folder: Path, *, separate: Separate | None = None, layer: int | None = None, dropout: float = 0.2, **case: Any
) -> FineTuner:
    """As it is when the process starts: with the encoder as it was before fine-tuning, or with new layers on one."""
    encoder = tiny.tiny_encoder(separate=separate, dropout=dropout)
    layers = encoder if layer is None else drawn_layers(encoder, layer=layer, count=2, seed=0)
    return tiny.tuner_of(folder, encoder=layers, **case)


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
def test_going_on_from_any_epoch_changes_nothing(case: dict[str, Any], tmp_path: Path) -> None:
    whole = new_tuner(tmp_path / "whole", **case)
    parts = new_tuner(tmp_path / "parts", **case)
    for epoch in range(1, whole.run.epochs + 1):
        whole.advance(tiny.silent)
        parts.advance(tiny.silent)
        parts = new_tuner(tmp_path / "parts", **case)
        assert parts.state.epoch == epoch
        assert_same_state(parts, whole)
        torch.rand(epoch)  # what else is drawn in the process must not matter
    assert [row["epoch"] for row in whole.state.log] == list(range(1, whole.run.epochs + 1))
    expected, found = (
        tiny.labelled(each.task, list(whole.dev), model=each.best, labels=each.labels, language="fr")
        for each in (whole, parts)
    )
    assert found == expected


@pytest.mark.gpu
@pytest.mark.parametrize("layer", [None, 1], ids=["whole encoder", "new layers"])
def test_on_a_gpu_a_run_with_graphs_is_one_without_and_goes_on_from_its_checkpoint(
    layer: int | None, tmp_path: Path
) -> None:
    """Epochs end with a smaller batch, and the dev set is scored between replays."""
    run = replace(tiny.RUN, epochs=6, batch=8)

    def advanced(name: str, *, epochs: int, has_graphs: bool = True) -> FineTuner:
        case = {"run": run, "train": tiny.tagged_sentences(45), "machine": Machine(device=torch.device("cuda"))}
        tuner = new_tuner(tmp_path / name, layer=layer, dropout=0.0, **case)
        tuner.replay.is_used = has_graphs
        frozen = {name: each.clone() for name, each in tuner.model.named_parameters() if not each.requires_grad}
        for _ in range(epochs):
            tuner.advance(tiny.silent)
        assert bool(tuner.replay.graphs) == has_graphs
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
        pytest.param({"run": replace(tiny.RUN, freeze_encoder=True)}, "encoder.", id="frozen"),
        pytest.param({"run": tiny.RUN, "layer": 1}, "encoder.below.", id="new layers"),
        pytest.param({"run": tiny.RUN, "separate": tiny.EVERYTHING}, "encoder.embeddings.owned_by.fr.", id="own parts"),
    ],
)
def test_what_is_frozen_is_in_no_checkpoint(case: dict[str, Any], frozen: str, tmp_path: Path) -> None:
    tuner = new_tuner(tmp_path, **case)
    tuner.advance(tiny.silent)
    stored = load_file(tmp_path / CHECKPOINTS / "latest.safetensors")
    weights = {name.removeprefix("weights/") for name in stored if name.startswith("weights/")}
    left_out = tuner.both.state_dict().keys() - weights
    assert {name for name in tuner.both.state_dict() if frozen in name} <= left_out
    assert weights == {name for name, parameter in tuner.both.named_parameters() if parameter.requires_grad}


def test_training_goes_on_while_a_checkpoint_is_written_and_a_finished_run_is_not_tuned_again(tmp_path: Path) -> None:
    case = {"run": replace(tiny.RUN, epochs=2, batch=1), "train": tiny.tagged_sentences(20)}
    tuner = new_tuner(tmp_path, **case)
    there: list[bool] = []
    with slow_disk(tmp_path) as disk:

        def look(done: int, _: int) -> None:
            there.append((tmp_path / CHECKPOINTS / "latest.safetensors").exists())
            if done == 40:
                disk.release(2)

        first = tuner.finish(look)
        assert there == [False, False]
    again = new_tuner(tmp_path, **case)
    assert again.finish(look).log == first.log
    assert len(there) == 2
    assert_same_state(again, tuner)


def test_killed_once_after_a_checkpoint(tmp_path: Path) -> None:
    place, fates = nursed("tests.evaluation.transfer.nursery", tmp_path, "once")
    assert fates["once"] == [[-9, "trained"], [0, "finished"]]
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
    states = [("begun", "trained", "finished").index(state) for code, state in fates["at_each"] if code == -9]
    assert min(map(states.count, range(3))) >= 2
    # At no moment is there no checkpoint any more.
    assert states == sorted(states)
    for moment in range(len(fates["at_each"]) - 1):
        assert files_of(place / f"at-each-{moment}") == whole, moment
