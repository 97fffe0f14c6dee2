"""Updates that are skipped: those without a number and those at which the loss jumps, and no others."""

import json
import math
from collections.abc import Mapping

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from isoglot.pretraining.loss_watch import Guard, too_many

CPU = torch.device("cpu")
WORDS = 256
"""Masked words of an update at the demo's scale."""


def guard_of(device: torch.device = CPU) -> Guard:
    return Guard(("en", "fr"), device)


def tensors(
    losses: Mapping[str, float], *, words: int = WORDS, norm: float = 1.0, device: torch.device = CPU
) -> tuple[Tensor, Tensor, Tensor]:
    """The tensors of an update: languages that have a loss were read, with so many words each."""
    count_K = torch.tensor([float(words if language in losses else 0) for language in ("en", "fr")], device=device)
    mean_K = torch.tensor([losses.get(language, 0.0) for language in ("en", "fr")], device=device)
    return mean_K * count_K, count_K, torch.tensor(norm, device=device)


def skips(guard: Guard, losses: Mapping[str, float], *, words: int = WORDS, norm: float = 1.0) -> bool:
    return bool(guard.is_bad_update(*tensors(losses, words=words, norm=norm)))


def settled_guard(loss: float = 5.0, *, updates: int = 50, noise: float = 0.1) -> Guard:
    """One that has seen losses of both languages go up and down a little."""
    guard = guard_of()
    for update in range(updates):
        away = noise if update % 2 else -noise
        assert not skips(guard, {"en": loss + away, "fr": loss + 1 + away})
    return guard


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_left_out_from_the_first_update_on(number: float) -> None:
    for guard in (guard_of(), settled_guard()):
        assert skips(guard, {"en": number})
        assert skips(guard, {"en": 5.0, "fr": number})
        assert skips(guard, {"en": 5.0}, norm=number)
        assert not skips(guard, {"en": 5.0})


def test_a_jump_is_left_out_and_forgotten() -> None:
    assert not skips(settled_guard(noise=0.02), {"en": 5.0 + 0.9}), "less than a nat"
    guard, witness = settled_guard(noise=0.02), settled_guard(noise=0.02)
    for jump in (1.1, 3.0, 1000.0):
        assert skips(guard, {"en": 5.0 + jump})
        assert skips(guard, {"fr": 6.0 + jump})
        assert guard.state() == {**witness.state(), "jumps/en": 1, "jumps/fr": 1}
        assert not skips(guard, {"en": 5.0, "fr": 6.0})
        assert not skips(witness, {"en": 5.0, "fr": 6.0})
        assert guard.state() == witness.state()


def test_a_loss_that_stays_up_is_learnt_from_again() -> None:
    """Its weights were spoiled before, and skipping would leave them so for ever."""
    guard = settled_guard()
    assert [skips(guard, {"en": 9.0}) for _ in range(40)] == [True] * 5 + [False] * 35
    assert [skips(guard, {"fr": 9.0}) for _ in range(40)] == [True] * 5 + [False] * 35, "each language by itself"
    assert guard.state()["mean/en"] > 6
    assert not skips(guard, {"en": 5.0}), "back to normal"
    assert [skips(guard, {"en": 40.0}) for _ in range(6)] == [True] * 5 + [False], "counted from 0 again"


