import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from isoglot.corpora.readers.inference_pairs import InferencePair
from isoglot.corpora.synthetic import draw_meanings, entailment_pairs, realise
from isoglot.corpora.synthetic.entailment import Label, candidate_pairs, draw_inferences, paraphrased
from isoglot.corpora.synthetic.inventory import ABSENT, NEGATION, NUM_SLOTS, Part, WordClass, inventory, slots
from isoglot.corpora.synthetic.meanings import Meanings, antonyms, hypernyms
from isoglot.study.synthetic_languages import SyntheticLanguage, WordOrder, World

ENGLISH = SyntheticLanguage(name="a")
SHORT = 13
"""Words of a pair that fills a window of 16 tokens with the three that stand around its sentences."""
LONG = 34
"""Words of a pair of the longest sentences of text, both negated."""
HEADS, ADJECTIVES, DETERMINERS = slots(Part.HEAD), slots(Part.ADJECTIVE), slots(Part.DETERMINER)


@pytest.fixture(scope="module")
def pairs(world: World) -> list[InferencePair]:
    return entailment_pairs(ENGLISH, world=world, count=6_000, seed=0, most_words=LONG)


@pytest.fixture(scope="module")
def short_pairs(demo_world: World) -> list[InferencePair]:
    return entailment_pairs(ENGLISH, world=demo_world, count=9_000, seed=0, most_words=SHORT)


def test_bytes_are_the_same_on_every_machine(pairs: list[InferencePair]) -> None:
    text = "\n".join(f"{pair.premise}\t{pair.hypothesis}\t{pair.label}" for pair in pairs)
    digest = hashlib.sha256(text.encode()).hexdigest()
    assert digest == "00f78c83d53d3145696e4a729d063e4837b3977fae05af1dbbda4a846bcc9e57"


def slow_label(premise: list[int], hypothesis: list[int], world: World) -> str:
    """Enumerates the ways in which two meanings may differ, one slot at a time."""
    kinds = set()
    for each, (a, b) in enumerate(zip(premise, hypothesis, strict=True)):
        if each == NEGATION or a == b:
            continue
        if b == ABSENT or (each in HEADS and a != ABSENT and hypernyms(world)[a] == b):
            kinds.add("less")
        elif a == ABSENT or (each in HEADS and hypernyms(world)[b] == a):
            kinds.add("more")
        else:
            kinds.add("opposite" if each in ADJECTIVES and antonyms(world)[a] == b else "other")
    follows, followed = kinds <= {"less"}, kinds <= {"more"}
    match (premise[NEGATION] != ABSENT, hypothesis[NEGATION] != ABSENT):
        case (False, False):
            is_opposite = kinds in ({"opposite"}, {"opposite", "less"})
            return "entailment" if follows else "contradiction" if is_opposite else "neutral"
        case (True, True):
            return "entailment" if followed else "neutral"
        case (False, True):
            return "contradiction" if follows else "neutral"
    return "contradiction" if followed else "neutral"


@pytest.mark.parametrize("most_words", [LONG, SHORT])
def test_labels_follow_from_the_meanings(world: World, most_words: int) -> None:
    *sides, labels = draw_inferences(world, count=3_000, seed=1, most_words=most_words)
    for premise, hypothesis, label in zip(*(side.concept_BS.tolist() for side in sides), labels.tolist(), strict=True):
        assert slow_label(premise, hypothesis, world) == label


@pytest.mark.parametrize("most_words", [LONG, SHORT])
def test_one_seed_means_the_same_in_every_language(world: World, most_words: int) -> None:
    sov = SyntheticLanguage(name="b", order=WordOrder.SOV)
    pairs, other = (
        entailment_pairs(language, world=world, count=300, seed=0, most_words=most_words) for language in (ENGLISH, sov)
    )
    assert [pair.label for pair in other] == [pair.label for pair in pairs]
    assert list(map(lengths, other)) == list(map(lengths, pairs))
    assert entailment_pairs(ENGLISH, world=world, count=300, seed=1, most_words=most_words) != pairs


