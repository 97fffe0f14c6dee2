"""One update: its loss, its weights against Adam written out; and as a CUDA graph the same as without."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from isoglot.corpora.vocabulary import PAD
from isoglot.evaluation.transfer.fine_tuning import Updates, adam, graph_length
from isoglot.evaluation.transfer.model import TaskModel
from isoglot.evaluation.transfer.run import FineTuningRun
from isoglot.evaluation.transfer.sequences import (
    ResidentSequences,
    Sequences,
    encoded,
    epoch_order,
    length_batches,
    target_columns,
)
from isoglot.evaluation.transfer.task import IGNORE
from isoglot.evaluation.transfer.tasks.nli import TASK as NLI
from isoglot.evaluation.transfer.tasks.nli import Inference
from isoglot.evaluation.transfer.tasks.parsing import TASK as PARSING
from isoglot.machine import Machine
from isoglot.model.encoder import Encoder
from tests.evaluation.transfer.tiny_transfer import (
    CPU,
    RUN,
    chain_trees,
    inferences,
    letter_encoding,
    silent,
    tiny_encoder,
    tuner_of,
    weights_of,
)

PAIRS = inferences(40, most_words=5)
LABELS = sorted({pair.label for pair in PAIRS})


def pair_sequences() -> Sequences:
    return encoded(NLI, PAIRS, encoding=letter_encoding(), most_tokens=40)


def updates_on(machine: Machine) -> Updates:
    """Updates of a model without dropout."""
    sequences = pair_sequences()
    ids = {label: number for number, label in enumerate(LABELS)}
    encoder = tiny_encoder()
    with torch.random.fork_rng():
        torch.manual_seed(0)
        head = NLI.head(width=encoder.shape.width, labels=LABELS)
    model = TaskModel(encoder, head, freeze_encoder=False).to(machine.device).train()
    resident = ResidentSequences(
        sequences, pad_id=encoder.pad_id, device=machine.device, target_CT=target_columns(NLI, PAIRS, sequences, ids)
    )
    run = replace(RUN, learning_rate=1e-3, head_learning_rate=1e-3)
    return Updates(model, adam(model, run, machine=machine), resident, language="en", machine=machine)


def test_a_batch_is_padded_to_any_length_that_holds_it() -> None:
    sequences = pair_sequences()
    target_CT = np.arange(len(sequences.token_T))[None]
    resident = ResidentSequences(sequences, pad_id=2, device=CPU.device, target_CT=target_CT)
    rows = [3, 0, 3, 17]
    length = int(sequences.length_N[rows].max()) + 3
    token_BL, point_BL, target_CBL = resident.batch(torch.tensor(rows), length=length)
    for row, number in enumerate(rows):
        start, own = int(sequences.start_N[number]), int(sequences.length_N[number])
        padding = length - own
        assert token_BL[row].tolist() == [*sequences.token_T[start : start + own], *[2] * padding]
        assert point_BL[row].tolist() == [*sequences.point_T[start : start + own], *[False] * padding]
        assert target_CBL[0, row].tolist() == [*range(start, start + own), *[IGNORE] * padding]
    without = ResidentSequences(sequences, pad_id=2, device=CPU.device)
    assert without.batch(torch.tensor([0, 1]), length=40)[2].shape == (0, 2, 40)


def test_the_loss_is_that_before_the_update_and_falls_after_it() -> None:
    updates = updates_on(CPU)
    rows_B = torch.arange(8)
    length = int(pair_sequences().length_N[:8].max())
    token_BL, point_BL, target_CBL = updates.resident.batch(rows_B, length=length)
    with torch.no_grad():
        before = updates.model.loss(token_BL, point_BL=point_BL, target_CBL=target_CBL, language="en")
    losses = [updates(rows_B, length=length) for _ in range(30)]
    assert losses[0].equal(before)
    assert not losses[0].requires_grad
    assert losses[-1] < 0.5 * losses[0]


def test_few_graphs_serve_all_lengths_and_none_is_longer_than_the_model() -> None:
    lengths = [graph_length(length, positions=512) for length in range(1, 257)]
    assert all(length <= padded < length + 8 for length, padded in enumerate(lengths, start=1))
    assert max(padded - length for length, padded in enumerate(lengths[:32], start=1)) == 1
    assert len(set(lengths)) == 16 + 28
    # Where windows are as long as the model has positions, there is nothing to round up to.
    assert [graph_length(length, positions=61) for length in (31, 32, 33, 56, 57, 61)] == [32, 32, 40, 56, 61, 61]


def hand_made_updates(encoder: Encoder, head: torch.nn.Linear, *, run: FineTuningRun, train: list[Inference]) -> None:
    """Adam as its paper has it, on batches padded by hand, with rates by hand."""
    known = letter_encoding()
    sequences = encoded(NLI, train, encoding=known, most_tokens=run.most_tokens)
    labels = sorted({example.label for example in train})
    rows = [
        sequences.token_T[start:][:length] for start, length in zip(sequences.start_N, sequences.length_N, strict=True)
    ]
    parameters = [(run.head_learning_rate, parameter) for parameter in head.parameters()]
    parameters += [(run.learning_rate, parameter) for parameter in encoder.parameters()]
    moments = [(torch.zeros_like(parameter), torch.zeros_like(parameter)) for _, parameter in parameters]
    update, updates = 0, run.epochs * -(-len(train) // run.batch)
    for epoch in range(run.epochs):
        order = epoch_order(epoch=epoch, examples=len(train), size=len(train), seed=run.seed)
        for chosen in length_batches(order, sequences.length_N, batch=run.batch, seed=run.seed, epoch=epoch):
            update += 1
            token_BL = torch.full((len(chosen), 30), PAD)
            for row, number in enumerate(chosen):
                token_BL[row, : len(rows[number])] = torch.from_numpy(rows[number])
            first_BD = encoder(token_BL, language="en", padded=True)[:, 0]
            target_B = torch.tensor([labels.index(train[number].label) for number in chosen])
            gradients = torch.autograd.grad(F.cross_entropy(head(first_BD), target_B), [each for _, each in parameters])
            # A quarter of the updates to warm up.
            share = min(update / (updates / 4), (updates - update + 1) / (updates * 3 / 4), 1.0)
            with torch.no_grad():
                for (rate, parameter), (first, second), gradient in zip(parameters, moments, gradients, strict=True):
                    first.mul_(0.9).add_(0.1 * gradient)
                    second.mul_(run.beta2).add_((1 - run.beta2) * gradient**2)
                    mean, square = first / (1 - 0.9**update), second / (1 - run.beta2**update)
                    parameter -= share * rate * mean / (square.sqrt() + 1e-8)


def test_every_update_is_adam_s_with_the_rate_of_its_part(tmp_path: Path) -> None:
    """The layer on top has a rate of its own."""
    train = inferences(18)
    run = replace(RUN, epochs=2, beta2=0.9, learning_rate=1e-3, head_learning_rate=1e-2, warmup_share=0.25)
    tuner = tuner_of(tmp_path, run=run, task=NLI, train=train, dev=inferences(4))
    encoder, head = tiny_encoder(), torch.nn.Linear(16, 3)
    head.load_state_dict(tuner.model.head.output.state_dict())
    for _ in range(2):
        tuner.advance(silent)
    hand_made_updates(encoder, head, run=run, train=train)
    for ours, theirs, start in ((tuner.model.head.output, head, None), (tuner.model.encoder, encoder, tiny_encoder())):
        for name, tensor in theirs.state_dict().items():
            # The bias of keys changes no attention: its gradient is 0 but for rounding, which Adam makes large.
            counts = torch.arange(len(tensor)) // 16 != 1 if name.endswith("query_key_value.bias") else slice(None)
            expected = tensor[counts]
            torch.testing.assert_close(ours.state_dict()[name][counts], expected, rtol=0, atol=2e-5, msg=name)
            assert start is None or (start.state_dict()[name][counts] - expected).abs().max() > 1e-4


def rows_of_update(update: int, sequences: Sequences) -> tuple[Tensor, int]:
    """Batches of two sizes, short ones and long ones, in an order in which every graph is replayed after others."""
    in_order = np.argsort(sequences.length_N, kind="stable")
    start = (0, 30, 8, 20, 0)[update % 5] + update // 10
    rows_B = in_order[start : start + (4, 8)[update % 2]]
    return torch.from_numpy(rows_B), int(sequences.length_N[rows_B].max())


@pytest.mark.gpu
@pytest.mark.parametrize("has_padding_beyond", [False, True])
def test_graphs_make_the_updates_that_are_made_without_them(has_padding_beyond: bool) -> None:
    """Both in bf16, and both with the optimizer that graphs need."""
    machine = Machine(device=torch.device("cuda"))
    recorded, eager = updates_on(machine), updates_on(machine)
    eager.recorded.is_used = False
    sequences = pair_sequences()
    losses: tuple[list[Tensor], list[Tensor]] = ([], [])
    for update in range(60):
        rows_B, length = rows_of_update(update, sequences)
        for updates, of_updates in zip((recorded, eager), losses, strict=True):
            for group in updates.optimizer.param_groups:
                group["lr"].fill_(1e-3 * (1 - update / 60))
            padded = length + 5 if has_padding_beyond and updates is recorded else length
            of_updates.append(updates(rows_B.to(machine.device), length=padded))
    assert len(recorded.recorded.graphs) >= 4
    assert eager.recorded.graphs == {}
    # Read at the end: no replay may have written over the loss of one before.
    by_graphs, by_hand = (torch.stack(of_updates).cpu() for of_updates in losses)
    torch.testing.assert_close(by_graphs, by_hand, rtol=5e-2, atol=2e-2)
    graph_weights, eager_weights, start = (
        # Without the bias of keys: its gradient is 0 but for rounding, which Adam makes large.
        torch.cat([each.flatten() for name, each in weights_of(model).items() if "query_key_value.bias" not in name])
        for model in (recorded.model, eager.model, updates_on(machine).model)
    )
    assert (graph_weights - eager_weights).norm() < 0.1 * (eager_weights - start).norm()


@pytest.mark.gpu
def test_dropout_differs_from_replay_to_replay_and_comes_again_with_its_seed() -> None:
    """The parser's layers drop, and its updates are recorded too."""
    machine = Machine(device=torch.device("cuda"))
    trees = chain_trees()
    sequences = encoded(PARSING, trees, encoding=letter_encoding(), most_tokens=40)
    labels = PARSING.labels(trees)
    ids = {label: number for number, label in enumerate(labels)}

    def losses(seeds: list[int]) -> list[float]:
        with torch.random.fork_rng():
            torch.manual_seed(0)
            model = TaskModel(tiny_encoder(), PARSING.head(width=16, labels=labels), freeze_encoder=False)
        model = model.to(machine.device).train()
        resident = ResidentSequences(
            sequences, pad_id=2, device=machine.device, target_CT=target_columns(PARSING, trees, sequences, ids)
        )
        run = replace(RUN, learning_rate=0.0, head_learning_rate=0.0)
        updates = Updates(model, adam(model, run, machine=machine), resident, language="en", machine=machine)
        found = []
        for seed in seeds:
            torch.manual_seed(seed)
            found.append(float(updates(torch.arange(6, device=machine.device), length=20)))
        assert len(updates.recorded.graphs) == 1
        return found

    # Weights stay as they are, as the rate is 0.
    found = losses([1, 2, 3, 4, 3, 4])
    assert len(set(found[2:4])) == 2
    assert found[2:4] == found[4:6]
    assert losses([1, 2, 3, 4, 3, 4]) == found