def test_what_is_no_number_is_never_learnt_from_and_fewer_words_may_differ_more() -> None:
    guard = settled_guard()
    for _ in range(5):
        assert skips(guard, {"en": 9.0})
    assert all(skips(guard, {"en": 9.0}, norm=math.nan) for _ in range(10))
    assert not skips(guard, {"en": 9.0})
    assert skips(settled_guard(), {"en": 5.0 + 1.5})
    # A sixteenth of the words: four times the margin.
    assert not skips(settled_guard(), {"en": 5.0 + 3.5}, words=WORDS // 16)
    assert skips(settled_guard(), {"en": 5.0 + 4.5}, words=WORDS // 16)


def test_languages_are_compared_with_themselves_and_weighed_by_their_words() -> None:
    guard = settled_guard(noise=0.02)
    assert not skips(guard, {"fr": 6.0}), "a nat more than English, as ever"
    assert not skips(guard, {"en": 6.5, "fr": 5.9})
    assert skips(guard, {"en": 7.5, "fr": 6.0})
    assert skips(guard, {"en": 6.3, "fr": 7.3})


def test_an_absent_language_is_neither_judged_nor_learnt_from() -> None:
    guard = settled_guard()
    before = guard.state()
    assert not skips(guard, {"en": 5.3})
    after = guard.state()
    assert {name for name in after if after[name] != before[name]} == {"updates/en", "mean/en", "variance/en"}
    assert not skips(guard, {}), "no words at all"
    assert guard.state() == after


def test_a_language_is_not_judged_before_it_is_known() -> None:
    guard = guard_of()
    for _ in range(50):
        assert not skips(guard, {"en": 5.0})
    for _ in range(19):
        assert not skips(guard, {"fr": 9.0})
    assert not skips(guard, {"fr": 12.0})
    assert skips(guard, {"fr": 25.0})


@settings(max_examples=8)
@given(
    st.floats(3.0, 12.0), st.floats(0.5, 6.0), st.floats(1.0, 400.0), st.sampled_from([4, 32, 256, 4096]), st.integers()
)
def test_a_loss_that_falls_from_its_start_never_jumps(
    start: float, height: float, updates: float, words: int, seed: int
) -> None:
    """With noise as of words whose own losses have a deviation of three nats, and a tail."""
    guard, random = guard_of(), np.random.default_rng(abs(seed))
    for update in range(100):
        expected = max(start - height, 0.5) + height * math.exp(-update / updates)
        loss = expected + random.gamma(1.0, 3.0, words).mean() - 3.0
        assert not skips(guard, {"en" if random.random() < 0.8 else "fr": max(loss, 0.0)}, words=words)


def test_a_slow_rise_is_no_jump_as_means_are_plain_at_first_and_then_forget() -> None:
    guard = settled_guard(3.0)
    assert not any(skips(guard, {"en": 3.0 + 0.02 * update}) for update in range(300))
    assert guard.state()["mean/en"] > 6
    guard = guard_of()
    losses = np.random.default_rng(3).normal(5.0, 0.1, 400)
    for loss in losses[:100]:
        skips(guard, {"en": float(loss)})
    assert guard.state()["mean/en"] == pytest.approx(losses[:100].mean(), rel=1e-5)
    expected = losses[:100].mean()
    for loss in losses[100:]:
        skips(guard, {"en": float(loss)})
        expected += (loss - expected) / 100
    assert guard.state()["mean/en"] == pytest.approx(expected, rel=1e-5)
    assert guard.state()["updates/en"] == 400
    assert math.sqrt(guard.state()["variance/en"] / WORDS) == pytest.approx(0.1, rel=0.25)


def test_it_goes_on_from_its_state_bit_for_bit() -> None:
    guard = settled_guard(4.7123, updates=33, noise=0.123)
    again = guard_of()
    again.load(json.loads(json.dumps(guard.state())))
    kept = again.mean_K.data_ptr()
    random = np.random.default_rng(5)
    for update in range(100):
        losses = {"en": random.normal(4.7, 0.7), "fr": math.nan if update % 7 == 0 else random.normal(5.7, 0.7)}
        assert skips(guard, losses) == skips(again, losses)
        assert again.state() == guard.state()
    again.load({})
    assert set(again.state().values()) == {0.0}
    assert again.mean_K.data_ptr() == kept, "a graph would go on writing to the old one"


@pytest.mark.gpu
def test_a_cuda_graph_decides_as_the_cpu_does() -> None:
    device = torch.device("cuda")
    on_cpu, on_gpu = guard_of(), guard_of(device)
    static = [tensor.clone() for tensor in tensors({"en": 5.0}, device=device)]
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        answer = on_gpu.is_bad_update(*static)
    on_gpu.load({})
    random = np.random.default_rng(0)
    for update in range(60):
        losses = {"en": random.normal(5.0, 0.1) + (4.0 if update in (30, 45) else 0.0), "fr": 6.0}
        for place, tensor in zip(static, tensors(losses, norm=math.nan if update == 50 else 1.0), strict=True):
            place.copy_(tensor)
        graph.replay()
        assert bool(answer) == skips(on_cpu, losses, norm=math.nan if update == 50 else 1.0) == (update in (30, 45, 50))
    assert on_gpu.state() == pytest.approx(on_cpu.state(), rel=1e-5)


def test_more_than_twenty_of_the_last_hundred_updates_are_too_many() -> None:
    assert not too_many([], 1)
    assert not too_many(list(range(1, 21)), 20)
    assert too_many(list(range(1, 22)), 21)
    spread = list(range(5, 1000, 5))
    assert not any(too_many(spread[:count], spread[count - 1]) for count in range(1, len(spread) + 1))
    dense = [1, *range(5, 101, 5)]
    assert too_many(dense, 100)
    assert not too_many(dense, 101), "the first of them is a hundred updates ago"
