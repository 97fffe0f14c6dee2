"""Which languages and windows each update reads, and which of them each process."""

from collections import Counter
from collections.abc import Mapping
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from isoglot.corpora.code_switching import SwitchableText
from isoglot.corpora.numbered_text import Split
from isoglot.corpora.streams import TokenStream
from isoglot.pretraining.batches import Batches, Part, share_of, window_source
from isoglot.pretraining.loop import NOTHING_SWITCHABLE
from isoglot.pretraining.ranks import Ranks
from tests.oracles import windows_one_by_one
from tests.pretraining.tiny_runs import switchable_texts

Streams = dict[str, TokenStream]


def batches_of(
    streams: Streams,
    *,
    seed: int = 0,
    exponent: float = 0.7,
    draws: int = 1,
    switchable: Mapping[str, SwitchableText] = NOTHING_SWITCHABLE,
) -> Batches:
    return Batches(
        {
            language: window_source(stream, switchable=switchable.get(language), window=12, seed=seed)
            for language, stream in streams.items()
        },
        lines={language: stream.lines[Split.TRAIN] for language, stream in streams.items()},
        batch=8,
        language_draws=draws,
        language_exponent=exponent,
        seed=seed,
    )


def taken(batches: Batches, update: int) -> list[tuple[str, list[list[int]]]]:
    return [(part.language, batches.tokens(part).tolist()) for part in batches.next_parts(update)]


@pytest.mark.parametrize("draws", [1, 4])
@pytest.mark.parametrize("exponent", [0.0, 0.7, 1.0])
def test_languages_come_as_often_as_the_formula_says(streams: Streams, exponent: float, draws: int) -> None:
    batches = batches_of(streams, exponent=exponent, draws=draws)
    drawn = Counter(part.language for update in range(1, 4001) for part in batches.next_parts(update))
    english = 300**exponent / (300**exponent + 100**exponent)  # streams of 300 and 100 lines
    assert stats.binomtest(drawn["en"], 4000 * draws, english).pvalue > 1e-6
    assert drawn["en"] + drawn["fr"] == 4000 * draws


def test_parts_of_one_update_draw_independently(streams: Streams) -> None:
    batches = batches_of(streams, exponent=0.0, draws=2)
    pairs = Counter(tuple(part.language for part in batches.next_parts(update)) for update in range(1, 2001))
    assert stats.chisquare([pairs[a, b] for a in ("en", "fr") for b in ("en", "fr")]).pvalue > 1e-6


@pytest.mark.parametrize("draws", [1, 3, 8])
def test_a_languages_windows_follow_each_other_whatever_comes_between(streams: Streams, draws: int) -> None:
    batches = batches_of(streams, draws=draws)
    walks = {
        language: windows_one_by_one(stream.ids(Split.TRAIN).tolist(), length=12, seed=0, name=language)
        for language, stream in streams.items()
    }
    rows = Counter()
    for update in range(1, 61):
        parts = batches.next_parts(update)
        assert [part.first_row for part in parts] == [draw * 8 // draws for draw in range(draws)]
        assert sum(part.num_rows for part in parts) == 8
        for part in parts:
            assert batches.tokens(part).tolist() == list(islice(walks[part.language], part.num_rows))
            rows[part.language] += part.num_rows
    assert min(rows.values()) > 0
    assert batches.positions == rows


def test_a_part_without_rows_draws_no_language(streams: Streams) -> None:
    batches = batches_of(streams, draws=20)
    for update in range(1, 30):
        parts = batches.next_parts(update)
        assert [part.num_rows for part in parts] == [1] * 8


def test_positions_put_back_give_the_same_batches(streams: Streams) -> None:
    first = batches_of(streams, draws=2)
    for update in range(1, 21):
        first.next_parts(update)
    resumed = batches_of(streams, draws=2)
    resumed.positions.update(first.positions)
    for update in range(21, 41):
        assert taken(resumed, update) == taken(first, update)


def test_other_seeds_draw_other_languages_and_windows(streams: Streams) -> None:
    zero, one = ([taken(batches_of(streams, seed=seed), update)[0] for update in range(1, 30)] for seed in (0, 1))
    assert [language for language, _ in zero] != [language for language, _ in one]
    assert all(dict(zero)[language] != dict(one)[language] for language in streams)


def test_a_language_that_can_be_switched_is_and_the_other_is_read_as_it_is(streams: Streams) -> None:
    plain, switched = batches_of(streams), batches_of(streams, switchable={"en": switchable_texts()["en"]})
    shares: dict[str, list[float]] = {"en": [], "fr": []}
    for update in range(1, 101):
        (ours,), (theirs,) = switched.next_parts(update), plain.next_parts(update)
        assert ours == theirs
        differs_BL = switched.tokens(ours) != plain.tokens(theirs)
        shares[ours.language].append(differs_BL.float().mean().item())
    assert set(shares["fr"]) == {0.0}
    assert 0.05 < min(shares["en"]) <= max(shares["en"]) <= 0.15


@given(
    st.lists(st.sampled_from("ab"), min_size=1, max_size=5), st.integers(5, 23), st.integers(1, 6), st.integers(1, 9)
)
def test_each_row_is_read_once_by_one_process_in_pieces_of_one_language(
    languages: list[str], batch: int, processes: int, at_most: int
) -> None:
    bounds = [draw * batch // len(languages) for draw in range(len(languages) + 1)]
    parts = [
        Part(language=language, first_row=first, num_rows=end - first, position=1000 * first)
        for language, first, end in zip(languages, bounds, bounds[1:], strict=False)
    ]
    expected = [
        (part.first_row + row, part.language, part.position + row) for part in parts for row in range(part.num_rows)
    ]
    found = []
    for rank in range(processes):
        first, end = Ranks(rank=rank, count=processes).rows(batch)
        for piece in share_of(parts, first_row=first, end_row=end, at_most=at_most):
            assert 1 <= piece.num_rows <= at_most
            found += [(piece.first_row + row, piece.language, piece.position + row) for row in range(piece.num_rows)]
    assert found == expected
