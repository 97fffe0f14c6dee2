"""The plateau detector: told of models that are stuck, in words that fit, and never of one that learns."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from isoglot.corpora.streams import TokenStream
from isoglot.pretraining import plateau as plateau_module
from isoglot.pretraining.loop import Trainer
from isoglot.pretraining.plateau import BlindLosses, Plateau, first_told
from isoglot.pretraining.run import PretrainingRun, UpdateRecord
from isoglot.study.conditions import CONDITIONS
from isoglot.study.scales import DEMO, PAPER, SMALL, Scale
from tests.pretraining.tiny_runs import tiny_run, trainer_of
from tests.pretraining.training_state import tamper

BLIND = BlindLosses(uniform=11.3, unigram=7.4, unigram_or_kept=6.8)
AT, ABOVE, LEFT = "still at the unigram plateau", "still above the unigram plateau", "left the unigram plateau"


def plateau_of(*languages: str, updates: int = 100_000) -> Plateau:
    return Plateau(dict.fromkeys(languages or ("en",), BLIND), run=tiny_run(updates=updates))


def record(update: int, *, skipped: bool = False, **losses: float) -> UpdateRecord:
    return UpdateRecord(update=update, losses=losses, gradient_norm=1.0, learning_rate=1e-3, skipped=skipped)


def told(plateau: Plateau, losses: Sequence[float], *, first: int = 1) -> dict[int, str]:
    """What was said of English losses, by update."""
    said = {update: plateau.told([record(update, en=loss)]) for update, loss in enumerate(losses, start=first)}
    return {update: sentence for update, sentence in said.items() if sentence is not None}


@pytest.mark.parametrize(("scale", "update"), [(DEMO, 1400), (SMALL, 2000), (PAPER, 60_000)])
def test_when_a_scales_runs_are_told_of_first(scale: Scale, update: int) -> None:
    assert first_told(PretrainingRun.of(CONDITIONS["default"], scale=scale, languages=("en", "fr"), seed=0)) == update


def test_a_short_run_is_given_a_thousand_updates() -> None:
    assert first_told(tiny_run(updates=1500)) == 1000
    assert told(plateau_of(updates=900), [7.4] * 900) == {}


@pytest.mark.parametrize("loss", [7.4, 6.75, 7.0, 8.1])
def test_a_stuck_model_is_told_of_at_each_doubling(loss: float) -> None:
    """At the entropy; copying what was kept besides; on the way there; not knowing which language it reads."""
    said = told(plateau_of(), [loss] * 9000)
    assert list(said) == [2000, 4000, 8000]
    assert said[4000].startswith("still at the unigram plateau after 4,000 updates: see docs/training.md")
    assert f"en: loss {loss:.2f}" in said[4000]


def test_a_model_that_learnt_nothing_at_all_is_told_so() -> None:
    said = told(plateau_of(), [11.3] * 2500)
    assert list(said) == [2000]
    assert said[2000].startswith("still above the unigram plateau after 2,000 updates, as if it had not even learnt")
    assert said[2000].endswith("words are frequent: see docs/training.md (en: loss 11.30)")


def test_of_a_model_that_learns_nothing_is_said() -> None:
    noise = np.random.default_rng(0).normal(0, 0.2, 9000)
    losses = [3 + 8 * math.exp(-update / 800) + noise[update] for update in range(9000)]
    assert told(plateau_of(), losses) == {}


def test_it_is_said_once_when_the_plateau_is_left() -> None:
    said = told(plateau_of(), [7.4] * 2500 + [5.0] * 7000)
    assert [sentence.split(" a")[0] for sentence in said.values()] == ["still", LEFT]
    _, left = said
    assert 2510 < left < 2600, "when the mean of about a hundred updates is below"
    assert f"left the unigram plateau at update {left:,} (en: loss 6.69)" == said[left]
    assert told(plateau_of(), [7.4] * 1500 + [5.0] * 7000) == {}, "before anything was said"
    assert len(told(plateau_of(), [11.0] * 2500 + [5.0] * 7000)) == 2, "of one that had been above as well"


def test_one_that_falls_back_is_told_of_again() -> None:
    said = told(plateau_of(), [7.4] * 2500 + [5.0] * 500 + [7.4] * 2000 + [5.0] * 500)
    assert [sentence.split(" plateau")[0] for sentence in said.values()] == [
        "still at the unigram",
        "left the unigram",
        "still at the unigram",
        "left the unigram",
    ]


def test_languages_are_told_of_by_name() -> None:
    plateau = plateau_of("en", "fr", "sw", "zh")
    news = [record(update, en=5.0, fr=7.41, sw=11.0) for update in range(1, 2021)]
    sentence = plateau.told(news)
    assert sentence is not None
    stuck, above = sentence.split("; ")
    assert stuck.startswith(AT)
    assert "(fr: loss 7.41, which" in stuck
    assert above.startswith(ABOVE)
    assert "(sw: loss 11.00)" in above
    assert plateau.told([record(2021, en=5.0)]) is None
    later = plateau.told([record(update, fr=5.0) for update in range(2022, 2400)])
    assert later is not None
    assert later.startswith("left the unigram plateau at update 2,0")
    assert "(fr: loss" in later


def test_updates_that_were_skipped_have_no_say() -> None:
    plateau = plateau_of()
    for update in range(1, 2000):
        assert plateau.told([record(update, en=math.nan if update % 2 else 7.4, skipped=update % 2 == 1)]) is None
    sentence = plateau.told([record(2000, skipped=True, en=math.nan)])
    assert sentence is not None
    assert "en: loss 7.40" in sentence


def test_a_run_that_goes_on_is_told_of_at_the_same_updates() -> None:
    assert list(told(plateau_of(), [7.4] * 4000, first=2001)) == [4000]
    assert list(told(plateau_of(), [7.4] * 4000, first=3999)) == [4000]


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tells at half of a tiny run."""
    monkeypatch.setattr(plateau_module, "FEWEST_UPDATES", 1)


