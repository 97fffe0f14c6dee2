"""A run that was interrupted ends with the same bytes as one that was not."""

from collections.abc import Mapping
from pathlib import Path

import pytest
import torch

from isoglot.corpora.code_switching import SwitchableText
from isoglot.corpora.streams import TokenStream
from isoglot.pretraining import loop
from isoglot.pretraining.loop import CHECKPOINTS, Trainer, pretrain
from isoglot.pretraining.run import BEST, INTERMEDIATE, UpdateRecord
from isoglot.study.conditions import Separate
from tests.killed_processes import Nursed, files_of, nursed
from tests.pretraining.tiny_runs import CPU, EVERYTHING, switchable_texts, tiny_run, trainer_of


def assert_same_state(ours: Trainer, theirs: Trainer) -> None:
    for name, tensor in theirs.model.state_dict().items():
        assert ours.model.state_dict()[name].equal(tensor), name
    flat = zip(ours.updates.weights.named_parameters(), theirs.updates.weights.parameters(), strict=True)
    for (name, mine), other in flat:
        moments, expected = ours.updates.optimizer.state.get(mine, {}), theirs.updates.optimizer.state.get(other, {})
        assert moments.keys() == expected.keys() <= {"step", "exp_avg", "exp_avg_sq"}
        assert mine.equal(other), name
        for moment, tensor in expected.items():
            assert moments[moment].equal(tensor), (name, moment)
    ours.settled()
    theirs.settled()
    assert ours.updates.guard.state() == theirs.updates.guard.state()
    assert ours.progression.losses == theirs.progression.losses
    assert ours.progression.log == theirs.progression.log
    assert ours.progression.best_perplexity == theirs.progression.best_perplexity
    assert ours.progression.positions == theirs.progression.positions


@pytest.mark.parametrize(
    ("separate", "dropout", "switchable"),
    [
        pytest.param(Separate(), 0.0, {}, id="shared"),
        pytest.param(Separate(), 0.2, {}, id="shared, dropout"),
        pytest.param(EVERYTHING, 0.0, {}, id="separate"),
        pytest.param(EVERYTHING, 0.2, {}, id="separate, dropout"),
        pytest.param(Separate(), 0.2, switchable_texts(), id="extra anchors, dropout"),
    ],
)
def test_going_on_from_any_checkpoint_changes_nothing(
    separate: Separate,
    dropout: float,
    switchable: Mapping[str, SwitchableText],
    streams: dict[str, TokenStream],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = tiny_run(separate=separate, dropout=dropout)
    whole = trainer_of(run, streams, folder=tmp_path / "whole", switchable=switchable)
    monkeypatch.setattr(loop, "SECONDS_BETWEEN_CHECKPOINTS", 0.0)  # one after each update
    parts = trainer_of(run, streams, folder=tmp_path / "parts", switchable=switchable)
    for update in range(1, run.updates + 1):
        whole.advance()
        with parts:
            parts.advance()
        parts = trainer_of(run, streams, folder=tmp_path / "parts", switchable=switchable)
        assert parts.progression.update == update
        assert_same_state(parts, whole)
        torch.rand(update)  # what else is drawn in the process must not matter
    whole.writer.finish()
    assert [row["update"] for row in whole.progression.log] == [4, 8]
    assert files_of(tmp_path / "parts" / BEST) == files_of(tmp_path / "whole" / BEST)
    assert files_of(tmp_path / "parts" / INTERMEDIATE) == files_of(tmp_path / "whole" / INTERMEDIATE)


def test_without_its_last_checkpoint_a_run_goes_on_from_the_one_before(
    streams: dict[str, TokenStream], tmp_path: Path
) -> None:
    """Updates 5 and 6 are done twice."""
    run = tiny_run()
    whole, killed = (trainer_of(run, streams, folder=tmp_path / name) for name in ("whole", "killed"))
    with whole, killed:
        for _ in range(6):
            whole.advance()
            killed.advance()
    again = trainer_of(run, streams, folder=tmp_path / "killed")
    assert again.progression.update == 4
    for _ in range(2):
        again.advance()
    assert_same_state(again, whole)


def test_more_memory_than_before_changes_nothing(streams: dict[str, TokenStream], tmp_path: Path) -> None:
    """With dropout, other pieces of a batch would draw other masks."""
    run = tiny_run(dropout=0.2)
    whole = trainer_of(run, streams, folder=tmp_path / "whole", micro_batch=3)
    stopped = trainer_of(run, streams, folder=tmp_path / "stopped", micro_batch=3)
    with whole, stopped:
        for _ in range(4):
            whole.advance()
            stopped.advance()
    again = trainer_of(run, streams, folder=tmp_path / "stopped", micro_batch=8)
    for _ in range(2):
        whole.advance()
        again.advance()
    assert_same_state(again, whole)
    smaller = trainer_of(run, streams, folder=tmp_path / "stopped", micro_batch=2)
    assert smaller.micro_batch == 2


def test_a_finished_run_is_left_as_it_is(streams: dict[str, TokenStream], folder: Path) -> None:
    reports: list[UpdateRecord] = []

    def go_on() -> None:
        pretrain(
            tiny_run(updates=40),
            streams,
            pad_id=2,
            mask_id=5,
            folder=folder,
            machine=CPU,
            report=reports.extend,
        )

    go_on()
    files, first = files_of(folder), list(reports)
    assert [record.update for record in first] == list(range(1, 41))
    (folder / CHECKPOINTS).mkdir()  # killed while it was being removed
    (folder / CHECKPOINTS / "latest.safetensors").write_bytes(b"some of it")
    go_on()
    assert reports == first
    assert files_of(folder) == files


@pytest.fixture(scope="module")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Nursed:
    """A place where processes have been killed in training, and their fates."""
    return nursed("tests.pretraining.nursery", tmp_path_factory.mktemp("nursery"))


def test_killed_at_random_moments(nursery: Nursed) -> None:
    place, fates = nursery
    assert fates["at_random"].count([-9, "trained"]) >= 2
    assert files_of(place / "at-random") == files_of(place / "long")


def test_killed_at_each_thing_it_asks_of_the_system(nursery: Nursed) -> None:
    place, fates = nursery
    whole = files_of(place / "short")
    assert {"log.jsonl", "best/model.safetensors", "intermediate/00000001/model.json"} < whole.keys()
    for state in ("begun", "trained", "finished"):
        assert fates["at_each"].count([-9, state]) >= 2
    for moment in range(len(fates["at_each"]) - 1):
        assert files_of(place / f"at-each-{moment}") == whole, moment
