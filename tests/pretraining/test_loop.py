"""Training learns, keeps the best model, and leaves an absent language alone."""

import json
import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from torch import Tensor

from isoglot.corpora.numbered_text import Split
from isoglot.corpora.streams import TokenStream
from isoglot.corpora.vocabulary import MASK
from isoglot.errors import IsoglotError
from isoglot.model.cloze import read_model
from isoglot.model.per_language import SHARED
from isoglot.model.work_files import SUMS_NAME
from isoglot.pretraining.flat_weights import FlatWeights
from isoglot.pretraining.loop import untrained_model
from isoglot.pretraining.perplexity import HeldOut, perplexity
from isoglot.pretraining.run import BEST, INTERMEDIATE, LOG
from isoglot.pretraining.updates import adam
from isoglot.study.scales import Optimization, Start
from isoglot.study.separate import Separate
from tests.killed_processes import files_of
from tests.pretraining.tiny_runs import CPU, EVERYTHING, learnt, pretrained, tiny_run, trainer_of

Streams = dict[str, TokenStream]


def log_of(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / LOG).read_text().splitlines()]


@pytest.mark.parametrize("separate", [Separate(), EVERYTHING], ids=["shared", "separate"])
def test_it_learns(separate: Separate, streams: Streams, separate_streams: Streams, folder: Path) -> None:
    run = tiny_run(separate=separate, updates=200, batch=32, evaluations=4, learning_rate=0.03)
    run = replace(run, shape=replace(run.shape, position_init_std=0.5))
    reports = pretrained(run, separate_streams if separate.embeddings else streams, folder=folder)
    log = log_of(folder)
    assert [row["update"] for row in log] == [50, 100, 150, 200]
    assert log[0]["loss"].keys() == log[0]["perplexity"].keys() == {"en", "fr"}
    # Thirteen symbols occur, so that one who knows only how often each does stays near thirteen.
    assert log[-1]["perplexity"]["en"] < 6
    assert log[-1]["perplexity"]["fr"] < 11
    assert log[-1]["loss"]["en"] < 0.75 * log[0]["loss"]["en"]
    assert [record.update for record in reports] == list(range(1, 201))
    assert all(math.isfinite(loss) for record in reports for loss in record.losses.values())
    assert not any(record.skipped for record in reports)


def test_the_best_model_by_perplexity_of_the_runs_first_language_is_kept(streams: Streams, folder: Path) -> None:
    # The rate is too high, so that it gets worse at times.
    run = tiny_run(updates=24, evaluations=8, learning_rate=0.2, languages=("fr", "en"), seed=2)
    pretrained(run, streams, folder=folder)
    best = min((row["perplexity"] for row in log_of(folder)), key=lambda perplexities: perplexities["fr"])
    assert best["fr"] < log_of(folder)[-1]["perplexity"]["fr"]
    assert best["en"] > min(row["perplexity"]["en"] for row in log_of(folder)), "it is not the best of the other"
    ids = streams["fr"].ids(Split.DEV)
    held_out = HeldOut.of(ids, language="fr", window=run.window, rate=run.mask_rate, mask_id=MASK)
    assert perplexity(read_model(folder / BEST), held_out, device=CPU.device) == pytest.approx(best["fr"], rel=1e-6)


def test_nothing_is_left_but_models_and_the_log(streams: Streams, folder: Path) -> None:
    pretrained(tiny_run(), streams, folder=folder)
    models = [BEST, *(f"{INTERMEDIATE}/{update:08d}" for update in (1, 2, 4))]
    files = [f"{model}/{name}" for model in models for name in ("model.json", "model.safetensors")]
    assert sorted(files_of(folder)) == sorted([*files, LOG, SUMS_NAME])
    first = read_model(folder / INTERMEDIATE / "00000001")
    assert not any(
        tensor.equal(read_model(folder / BEST).state_dict()[name]) for name, tensor in first.state_dict().items()
    )


def test_losses_in_the_log_are_means_over_the_updates_of_each_language(streams: Streams, folder: Path) -> None:
    run = tiny_run(updates=12, evaluations=1)
    trainer = trainer_of(run, streams, folder=folder)
    seen: dict[str, list[float]] = {}
    for _ in range(12):
        trainer.advance()
        ((language, loss),) = trainer.take_records()[0].losses.items()
        seen.setdefault(language, []).append(loss)
    assert set(seen) == {"en", "fr"}
    expected = {language: sum(losses) / len(losses) for language, losses in seen.items()}
    assert trainer.state.log[0]["loss"] == pytest.approx(expected, rel=1e-9)
    assert trainer.state.losses == {}


