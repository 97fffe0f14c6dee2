"""One update: its batch, its weights against Adam on batches padded by hand, its rate, and its dropout in a graph."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from isoglot.corpora.vocabulary import PAD
from isoglot.evaluation.transfer.fine_tuning import graph_length
from isoglot.evaluation.transfer.run import FineTuningRun
from isoglot.evaluation.transfer.sequences import ResidentSequences, encoded, epoch_order, length_batches
from isoglot.evaluation.transfer.task import IGNORE
from isoglot.evaluation.transfer.tasks.nli import Inference
from isoglot.machine import Machine
from isoglot.model.encoder import Encoder
from isoglot.study.searches import Schedule
from tests.evaluation.transfer import tiny_transfer as tiny


def test_a_batch_is_padded_to_any_length_that_holds_it() -> None:
    sequences = encoded(tiny.NLI, tiny.inferences(40, most_words=5), encoding=tiny.letter_encoding(), most_tokens=40)
    target_CT = np.arange(len(sequences.token_T))[None]
    resident = ResidentSequences(sequences, pad_id=2, device=tiny.CPU.device, target_CT=target_CT)
    rows = [3, 0, 3, 17]
    length = int(sequences.length_N[rows].max()) + 3
    token_BL, point_BL, target_CBL = resident.batch(torch.tensor(rows), length=length)
    for row, number in enumerate(rows):
        start, own = int(sequences.start_N[number]), int(sequences.length_N[number])
        padding = length - own
        assert token_BL[row].tolist() == [*sequences.token_T[start : start + own], *[2] * padding]
        assert point_BL[row].tolist() == [*sequences.point_T[start : start + own], *[False] * padding]
        assert target_CBL[0, row].tolist() == [*range(start, start + own), *[IGNORE] * padding]
    without = ResidentSequences(sequences, pad_id=2, device=tiny.CPU.device)
    assert without.batch(torch.tensor([0, 1]), length=40)[2].shape == (0, 2, 40)


def test_few_graphs_serve_all_lengths_and_none_is_longer_than_the_model() -> None:
    lengths = [graph_length(length, positions=512) for length in range(1, 257)]
    assert all(length <= padded < length + 8 for length, padded in enumerate(lengths, start=1))
    assert max(padded - length for length, padded in enumerate(lengths[:32], start=1)) == 1
    assert len(set(lengths)) == 16 + 28
    # Where windows are as long as the model has positions, there is nothing to round up to.
    assert [graph_length(length, positions=61) for length in (31, 32, 33, 56, 57, 61)] == [32, 32, 40, 56, 61, 61]


def hand_made_updates(encoder: Encoder, head: torch.nn.Linear, *, run: FineTuningRun, train: list[Inference]) -> None:
    """Batches padded by hand, with rates by hand."""
    sequences = encoded(tiny.NLI, train, encoding=tiny.letter_encoding(), most_tokens=run.most_tokens)
    labels = sorted({example.label for example in train})
    parts = [(head, run.head_learning_rate), (encoder, run.learning_rate)]
    groups = [{"params": list(part.parameters()), "full": rate} for part, rate in parts]
    optimizer = torch.optim.Adam(groups, betas=(0.9, run.beta2), foreach=False)
    update, updates = 0, run.epochs * -(-len(train) // run.batch)
    for epoch in range(run.epochs):
        order = epoch_order(epoch=epoch, examples=len(train), size=len(train), seed=run.seed)
        for chosen in length_batches(order, sequences.length_N, batch=run.batch, seed=run.seed, epoch=epoch):
            update += 1
            token_BL = torch.full((len(chosen), 30), PAD)
            for row, number in enumerate(chosen):
                ids = sequences.token_T[sequences.start_N[number] :][: sequences.length_N[number]]
                token_BL[row, : len(ids)] = torch.from_numpy(ids)
            target_B = torch.tensor([labels.index(train[number].label) for number in chosen])
            optimizer.zero_grad()
            F.cross_entropy(head(encoder(token_BL, language="en", padded=True)[:, 0]), target_B).backward()
            for group in optimizer.param_groups:
                # A quarter of the updates to warm up.
                share = min(update / (updates / 4), (updates - update + 1) / (updates * 3 / 4), 1.0)
                group["lr"] = share * group["full"]
            optimizer.step()


def test_every_update_is_adam_s_with_the_rate_of_its_part(tmp_path: Path) -> None:
    """The layer on top has a rate of its own."""
    train = tiny.inferences(18)
    run = replace(tiny.RUN, epochs=2, beta2=0.9, learning_rate=1e-3, head_learning_rate=1e-2, warmup_share=0.25)
    tuner = tiny.tuner_of(tmp_path, run=run, task=tiny.NLI, train=train, dev=tiny.inferences(4))
    encoder, head = tiny.tiny_encoder(), torch.nn.Linear(16, 3)
    head.load_state_dict(tuner.model.head.output.state_dict())
    for _ in range(2):
        tuner.advance(tiny.silent)
    hand_made_updates(encoder, head, run=run, train=train)
    for ours, theirs, start in (
        (tuner.model.head.output, head, None),
        (tuner.model.encoder, encoder, tiny.tiny_encoder()),
    ):
        for name, tensor in theirs.state_dict().items():
            # The bias of keys changes no attention: its gradient is 0 but for rounding, which Adam makes large.
            counts = torch.arange(len(tensor)) // 16 != 1 if name.endswith("query_key_value.bias") else slice(None)
            expected = tensor[counts]
            torch.testing.assert_close(ours.state_dict()[name][counts], expected, rtol=0, atol=2e-5, msg=name)
            assert start is None or (start.state_dict()[name][counts] - expected).abs().max() > 1e-4


@pytest.mark.gpu
def test_dropout_differs_from_replay_to_replay_and_comes_again_with_its_seed(tmp_path: Path) -> None:
    """The parser's layers drop, and weights stay as they are, as the rate is 0."""
    machine, trees = Machine(device=torch.device("cuda")), tiny.chain_trees()
    run = replace(tiny.RUN, learning_rate=0.0, head_learning_rate=0.0, most_tokens=40)

    def losses() -> list[float]:
        tuner = tiny.tuner_of(tmp_path, run=run, task=tiny.PARSING, train=trees, dev=trees, machine=machine)
        tuner.model.train()
        found = []
        for seed in (1, 2, 3, 4, 3, 4):
            machine.seed(seed)
            found.append(float(tuner.update(torch.arange(6, device=machine.device), length=20)))
        assert len(tuner.replay.graphs) == 1
        return found

    found = losses()
    assert len(set(found[2:4])) == 2
    assert found[2:4] == found[4:6]
    assert losses() == found


