"""Pre-LN blocks against torch's own Transformer layer, with the same weights."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from isoglot.corpora.vocabulary import PAD
from isoglot.model.block import Block
from isoglot.study.scales import EncoderShape, NormPlacement
from tests.model.tiny_models import padded_tokens, random_tokens, tiny_model, tiny_shape

PRE = tiny_shape(NormPlacement.PRE)


def torch_layer_with_weights_of(block: Block, shape: EncoderShape) -> nn.TransformerEncoderLayer:
    layer = nn.TransformerEncoderLayer(
        shape.width,
        shape.heads,
        shape.feed_forward,
        dropout=shape.dropout,
        activation="gelu",
        layer_norm_eps=1e-12,
        batch_first=True,
        norm_first=True,
    )
    layer.self_attn.in_proj_weight = block.attention.query_key_value.weight
    layer.self_attn.in_proj_bias = block.attention.query_key_value.bias
    layer.self_attn.out_proj = block.attention.output
    layer.norm1, layer.norm2 = block.attention_norm, block.feed_forward_norm
    layer.linear1, layer.linear2 = block.feed_forward.inner, block.feed_forward.outer
    # In training mode, as torch has a fused kernel for evaluation; dropout is zero.
    return layer.train()


@pytest.mark.parametrize("token_BL", [random_tokens(3, 20), padded_tokens([20, 1, 7])], ids=["full", "padded"])
@torch.no_grad()
def test_pre_norm_layers_are_those_of_torch(token_BL: Tensor) -> None:
    encoder = tiny_model(PRE).encoder
    pad_BL = token_BL.eq(PAD)
    states = encoder.hidden_states(token_BL)
    hidden_BLD = states[0]
    expected = []
    for block in encoder.blocks:
        layer = torch_layer_with_weights_of(block.of(None), PRE)
        hidden_BLD = layer(hidden_BLD, src_key_padding_mask=pad_BL)
        expected.append(hidden_BLD)
    top = nn.LayerNorm(PRE.width, eps=1e-12)
    top.load_state_dict(encoder.top_norm.state_dict())
    expected[-1] = top(expected[-1])
    assert len(states) == 1 + len(expected)
    for ours_BLD, theirs_BLD in zip(states[1:], expected, strict=True):
        torch.testing.assert_close(ours_BLD[~pad_BL], theirs_BLD[~pad_BL], rtol=0, atol=1e-5)
        assert ours_BLD[pad_BL].eq(0).all()


def test_pre_norm_dropout_falls_where_it_does_post_norm() -> None:
    """On attention weights and on what each sublayer adds, and not within the feed-forward part."""
    shape = tiny_shape(NormPlacement.PRE, dropout=0.3)
    block = tiny_model(shape).encoder.blocks[0].of(None).train()
    hidden_BLD = torch.randn(2, 9, shape.width, generator=torch.Generator().manual_seed(0))
    torch.manual_seed(1)
    expected_BLD = pre_norm_step_by_step(block, hidden_BLD, heads=shape.heads, dropout=0.3)
    torch.manual_seed(1)
    torch.testing.assert_close(block(hidden_BLD, attend_B11L=None), expected_BLD, rtol=0, atol=1e-5)


def pre_norm_step_by_step(block: Block, hidden_BLD: Tensor, *, heads: int, dropout: float) -> Tensor:
    joint = block.attention.query_key_value(block.attention_norm(hidden_BLD)).chunk(3, dim=2)
    query_BHLK, key_BHLK, value_BHLK = (part.unflatten(2, (heads, -1)).transpose(1, 2) for part in joint)
    scores_BHLL = query_BHLK @ key_BHLK.mT / query_BHLK.shape[3] ** 0.5
    mixed_BHLK = F.dropout(scores_BHLL.softmax(3), dropout) @ value_BHLK
    added_BLD = block.attention.output(mixed_BHLK.transpose(1, 2).flatten(2))
    hidden_BLD = hidden_BLD + F.dropout(added_BLD, dropout)
    inner = F.gelu(block.feed_forward.inner(block.feed_forward_norm(hidden_BLD)))
    return hidden_BLD + F.dropout(block.feed_forward.outer(inner), dropout)