def lengths(pair: InferencePair) -> tuple[int, int]:
    return len(pair.premise.split()), len(pair.hypothesis.split())


def test_short_pairs_are_short_balanced_and_many(short_pairs: list[InferencePair]) -> None:
    total = Counter(sum(lengths(pair)) for pair in short_pairs)
    assert max(total) == SHORT
    assert total[SHORT] > 100
    assert Counter(pair.label for pair in short_pairs) == dict.fromkeys(Label, 3_000)
    assert len(set(short_pairs)) > 6_000


def test_length_does_not_tell_of_negation(demo_world: World) -> None:
    premises, hypotheses = candidate_pairs(demo_world, count=100_000, seed=0, most_words=SHORT)
    filled = [(side.concept_BS != ABSENT) for side in (premises, hypotheses)]
    negations = sum(side[:, NEGATION].astype(int) for side in filled)
    rest = sum(np.delete(side, NEGATION, axis=1).sum(1) for side in filled)
    means = [rest[negations == each].mean() for each in range(3)]
    assert means == pytest.approx([rest.mean()] * 3, abs=0.05)


def test_every_edit_is_left_in_short_pairs(demo_world: World) -> None:
    """A dropped adjective and a dropped oblique, an added one of each, a word for a word, a swap, and no edit."""
    *sides, _ = draw_inferences(demo_world, count=6_000, seed=0, most_words=SHORT)
    premises, hypotheses = (np.delete(side.concept_BS, NEGATION, 1) for side in sides)
    lost = ((premises != ABSENT) & (hypotheses == ABSENT)).sum(1)
    won = ((premises == ABSENT) & (hypotheses != ABSENT)).sum(1)
    swapped = (np.sort(premises, 1) == np.sort(hypotheses, 1)).all(1) & (premises != hypotheses).any(1)
    replaced = (lost == 0) & (won == 0) & ((premises != hypotheses).sum(1) == 1)
    same = (premises == hypotheses).all(1)
    for found in (lost == 1, lost > 1, won == 1, won > 1, swapped, replaced, same):
        assert found.mean() > 0.03


def majority_accuracy(pairs: list[InferencePair], *, seen: Callable[[InferencePair], Hashable]) -> float:
    counts: dict[Hashable, Counter[str]] = defaultdict(Counter)
    for pair in pairs:
        counts[seen(pair)][pair.label] += 1
    return sum(max(count.values()) for count in counts.values()) / len(pairs)


def test_length_hardly_tells_the_label(short_pairs: list[InferencePair]) -> None:
    assert majority_accuracy(short_pairs, seen=lambda pair: pair.label) == 1
    assert majority_accuracy(short_pairs, seen=lambda pair: sum(lengths(pair))) < 0.45
    assert majority_accuracy(short_pairs, seen=lengths) < 0.5


def bag_of_words(pairs: list[InferencePair]) -> NDArray[np.float64]:
    """Counts of the premise's words, counts of the hypothesis's words, and a constant."""
    words = sorted({word for pair in pairs for word in (pair.premise + " " + pair.hypothesis).split()})
    column = {word: i for i, word in enumerate(words)}
    counts = np.zeros((2, len(pairs), len(words)))
    for i, pair in enumerate(pairs):
        for side, text in enumerate((pair.premise, pair.hypothesis)):
            for word in text.split():
                counts[side, i, column[word]] += 1
    return np.concatenate([counts[0], counts[1], np.ones((len(pairs), 1))], axis=1)


def bag_of_words_accuracies(pairs: list[InferencePair]) -> tuple[float, float]:
    """Accuracies of a ridge regression, on the three quarters of the pairs that it was fitted to and on the others."""
    features, num_train = bag_of_words(pairs), len(pairs) * 3 // 4
    gold = np.array([list(Label).index(pair.label) for pair in pairs])
    train, target = features[:num_train], np.eye(3)[gold[:num_train]]
    weights = np.linalg.solve(train.T @ train + np.eye(features.shape[1]), train.T @ target)
    right = (features @ weights).argmax(1) == gold
    return float(right[:num_train].mean()), float(right[num_train:].mean())


