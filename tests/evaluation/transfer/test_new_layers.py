"""New layers on a frozen layer: what they read, what learns, and what a map under them undoes."""

from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from isoglot.errors import IsoglotError
from isoglot.evaluation.transfer.model import NewLayers, TaskModel, drawn_layers
from isoglot.evaluation.transfer.predictions import predictions
from isoglot.evaluation.transfer.sequences import encoded
from isoglot.evaluation.transfer.task import Task
from isoglot.evaluation.transfer.tasks.ner import TASK as NER
from isoglot.evaluation.transfer.tasks.parsing import TASK as PARSING
from isoglot.machine import Machine
from isoglot.model.encoder import Encoder
from isoglot.study.conditions import Separate
from isoglot.study.scales import NormPlacement
from isoglot.study.searches import Schedule
from tests.evaluation.transfer.made_up_trees import chain_trees
from tests.evaluation.transfer.planted_models import order_of_features, reordered
from tests.evaluation.transfer.tiny_transfer import (
    CPU,
    EVERYTHING,
    RUN,
    letter_encoding,
    silent,
    tagged_sentences,
    tiny_encoder,
    tuner_of,
    weights_of,
)
from tests.model.tiny_models import padded_tokens, tiny_model, tiny_shape

NORMS = pytest.mark.parametrize("norm", NormPlacement)
LAYERS = pytest.mark.parametrize("layer", [0, 1, 2, 3])
LENGTHS = [9, 4, 1, 12]
TAGS = ("B-LOC", "B-PER", "I-LOC", "I-PER", "O")


def noisy(layers: NewLayers) -> NewLayers:
    """With norms and biases that are random as well."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, parameter in layers.named_parameters():
            if not name.startswith("below."):
                parameter.normal_(std=0.3, generator=generator)
    return layers.eval()


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
@settings(max_examples=40)
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


@torch.no_grad()
def test_the_states_of_all_tokens_are_mapped_and_of_nothing_else() -> None:
    encoder, token_BL = tiny_model().encoder, padded_tokens(LENGTHS)
    met: list[Tensor] = []
    layers = NewLayers(encoder, layer=2, count=1, mapped=lambda vector_ND: (met.append(vector_ND), vector_ND)[1])
    layers(token_BL, padded=True)
    state_BLD = encoder.hidden_states(token_BL)[2]
    expected_ND = torch.cat([state_BLD[row, :length] for row, length in enumerate(LENGTHS)])
    assert len(met) == 1
    torch.testing.assert_close(met[0], expected_ND, rtol=0, atol=1e-5)


@NORMS
@LAYERS
@torch.no_grad()
def test_a_map_that_changes_nothing_changes_nothing(norm: NormPlacement, layer: int) -> None:
    encoder, token_BL = tiny_model(tiny_shape(norm)).encoder, padded_tokens(LENGTHS)
    plain = noisy(NewLayers(encoder, layer=layer, count=2))
    mapped = noisy(NewLayers(encoder, layer=layer, count=2, mapped=lambda vector_ND: vector_ND @ torch.eye(24)))
    assert mapped(token_BL, padded=True).equal(plain(token_BL, padded=True))


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


def tuned_heads(folder: Path, encoder: Encoder | NewLayers, **changes: Any) -> tuple[list[Any], dict[str, Tensor]]:
    tuner = tuner_of(folder, encoder=encoder, **changes)
    log = tuner.finish(silent).log
    return log, weights_of(tuner.best.head)


@pytest.mark.parametrize("separate", [Separate(), EVERYTHING], ids=["shared", "separate"])
@pytest.mark.parametrize(("task", "examples"), [(NER, tagged_sentences(18)), (PARSING, chain_trees())])
def test_without_new_layers_on_the_last_it_is_fine_tuning_with_a_frozen_encoder(
    task: Task[Any], examples: list[Any], separate: Separate, tmp_path: Path
) -> None:
    case: dict[str, Any] = {"task": task, "train": examples, "dev": examples}
    frozen, expected = tuned_heads(
        tmp_path, tiny_encoder(separate=separate), run=replace(RUN, freeze_encoder=True), **case
    )
    layers = drawn_layers(tiny_encoder(separate=separate), layer=2, count=0, seed=RUN.seed)
    log, weights = tuned_heads(tmp_path, layers, run=RUN, **case)
    assert log == frozen
    assert all(weights[name].equal(tensor) for name, tensor in expected.items())
    assert len({row["loss"] for row in log}) == 3


@pytest.mark.parametrize("separate", [Separate(), EVERYTHING], ids=["shared", "separate"])
def test_new_layers_and_the_task_s_own_learn_and_nothing_below(separate: Separate, tmp_path: Path) -> None:
    layers = drawn_layers(tiny_encoder(separate=separate, dropout=0.2), layer=1, count=2, seed=0)
    tuner = tuner_of(tmp_path, encoder=layers)
    before = weights_of(tuner.model)
    tuner.advance(silent)
    moved = {name for name, tensor in tuner.model.state_dict().items() if not tensor.equal(before[name])}
    assert moved == {name for name in before if not name.startswith("encoder.below.")}
    assert all(parameter.grad is None for parameter in tuner.model.encoder.below.parameters())
    learning = {id(each) for group in tuner.optimizer.param_groups for each in group["params"]}
    assert learning.isdisjoint(map(id, tuner.model.encoder.below.parameters()))


def test_new_layers_learn_at_the_encoder_s_rate(tmp_path: Path) -> None:
    """Adam's first step is as large as its rate, whatever the gradient."""
    run = replace(RUN, batch=18, epochs=1, learning_rate=1e-4, head_learning_rate=3e-3, schedule=Schedule.CONSTANT)
    tuner = tuner_of(tmp_path, run=run, encoder=drawn_layers(tiny_encoder(), layer=1, count=1, seed=0))
    before = weights_of(tuner.model)
    tuner.advance(silent)
    for name, tensor in tuner.model.state_dict().items():
        if not name.startswith("encoder.below."):
            rate = 3e-3 if name.startswith("head.") else 1e-4
            assert float((tensor - before[name]).abs().max()) == pytest.approx(rate, rel=2e-2), name