TENTH = replace(tiny.RUN, schedule=Schedule.LINEAR, warmup_share=0.1)


def shares(run: FineTuningRun, *, updates: int) -> list[float]:
    return [run.rate_share(update, updates=updates) for update in range(1, updates + 1)]


def test_warm_up_and_decay_by_hand() -> None:
    assert shares(TENTH, updates=20) == pytest.approx([1 / 2, 1.0, *(left / 18 for left in range(18, 0, -1))])
    expected = {1: 0.01, 50: 0.5, 99: 0.99, 100: 1.0, 101: 1.0, 102: 899 / 900, 551: 0.5, 1000: 1 / 900}
    # A warm-up of 2.5 updates ends between two.
    assert shares(TENTH, updates=25)[:5] == pytest.approx([0.4, 0.8, 1.0, 22 / 22.5, 21 / 22.5])
    assert {at: TENTH.rate_share(at, updates=1000) for at in expected} == pytest.approx(expected)
    # Without a warm-up the rate falls from the first update on.
    assert shares(replace(TENTH, warmup_share=0.0), updates=4) == pytest.approx([1.0, 0.75, 0.5, 0.25])
    assert shares(TENTH, updates=4) == pytest.approx([1.0, 3 / 3.6, 2 / 3.6, 1 / 3.6])
    assert shares(TENTH, updates=1) == [1.0]
    assert set(shares(replace(TENTH, schedule=Schedule.CONSTANT), updates=30)) == {1.0}


@pytest.mark.parametrize(
    ("epoch_examples", "batch", "size", "examples", "updates"),
    [(None, 16, 100, 100, 7), (None, 16, 96, 96, 6), (20_000, 8, 392_702, 20_000, 2500), (50, 4, 10, 50, 13)],
)
def test_an_epoch_is_all_sequences_or_as_many_as_the_run_says(
    epoch_examples: int | None, batch: int, size: int, examples: int, updates: int
) -> None:
    run = replace(tiny.RUN, epoch_examples=epoch_examples, batch=batch)
    assert (run.examples(size), run.epoch_updates(size)) == (examples, updates)
