from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from isoglot.corpora.vocabulary import UNK, Vocabulary, anchor_statistics, build_vocabulary, kept_types
from isoglot.errors import IsoglotError
from isoglot.study.conditions import AnchorOrder, KeptAnchors, TableKind
from tests.corpora.table_kinds import Kind, kinds, orders, some_anchors

FREQUENT, RANDOM = AnchorOrder

few_counts = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 9), min_size=1).map(Counter)
counts_of_three = st.fixed_dictionaries({"en": few_counts, "fr": few_counts, "de": few_counts})
shares = st.floats(0.001, 1)


def shared_types(counts: dict[str, Counter[str]]) -> set[str]:
    return {subword for a, b in combinations(counts.values(), 2) for subword in a.keys() & b.keys()}


@given(counts_of_three, orders, shares, shares)
def test_a_larger_share_holds_a_smaller_one(
    counts: dict[str, Counter[str]], order: AnchorOrder, one: float, other: float
) -> None:
    few, many = (kept_types(counts, kept=KeptAnchors(share=share, order=order)) for share in sorted((one, other)))
    assert few <= many <= shared_types(counts)


@given(counts_of_three, shares)
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


SHARED = (TableKind.UNION, TableKind.JOINT)
counts_of_one = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 20), min_size=1).map(Counter)
counts_of_all = st.fixed_dictionaries({"en": counts_of_one, "fr": counts_of_one})


def running_text(vocabulary: Vocabulary, language: str, counts: Counter[str]) -> list[object]:
    """Every running token as something that is equal in two languages just if they embed it by the same vector."""
    owner = language if vocabulary.kind is TableKind.SEPARATE else "all"
    return [(owner, id) if id != UNK else UNK for id in vocabulary.encode(language, counts.elements())]


@given(kinds, counts_of_all, counts_of_all)
def test_statistics_of_any_text_are_those_of_counting_token_by_token(
    kind: Kind, train: dict[str, Counter[str]], counts: dict[str, Counter[str]]
) -> None:
    vocabulary = build_vocabulary(kind[0], counts=train, kept=kind[1])
    statistics = anchor_statistics(vocabulary, counts=counts, num_words={"en": 4, "fr": 5})
    text = {language: running_text(vocabulary, language, counts[language]) for language in counts}
    shared = set(text["en"]) & set(text["fr"]) - {UNK}
    overlap = statistics.overlap["en-fr"]
    assert overlap.shared_types == len(shared)
    for language, num_words in (("en", 4), ("fr", 5)):
        tokens, coverage = text[language], statistics.coverage[language]
        assert coverage.tokens == len(tokens)
        assert coverage.types == len(set(tokens) - {UNK})
        assert coverage.tokens_per_word == len(tokens) / num_words
        assert coverage.unknown_rate == pytest.approx(tokens.count(UNK) / len(tokens))
        assert overlap.shared_token_rate[language] == pytest.approx(
            sum(token in shared for token in tokens) / len(tokens)
        )


@given(kinds, counts_of_all)
def test_similarity_agrees_with_scipy(kind: Kind, counts: dict[str, Counter[str]]) -> None:
    vocabulary = build_vocabulary(kind[0], counts=counts, kept=kind[1])
    overlap = anchor_statistics(vocabulary, counts=counts, num_words={"en": 1, "fr": 1}).overlap["en-fr"]
    shared = counts["en"].keys() & counts["fr"].keys() if kind[0] in SHARED else set()
    if kind[1]:
        shared = kept_types(counts, kept=kind[1])
    labelled = [
        {("" if token in shared else language, token): number for token, number in counts[language].items()}
        for language in counts
    ]
    labels = sorted(labelled[0].keys() | labelled[1].keys())
    p, q = (np.array([of_language.get(label, 0) for label in labels]) for of_language in labelled)
    # The square of a distance that is rounded to about 1e-8 where the languages are alike.
    assert overlap.similarity == pytest.approx(1 - jensenshannon(p, q, base=2) ** 2, abs=1e-9)
    assert overlap.shared_types == len(shared)


@given(counts_of_all, some_anchors)
def test_anchors_that_are_kept_lie_between_none_and_all(counts: dict[str, Counter[str]], kept: KeptAnchors) -> None:
    none, some, all_of_them = (
        anchor_statistics(
            build_vocabulary(kind, counts=counts, kept=kept if kind is TableKind.PARTIAL else None),
            counts=counts,
            num_words={"en": 1, "fr": 1},
        ).overlap["en-fr"]
        for kind in (TableKind.PREFIXED, TableKind.PARTIAL, TableKind.UNION)
    )
    assert some.shared_types == round(kept.share * all_of_them.shared_types)
    assert none.similarity <= some.similarity <= all_of_them.similarity + 1e-12
    for language in counts:
        assert 0 == none.shared_token_rate[language] <= some.shared_token_rate[language]
        assert some.shared_token_rate[language] <= all_of_them.shared_token_rate[language]


@given(kinds, counts_of_all)
def test_statistics_do_not_depend_on_the_order_of_counting(kind: Kind, counts: dict[str, Counter[str]]) -> None:
    vocabulary = build_vocabulary(kind[0], counts=counts, kept=kind[1])
    backwards = {language: Counter(dict(reversed(count.items()))) for language, count in counts.items()}
    words = {"en": 3, "fr": 7}
    assert anchor_statistics(vocabulary, counts=backwards, num_words=words) == anchor_statistics(
        vocabulary, counts=counts, num_words=words
    )


def test_a_language_without_text_is_refused() -> None:
    counts = {"en": Counter("a"), "fr": Counter()}
    vocabulary = build_vocabulary(TableKind.UNION, counts=counts)
    with pytest.raises(IsoglotError, match="'fr' has no text"):
        anchor_statistics(vocabulary, counts=counts, num_words={"en": 2, "fr": 2})
