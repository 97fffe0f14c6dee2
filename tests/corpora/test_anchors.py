import json
from collections import Counter
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from isoglot.conditions import TableKind
from isoglot.corpora.anchors import AnchorStatistics, anchor_statistics
from isoglot.corpora.vocabulary import UNK, Vocabulary, build_vocabulary
from isoglot.errors import IsoglotError

SHARED = (TableKind.UNION, TableKind.JOINT)
counts_of_one = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 20), min_size=1).map(Counter)
counts_of_all = st.fixed_dictionaries({"en": counts_of_one, "fr": counts_of_one})


def running_text(vocabulary: Vocabulary, language: str, counts: Counter[str]) -> list[object]:
    """Every running token as something that is equal in two languages just if they embed it by the same vector."""
    owner = language if vocabulary.kind is TableKind.SEPARATE else "all"
    return [(owner, id) if id != UNK else UNK for id in vocabulary.encode(language, counts.elements())]


@given(st.sampled_from(TableKind), counts_of_all, counts_of_all)
def test_statistics_are_those_of_counting_token_by_token(
    kind: TableKind, train: dict[str, Counter[str]], counts: dict[str, Counter[str]]
) -> None:
    vocabulary = build_vocabulary(kind, counts=train)
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


@given(st.sampled_from(TableKind), counts_of_all)
def test_similarity_agrees_with_scipy(kind: TableKind, counts: dict[str, Counter[str]]) -> None:
    vocabulary = build_vocabulary(kind, counts=counts)
    statistics = anchor_statistics(vocabulary, counts=counts, num_words={"en": 1, "fr": 1})
    if kind in SHARED:
        tokens = sorted(counts["en"].keys() | counts["fr"].keys())
        p, q = (np.array([counts[language][token] for token in tokens]) for language in counts)
        # The square of a distance that is rounded to about 1e-8 where the languages are alike.
        assert statistics.overlap["en-fr"].similarity == pytest.approx(1 - jensenshannon(p, q, base=2) ** 2, abs=1e-9)
    else:
        assert statistics.overlap["en-fr"].similarity == pytest.approx(0, abs=1e-12)
        assert statistics.overlap["en-fr"].shared_types == 0


def statistics_of(kind: TableKind, **counts: str) -> AnchorStatistics:
    counted = {language: Counter(text) for language, text in counts.items()}
    return anchor_statistics(
        build_vocabulary(kind, counts=counted), counts=counted, num_words=dict.fromkeys(counted, 2)
    )


def test_languages_alike_are_as_similar_as_can_be() -> None:
    overlap = statistics_of(TableKind.JOINT, en="aab", fr="aab").overlap["en-fr"]
    assert overlap.similarity == pytest.approx(1)
    assert overlap.shared_token_rate == {"en": 1, "fr": 1}


def test_every_pair_of_languages_is_compared_and_one_alone_with_none() -> None:
    assert set(statistics_of(TableKind.UNION, en="a", fr="b", de="c").overlap) == {"de-en", "de-fr", "en-fr"}
    assert statistics_of(TableKind.UNION, en="a").overlap == {}


def test_statistics_can_be_written_as_json() -> None:
    content = json.loads(json.dumps(asdict(statistics_of(TableKind.UNION, en="aab", fr="bcc"))))
    assert content["coverage"]["en"] == {"types": 2, "tokens": 3, "tokens_per_word": 1.5, "unknown_rate": 0}
    assert content["overlap"]["en-fr"]["shared_types"] == 1


def test_text_of_unknown_subwords_alone_shares_nothing() -> None:
    vocabulary = build_vocabulary(TableKind.UNION, counts={"en": Counter("a"), "fr": Counter("b")})
    counts = {"en": Counter("xx"), "fr": Counter("x")}
    overlap = anchor_statistics(vocabulary, counts=counts, num_words={"en": 1, "fr": 1}).overlap["en-fr"]
    assert (overlap.shared_types, overlap.similarity) == (0, 0)


def test_a_language_without_text_is_refused() -> None:
    with pytest.raises(IsoglotError, match="'fr' has no text"):
        statistics_of(TableKind.UNION, en="a", fr="")
