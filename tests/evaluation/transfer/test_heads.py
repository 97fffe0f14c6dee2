"""The linear layer by hand; the parser against loops over the formulas of Dozat and Manning (2016)."""

# B = sequences, L = positions, D = width, K = labels or relations

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from isoglot.evaluation.transfer.heads import BiaffineParser, LinearHead, VariationalDropout, mean_cross_entropy
from isoglot.evaluation.transfer.task import IGNORE
from tests.evaluation.transfer.drawn_trees import all_trees

WIDTH, NUM_RELATIONS, ROOT = 4, 4, 2
LENGTHS = (9, 7, 3, 6)
POINTS = ((1, 2, 4, 7), (1, 3, 4), (1,), (2, 4))
"""Where words start; the first position is the root's, the rest are subwords and end symbols."""
POINT_BL = torch.tensor([[place in places for place in range(max(LENGTHS))] for places in POINTS])
HEADS = ((2, 0, 2, 4), (4, 1, 0), (0,), (0, 2))
"""Positions."""
Vector = NDArray[np.float64]


def parser(*, seed: int = 0) -> BiaffineParser:
    """In evaluation mode, every weight random."""
    made = BiaffineParser(width=WIDTH, num_relations=NUM_RELATIONS, root_relation=ROOT)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.normal_(std=0.5, generator=generator)
    return made.eval()


def random_hidden(*, seed: int = 0) -> Tensor:
    """Noise at padding as well."""
    generator = torch.Generator().manual_seed(100 + seed)
    return torch.randn(len(LENGTHS), max(LENGTHS), WIDTH, generator=generator)


def targets(heads: Sequence[Sequence[int]] = HEADS) -> Tensor:
    target_CBL = torch.full((2, len(LENGTHS), max(LENGTHS)), IGNORE)
    for row, (places, of_row) in enumerate(zip(POINTS, heads, strict=True)):
        for place, target in zip(places, of_row, strict=True):
            target_CBL[0, row, place] = target
            target_CBL[1, row, place] = IGNORE if target == IGNORE else (ROOT if target == 0 else place % 2)
    return target_CBL


def array(tensor: Tensor) -> Vector:
    return tensor.detach().double().numpy()


def perceptron(layers: nn.Sequential, hidden_D: Tensor) -> Vector:
    linear = layers[0]
    assert isinstance(linear, nn.Linear)
    sums = array(linear.weight) @ array(hidden_D) + array(linear.bias)
    return np.array([x if x > 0 else np.exp(x) - 1 for x in sums])


def biaffine(weights: Tensor, dependent: Vector, head: Vector) -> float:
    """A product, a term for each side, and a bias."""
    matrix = array(weights)
    product_term = sum(a * matrix[i, j] * b for i, a in enumerate(dependent) for j, b in enumerate(head))
    return float(product_term + dependent @ matrix[:-1, -1] + matrix[-1, :-1] @ head + matrix[-1, -1])


class SlowParser:
    """One arc after the other."""

    def __init__(self, fast: BiaffineParser, hidden_LD: Tensor, places: Sequence[int]):
        self.fast, self.hidden_LD, self.places = fast, hidden_LD, places

    def arc_log_probabilities(self, place: int) -> dict[int, float]:
        candidates = [head for head in (0, *self.places) if head != place]
        dependent = perceptron(self.fast.arc_dependent, self.hidden_LD[place])
        scores = [
            biaffine(self.fast.arc, dependent, perceptron(self.fast.arc_head, self.hidden_LD[head]))
            for head in candidates
        ]
        return dict(zip(candidates, scores - np.log(np.exp(scores).sum()), strict=True))

    def relation_log_probabilities(self, place: int, head: int) -> Vector:
        dependent = perceptron(self.fast.relation_dependent, self.hidden_LD[place])
        of_head = perceptron(self.fast.relation_head, self.hidden_LD[head])
        scores = np.array([biaffine(weights, dependent, of_head) for weights in self.fast.relation])
        return scores - np.log(np.exp(scores).sum())

    def joint(self, place: int) -> dict[int, tuple[float, int]]:
        """The score and the relation of each head; the relation root is at the root and nowhere else."""
        found = {}
        for head, arc in self.arc_log_probabilities(place).items():
            relations = self.relation_log_probabilities(place, head)
            allowed = [ROOT] if head == 0 else [number for number in range(NUM_RELATIONS) if number != ROOT]
            best = max(allowed, key=lambda number: relations[number])
            found[head] = (arc + relations[best], best)
        return found

    def best_tree(self) -> list[tuple[int, int]]:
        """The head of each word, counted in words, and its relation."""
        joint = [self.joint(place) for place in self.places]
        best = max(
            all_trees(len(self.places)),
            key=lambda heads: sum(of[(0, *self.places)[head]][0] for of, head in zip(joint, heads, strict=True)),
        )
        return [(head, of[(0, *self.places)[head]][1]) for of, head in zip(joint, best, strict=True)]


def slow_parsers(fast: BiaffineParser, hidden_BLD: Tensor) -> list[SlowParser]:
    return [SlowParser(fast, hidden_LD, places) for hidden_LD, places in zip(hidden_BLD, POINTS, strict=True)]