@pytest.mark.parametrize("separate", [EVERYTHING, Separate(output_bias=True)], ids=["separate", "own bias"])
def test_an_absent_language_keeps_its_weights_and_moments_bit_for_bit(
    separate: Separate, streams: Streams, separate_streams: Streams, folder: Path
) -> None:
    given = separate_streams if separate.embeddings else streams
    trainer = trainer_of(tiny_run(separate=separate, updates=30), given, folder=folder)
    present: list[str] = []
    for _ in range(20):
        before, positions = learnt(trainer), dict(trainer.batches.positions)
        trainer.advance()
        language = next(name for name, position in trainer.batches.positions.items() if position != positions[name])
        present.append(language)
        for name, tensors in learnt(trainer).items():
            same = len(before[name]) == len(tensors) and all(map(torch.equal, before[name], tensors))
            is_absent = not any(f".owned_by.{owner}." in name for owner in (language, SHARED))
            assert same == (".owned_by." in name and is_absent), (name, language)
    assert {"en fr", "fr en"} <= {f"{first} {then}" for first, then in pairwise(present)}


def test_each_update_runs_at_its_own_rate(streams: Streams, folder: Path) -> None:
    trainer = trainer_of(tiny_run(), streams, folder=folder)
    for rate in (1e-7, 1e-7 + (5e-3 - 1e-7) / 2, 5e-3, 5e-3 * (2 / 3) ** 0.5):
        trainer.advance()
        (record,) = trainer.take_records()
        assert record.learning_rate == pytest.approx(rate, rel=1e-9)
        for group in trainer.updates.optimizer.param_groups:
            assert group["lr"].item() == pytest.approx(rate, rel=1e-6)


def test_each_update_and_seed_masks_and_drops_anew(streams: Streams, tmp_path: Path) -> None:
    masking, dropping = set(), set()
    for seed in (0, 1):
        trainer = trainer_of(tiny_run(dropout=0.2, seed=seed), streams, folder=tmp_path / str(seed))
        for _ in range(4):
            trainer.advance()
            masking.add(trainer.updates.generator.initial_seed())
            dropping.add(torch.initial_seed())
    assert len(masking) == len(dropping) == len(masking | dropping) / 2 == 8


def test_large_gradients_are_clipped(streams: Streams, folder: Path) -> None:
    trainer = trainer_of(tiny_run(), streams, folder=folder)
    with torch.no_grad():
        for parameter in trainer.model.parameters():
            parameter *= 10
    trainer.advance()
    norm = torch.stack([parameter.grad.norm() for parameter in trainer.model.parameters()]).norm()
    assert norm.item() == pytest.approx(1.0, rel=1e-4)


def test_a_run_starts_from_its_seeds_untrained_model(streams: Streams, folder: Path) -> None:
    sizes = {language: stream.table_size for language, stream in streams.items()}
    torch.manual_seed(5)
    expected = torch.rand(4)
    torch.manual_seed(5)
    untrained = untrained_model(tiny_run(), table_sizes=sizes).state_dict()
    assert torch.rand(4).equal(expected), "the process's own draws must not change"
    started = trainer_of(tiny_run(), streams, folder=folder).model.state_dict()
    other = untrained_model(tiny_run(seed=1), table_sizes=sizes).state_dict()
    tables = [name for name in untrained if name.endswith(("token.weight", "position.weight"))]
    assert all(tensor.equal(started[name]) for name, tensor in untrained.items())
    assert not any(untrained[name].equal(other[name]) for name in tables)


