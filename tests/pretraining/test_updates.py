"""What one update does does not depend on how its batch is cut, and one that comes to nothing is left out."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from isoglot.conditions import Separate
from isoglot.corpora.streams import TokenStream
from isoglot.pretraining.loop import Trainer
from isoglot.pretraining.update_record import UpdateRecord
from tests.pretraining.tiny_runs import EVERYTHING, tiny_run, trainer_of

Streams = dict[str, TokenStream]


def trained(trainer: Trainer, *, updates: int) -> list[UpdateRecord]:
    for _ in range(updates):
        trainer.advance()
    return trainer.settled()


def state(trainer: Trainer) -> list[Tensor]:
    """Weights and moments."""
    return [
        tensor.detach().clone()
        for parameter in trainer.model.parameters()
        for tensor in (parameter, *trainer.updates.optimizer.state.get(parameter, {}).values())
    ]


@pytest.mark.parametrize("micro_batch", [1, 3, 8])
@pytest.mark.parametrize("draws", [1, 4])
@pytest.mark.parametrize("separate", [Separate(), EVERYTHING], ids=["shared", "separate"])
def test_gradients_gathered_over_pieces_are_those_of_the_whole_batch(
    micro_batch: int, draws: int, separate: Separate, streams: Streams, separate_streams: Streams, tmp_path: Path
) -> None:
    run = tiny_run(separate=separate, language_draws=draws)
    # A key's bias changes nothing, and Adam without this would make a step of the rounding errors in its gradient.
    run = replace(run, optimization=replace(run.optimization, epsilon=1e-3))
    given = separate_streams if separate.embeddings else streams
    whole = trainer_of(run, given, folder=tmp_path / "whole")
    pieces = trainer_of(run, given, folder=tmp_path / "pieces", micro_batch=micro_batch)
    for ours, theirs in zip(trained(pieces, updates=4), trained(whole, updates=4), strict=True):
        assert ours.losses == pytest.approx(theirs.losses, rel=1e-4)
        assert ours.gradient_norm == pytest.approx(theirs.gradient_norm, rel=1e-4)
    for ours, theirs in zip(state(pieces), state(whole), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-6)


def test_an_update_of_two_languages_weighs_their_words_alike(streams: Streams, folder: Path) -> None:
    """The gradient is that of the mean over all masked words, not of the mean of two means."""
    run = tiny_run(language_draws=8, mask_rate=0.3)
    trainer = trainer_of(run, streams, folder=folder)
    weighed, updates = [], trainer.updates
    judge = updates.guard.found_bad

    def listening(loss_sum_K: Tensor, count_K: Tensor, norm: Tensor) -> Tensor:
        weighed.append((loss_sum_K.clone(), count_K.clone()))
        return judge(loss_sum_K, count_K, norm)

    updates.guard.found_bad = listening  # type: ignore[method-assign]
    (record,) = trained(trainer, updates=1)
    ((loss_sum_K, count_K),) = weighed
    assert (count_K > 0).all()
    assert record.losses == pytest.approx(dict(zip(("en", "fr"), (loss_sum_K / count_K).tolist(), strict=True)))


@pytest.mark.parametrize("nothing", [math.nan, math.inf])
def test_an_update_whose_gradient_is_no_number_changes_nothing(nothing: float, streams: Streams, folder: Path) -> None:
    trainer = trainer_of(tiny_run(updates=10), streams, folder=folder)
    trained(trainer, updates=2)
    before = state(trainer)
    weight = trainer.model.encoder.top_norm.weight
    spoiled = weight.register_hook(lambda gradient: gradient * nothing)
    (record,) = trained(trainer, updates=1)
    assert record.skipped
    assert not math.isfinite(record.gradient_norm)
    assert all(map(torch.equal, state(trainer), before))
    spoiled.remove()
    (record,) = trained(trainer, updates=1)
    assert not record.skipped
    assert not any(map(torch.equal, state(trainer), before))
    assert trainer.progression.skipped == [3]
    assert all(map(math.isfinite, (loss for loss, _ in trainer.progression.losses.values())))


def test_an_update_whose_loss_leaps_changes_nothing(streams: Streams, folder: Path) -> None:
    trainer = trainer_of(tiny_run(updates=120, batch=64), streams, folder=folder)
    assert not any(record.skipped for record in trained(trainer, updates=80))
    before = state(trainer)
    bias = trainer.model.output_bias.of("en").bias
    with torch.no_grad():
        bias += 40 * torch.arange(len(bias)).remainder(2)
    records = trained(trainer, updates=3)
    assert all(record.skipped for record in records)
    assert all(math.isfinite(record.gradient_norm) for record in records)
    with torch.no_grad():
        bias -= 40 * torch.arange(len(bias)).remainder(2)
    for ours, theirs in zip(state(trainer), before, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-5)
    assert not trained(trainer, updates=1)[0].skipped


def test_a_skipped_update_is_written_into_the_log(streams: Streams, folder: Path) -> None:
    trainer = trainer_of(tiny_run(), streams, folder=folder)
    weight = trainer.model.encoder.top_norm.weight
    spoiled = weight.register_hook(lambda gradient: gradient * math.nan)
    trained(trainer, updates=2)
    spoiled.remove()
    trained(trainer, updates=6)
    assert [row["skipped"] for row in trainer.progression.log] == [2, 2]
