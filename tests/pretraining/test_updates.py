"""What one update does does not depend on how its batch is cut, and one that comes to nothing is left out."""

import math
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from isoglot.corpora.streams import TokenStream
from isoglot.corpora.vocabulary import MASK
from isoglot.errors import IsoglotError
from isoglot.machine import Machine
from isoglot.pretraining.loop import Trainer
from isoglot.pretraining.masking import Mask
from isoglot.pretraining.run import UpdateRecord
from isoglot.pretraining.updates import kernels_for
from isoglot.randomness import derived_seed
from isoglot.study.conditions import Separate
from tests.pretraining.tiny_runs import EVERYTHING, tiny_run, trainer_of
from tests.pretraining.training_state import learnt, tamper

Streams = dict[str, TokenStream]


def trained(trainer: Trainer, *, updates: int) -> list[UpdateRecord]:
    for _ in range(updates):
        trainer.advance()
    return trainer.settled()


def state(trainer: Trainer) -> list[Tensor]:
    """Weights and moments."""
    return [tensor for tensors in learnt(trainer).values() for tensor in tensors]


@pytest.mark.parametrize("micro_batch", [1, 3])
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


def test_each_masked_word_of_an_update_weighs_alike_in_whichever_language_it_is(streams: Streams, folder: Path) -> None:
    """The gradient is that of the mean over all masked words, not of the mean of two languages' means."""
    run = tiny_run(language_draws=3, mask_rate=0.3, seed=1)
    trainer, by_hand = (trainer_of(run, streams, folder=folder) for _ in range(2))
    model, batches = by_hand.model, by_hand.batches
    parts = batches.next_parts(1)
    assert [part.language for part in parts].count("fr") in (1, 2), "both languages, with unequal shares"
    generator = torch.Generator().manual_seed(derived_seed(run.seed, "masking", 1))
    mask = Mask.drawn(run.batch, run.window, rate=run.mask_rate, generator=generator)
    logits, targets = [], []
    for part in parts:
        own, token_BL = mask.of_rows(part.first_row, part.num_rows), batches.tokens(part)
        seen_BL = own.hide(token_BL, mask_id=MASK, table_size=streams["en"].table_size)
        logits.append(model.masked_logits(seen_BL, masked_M=own.masked_M, language=part.language))
        targets.append(token_BL.flatten()[own.masked_M])
    loss = F.cross_entropy(torch.cat(logits), torch.cat(targets))
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), run.optimization.clip_norm)
    (record,) = trained(trainer, updates=1)
    assert record.gradient_norm == pytest.approx(norm.item(), rel=1e-4)
    for ours, theirs in zip(trainer.model.parameters(), model.parameters(), strict=True):
        torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-4, atol=1e-6)


def test_weights_that_were_spoiled_are_learnt_anew(streams: Streams, folder: Path) -> None:
    trainer = trainer_of(tiny_run(updates=400, batch=64), streams, folder=folder)
    before = trained(trainer, updates=100)[-1].losses
    with torch.no_grad():
        for parameter in trainer.model.parameters():
            parameter += torch.randn(parameter.shape, generator=torch.Generator().manual_seed(0))
    after = trained(trainer, updates=300)
    skipped = [record for record in after if record.skipped]
    assert 5 <= len(skipped) <= 10
    assert skipped[-1].update < 150
    assert max(after[0].losses.values()) > max(before.values()) + 1
    assert max(after[-1].losses.values()) < max(after[0].losses.values()) - 1


@pytest.mark.parametrize("nothing", [math.nan, math.inf])
def test_an_update_whose_gradient_is_no_number_changes_nothing(nothing: float, streams: Streams, folder: Path) -> None:
    trainer = trainer_of(tiny_run(updates=10), streams, folder=folder)
    trained(trainer, updates=2)
    before = state(trainer)
    weight = trainer.model.encoder.top_norm.weight
    stop = tamper(trainer, lambda: weight.grad.mul_(nothing))
    (record,) = trained(trainer, updates=1)
    assert record.skipped
    assert not math.isfinite(record.gradient_norm)
    assert all(map(math.isfinite, record.losses.values()))
    assert all(map(torch.equal, state(trainer), before))
    stop()
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
    stop = tamper(trainer, lambda: weight.grad.mul_(math.nan))
    trained(trainer, updates=2)
    stop()
    trained(trainer, updates=6)
    assert [row["skipped"] for row in trainer.progression.log] == [2, 2]


def test_a_gpu_without_triton_is_refused_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    # Anew, though others may have imported them where there is Triton; put back at the end.
    package = "isoglot.pretraining.kernels"
    monkeypatch.setattr(package, sys.modules[package])
    for name in [name for name in sys.modules if name.startswith(package)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "triton", None)
    with pytest.raises(IsoglotError, match=r"needs Triton.*ISOGLOT_DEVICE=cpu"):
        kernels_for(tiny_run(), Machine(device=torch.device("cuda")))