@torch.no_grad()
@pytest.mark.parametrize("heads", [HEADS, ((2, 0, IGNORE, 4), (IGNORE, 1, IGNORE), (0,), (IGNORE, IGNORE))])
def test_losses(heads: Sequence[Sequence[int]]) -> None:
    """The mean over words of either loss, heads in other parts left out."""
    fast, hidden_BLD, target_CBL = parser(), random_hidden(), targets(heads)
    arcs, relations = [], []
    for slow, of_row, target_CL in zip(slow_parsers(fast, hidden_BLD), heads, target_CBL.unbind(1), strict=True):
        for place, head in zip(slow.places, of_row, strict=True):
            if head != IGNORE:
                arcs.append(-slow.arc_log_probabilities(place)[head])
                relations.append(-slow.relation_log_probabilities(place, head)[target_CL[1, place]])
    loss = fast.loss(hidden_BLD, point_BL=POINT_BL, target_CBL=target_CBL)
    assert float(loss) == pytest.approx(np.mean(arcs) + np.mean(relations), rel=1e-4)


@pytest.mark.gpu
def test_on_a_gpu_gradients_are_the_same_to_the_byte_each_time() -> None:
    """Also where many words share a head, whose gradient is a sum over them."""
    torch.manual_seed(0)
    fast = BiaffineParser(width=128, num_relations=NUM_RELATIONS, root_relation=ROOT).cuda().eval()
    hidden_BLD = torch.randn(32, 64, 128, device="cuda", requires_grad=True)
    point_BL = torch.ones(32, 64, dtype=torch.bool, device="cuda")
    target_CBL = torch.ones(2, 32, 64, dtype=torch.long, device="cuda")
    # A word cannot be its own head.
    target_CBL[:, :, :2] = IGNORE
    gradients = [
        torch.autograd.grad(fast.loss(hidden_BLD, point_BL=point_BL, target_CBL=target_CBL), hidden_BLD)[0]
        for _ in range(20)
    ]
    assert all(each.equal(gradients[0]) for each in gradients)


@torch.no_grad()
def test_joint_scores_of_arcs_with_their_relations() -> None:
    fast, hidden_BLD = parser(), random_hidden()
    joint_BWW, relation_BWW, num_words_B = fast.score(hidden_BLD, point_BL=POINT_BL)
    assert num_words_B.tolist() == [len(places) for places in POINTS]
    assert joint_BWW.shape == (4, 5, 5)
    for row, slow in enumerate(slow_parsers(fast, hidden_BLD)):
        for word, place in enumerate(slow.places, start=1):
            for head, (score, relation) in slow.joint(place).items():
                number = (0, *slow.places).index(head)
                assert float(joint_BWW[row, word, number]) == pytest.approx(score, abs=2e-4)
                assert int(relation_BWW[row, word, number]) == relation
            assert joint_BWW[row, word, word] == -torch.inf


@torch.no_grad()
@pytest.mark.parametrize("seed", range(5))
def test_the_best_tree_with_its_relations(seed: int) -> None:
    fast, hidden_BLD = parser(seed=seed), random_hidden(seed=seed)
    (columns_CP,) = fast.decode([fast.score(hidden_BLD, point_BL=POINT_BL)])
    expected = [word for slow in slow_parsers(fast, hidden_BLD) for word in slow.best_tree()]
    assert columns_CP.T.tolist() == [list(word) for word in expected]


@torch.no_grad()
def test_loss_and_labels_of_the_linear_layer_by_hand() -> None:
    """The mean over points; what stands elsewhere is noise."""
    torch.manual_seed(0)
    layer = LinearHead(width=WIDTH, num_labels=3, dropout=0.5).eval()
    hidden_BLD = random_hidden()
    target_CBL = torch.where(POINT_BL, torch.arange(max(LENGTHS)) % 3, IGNORE).unsqueeze(0)
    losses, labels = [], []
    for row, places in enumerate(POINTS):
        for place in places:
            scores = array(layer.output.weight) @ array(hidden_BLD[row, place]) + array(layer.output.bias)
            labels.append(int(scores.argmax()))
            losses.append(np.log(np.exp(scores).sum()) - scores[place % 3])
    assert float(layer.loss(hidden_BLD, point_BL=POINT_BL, target_CBL=target_CBL)) == pytest.approx(np.mean(losses))
    (columns_CP,) = layer.decode([layer.score(hidden_BLD, point_BL=POINT_BL)])
    assert (columns_CP.tolist(), columns_CP.dtype) == ([labels], np.int64)
    assert len(set(labels)) == 3


def test_cross_entropy_of_halves_is_computed_in_full_and_without_targets_there_is_none() -> None:
    """A part of a long sentence may have none, where all heads are in other parts."""
    score_BLK = torch.tensor([[[30.0, 29.0], [1.0, 3.0]]], dtype=torch.bfloat16, requires_grad=True)
    expected = (np.log1p(np.exp(-1.0)) + np.log1p(np.exp(2.0))) / 2
    loss = mean_cross_entropy(score_BLK, torch.tensor([[0, 0]]))
    assert loss.dtype == torch.float32
    assert float(loss.detach()) == pytest.approx(expected, rel=1e-6)
    nothing = mean_cross_entropy(score_BLK, torch.tensor([[IGNORE, IGNORE]]))
    nothing.backward()
    assert float(nothing.detach()) == 0.0
    assert score_BLK.grad.eq(0).all()


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
