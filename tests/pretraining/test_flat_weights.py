"""Weights that lie side by side are still the model's, and each language's its own."""

import pytest
import torch
from torch import Tensor, nn

from isoglot.model.cloze import ClozeModel
from isoglot.pretraining.flat_weights import MATRICES, VECTORS, FlatWeights
from isoglot.pretraining.footprint import ALIGNMENT
from isoglot.study.scales import NormPlacement
from isoglot.study.separate import Separate
from tests.model.tiny_models import random_tokens, tiny_model, tiny_shape


def gradient_of(weight: nn.Parameter) -> Tensor:
    assert weight.grad is not None
    return weight.grad


def learn_by_autograd(model: ClozeModel, language: str) -> dict[str, bool]:
    """By weight, whether it gets a gradient when the language is read."""
    copy = tiny_model(model.encoder.shape, separate=model.encoder.separate, table_sizes=model.encoder.table_sizes)
    token_BL = random_tokens(2, 6) % 40
    copy.masked_logits(token_BL, masked_M=torch.tensor([1, 4]), language=language).square().sum().backward()
    return {name: weight.grad is not None for name, weight in copy.named_parameters()}


def test_every_weight_is_a_view_that_begins_at_a_round_place_and_meets_no_other() -> None:
    model = tiny_model(tiny_shape(NormPlacement.PRE), separate=Separate(layers=frozenset({2})))
    weights = FlatWeights(model)
    taken: dict[int, list[range]] = {}
    flat = {each.untyped_storage().data_ptr(): name for name, each in weights.named_parameters()}
    for name, weight in model.named_parameters():
        start = weight.storage_offset()
        assert start % ALIGNMENT == 0, name
        assert flat[weight.untyped_storage().data_ptr()].endswith(MATRICES if weight.ndim > 1 else VECTORS), name
        assert gradient_of(weight).shape == weight.shape
        assert gradient_of(weight).storage_offset() == start
        taken.setdefault(weight.untyped_storage().data_ptr(), []).append(range(start, start + weight.numel()))
    assert taken.keys() == flat.keys()
    for ranges in taken.values():
        places = [place for each in ranges for place in each]
        assert len(places) == len(set(places))


def test_a_change_of_the_flat_weights_is_one_of_the_model_and_of_nothing_between() -> None:
    model = tiny_model()
    weights = FlatWeights(model)
    before = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    with torch.no_grad():
        for flat in weights.parameters():
            flat += 1
    assert all(weight.equal(before[name] + 1) for name, weight in model.named_parameters())
    for gradient in weights.gradients_of(["en", "fr"]):
        gradient.fill_(3)
    assert all(gradient_of(weight).eq(3).all() for weight in model.parameters())
    # What lies between weights has no gradient of its own, or it would count in the norm that clips.
    weights.show_gradients(["en"])
    for gradient in weights.gradients_of(["en", "fr"]):
        gradient.zero_()
    for weight in model.parameters():
        gradient_of(weight).fill_(1)
    total = sum(int(gradient.sum()) for gradient in weights.gradients_of(["en", "fr"]))
    assert total == sum(weight.numel() for weight in model.parameters())


@pytest.mark.parametrize(
    "separate",
    [
        *(Separate(), Separate(output_bias=True), Separate(layers=frozenset({1}))),
        Separate(embeddings=True, layers=frozenset({2})),
    ],
)
@pytest.mark.parametrize("languages", [{"fr"}, {"en", "fr"}])
def test_what_is_shown_is_what_gets_a_gradient_when_the_languages_are_read(
    languages: set[str], separate: Separate
) -> None:
    model = tiny_model(tiny_shape(NormPlacement.PRE), separate=separate)
    by_autograd = [learn_by_autograd(model, language) for language in sorted(languages)]
    weights = FlatWeights(model)
    for gradient in weights.gradients_of(languages):
        gradient.fill_(1)
    for name, weight in model.named_parameters():
        is_read = any(found[name] for found in by_autograd)
        assert gradient_of(weight).eq(1 if is_read else 0).all(), name
    shown = weights.show_gradients(languages)
    assert [id(each) for each in shown] == [id(each) for each in weights.gradients_of(languages)]
    by_parameter = {id(flat.grad) for flat in weights.parameters() if flat.grad is not None}
    assert by_parameter == {id(each) for each in shown}


def test_twins_follow_the_weights_that_were_read_when_they_are_told_to() -> None:
    model = tiny_model(separate=Separate(embeddings=True))
    weights = FlatWeights(model, compute_dtype=torch.bfloat16)
    shared = model.encoder.blocks[0].of("en").attention.output
    tables = {language: model.encoder.embeddings.of(language).token.weight for language in ("en", "fr")}
    twins = {language: weights.weight(table).value for language, table in tables.items()}
    matrix = weights.linear(shared).weight
    for weight, twin in [(shared.weight, matrix.value), *((tables[each], twins[each]) for each in tables)]:
        assert twin.dtype == torch.bfloat16
        assert twin.equal(weight.to(torch.bfloat16))
    assert matrix.gradient.dtype == torch.float32
    with torch.no_grad():
        for flat in weights.parameters():
            flat += 1
    old = tables["fr"].detach() - 1
    weights.refresh_twins(["en"])
    assert matrix.value.equal(shared.weight.to(torch.bfloat16))
    assert twins["en"].equal(tables["en"].to(torch.bfloat16))
    torch.testing.assert_close(twins["fr"].float(), old, rtol=2**-7, atol=2**-7)
    weights.refresh_twins(["fr"])
    assert twins["fr"].equal(tables["fr"].to(torch.bfloat16))