@pytest.mark.campaign
def test_a_bag_of_words_does_not_suffice(pairs: list[InferencePair], short_pairs: list[InferencePair]) -> None:
    for some, most_fitted, most_of_others in ((pairs, 0.6, 0.5), (short_pairs, 0.5, 0.45)):
        fitted, others = bag_of_words_accuracies(some)
        assert fitted < most_fitted
        assert others < most_of_others


@pytest.fixture(scope="module")
def meanings(world: World) -> Meanings:
    return draw_meanings(world, count=3_000, seed=0)


def test_paraphrases_are_the_same_on_every_machine(world: World, meanings: Meanings) -> None:
    lines = realise(paraphrased(meanings, world=world, seed=5), SyntheticLanguage(name="ela"), world=world)
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    assert digest == "05e4fd6ca29bd5496aa0b0ccee345357798505e411dbc5b7209821411d813b38"
    other = realise(paraphrased(meanings, world=world, seed=6), SyntheticLanguage(name="ela"), world=world)
    assert other != lines


def test_only_determiners_nouns_and_adjectives_change_and_each_in_its_way(world: World, meanings: Meanings) -> None:
    new_BS, old_BS = paraphrased(meanings, world=world, seed=0).concept_BS, meanings.concept_BS
    untouched = sorted(set(range(NUM_SLOTS)) - {*DETERMINERS, *HEADS, *ADJECTIVES})
    np.testing.assert_array_equal(new_BS[:, untouched], old_BS[:, untouched])

    changed_BS = new_BS != old_BS
    determiners = inventory(world).ranges[WordClass.DETERMINER]
    assert np.isin(new_BS[:, DETERMINERS][changed_BS[:, DETERMINERS]], determiners).all()
    assert np.isin(old_BS[:, DETERMINERS][changed_BS[:, DETERMINERS]], determiners).all()
    heads_BP = changed_BS[:, HEADS]
    np.testing.assert_array_equal(new_BS[:, HEADS][heads_BP], hypernyms(world)[old_BS[:, HEADS][heads_BP]])
    assert (new_BS[:, HEADS][heads_BP] != ABSENT).all()
    assert (new_BS[:, ADJECTIVES][changed_BS[:, ADJECTIVES]] == ABSENT).all()

    has_hypernym_BP = hypernyms(world)[old_BS[:, HEADS]] != ABSENT
    assert changed_BS[:, DETERMINERS][old_BS[:, DETERMINERS] != ABSENT].mean() == pytest.approx(0.5, abs=0.03)
    assert heads_BP[has_hypernym_BP].mean() == pytest.approx(0.3, abs=0.03)
    assert changed_BS[:, ADJECTIVES][old_BS[:, ADJECTIVES] != ABSENT].mean() == pytest.approx(0.14, abs=0.03)


@settings(max_examples=15)
@given(nouns=st.integers(1, 12), determiners=st.integers(1, 4), count=st.integers(0, 30), seed=st.integers(0, 9))
def test_in_any_world(nouns: int, determiners: int, count: int, seed: int) -> None:
    small = World(nouns=nouns, determiners=determiners)
    meanings = draw_meanings(small, count=count, seed=0)
    new = paraphrased(meanings, world=small, seed=seed)
    assert len(realise(new, SyntheticLanguage(name="x"), world=small)) == count
    allowed = {ABSENT, *inventory(small).ranges[WordClass.DETERMINER]}
    assert set(new.concept_BS[:, DETERMINERS].ravel().tolist()) <= allowed
    if determiners == 1:
        np.testing.assert_array_equal(new.concept_BS[:, DETERMINERS], meanings.concept_BS[:, DETERMINERS])
