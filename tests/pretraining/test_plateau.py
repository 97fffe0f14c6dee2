"""The plateau detector: warnings for models that are stuck and for no other, against losses of blind models."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from isoglot.corpora.numbered_text import Split
from isoglot.corpora.streams import TokenStream, Windows
from isoglot.pretraining import loss_watch
from isoglot.pretraining.batches import window_source
from isoglot.pretraining.loss_watch import BlindLosses, Plateau, first_warning
from isoglot.pretraining.run import PretrainingRun, UpdateRecord
from isoglot.study.conditions import DEFAULT
from isoglot.study.scales import DEMO, PAPER, SMALL
from tests.pretraining.tiny_runs import switchable_texts, tiny_run

BLIND = BlindLosses(uniform=11.3, unigram=7.4, unigram_or_kept=6.8)
AT, ABOVE, LEFT = "still at the unigram plateau", "still above the unigram plateau", "left the unigram plateau"


def plateau_of(*languages: str, updates: int = 100_000) -> Plateau:
    return Plateau(dict.fromkeys(languages or ("en",), BLIND), run=tiny_run(updates=updates))


def record(update: int, *, skipped: bool = False, **losses: float) -> UpdateRecord:
    return UpdateRecord(update=update, losses=losses, gradient_norm=1.0, learning_rate=1e-3, skipped=skipped)


def warnings_of(plateau: Plateau, losses: Sequence[float], *, first: int = 1) -> dict[int, str]:
    """Warnings for English losses, by update."""
    warnings = {
        update: plateau.warning_for([record(update, en=loss)]) for update, loss in enumerate(losses, start=first)
    }
    return {update: sentence for update, sentence in warnings.items() if sentence is not None}


def test_when_a_scales_runs_get_their_first_warning() -> None:
    runs = [PretrainingRun.of(DEFAULT, scale=each, languages=("en", "fr"), seed=0) for each in (DEMO, SMALL, PAPER)]
    assert [first_warning(run) for run in runs] == [1400, 2000, 60_000]


@pytest.mark.parametrize("loss", [7.4, 6.75, 8.1])
def test_a_stuck_model_gets_a_warning_at_each_doubling(loss: float) -> None:
    """At the entropy; copying what was kept besides; on the way there; not knowing which language it reads."""
    warnings = warnings_of(plateau_of(), [loss] * 9000)
    assert list(warnings) == [2000, 4000, 8000]
    assert warnings[4000].startswith("still at the unigram plateau after 4,000 updates: see docs/training.md")
    assert f"en: loss {loss:.2f}" in warnings[4000]


def test_a_model_that_learns_gets_no_warning_and_leaving_the_plateau_is_reported_once() -> None:
    noise = np.random.default_rng(0).normal(0, 0.2, 9000)
    losses = [3 + 8 * math.exp(-update / 800) + noise[update] for update in range(9000)]
    assert warnings_of(plateau_of(), losses) == {}
    warnings = warnings_of(plateau_of(), [7.4] * 2500 + [5.0] * 7000)
    assert [sentence.split(" a")[0] for sentence in warnings.values()] == ["still", LEFT]
    _, left = warnings
    assert 2510 < left < 2600, "when the mean of about a hundred updates is below"
    assert f"left the unigram plateau at update {left:,} (en: loss 6.69)" == warnings[left]
    assert warnings_of(plateau_of(), [7.4] * 1500 + [5.0] * 7000) == {}, "before anything was warnings"
    assert len(warnings_of(plateau_of(), [11.0] * 2500 + [5.0] * 7000)) == 2, "of one that had been above as well"


def test_languages_are_named() -> None:
    plateau = plateau_of("en", "fr", "sw", "zh")
    news = [record(update, en=5.0, fr=7.41, sw=11.0) for update in range(1, 2021)]
    sentence = plateau.warning_for(news)
    assert sentence is not None
    stuck, above = sentence.split("; ")
    assert stuck.startswith(AT)
    assert "(fr: loss 7.41, which" in stuck
    assert above.startswith(ABOVE)
    assert "(sw: loss 11.00)" in above
    assert plateau.warning_for([record(2021, en=5.0)]) is None
    later = plateau.warning_for([record(update, fr=5.0) for update in range(2022, 2400)])
    assert later is not None
    assert later.startswith("left the unigram plateau at update 2,0")
    assert "(fr: loss" in later


def test_updates_that_were_skipped_have_no_say() -> None:
    plateau = plateau_of()
    pairs = [[record(update, en=7.4), record(update + 1, skipped=True, en=math.nan)] for update in range(1, 2000, 2)]
    *before, sentence = map(plateau.warning_for, pairs)
    assert not any(before)
    assert sentence is not None
    assert "en: loss 7.40" in sentence


def test_a_resumed_run_gets_warnings_at_the_same_updates() -> None:
    for first in (2001, 3999):
        assert list(warnings_of(plateau_of(), [7.4] * 4000, first=first)) == [4000]


class Counted:
    """Windows of words that are drawn by their shares; the first of each is one that is never masked."""

    def __init__(self, share_V: NDArray[np.float64], *, window: int):
        self.share_V, self.window = share_V, window
        self.taken: list[tuple[int, int]] = []

    def take(self, position: int, count: int) -> NDArray[np.int64]:
        self.taken.append((position, count))
        random = np.random.default_rng(position)
        token_BL = random.choice(len(self.share_V), (count, self.window), p=self.share_V)
        token_BL[:, 0] = 0
        return token_BL


def conditional_entropy(share_V: NDArray[np.float64]) -> float:
    """The entropy of the right word given the word seen in its place; one more column is the mask symbol."""
    size = len(share_V)
    joint = np.zeros((size, size + 1))
    for right in range(size):
        joint[right, size] = 0.8 * share_V[right]
        joint[right, right] = 0.1 * share_V[right]
        joint[right, :size] += 0.1 * share_V[right] / size
    seen = joint.sum(0)
    assert joint.sum() == pytest.approx(1.0)
    return -sum(
        joint[right, word] * math.log(joint[right, word] / seen[word])
        for right, word in zip(*joint.nonzero(), strict=True)
    )


@given(st.lists(st.floats(0.0, 1.0), min_size=2, max_size=12).filter(lambda weights: sum(weights) > 0.1))
def test_losses_are_entropies(weights: list[float]) -> None:
    share_V = np.array(weights) / sum(weights)
    found = BlindLosses.of_frequencies(share_V)
    assert found.uniform == pytest.approx(math.log(len(weights)))
    assert found.unigram == pytest.approx(-sum(it * math.log(it) for it in share_V if it), abs=1e-9)
    assert found.unigram_or_kept == pytest.approx(conditional_entropy(share_V), abs=1e-9)
    assert found.unigram_or_kept <= found.unigram + 1e-9 <= found.uniform + 2e-9


def test_a_sample_of_bounded_size_is_counted() -> None:
    share_V = 1 / np.arange(1, 5001)
    share_V /= share_V.sum()
    source = Counted(share_V, window=50)
    found = BlindLosses.of(source, window=50, table_size=5000)
    exact = BlindLosses.of_frequencies(share_V)
    assert found.unigram == pytest.approx(exact.unigram, abs=0.01)
    assert found.unigram_or_kept == pytest.approx(exact.unigram_or_kept, abs=0.01)
    assert sum(count for _, count in source.taken) * 50 == 500_000
    assert max(count for _, count in source.taken) <= loss_watch.WINDOWS_AT_ONCE
    ends = [position + count for position, count in source.taken]
    assert [position for position, _ in source.taken] == [0, *ends[:-1]]


def test_a_text_is_counted_as_training_reads_it(streams: dict[str, TokenStream]) -> None:
    ids = streams["en"].ids(Split.TRAIN)
    plain = BlindLosses.of(Windows(ids, length=12, seed=0, name="en"), window=12, table_size=streams["en"].table_size)
    share_V = np.bincount(ids, minlength=streams["en"].table_size) / len(ids)
    assert plain.unigram == pytest.approx(BlindLosses.of_frequencies(share_V).unigram, abs=0.01)
    source = window_source(streams["en"], switchable=switchable_texts()["en"], window=12, seed=0)
    switched = BlindLosses.of(source, window=12, table_size=streams["en"].table_size)
    counts_V = np.bincount(source.take(0, 20_000)[:, 1:].ravel(), minlength=streams["en"].table_size)
    expected = BlindLosses.of_frequencies(counts_V / counts_V.sum())
    assert switched.unigram == pytest.approx(expected.unigram, abs=0.01)
    assert abs(switched.unigram - plain.unigram) > 0.02, "half of the letters become more frequent"
