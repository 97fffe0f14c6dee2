"""The linear layer by hand, and what must never change a loss or a prediction."""

# B = sequences, L = positions, D = width, K = labels

import numpy as np
import pytest
import torch
from torch import Tensor

from isoglot.evaluation.transfer.heads import LinearHead, VariationalDropout, mean_cross_entropy
from isoglot.evaluation.transfer.task import IGNORE

WIDTH, NUM_LABELS = 8, 3
LENGTHS = (6, 4, 1)
POINTS = ((1, 2, 4), (1, 3), (0,))


def head(*, dropout: float = 0.0) -> LinearHead:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return LinearHead(width=WIDTH, num_labels=NUM_LABELS, dropout=dropout).eval()


def random_batch(*, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """hidden_BLD with noise at its padding, point_BL and target_CBL."""
    generator = torch.Generator().manual_seed(seed)
    hidden_BLD = torch.randn(len(LENGTHS), max(LENGTHS), WIDTH, generator=generator)
    point_BL = torch.zeros(len(LENGTHS), max(LENGTHS), dtype=torch.bool)
    for row, places in enumerate(POINTS):
        point_BL[row, list(places)] = True
    label_BL = torch.randint(NUM_LABELS, point_BL.shape, generator=generator)
    return hidden_BLD, point_BL, label_BL.masked_fill(~point_BL, IGNORE).unsqueeze(0)


def scores_by_hand(layer: LinearHead, hidden_D: Tensor) -> list[float]:
    rows = zip(layer.output.weight.tolist(), layer.output.bias.tolist(), strict=True)
    return [sum(w * x for w, x in zip(weights, hidden_D.tolist(), strict=True)) + bias for weights, bias in rows]


@torch.no_grad()
def test_loss_and_predictions_by_hand() -> None:
    layer, (hidden_BLD, point_BL, target_CBL) = head(), random_batch()
    # Noise where nothing stands changes nothing.
    hidden_BLD = torch.where(point_BL.unsqueeze(-1), hidden_BLD, 100 * torch.randn_like(hidden_BLD))
    losses, labels = [], []
    for row, places in enumerate(POINTS):
        for place in places:
            scores = scores_by_hand(layer, hidden_BLD[row, place])
            labels.append(int(np.argmax(scores)))
            losses.append(np.log(np.exp(scores).sum()) - scores[target_CBL[0, row, place]])
    assert len(losses) == 6
    assert float(layer.loss(hidden_BLD, point_BL=point_BL, target_CBL=target_CBL)) == pytest.approx(np.mean(losses))
    (columns_CP,) = layer.decode([layer.score(hidden_BLD, point_BL=point_BL)])
    assert columns_CP.tolist() == [labels]
    assert len(set(labels)) == NUM_LABELS
    assert columns_CP.dtype == np.int64


@torch.no_grad()
def test_the_loss_of_a_batch_is_the_mean_over_its_words_and_not_over_its_sequences() -> None:
    layer, (hidden_BLD, point_BL, target_CBL) = head(), random_batch()
    alone = [
        float(
            layer.loss(
                hidden_BLD[row : row + 1, :length],
                point_BL=point_BL[row : row + 1, :length],
                target_CBL=target_CBL[:, row : row + 1, :length],
            )
        )
        for row, length in enumerate(LENGTHS)
    ]
    together = float(layer.loss(hidden_BLD, point_BL=point_BL, target_CBL=target_CBL))
    counts = [len(places) for places in POINTS]
    assert together == pytest.approx(np.average(alone, weights=counts))
    assert abs(together - np.mean(alone)) > 1e-3


def test_a_batch_without_any_target_has_no_loss_and_no_gradient() -> None:
    """A part of a long sentence may have none, where all heads are in other parts."""
    score_BLK = torch.randn(2, 3, 4, requires_grad=True)
    loss = mean_cross_entropy(score_BLK, torch.full((2, 3), IGNORE))
    loss.backward()
    assert float(loss.detach()) == 0.0
    assert score_BLK.grad is not None
    assert score_BLK.grad.eq(0).all()


def test_cross_entropy_of_halves_is_computed_in_full() -> None:
    score_BLK = torch.tensor([[[30.0, 29.0], [1.0, 3.0]]], dtype=torch.bfloat16)
    expected = (np.log1p(np.exp(-1.0)) + np.log1p(np.exp(2.0))) / 2
    loss = mean_cross_entropy(score_BLK, torch.tensor([[0, 0]]))
    assert loss.dtype == torch.float32
    assert float(loss) == pytest.approx(expected, rel=1e-6)


def test_variational_dropout_drops_the_same_features_at_every_position() -> None:
    torch.manual_seed(0)
    dropout = VariationalDropout(0.3).train()
    dropped_BLD = dropout(torch.ones(200, 5, 50))
    assert dropped_BLD.equal(dropped_BLD[:, :1].expand_as(dropped_BLD))
    kept = dropped_BLD[:, 0].ne(0)
    torch.testing.assert_close(dropped_BLD[:, 0][kept], torch.full((int(kept.sum()),), 1 / 0.7))
    assert float(kept.float().mean()) == pytest.approx(0.7, abs=0.02)
    # Other features in each sequence and each time.
    assert len({tuple(row) for row in kept.tolist()}) == 200
    assert not dropout(torch.ones(200, 5, 50)).equal(dropped_BLD)
    assert dropout.eval()(dropped_BLD).equal(dropped_BLD)
