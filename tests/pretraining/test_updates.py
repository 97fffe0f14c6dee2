"""One update is the same however its batch is cut, one that comes to nothing is left out, and rates are XLM's."""

import math
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from isoglot.corpora.streams import TokenStream
from isoglot.errors import IsoglotError
from isoglot.machine import Machine
from isoglot.pretraining.loop import Trainer
from isoglot.pretraining.masking import Mask
from isoglot.pretraining.run import UpdateRecord
from isoglot.pretraining.updates import kernels_for, learning_rate
from isoglot.randomness import derived_seed
from isoglot.study.scales import Decay, Optimization
from isoglot.study.separate import Separate
from tests.pretraining.tiny_runs import EVERYTHING, learnt, tiny_run, trainer_of

Streams = dict[str, TokenStream]


def trained(trainer: Trainer, *, updates: int) -> list[UpdateRecord]:
    for _ in range(updates):
        trainer.advance()
    return trainer.take_records()


def state(trainer: Trainer) -> list[Tensor]:
    """Weights and moments."""
    return [tensor for tensors in learnt(trainer).values() for tensor in tensors]


@pytest.mark.parametrize(
    ("micro_batch", "draws", "separate"),
    [(1, 1, Separate()), (3, 4, Separate(output_bias=True)), (1, 4, EVERYTHING), (3, 1, EVERYTHING)],
)
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
    model, batch = by_hand.model, next(by_hand.batches)
    assert [language for language, *_ in batch.pieces].count("fr") in (1, 2), "both languages, with unequal shares"
    generator = torch.Generator().manual_seed(derived_seed(run.seed, "masking", 1))
    mask = Mask.drawn(run.batch, run.window, rate=run.mask_rate, generator=generator)
    logits, targets = [], []
    for language, first, end in batch.pieces:
        own, token_BL = mask.of_rows(first, end), batch.rows(first, end)
        seen_BL = own.hide(token_BL, table_size=streams["en"].table_size)
        logits.append(model.masked_logits(seen_BL, masked_M=own.masked_M, language=language))
        targets.append(token_BL.flatten()[own.masked_M])
    loss = F.cross_entropy(torch.cat(logits), torch.cat(targets))
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), run.optimization.clip_norm)
    (record,) = trained(trainer, updates=1)
    assert record.gradient_norm == pytest.approx(norm.item(), rel=1e-4)
    for ours, theirs in zip(trainer.model.parameters(), model.parameters(), strict=True):
        torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-4, atol=1e-6)


def tamper(trainer: Trainer, act: Callable[[], None]) -> Callable[[], None]:
    """Do something to the gradients after every pass; gives a way to stop it."""
    passes = trainer.updates.passes

    def tampered(language: str) -> Callable[..., Tensor]:
        def learn(*inputs: Tensor, **named: Tensor) -> Tensor:
            loss = passes[language](*inputs, **named)
            with torch.no_grad():
                act()
            return loss

        return learn

    trainer.updates.passes = {language: tampered(language) for language in passes}

    def stop() -> None:
        trainer.updates.passes = passes

    return stop


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
    assert trainer.state.skipped == [3]
    assert all(map(math.isfinite, (loss for loss, _ in trainer.state.losses.values())))


def test_an_update_whose_loss_leaps_changes_nothing(streams: Streams, folder: Path) -> None:
    trainer = trainer_of(tiny_run(updates=60, batch=32), streams, folder=folder)
    assert not any(record.skipped for record in trained(trainer, updates=50))
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


def test_a_gpu_without_triton_is_refused_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    # Anew, though others may have imported them where there is Triton; put back at the end.
    package = "isoglot.pretraining.kernels"
    monkeypatch.setattr(package, sys.modules[package])
    for name in [name for name in sys.modules if name.startswith(package)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "triton", None)
    with pytest.raises(IsoglotError, match=r"needs Triton.*ISOGLOT_DEVICE=cpu"):
        kernels_for(tiny_run(), Machine(device=torch.device("cuda")))


HIGHEST = 1e-3


def optimization(decay: Decay = Decay.INVERSE_SQUARE_ROOT, *, warmup: int = 50) -> Optimization:
    return Optimization(learning_rate=HIGHEST, warmup_updates=warmup, decay=decay)


def rates(settings: Optimization, *, updates: int = 400) -> list[float]:
    return [learning_rate(update, optimization=settings, updates=updates) for update in range(1, updates + 1)]


def xlm_rates(*, warmup: int, updates: int) -> list[float]:
    """XLM changes the rate after each step, by the number of steps done; before the first it is 1e-7."""
    rate, used = 1e-7, []
    for steps_done in range(1, updates + 1):
        used.append(rate)
        if steps_done < warmup:
            rate = 1e-7 + steps_done * (HIGHEST - 1e-7) / warmup
        else:
            rate = HIGHEST * math.sqrt(warmup) * steps_done**-0.5
    return used


@pytest.mark.parametrize("warmup", [1, 50])
def test_the_papers_schedule_is_that_of_xlm(warmup: int) -> None:
    expected = xlm_rates(warmup=warmup, updates=400)
    assert rates(optimization(warmup=warmup)) == pytest.approx(expected, rel=1e-12)


def test_the_linear_tail_is_flat_then_falls_evenly_to_nearly_nothing() -> None:
    found = rates(optimization(Decay.LINEAR_TAIL))
    assert found[50:281] == [HIGHEST] * 231
    falls = [before - after for before, after in pairwise(found[280:])]
    assert falls == pytest.approx([HIGHEST / 120] * 119)
    assert found[-1] == pytest.approx(HIGHEST / 120)
    assert learning_rate(401, optimization=optimization(Decay.LINEAR_TAIL), updates=400) == 0
