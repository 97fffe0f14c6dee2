"""The encoder against the XLM of transformers, which others wrote, with the same weights."""

import os

import pytest
import torch
from torch import Tensor

from isoglot.model.block import Block
from isoglot.model.cloze import ClozeModel
from tests.model.tiny_models import padded_tokens, random_tokens, tiny_model, tiny_shape

os.environ["HF_HUB_OFFLINE"] = "1"
from transformers import XLMConfig, XLMWithLMHeadModel

TOKENS = {
    "full": random_tokens(3, 20),
    "padded": padded_tokens([20, 1, 7, 13]),
    "short": random_tokens(2, 5),
    "one token": random_tokens(1, 1),
}


def xlm_with_weights_of(model: ClozeModel) -> XLMWithLMHeadModel:
    shape = model.encoder.shape
    xlm = XLMWithLMHeadModel(
        XLMConfig(
            vocab_size=model.encoder.table_sizes["en"],
            emb_dim=shape.width,
            n_layers=shape.layers,
            n_heads=shape.heads,
            max_position_embeddings=shape.positions,
            dropout=shape.dropout,
            attention_dropout=shape.attention_dropout,
            gelu_activation=True,
            sinusoidal_embeddings=False,
            n_langs=1,
            use_lang_emb=False,
            layer_norm_eps=1e-12,
            pad_token_id=model.encoder.pad_id,
        )
    )
    weights = xlm_embeddings(model)
    for layer in range(shape.layers):
        weights |= xlm_layer(model.encoder.blocks[layer].of(None), layer)
    xlm.load_state_dict(weights)
    return xlm.eval()


def xlm_embeddings(model: ClozeModel) -> dict[str, Tensor]:
    embeddings = model.encoder.embeddings.of(None)
    return {
        "transformer.embeddings.weight": embeddings.token.weight,
        "transformer.position_embeddings.weight": embeddings.position.weight,
        "transformer.layer_norm_emb.weight": embeddings.norm.weight,
        "transformer.layer_norm_emb.bias": embeddings.norm.bias,
        "pred_layer.proj.weight": embeddings.token.weight,
        "pred_layer.proj.bias": model.output_bias.of(None).bias,
    }


def xlm_layer(block: Block, layer: int) -> dict[str, Tensor]:
    parts = {
        f"attentions.{layer}.out_lin": block.attention.output,
        f"layer_norm1.{layer}": block.attention_norm,
        f"ffns.{layer}.lin1": block.feed_forward.inner,
        f"ffns.{layer}.lin2": block.feed_forward.outer,
        f"layer_norm2.{layer}": block.feed_forward_norm,
    }
    weights = {}
    for name, part in parts.items():
        weights |= {f"transformer.{name}.weight": part.weight, f"transformer.{name}.bias": part.bias}
    joint = block.attention.query_key_value
    for name, weight, bias in zip("qkv", joint.weight.chunk(3), joint.bias.chunk(3), strict=True):
        prefix = f"transformer.attentions.{layer}.{name}_lin"
        weights |= {f"{prefix}.weight": weight, f"{prefix}.bias": bias}
    return weights


@pytest.mark.parametrize("token_BL", TOKENS.values(), ids=TOKENS)
@torch.no_grad()
def test_hidden_states_and_logits_are_those_of_xlm(token_BL: Tensor) -> None:
    model = tiny_model()
    theirs = xlm_with_weights_of(model)(token_BL, output_hidden_states=True)
    states = model.encoder.hidden_states(token_BL)
    assert len(states) == len(theirs.hidden_states) == 4
    for ours_BLD, theirs_BLD in zip(states, theirs.hidden_states, strict=True):
        torch.testing.assert_close(ours_BLD, theirs_BLD, rtol=0, atol=1e-5)
    torch.testing.assert_close(model.logits(states[-1]), theirs.logits, rtol=0, atol=1e-5)


@torch.no_grad()
def test_logits_at_masked_positions_are_those_of_xlm() -> None:
    token_BL, masked_M = random_tokens(3, 20), torch.tensor([1, 19, 20, 44, 59])
    model = tiny_model()
    theirs_BLV = xlm_with_weights_of(model)(token_BL).logits
    ours_MV = model.masked_logits(token_BL, masked_M=masked_M)
    torch.testing.assert_close(ours_MV, theirs_BLV.flatten(0, 1)[masked_M], rtol=0, atol=1e-5)


def test_dropout_falls_where_it_does_in_xlm() -> None:
    """Both draw from one generator, so numbers agree only if the same things are dropped in the same order."""
    token_BL = random_tokens(3, 20)
    model = tiny_model(tiny_shape(dropout=0.3)).train()
    xlm = xlm_with_weights_of(model).train()
    torch.manual_seed(1)
    theirs = xlm(token_BL, output_hidden_states=True).hidden_states
    torch.manual_seed(1)
    ours = model.encoder.hidden_states(token_BL)
    for ours_BLD, theirs_BLD in zip(ours, theirs, strict=True):
        torch.testing.assert_close(ours_BLD, theirs_BLD, rtol=0, atol=1e-5)
    assert not torch.allclose(ours[-1], model.eval().encoder(token_BL), atol=0.1)


def test_gradients_are_those_of_xlm() -> None:
    """The token table learns from both its ends."""
    token_BL, target_BL = random_tokens(2, 9), random_tokens(2, 9, seed=1)
    model = tiny_model()
    xlm = xlm_with_weights_of(model)
    logits_BLV = model.logits(model.encoder(token_BL))
    torch.nn.functional.cross_entropy(logits_BLV.flatten(0, 1), target_BL.flatten()).backward()
    xlm(token_BL, labels=target_BL).loss.backward()
    theirs = dict(xlm.named_parameters())
    for name, parameter in xlm_embeddings(model).items():
        if name in theirs:
            torch.testing.assert_close(parameter.grad, theirs[name].grad, rtol=0, atol=1e-5)
