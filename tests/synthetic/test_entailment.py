from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax

from isoglot.synthetic import EntailmentPair, Label, entailment_pairs
from isoglot.synthetic.entailment import draw_inferences
from isoglot.synthetic.inventory import ABSENT
from isoglot.synthetic.senses import antonyms, hypernyms
from isoglot.synthetic.structures import NEGATION, Part, Role, slot
from isoglot.synthetic_languages import SyntheticLanguage, WordOrder, World

ENGLISH = SyntheticLanguage(name="a")


@pytest.fixture(scope="module")
def pairs(world: World) -> list[EntailmentPair]:
    return entailment_pairs(ENGLISH, world=world, count=6_000, seed=0)


def test_labels_are_balanced_and_mixed(pairs: list[EntailmentPair]) -> None:
    assert Counter(pair.label for pair in pairs) == dict.fromkeys(Label, 2_000)
    halves = Counter(pair.label for pair in pairs[:3_000])
    assert all(900 < count < 1_100 for count in halves.values())


def slow_label(premise: list[int], hypothesis: list[int], world: World) -> str:
    """Enumerates the ways in which two meanings may differ, one slot at a time."""
    kinds = set()
    for each, (said, asked) in enumerate(zip(premise, hypothesis, strict=True)):
        if each == NEGATION or said == asked:
            continue
        role_part = next(((r, p) for r in Role for p in Part if slot(r, p) == each), None)
        if asked == ABSENT:
            kinds.add("less")
        elif said == ABSENT:
            kinds.add("more")
        elif role_part and role_part[1] is Part.HEAD and hypernyms(world)[said] == asked:
            kinds.add("less")
        elif role_part and role_part[1] is Part.HEAD and hypernyms(world)[asked] == said:
            kinds.add("more")
        elif role_part and role_part[1] is Part.ADJECTIVE and antonyms(world)[said] == asked:
            kinds.add("opposite")
        else:
            kinds.add("other")
    negations = (premise[NEGATION] != ABSENT, hypothesis[NEGATION] != ABSENT)
    follows, followed = kinds <= {"less"}, kinds <= {"more"}
    match negations:
        case (False, False) if follows:
            return "entailment"
        case (False, False) if kinds in ({"opposite"}, {"opposite", "less"}):
            return "contradiction"
        case (True, True) if followed:
            return "entailment"
        case (False, True) if follows:
            return "contradiction"
        case (True, False) if followed:
            return "contradiction"
    return "neutral"


def test_labels_follow_from_the_meanings(world: World) -> None:
    inferences = draw_inferences(world, count=3_000, seed=1)
    premises, hypotheses = inferences.premises.concept_BS.tolist(), inferences.hypotheses.concept_BS.tolist()
    for premise, hypothesis, label in zip(premises, hypotheses, inferences.labels.tolist(), strict=True):
        assert slow_label(premise, hypothesis, world) == label


def test_swapping_subject_and_object_entails_nothing(pairs: list[EntailmentPair]) -> None:
    same_words = [p for p in pairs if sorted(p.premise.split()) == sorted(p.hypothesis.split())]
    swapped = [pair for pair in same_words if pair.premise != pair.hypothesis]
    assert len(swapped) > 100
    assert {pair.label for pair in swapped} == {Label.NEUTRAL}
    assert {pair.label for pair in same_words if pair.premise == pair.hypothesis} == {Label.ENTAILMENT}


def test_one_seed_means_the_same_in_every_language(world: World, pairs: list[EntailmentPair]) -> None:
    other = entailment_pairs(SyntheticLanguage(name="b", order=WordOrder.SOV), world=world, count=6_000, seed=0)
    assert [pair.label for pair in other] == [pair.label for pair in pairs]
    assert all(
        (len(a.premise.split()), len(a.hypothesis.split())) == (len(b.premise.split()), len(b.hypothesis.split()))
        for a, b in zip(pairs, other, strict=True)
    )
    assert entailment_pairs(ENGLISH, world=world, count=6_000, seed=1) != pairs


@pytest.mark.parametrize("count", [0, 1, 2, 3, 10])
def test_few_pairs_can_be_had(tiny_world: World, count: int) -> None:
    counts = Counter(pair.label for pair in entailment_pairs(ENGLISH, world=tiny_world, count=count, seed=0))
    assert counts.total() == count
    assert max(counts.values(), default=0) - min(count // 3, *(counts[label] for label in Label)) <= 1


def bag_of_words(pairs: list[EntailmentPair]) -> NDArray[np.float64]:
    """Counts of the premise's words, counts of the hypothesis's words, and a constant."""
    words = sorted({word for pair in pairs for word in (pair.premise + " " + pair.hypothesis).split()})
    column = {word: i for i, word in enumerate(words)}
    counts = np.zeros((2, len(pairs), len(words)))
    for i, pair in enumerate(pairs):
        for side, text in enumerate((pair.premise, pair.hypothesis)):
            for word in text.split():
                counts[side, i, column[word]] += 1
    return np.concatenate([counts[0], counts[1], np.ones((len(pairs), 1))], axis=1)


def test_a_bag_of_words_does_not_suffice(pairs: list[EntailmentPair]) -> None:
    features, num_train = bag_of_words(pairs), 4_500
    gold = np.array([list(Label).index(pair.label) for pair in pairs])
    train, target = features[:num_train], np.eye(3)[gold[:num_train]]

    def loss_and_gradient(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights = flat.reshape(-1, 3)
        log_probabilities = log_softmax(train @ weights, axis=1)
        loss = -(target * log_probabilities).sum() / num_train + 1e-4 * (weights**2).sum()
        return loss, (train.T @ (np.exp(log_probabilities) - target) / num_train + 2e-4 * weights).ravel()

    start = np.zeros(features.shape[1] * 3)
    found = minimize(loss_and_gradient, start, jac=True, method="L-BFGS-B", options={"maxiter": 200})
    right = (features @ found.x.reshape(-1, 3)).argmax(1) == gold
    assert right[:num_train].mean() < 0.6
    assert right[num_train:].mean() < 0.5
