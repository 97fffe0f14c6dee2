"""The sharing map: who owns which weights, and who uses and trains them."""

import pytest
import torch

from isoglot.corpora.vocabulary import PAD
from isoglot.model.cloze import ClozeModel
from isoglot.study.scales import NormPlacement
from isoglot.study.separate import Separate
from tests.model.tiny_models import EVERYTHING, random_tokens, tiny_model, tiny_shape

MASKED_M = torch.tensor([1, 3, 8])
SEPARATIONS = [
    Separate(),
    Separate(embeddings=True),
    Separate(layers=frozenset({2, 3})),
    Separate(output_bias=True),
    Separate(layers=frozenset({1}), output_bias=True),
    Separate(embeddings=True, layers=frozenset({1, 2})),
    EVERYTHING,
]


def expected_owners(separate: Separate) -> dict[str, set[str]]:
    owners = {f"encoder.blocks.{layer - 1}": layer in separate.layers for layer in (1, 2, 3)}
    owners |= {"encoder.embeddings": separate.embeddings, "output_bias": separate.embeddings or separate.output_bias}
    return {part: {"en", "fr"} if separated else {"shared"} for part, separated in owners.items()}


def logits(model: ClozeModel, language: str) -> torch.Tensor:
    return model.masked_logits(random_tokens(2, 6), masked_M=MASKED_M, language=language)


@torch.no_grad()
def test_biases_of_one_softmax_start_as_the_one_that_would_be_shared() -> None:
    def drawn(separate: Separate) -> tuple[ClozeModel, torch.Tensor]:
        """A new model, and what is drawn next."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            model = ClozeModel(tiny_shape(), table_sizes={"en": 50, "fr": 50}, separate=separate, pad_id=PAD)
            return model.eval(), torch.rand(4)

    layers = frozenset({2})
    (alone, next_alone), (both, next_of_both) = (
        drawn(Separate(layers=layers, output_bias=own)) for own in (False, True)
    )
    assert next_of_both.equal(next_alone), "no other number shifts"
    for language in ("en", "fr"):
        assert logits(both, language).equal(logits(alone, language))
    both.output_bias.of("en").bias.zero_()
    assert logits(both, "fr").equal(logits(alone, "fr")), "they are not one number"


@pytest.mark.parametrize("separate", SEPARATIONS, ids=str)
def test_keys_of_a_checkpoint_tell_what_is_separate(separate: Separate) -> None:
    model = tiny_model(tiny_shape(NormPlacement.PRE), separate=separate)
    owners: dict[str, set[str]] = {}
    for key in model.state_dict():
        if not key.startswith("encoder.top_norm."):
            part, _, rest = key.partition(".owned_by.")
            owners.setdefault(part, set()).add(rest.split(".")[0])
    assert owners == expected_owners(separate)


@pytest.mark.parametrize("separate", SEPARATIONS, ids=str)
def test_one_languages_gradient_does_not_touch_the_others_parts(separate: Separate) -> None:
    model = tiny_model(separate=separate)
    logits(model, "en").logsumexp(1).sum().backward()
    for name, parameter in model.named_parameters():
        if ".owned_by.fr." in name:
            assert parameter.grad is None, name
        else:
            assert parameter.grad is not None, name
            assert parameter.grad.ne(0).any(), name


@pytest.mark.parametrize("separate", SEPARATIONS[1:], ids=str)
@torch.no_grad()
def test_each_separate_part_is_used_for_its_own_language_alone(separate: Separate) -> None:
    model = tiny_model(separate=separate)
    french, english = logits(model, "fr"), logits(model, "en")
    for name, parameter in model.named_parameters():
        if ".owned_by.fr." in name:
            before = parameter.clone()
            parameter *= 1.5
            assert not torch.allclose(logits(model, "fr"), french, atol=1e-3), name
            assert logits(model, "en").equal(english), name
            parameter.copy_(before)


@pytest.mark.parametrize("name", ["to", "keys", "forward", "half", "type", "parameters", "owned-by"])
def test_a_language_may_be_called_like_something_of_torch(name: str) -> None:
    model = tiny_model(separate=EVERYTHING, table_sizes={"en": 50, name: 50})
    assert f"encoder.blocks.0.owned_by.{name}.attention.output.weight" in model.state_dict()
    own = set(model.encoder.blocks[0].of(name).parameters())
    assert own < set(model.parameters())
    model.load_state_dict(model.state_dict())
    model.to(torch.float64).train().requires_grad_(True)
    logits(model, name).sum().backward()
    assert all(parameter.grad is not None and parameter.dtype == torch.float64 for parameter in own)