def test_they_learn_what_the_layer_below_does_not_say_by_itself(tmp_path: Path) -> None:
    """The first word's letter tells the tags of all words: of embeddings, only layers that attend can learn it."""
    train, dev = (
        [
            replace(each, tags=("B-PER" if each.words[0][0] in "abcde" else "B-LOC",) * len(each.words))
            for each in tagged_sentences(count, seed=seed)
        ]
        for count, seed in ((150, 0), (60, 1))
    )
    scores = {}
    for count in (0, 2):
        layers = drawn_layers(tiny_encoder(), layer=0, count=count, seed=0)
        log, _ = tuned_heads(tmp_path, layers, run=replace(RUN, epochs=5), train=train, dev=dev)
        scores[count] = max(row["dev"]["f1"] for row in log)
    assert scores[2] > scores[0] + 15


@torch.no_grad()
def test_in_training_new_layers_drop_and_frozen_ones_do_not() -> None:
    token_BL = padded_tokens(LENGTHS)
    layers = NewLayers(tiny_model(tiny_shape(dropout=0.3)).encoder, layer=3, count=1)
    layers.train()
    assert not layers(token_BL, padded=True).equal(layers(token_BL, padded=True))
    alone = NewLayers(tiny_model(tiny_shape(dropout=0.3)).encoder, layer=3, count=0)
    alone.train()
    assert alone(token_BL, padded=True).equal(alone.eval()(token_BL, padded=True))


def test_the_seed_draws_the_layers_and_nothing_else_does() -> None:
    def drawn(seed: int) -> dict[str, Tensor]:
        torch.rand(3)
        return weights_of(drawn_layers(tiny_encoder(), layer=1, count=2, seed=seed))

    first, again, other = drawn(0), drawn(0), drawn(1)
    assert all(first[name].equal(tensor) for name, tensor in again.items())
    weights = {name for name in first if not name.startswith("below.") and not first[name].equal(other[name])}
    assert len(weights) == 2 * 4 * 2  # matrices and biases of each layer; norms begin alike
    state = torch.get_rng_state()
    drawn_layers(tiny_encoder(), layer=1, count=2, seed=0)
    assert torch.get_rng_state().equal(state)


@pytest.mark.parametrize("layer", [-1, 3])
def test_a_layer_that_is_not_there_is_refused(layer: int) -> None:
    with pytest.raises(IsoglotError, match=rf"layers 0 to 2 has no layer {layer}; name one"):
        NewLayers(tiny_encoder(), layer=layer, count=1)


@pytest.mark.parametrize("language", ["en", "fr"])
def test_each_language_passes_its_own_parts(language: str) -> None:
    """Predictions are those of new layers on a model of that language alone."""
    encoder = tiny_encoder(separate=EVERYTHING, noise=1.0)
    examples = tagged_sentences(30)
    layers = noisy(NewLayers(encoder, layer=1, count=1))
    with torch.random.fork_rng():
        torch.manual_seed(2)
        head = NER.head(width=16, labels=TAGS)
        with torch.no_grad():
            head.output.weight.normal_()
    model = TaskModel(layers, head, freeze_encoder=True)
    sequences = encoded(NER, examples, encoding=letter_encoding(language), most_tokens=40)
    said = predictions(NER, examples, sequences, model=model, labels=TAGS, language=language, machine=CPU)
    expected = []
    for n in range(len(sequences)):
        token_1L = torch.from_numpy(sequences.token_T[sequences.start_N[n] :][: sequences.length_N[n]])[None]
        with torch.no_grad():
            hidden_LD = layers.blocks[0](encoder.hidden_states(token_1L, language=language)[1], attend_B11L=None)[0]
            score_PK = head.output(layers.top_norm(hidden_LD))[torch.from_numpy(sequences.places(n))]
        expected.append(NER.predicted(examples[n], [score_PK.argmax(-1).tolist()], TAGS))
    assert said == expected
    assert len({tag for each in expected for tag in each.tags}) > 1


@pytest.mark.gpu
def test_on_a_gpu_updates_of_new_layers_are_recorded_as_graphs(tmp_path: Path) -> None:
    machine = Machine(device=torch.device("cuda"))
    run = replace(RUN, epochs=6, batch=8)
    losses = []
    for has_graphs in (True, False):
        layers = drawn_layers(tiny_encoder(), layer=1, count=2, seed=0)
        tuner = tuner_of(
            tmp_path / str(has_graphs), run=run, encoder=layers, train=tagged_sentences(45), machine=machine
        )
        tuner.updates.recorded.is_used = has_graphs
        before = weights_of(tuner.model.encoder.below)
        losses.append([row["loss"] for row in tuner.finish(silent).log])
        assert bool(tuner.updates.recorded.graphs) == has_graphs
        assert all(before[name].equal(each) for name, each in tuner.model.encoder.below.state_dict().items())
    assert losses[0] == pytest.approx(losses[1], rel=0.05, abs=0.02)
    assert losses[0][-1] < 0.7 * losses[0][0]
