"""Which language and windows each update reads."""

from collections import Counter
from itertools import islice

import pytest
from scipy import stats

from isoglot.corpora.numbered_text import Split
from isoglot.corpora.streams import TokenStream
from isoglot.pretraining.batches import Batches, window_source
from tests.oracles import windows_one_by_one
from tests.pretraining.tiny_runs import switchable_texts


def batches_of(streams: dict[str, TokenStream], *, seed: int = 0, exponent: float = 0.7) -> Batches:
    return Batches(
        {
            language: window_source(stream, switchable=None, window=12, seed=seed)
            for language, stream in streams.items()
        },
        lines={language: stream.lines[Split.TRAIN] for language, stream in streams.items()},
        batch=8,
        language_exponent=exponent,
        seed=seed,
    )


@pytest.mark.parametrize("exponent", [0.0, 0.7, 1.0])
def test_languages_come_as_often_as_the_formula_says(streams: dict[str, TokenStream], exponent: float) -> None:
    batches = batches_of(streams, exponent=exponent)
    taken = Counter(batches.take(update)[0] for update in range(1, 4001))
    english = 300**exponent / (300**exponent + 100**exponent)  # streams of 300 and 100 lines
    assert stats.binomtest(taken["en"], 4000, english).pvalue > 1e-6
    assert taken["en"] + taken["fr"] == 4000


def test_a_languages_windows_follow_each_other_whatever_comes_between(streams: dict[str, TokenStream]) -> None:
    batches = batches_of(streams)
    walks = {
        language: windows_one_by_one(stream.ids(Split.TRAIN).tolist(), length=12, seed=0, name=language)
        for language, stream in streams.items()
    }
    languages = []
    for update in range(1, 61):
        language, token_BL = batches.take(update)
        assert token_BL.tolist() == list(islice(walks[language], 8))
        languages.append(language)
    assert set(languages) == {"en", "fr"}
    assert batches.positions == {language: 8 * languages.count(language) for language in streams}


def test_positions_put_back_give_the_same_batches(streams: dict[str, TokenStream]) -> None:
    first = batches_of(streams)
    for update in range(1, 21):
        first.take(update)
    resumed = batches_of(streams)
    resumed.positions.update(first.positions)
    for update in range(21, 41):
        (language, token_BL), (expected_language, expected_BL) = resumed.take(update), first.take(update)
        assert language == expected_language
        assert token_BL.equal(expected_BL)


def test_other_seeds_draw_other_languages_and_windows(streams: dict[str, TokenStream]) -> None:
    taken = [[batches.take(update) for update in range(1, 30)] for batches in map(_seeded(streams), (0, 1))]
    assert [language for language, _ in taken[0]] != [language for language, _ in taken[1]]
    first = [dict(reversed(batches)) for batches in taken]
    assert all(not first[0][language].equal(first[1][language]) for language in streams)


def _seeded(streams: dict[str, TokenStream]):
    return lambda seed: batches_of(streams, seed=seed)


def test_a_language_that_can_be_switched_is_and_the_other_is_read_as_it_is(streams: dict[str, TokenStream]) -> None:
    english = switchable_texts()["en"]
    plain, switched = (
        Batches(
            {
                language: window_source(stream, switchable=given.get(language), window=12, seed=0)
                for language, stream in streams.items()
            },
            lines={"en": 300, "fr": 100},
            batch=8,
            language_exponent=0.7,
            seed=0,
        )
        for given in ({}, {"en": english})
    )
    shares: dict[str, list[float]] = {"en": [], "fr": []}
    for update in range(1, 101):
        (language, ours_BL), (expected, theirs_BL) = switched.take(update), plain.take(update)
        assert language == expected
        shares[language].append((ours_BL != theirs_BL).float().mean().item())
    assert set(shares["fr"]) == {0.0}
    assert 0.05 < min(shares["en"]) <= max(shares["en"]) <= 0.15
