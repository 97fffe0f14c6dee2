"""The states that a task reads; new layers on a frozen layer: what learns, what a map undoes, and their files."""

from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file
from torch import Tensor

from isoglot.evaluation.transfer.fine_tuning import FineTuned
from isoglot.evaluation.transfer.model import NewLayers, TaskModel, drawn_layers, read_task_layers, write_task_layers
from isoglot.model.encoder import Encoder
from isoglot.study.scales import NormPlacement
from isoglot.study.separate import Separate
from tests.evaluation.transfer import tiny_transfer as tiny
from tests.evaluation.transfer.planted_models import order_of_features, reordered
from tests.model.tiny_models import padded_tokens, tiny_model, tiny_shape

NORMS = pytest.mark.parametrize("norm", NormPlacement)
LAYERS = pytest.mark.parametrize("layer", [0, 2])
LENGTHS = [9, 4, 1, 12]


def noisy(layers: NewLayers) -> NewLayers:
    """With norms and biases that are random as well."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, parameter in layers.named_parameters():
            if not name.startswith("below."):
                parameter.normal_(std=0.3, generator=generator)
    return layers.eval()


def enlarged(times: float) -> Encoder:
    """A model whose last layer is so many times as large."""
    encoder = tiny.tiny_encoder()
    with torch.no_grad():
        for parameter in encoder.top_norm.parameters():
            parameter.mul_(times)
    return encoder


@torch.no_grad()
def test_a_normed_task_reads_each_state_less_its_mean_in_units_of_its_spread() -> None:
    encoder, token_BL = enlarged(7.0), padded_tokens(LENGTHS).clamp(max=tiny.vocabulary().size("en") - 1)
    model = TaskModel(encoder, tiny.NER.head(width=16, labels=("B-PER", "O")), freeze_encoder=False, normed=True)
    state_BLD = encoder(token_BL, padded=True).double()
    expected_BLD = (state_BLD - state_BLD.mean(-1, keepdim=True)) / state_BLD.std(-1, correction=0, keepdim=True)
    read_BLD = model.read(token_BL, language="en")
    real_BL = token_BL.ne(encoder.pad_id)
    torch.testing.assert_close(read_BLD[real_BL].double(), expected_BLD[real_BL], rtol=0, atol=1e-5)
    assert read_BLD[~real_BL].eq(0).all()


@pytest.mark.parametrize(("task", "examples"), [(tiny.PARSING, tiny.chain_trees()), (tiny.NLI, tiny.inferences(20))])
def test_how_large_a_last_layer_is_matters_to_a_task_that_is_not_normed_alone(
    task: Any, examples: list[Any], tmp_path: Path
) -> None:
    def losses(name: str, *, normed: bool, times: float) -> list[float]:
        run, given = replace(tiny.RUN, normed=normed, freeze_encoder=True), {"train": examples, "dev": examples}
        tuner = tiny.tuner_of(tmp_path / name, run=run, task=task, encoder=enlarged(times), **given)
        return [row["loss"] for row in tuner.finish(tiny.silent).log]

    assert losses("a", normed=True, times=40.0) == pytest.approx(losses("b", normed=True, times=1.0), rel=1e-3)
    assert losses("c", normed=False, times=40.0)[0] > 2 * losses("d", normed=False, times=1.0)[0]


@NORMS
@LAYERS
@torch.no_grad()
def test_new_layers_with_the_weights_of_those_above_are_the_encoder(norm: NormPlacement, layer: int) -> None:
    encoder, token_BL = tiny_model(tiny_shape(norm)).encoder, padded_tokens(LENGTHS)
    layers = NewLayers(encoder, layer=layer, count=3 - layer).eval()
    for block, own in zip(layers.blocks, encoder.blocks[layer:], strict=True):
        block.load_state_dict(own.of(None).state_dict())
    if layer < 3:
        layers.top_norm.load_state_dict(encoder.top_norm.state_dict())
    expected_BLD = encoder(token_BL, padded=True)
    torch.testing.assert_close(layers(token_BL, padded=True), expected_BLD, rtol=0, atol=1e-6)
    unpadded_BL = token_BL[:1, :9]
    torch.testing.assert_close(layers(unpadded_BL), expected_BLD[:1, :9], rtol=0, atol=1e-5)


@NORMS
@given(lengths=st.lists(st.integers(1, 20), min_size=1, max_size=5), count=st.sampled_from([0, 2]))
@torch.no_grad()
def test_padding_and_batch_size_change_no_value(norm: NormPlacement, count: int, lengths: list[int]) -> None:
    """Though the map moves the origin, and with it the states of padding."""
    encoder = tiny_model(tiny_shape(norm)).encoder
    layers = noisy(NewLayers(encoder, layer=1, count=count, mapped=lambda vector_ND: 2 * vector_ND + 7))
    token_BL = padded_tokens(lengths)
    together_BLD = layers(token_BL, padded=True)
    for row, length in enumerate(lengths):
        alone_1LD = layers(token_BL[row : row + 1, :length])
        torch.testing.assert_close(together_BLD[row, :length], alone_1LD[0], rtol=0, atol=1e-4)
        assert together_BLD[row, length:].eq(0).all()


@NORMS
@LAYERS
@torch.no_grad()
def test_a_planted_rotation_is_undone_by_its_map(norm: NormPlacement, layer: int) -> None:
    source, token_BL = tiny_model(tiny_shape(norm)).encoder, padded_tokens(LENGTHS)
    target, order_D = deepcopy(source), order_of_features(24)
    reordered(target, order_D)
    rotation_DD = torch.eye(24)[order_D]
    expected_BLD = noisy(NewLayers(source, layer=layer, count=2))(token_BL, padded=True)

    def found(mapped: Any) -> Tensor:
        return noisy(NewLayers(target, layer=layer, count=2, mapped=mapped))(token_BL, padded=True)

    torch.testing.assert_close(found(lambda vector_ND: vector_ND @ rotation_DD), expected_BLD, rtol=0, atol=1e-4)
    for wrong in (None, lambda vector_ND: vector_ND @ rotation_DD.T):
        assert (found(wrong) - expected_BLD).abs().max() > 0.01


@pytest.mark.parametrize("separate", [Separate(), tiny.EVERYTHING], ids=["shared", "separate"])
def test_without_new_layers_on_the_last_it_is_fine_tuning_with_a_frozen_encoder(
    separate: Separate, tmp_path: Path
) -> None:
    frozen = tiny.tuner_of(
        tmp_path, encoder=tiny.tiny_encoder(separate=separate), run=replace(tiny.RUN, freeze_encoder=True)
    )
    layers = drawn_layers(tiny.tiny_encoder(separate=separate), layer=2, count=0, seed=tiny.RUN.seed)
    expected, found = (tuner.finish(tiny.silent) for tuner in (frozen, tiny.tuner_of(tmp_path, encoder=layers)))
    assert found.log == expected.log
    weights = tiny.weights_of(found.model.head)
    assert all(weights[name].equal(tensor) for name, tensor in expected.model.head.state_dict().items())
    assert len({row["loss"] for row in found.log}) == 3


@torch.no_grad()
def test_in_training_new_layers_drop_and_frozen_ones_do_not() -> None:
    token_BL = padded_tokens(LENGTHS)
    for count in (1, 0):
        layers = NewLayers(tiny_model(tiny_shape(dropout=0.3)).encoder, layer=3, count=count).train()
        assert layers(token_BL, padded=True).equal(layers(token_BL, padded=True)) == (count == 0)
    assert layers(token_BL, padded=True).equal(layers.eval()(token_BL, padded=True))


def test_the_seed_draws_the_layers_and_nothing_else_does() -> None:
    def drawn(seed: int) -> dict[str, Tensor]:
        torch.rand(3)
        state, layers = torch.get_rng_state(), drawn_layers(tiny.tiny_encoder(), layer=1, count=2, seed=seed)
        assert torch.get_rng_state().equal(state)
        return tiny.weights_of(layers)

    first, again, other = drawn(0), drawn(0), drawn(1)
    assert all(first[name].equal(tensor) for name, tensor in again.items())
    weights = {name for name in first if not name.startswith("below.") and not first[name].equal(other[name])}
    assert len(weights) == 2 * 4 * 2  # matrices and biases of each layer; norms begin alike


def written(folder: Path, *, normed: bool = False) -> tuple[Path, FineTuned]:
    layers, trees = drawn_layers(tiny.tiny_encoder(), layer=1, count=2, seed=0), tiny.chain_trees()
    run = replace(tiny.RUN, normed=normed)
    tuner = tiny.tuner_of(folder, run=run, task=tiny.PARSING, train=trees, dev=trees, encoder=layers)
    found = tuner.finish(tiny.silent)
    write_task_layers(found.model, folder / "layers", labels=found.labels)
    return folder / "layers", found


@pytest.mark.parametrize("normed", [False, True])
def test_layers_read_again_label_the_same_and_on_another_model_otherwise(tmp_path: Path, normed: bool) -> None:
    task, examples = tiny.PARSING, tiny.chain_trees()
    path, found = written(tmp_path, normed=normed)
    layers = NewLayers(tiny.tiny_encoder(), layer=1, count=2)
    model, labels = read_task_layers(path, task, encoder=layers, normed=normed)
    assert model.normed is found.model.normed is normed
    assert (labels, model.training) == (found.labels, False)
    weights = load_file(path)
    assert weights.keys() == {name for name, each in found.model.named_parameters() if each.requires_grad}
    assert {each.dtype for each in weights.values()} == {torch.float32}
    expected = tiny.labelled(task, examples, model=found.model, labels=labels)
    assert tiny.labelled(task, examples, model=model, labels=labels) == expected
    for tensor_name, tensor in found.model.state_dict().items():
        assert model.state_dict()[tensor_name].equal(tensor), tensor_name
    foreign = NewLayers(tiny.tiny_encoder(seed=1, noise=1.0), layer=1, count=2)
    other, _ = read_task_layers(path, task, encoder=foreign)
    assert tiny.labelled(task, examples, model=other, labels=labels) != expected
    for tensor_name, tensor in tiny.tiny_encoder(seed=1, noise=1.0).state_dict().items():
        assert other.encoder.below.state_dict()[tensor_name].equal(tensor), tensor_name
