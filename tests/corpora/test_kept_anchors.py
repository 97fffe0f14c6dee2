import random
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from isoglot.corpora.vocabulary import kept_types
from isoglot.study.conditions import AnchorOrder, KeptAnchors

FREQUENT, RANDOM = AnchorOrder

counts_of_one = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 9), min_size=1).map(Counter)
counts_of_all = st.fixed_dictionaries({"en": counts_of_one, "fr": counts_of_one, "de": counts_of_one})
shares = st.floats(0.001, 1)
orders = st.sampled_from(AnchorOrder)


def shared_types(counts: dict[str, Counter[str]]) -> set[str]:
    return {subword for a, b in combinations(counts.values(), 2) for subword in a.keys() & b.keys()}


@given(counts_of_all, orders, shares, shares)
def test_a_larger_share_holds_a_smaller_one(
    counts: dict[str, Counter[str]], order: AnchorOrder, one: float, other: float
) -> None:
    few, many = (kept_types(counts, kept=KeptAnchors(share=share, order=order)) for share in sorted((one, other)))
    assert few <= many <= shared_types(counts)


@given(counts_of_all, shares)
def test_no_other_types_would_leave_more_of_the_running_tokens_shared(
    counts: dict[str, Counter[str]], share: float
) -> None:
    def rate(types: Iterable[str]) -> Fraction | int:
        """Of running tokens, summed over languages."""
        return sum(Fraction(count[subword], count.total()) for subword in types for count in counts.values())

    kept = kept_types(counts, kept=KeptAnchors(share=share, order=FREQUENT))
    best = max(rate(types) for types in combinations(sorted(shared_types(counts)), len(kept)))
    assert rate(kept) == best


def test_a_larger_text_weighs_no_more_and_ties_go_by_spelling() -> None:
    counts = {"en": Counter(a=100, b=200, c=700), "fr": Counter(a=4, b=3, c=2, d=1)}
    # 0.1 + 0.4, 0.2 + 0.3 and 0.7 + 0.2
    for share, kept in ((1 / 3, "c"), (2 / 3, "ac"), (1, "abc")):
        assert kept_types(counts, kept=KeptAnchors(share=share, order=FREQUENT)) == set(kept)


@given(counts_of_all, st.integers(0, 99), shares)
def test_neither_the_order_of_languages_nor_of_types_matters(
    counts: dict[str, Counter[str]], seed: int, share: float
) -> None:
    shuffled = {}
    for language in reversed(counts):
        items = list(counts[language].items())
        random.Random(seed).shuffle(items)
        shuffled[language] = Counter(dict(items))
    for order in AnchorOrder:
        kept = KeptAnchors(share=share, order=order, seed=seed)
        assert kept_types(shuffled, kept=kept) == kept_types(counts, kept=kept)


def test_at_random_every_type_is_kept_as_often_whatever_its_frequency() -> None:
    subwords = "abcdefghij"
    counts = {"en": Counter({subword: 4**i for i, subword in enumerate(subwords)}), "fr": Counter(subwords)}
    seeds = 400
    drawn = [kept_types(counts, kept=KeptAnchors(share=0.3, order=RANDOM, seed=seed)) for seed in range(seeds)]
    assert {len(kept) for kept in drawn} == {3}
    kept_times = Counter(subword for kept in drawn for subword in kept)
    # Binomial with mean 120 and standard deviation 9.2.
    assert all(120 - 37 < kept_times[subword] < 120 + 37 for subword in subwords)
    # Two types come together as often as chance has it: 400 * 3/10 * 2/9, about 27 with a deviation of 5.
    assert all(5 < sum({a, b} <= kept for kept in drawn) < 50 for a, b in combinations(subwords, 2))


def test_a_random_choice_is_the_same_for_ever() -> None:
    counts = {"en": Counter("abcdefghij"), "fr": Counter("abcdefghij")}
    kept = {seed: kept_types(counts, kept=KeptAnchors(share=0.3, order=RANDOM, seed=seed)) for seed in (0, 1)}
    assert {seed: "".join(sorted(types)) for seed, types in kept.items()} == {0: "afh", 1: "bfi"}
