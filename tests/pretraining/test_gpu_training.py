"""A GPU learns the same as a CPU, up to rounding, and the same twice, also when it is stopped in between."""

# B = windows, L = positions

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from isoglot.corpora.streams import TokenStream
from isoglot.machine import Machine, this_machine
from isoglot.model.cloze import ClozeModel
from isoglot.pretraining import loop
from isoglot.pretraining.cloze_pass import ClozePass
from isoglot.pretraining.flat_weights import FlatWeights
from isoglot.pretraining.loop import Trainer, untrained_model
from isoglot.pretraining.masking import Mask
from isoglot.pretraining.run import PretrainingRun
from isoglot.pretraining.updates import kernels_for
from isoglot.study.scales import NormPlacement
from isoglot.study.separate import Separate
from tests.pretraining.test_resume import assert_same_state
from tests.pretraining.tiny_runs import CPU, EVERYTHING, tiny_run, trainer_of

pytestmark = pytest.mark.gpu

Streams = dict[str, TokenStream]
TABLE_SIZES = {"en": 3001, "fr": 3001}
PAD = 2


def run_of(
    *, norm: NormPlacement = NormPlacement.PRE, dropout: float = 0.0, window: int = 12, **changes: object
) -> PretrainingRun:
    run = tiny_run(window=window, dropout=dropout, **changes)
    return replace(run, shape=replace(run.shape, width=128, heads=2, feed_forward=512, positions=64, norm=norm))


class Pass:
    """Over the model that a run starts from, on one machine."""

    def __init__(self, run: PretrainingRun, machine: Machine):
        self.run, self.machine = run, machine
        self.model: ClozeModel = untrained_model(run, table_sizes=TABLE_SIZES).to(machine.device)
        self.weights = FlatWeights(self.model, compute_dtype=machine.compute_dtype)
        self.kernels = kernels_for(run, machine)
        self.cloze_pass = ClozePass(self.model, self.weights, language="en", window=run.window, kernels=self.kernels)

    def learn(self, *, seed: int = 0, with_room: bool = False, rows: int = 16) -> tuple[Tensor, dict[str, Tensor]]:
        """The loss and the gradients of drawn windows, on the CPU."""
        generator = torch.Generator().manual_seed(1)
        token_BL = torch.randint(6, TABLE_SIZES["en"], (rows, self.run.window), generator=generator)
        mask = Mask.drawn(rows, self.run.window, rate=0.2, generator=generator)
        seen_BL = mask.hide(token_BL, table_size=TABLE_SIZES["en"])
        seen_BL[0, 3] = PAD
        masked_C = mask.first_masked_C(token_BL.numel()) if with_room else mask.masked_M
        self.kernels.seed(seed)
        torch._foreach_zero_(self.weights.gradients_of(["en", "fr"]))
        device = self.machine.device
        loss = self.cloze_pass(
            token_BL.to(device),
            seen_BL=seen_BL.to(device),
            masked_C=masked_C.to(device),
            scale=torch.tensor(1 / len(mask.masked_M), device=device),
        )
        return loss.cpu(), {name: weight.grad.cpu().clone() for name, weight in self.model.named_parameters()}


def assert_gradients_near(found: dict[str, Tensor], expected: dict[str, Tensor], *, share: float) -> None:
    """Compare gradients as vectors; one that should be 0, as that of a key's bias, by the norm of all."""
    whole = torch.stack([gradient.norm() for gradient in expected.values()]).norm()
    for name, gradient in expected.items():
        off = (found[name] - gradient).norm()
        assert off <= share * gradient.norm() + 1e-3 * whole, (name, off / gradient.norm())


@pytest.mark.parametrize("norm", NormPlacement)
@pytest.mark.parametrize("window", [12, 64])
@pytest.mark.parametrize("with_room", [False, True])
def test_a_pass_comes_to_what_it_does_on_a_cpu(with_room: bool, window: int, norm: NormPlacement) -> None:
    run = run_of(norm=norm, window=window)
    expected_loss, expected = Pass(run, CPU).learn()
    loss, gradients = Pass(run, this_machine()).learn(with_room=with_room)
    assert loss.item() == pytest.approx(expected_loss.item(), rel=5e-3)
    assert_gradients_near(gradients, expected, share=0.03)


@pytest.mark.parametrize("norm", NormPlacement)
@pytest.mark.parametrize("dropout", [0.0, 0.1])
def test_the_same_seed_gives_the_same_bits(dropout: float, norm: NormPlacement) -> None:
    first, second = (Pass(run_of(norm=norm, dropout=dropout, window=64), this_machine()).learn(rows=64) for _ in "ab")
    assert first[0].equal(second[0])
    for name, gradient in first[1].items():
        assert gradient.equal(second[1][name]), name


def trained(trainer: Trainer, *, until: int) -> Trainer:
    while trainer.state.update < until:
        trainer.advance()
    return trainer


@pytest.mark.parametrize(
    ("separate", "dropout"), [(Separate(), 0.0), (Separate(), 0.1), (EVERYTHING, 0.1)], ids=["plain", "dropout", "own"]
)
def test_a_run_that_was_stopped_twice_ends_with_the_same_bytes(
    separate: Separate,
    dropout: float,
    streams: Streams,
    separate_streams: Streams,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The graphs are recorded again, at other updates."""
    given, machine = separate_streams if separate.embeddings else streams, this_machine()
    run = run_of(separate=separate, dropout=dropout, updates=30, evaluations=3, language_draws=2)
    whole = trained(trainer_of(run, given, folder=tmp_path / "whole", machine=machine), until=30)
    monkeypatch.setattr(loop, "SECONDS_BETWEEN_CHECKPOINTS", 0.0)  # one after each update
    for stop in (10, 17, 30):
        with trainer_of(run, given, folder=tmp_path / "parts", machine=machine) as parts:
            trained(parts, until=stop - 1)
            parts.writer.finish()  # so that the next checkpoint is written
            trained(parts, until=stop)
        assert stop == 30 or parts.state.update == stop
    with whole:
        assert_same_state(parts, whole)
