"""A post-LN model of ours as the XLM of transformers, which has a place for every weight, the softmax included."""

# F = feed-forward width, D = width

from typing import TYPE_CHECKING, Any

from torch import Tensor, nn
from torch.nn.functional import pad

from isoglot.corpora.vocabulary import END, MASK, PAD, UNK
from isoglot.errors import IsoglotError
from isoglot.model.block import NORM_EPSILON, Block
from isoglot.model.interchange.own_model import OwnModel, softmax_bias_N, token_table_ND

if TYPE_CHECKING:
    from transformers import PreTrainedModel

FEED_FORWARD_TO_WIDTH = 4
"""Fixed in transformers' XLM."""


def xlm_model(own: OwnModel) -> "PreTrainedModel":
    """XLMWithLMHeadModel with the weights of one language."""
    from transformers import XLMConfig, XLMWithLMHeadModel

    shape = own.model.encoder.shape
    if shape.feed_forward > FEED_FORWARD_TO_WIDTH * shape.width:
        raise IsoglotError(
            f"the feed-forward layers are {shape.feed_forward} wide, more than {FEED_FORWARD_TO_WIDTH} times the "
            f"model's {shape.width}; transformers' XLM, the only class for post-LN models, has no room for them"
        )
    build: Any = XLMWithLMHeadModel
    xlm = build(
        XLMConfig(
            vocab_size=len(own.names),
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
            layer_norm_eps=NORM_EPSILON,
            pad_token_id=PAD,
            eos_token_id=END,
            unk_index=UNK,
            mask_index=MASK,
            mask_token_id=MASK,
        )
    )
    weights = _embeddings(own)
    for layer, block in enumerate(own.blocks):
        weights |= _layer(block, layer)
    xlm.load_state_dict(weights)
    exported: PreTrainedModel = xlm.eval()
    return exported


def _embeddings(own: OwnModel) -> dict[str, Tensor]:
    embeddings = own.model.encoder.embeddings.of(own.language)
    table_ND = token_table_ND(own)
    return {
        "transformer.embeddings.weight": table_ND,
        "transformer.position_embeddings.weight": embeddings.position.weight,
        "transformer.layer_norm_emb.weight": embeddings.norm.weight,
        "transformer.layer_norm_emb.bias": embeddings.norm.bias,
        "pred_layer.proj.weight": table_ND,
        "pred_layer.proj.bias": softmax_bias_N(own),
    }


def _layer(block: Block, layer: int) -> dict[str, Tensor]:
    inner, outer = block.feed_forward.inner, block.feed_forward.outer
    # A narrower layer is filled up with units that always give 0, and stay so however the model is trained.
    idle = FEED_FORWARD_TO_WIDTH * inner.in_features - inner.out_features
    weights = {
        f"transformer.ffns.{layer}.lin1.weight": pad(inner.weight, (0, 0, 0, idle)),
        f"transformer.ffns.{layer}.lin1.bias": pad(inner.bias, (0, idle)),
        f"transformer.ffns.{layer}.lin2.weight": pad(outer.weight, (0, idle)),
        f"transformer.ffns.{layer}.lin2.bias": outer.bias,
    }
    parts: dict[str, nn.Linear | nn.LayerNorm] = {
        f"attentions.{layer}.out_lin": block.attention.output,
        f"layer_norm1.{layer}": block.attention_norm,
        f"layer_norm2.{layer}": block.feed_forward_norm,
    }
    for name, part in parts.items():
        weights |= {f"transformer.{name}.weight": part.weight, f"transformer.{name}.bias": part.bias}
    joint = block.attention.query_key_value
    for name, weight_DD, bias_D in zip("qkv", joint.weight.chunk(3), joint.bias.chunk(3), strict=True):
        prefix = f"transformer.attentions.{layer}.{name}_lin"
        weights |= {f"{prefix}.weight": weight_DD, f"{prefix}.bias": bias_D}
    return weights
