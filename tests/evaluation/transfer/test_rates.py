"""Which rate each part learns at: every update against Adam written out."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from isoglot.corpora.vocabulary import PAD
from isoglot.evaluation.transfer.run import FineTuningRun
from isoglot.evaluation.transfer.sequences import encoded, epoch_order, length_batches
from isoglot.evaluation.transfer.tasks.nli import TASK as NLI
from isoglot.evaluation.transfer.tasks.nli import Inference
from isoglot.model.encoder import Encoder
from isoglot.study.searches import Schedule
from tests.evaluation.transfer.tiny_transfer import (
    RUN,
    inferences,
    letter_encoding,
    silent,
    tiny_encoder,
    tuner_of,
    weights_of,
)


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


@pytest.mark.parametrize("beta2", [0.9, 0.99])
def test_every_update_is_adam_s_with_the_rate_of_its_part(beta2: float, tmp_path: Path) -> None:
    """The layer on top has a rate of its own."""
    train = inferences(18)
    run = replace(RUN, epochs=2, beta2=beta2, learning_rate=1e-3, head_learning_rate=1e-2, warmup_share=0.25)
    tuner = tuner_of(tmp_path, run=run, task=NLI, train=train, dev=inferences(4))
    encoder, head = tiny_encoder(), torch.nn.Linear(16, 3)
    head.load_state_dict(tuner.model.head.output.state_dict())
    for _ in range(2):
        tuner.advance(silent)
    hand_made_updates(encoder, head, run=run, train=train)
    for ours, theirs, start in (
        (tuner.model.head.output, head, None),
        (tuner.model.encoder, encoder, tiny_encoder()),
    ):
        for name, tensor in theirs.state_dict().items():
            # The bias of keys changes no attention: its gradient is 0 but for rounding, which Adam makes large.
            counts = torch.arange(len(tensor)) // 16 != 1 if name.endswith("query_key_value.bias") else slice(None)
            expected = tensor[counts]
            torch.testing.assert_close(ours.state_dict()[name][counts], expected, rtol=0, atol=2e-5, msg=name)
            assert start is None or (start.state_dict()[name][counts] - expected).abs().max() > 1e-4


def test_the_first_update_moves_weights_by_the_rate_of_their_part(tmp_path: Path) -> None:
    """Adam's first step is as large as its rate, whatever the gradient."""
    run = replace(RUN, batch=18, epochs=1, learning_rate=1e-4, head_learning_rate=3e-3, schedule=Schedule.CONSTANT)
    tuner = tuner_of(tmp_path, run=run)
    before = weights_of(tuner.model)
    tuner.advance(silent)
    for name, tensor in tuner.model.state_dict().items():
        rate = 3e-3 if name.startswith("head.") else 1e-4
        assert float((tensor - before[name]).abs().max()) == pytest.approx(rate, rel=2e-2), name