@pytest.mark.parametrize("sizes", [{"en": 17, "fr": 21}, {"en": 17, "fr": 17}], ids=["other sizes", "one size"])
def test_parts_that_start_equal_are_copies_and_no_other_number_shifts(sizes: dict[str, int]) -> None:
    run = tiny_run(separate=Separate(embeddings=True, layers=frozenset({1})))
    apart, equal = (
        untrained_model(replace(run, own_parts_start=start), table_sizes=sizes).state_dict()
        for start in (Start.INDEPENDENT, Start.EQUAL)
    )
    layer, embeddings = "encoder.blocks.0.owned_by.fr.", "encoder.embeddings.owned_by.fr."
    copied = {name for name in apart if name.startswith((layer, f"{embeddings}position", f"{embeddings}norm"))}
    assert len(copied) == 12 + 3
    for name, tensor in equal.items():
        assert tensor.equal(apart[name.replace(".fr.", ".en.") if name in copied else name]), name
    # Norms start alike in any case.
    assert not any(equal[name].equal(apart[name]) for name in copied if "norm" not in name)
    for table in ("encoder.embeddings.owned_by.{}.token.weight", "output_bias.owned_by.{}.bias"):
        assert not equal[table.format("fr")].equal(equal[table.format("en")])


def test_parts_that_start_equal_are_trained_apart(separate_streams: Streams, folder: Path) -> None:
    trainer = trainer_of(tiny_run(separate=EVERYTHING, own_parts_start=Start.EQUAL), separate_streams, folder=folder)
    own = {name: weight for name, weight in trainer.model.named_parameters() if ".owned_by.fr." in name}
    first = {name: trainer.model.get_parameter(name.replace(".fr.", ".en.")) for name in own}
    of_words = {"encoder.embeddings.owned_by.fr.token.weight", "output_bias.owned_by.fr.bias"}
    assert {name for name in own if not own[name].equal(first[name])} == of_words
    while trainer.state.update < 2 or not all(trainer.state.positions.get(language) for language in ("en", "fr")):
        trainer.advance()
    assert [name for name in own if own[name].equal(first[name])] == []


@pytest.mark.parametrize(
    ("updates", "trouble"),
    [(4, "the dev perplexity of en became (nan|inf)"), (40, "more than 20 of the last 100 updates were left out")],
)
def test_a_run_that_goes_astray_ends_with_the_remedy(
    updates: int, trouble: str, streams: Streams, folder: Path
) -> None:
    run = tiny_run(updates=updates, evaluations=1, learning_rate=1e25)
    with pytest.raises(IsoglotError, match=rf"{trouble}.* at update \d+; lower optimization.learning_rate"):
        pretrained(run, streams, folder=folder)
    assert not (folder / LOG).exists()


def adam_by_hand(value: Tensor, gradients: list[Tensor], *, settings: Optimization, decay: float) -> Tensor:
    """Kingma and Ba's algorithm 1 in double precision, with decoupled decay (Loshchilov and Hutter, algorithm 2)."""
    value = value.double()
    first, second = torch.zeros_like(value), torch.zeros_like(value)
    for step, gradient in enumerate((gradient.double() for gradient in gradients), start=1):
        first = settings.beta1 * first + (1 - settings.beta1) * gradient
        second = settings.beta2 * second + (1 - settings.beta2) * gradient**2
        mean, variance = first / (1 - settings.beta1**step), second / (1 - settings.beta2**step)
        value = value - settings.learning_rate * (mean / (variance.sqrt() + settings.epsilon) + decay * value)
    return value


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_adam_by_hand(decay: float) -> None:
    settings = Optimization(
        learning_rate=0.02, warmup_updates=0, beta1=0.8, beta2=0.95, epsilon=1e-3, weight_decay=decay
    )
    run = replace(tiny_run(), optimization=settings)
    model = untrained_model(run, table_sizes={"en": 30, "fr": 30})
    weights = FlatWeights(model)
    optimizer = adam(weights, run, rate=torch.tensor(settings.learning_rate))
    weights.show_gradients(run.languages)
    start = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    generator = torch.Generator().manual_seed(0)
    gradients = {
        name: [torch.randn(value.shape, generator=generator) for _ in range(3)] for name, value in start.items()
    }
    for step in range(3):
        for name, parameter in model.named_parameters():
            parameter.grad.copy_(gradients[name][step])
        optimizer.step()
    for name, parameter in model.named_parameters():
        is_matrix = name.endswith("weight") and "norm" not in name
        expected = adam_by_hand(start[name], gradients[name], settings=settings, decay=decay if is_matrix else 0.0)
        torch.testing.assert_close(parameter.detach().double(), expected, rtol=0, atol=1e-6, msg=name)