def plateau_in_training(trainer: Trainer) -> Plateau:
    """From the windows that it reads."""
    run, sizes = trainer.run, trainer.updates.table_sizes
    blind = {
        language: BlindLosses.of(source, window=run.window, table_size=sizes[language])
        for language, source in trainer.batches.sources.items()
    }
    return Plateau(blind, run=run)


def said_in_training(trainer: Trainer, plateau: Plateau) -> list[str]:
    said = []
    for _ in range(trainer.run.updates // 20):
        for _ in range(20):
            trainer.advance()
        said.append(plateau.told(trainer.settled()))
    return [sentence for sentence in said if sentence is not None]


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("learning_rate", [0.0, 1e-9])
def test_training_without_learning_is_told_to_know_nothing(
    learning_rate: float, streams: dict[str, TokenStream], tmp_path: Path
) -> None:
    run = tiny_run(updates=120, evaluations=1, learning_rate=learning_rate)
    trainer = trainer_of(run, streams, folder=tmp_path)
    first, last = said_in_training(trainer, plateau_in_training(trainer))
    assert first.startswith("still above the unigram plateau after 60 updates")
    assert last.startswith("still above the unigram plateau after 120 updates")


@pytest.mark.usefixtures("impatient")
def test_training_of_the_output_bias_alone_sits_on_the_plateau(streams: dict[str, TokenStream], tmp_path: Path) -> None:
    run = tiny_run(updates=600, batch=32, evaluations=1, learning_rate=0.1)
    trainer = trainer_of(run, streams, folder=tmp_path)
    bias = trainer.model.output_bias.of(None).bias
    with torch.no_grad():
        trainer.model.encoder.embeddings.of(None).token.weight.zero_()

    def keep_that_of_the_bias() -> None:
        gradient = bias.grad.clone()
        torch._foreach_zero_(trainer.updates.weights.gradients_of(run.languages))
        bias.grad.copy_(gradient)

    tamper(trainer, keep_that_of_the_bias)
    plateau = plateau_in_training(trainer)
    said = said_in_training(trainer, plateau)
    assert [sentence.split(":")[0] for sentence in said] == [
        "still at the unigram plateau after 300 updates",
        "still at the unigram plateau after 600 updates",
    ]
    for language, blind in plateau.blind.items():
        assert plateau.means[language] == pytest.approx(blind.unigram, abs=0.03)
        assert blind.unigram - blind.unigram_or_kept > 0.1


@pytest.mark.usefixtures("impatient")
def test_of_training_that_learns_nothing_is_said(streams: dict[str, TokenStream], tmp_path: Path) -> None:
    run = tiny_run(updates=400, batch=32, evaluations=1, learning_rate=0.03)
    trainer = trainer_of(run, streams, folder=tmp_path)
    assert said_in_training(trainer, plateau_in_training(trainer)) == []
