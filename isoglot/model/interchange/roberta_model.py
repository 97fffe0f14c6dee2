"""A pre-LN model of ours as the RoBERTa-PreLayerNorm of transformers, the softmax behind a head that does nothing."""

# D = width, N = ids of the exported tokenizer

from math import sqrt
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor, nn

from isoglot.corpora.vocabulary import END, PAD, SPECIALS
from isoglot.model.block import NORM_EPSILON, Block
from isoglot.model.interchange.own_model import OwnModel, softmax_bias_N, token_table_ND

if TYPE_CHECKING:
    from transformers import PreTrainedModel

ENCODER = "roberta_prelayernorm."
POSITIONS_BEFORE = PAD + 1
"""RoBERTa counts positions from the one after the padding's id."""
WHERE_GELU_IS_STRAIGHT = 6.0
"""From here on GELU gives back what it is given, in float32."""


def roberta_model(own: OwnModel) -> "PreTrainedModel":
    """RobertaPreLayerNormForMaskedLM with the weights of one language."""
    from transformers import RobertaPreLayerNormConfig, RobertaPreLayerNormForMaskedLM

    shape = own.model.encoder.shape
    build: Any = RobertaPreLayerNormForMaskedLM
    roberta = build(
        RobertaPreLayerNormConfig(
            vocab_size=len(own.names),
            hidden_size=shape.width,
            num_hidden_layers=shape.layers,
            num_attention_heads=shape.heads,
            intermediate_size=shape.feed_forward,
            hidden_act="gelu",
            hidden_dropout_prob=shape.dropout,
            attention_probs_dropout_prob=shape.attention_dropout,
            max_position_embeddings=shape.positions + POSITIONS_BEFORE,
            type_vocab_size=1,
            layer_norm_eps=NORM_EPSILON,
            pad_token_id=PAD,
            bos_token_id=SPECIALS.index("<s>"),
            eos_token_id=END,
        )
    )
    weights = {ENCODER + name: weight for name, weight in _embeddings(own).items()}
    for layer, block in enumerate(own.blocks):
        weights |= _layer(block, prefix=f"{ENCODER}encoder.layer.{layer}.")
    roberta.load_state_dict(weights | _top(own))
    exported: PreTrainedModel = roberta.eval()
    return exported


def _embeddings(own: OwnModel) -> dict[str, Tensor]:
    embeddings = own.model.encoder.embeddings.of(own.language)
    position_LD = embeddings.position.weight
    return {
        "embeddings.word_embeddings.weight": token_table_ND(own),
        "embeddings.position_embeddings.weight": nn.functional.pad(position_LD, (0, 0, POSITIONS_BEFORE, 0)),
        # We have no segments.
        "embeddings.token_type_embeddings.weight": torch.zeros(1, position_LD.shape[1]),
        "embeddings.LayerNorm.weight": embeddings.norm.weight,
        "embeddings.LayerNorm.bias": embeddings.norm.bias,
    }


def _layer(block: Block, *, prefix: str) -> dict[str, Tensor]:
    parts: dict[str, nn.Linear | nn.LayerNorm] = {
        "attention.output.dense": block.attention.output,
        "attention.LayerNorm": block.attention_norm,
        "intermediate.dense": block.feed_forward.inner,
        "intermediate.LayerNorm": block.feed_forward_norm,
        "output.dense": block.feed_forward.outer,
    }
    weights: dict[str, Tensor] = {}
    for name, part in parts.items():
        weights |= _of_part(prefix + name, part.weight, part.bias)
    joint = block.attention.query_key_value
    for name, weight_DD, bias_D in zip(
        ("query", "key", "value"), joint.weight.chunk(3), joint.bias.chunk(3), strict=True
    ):
        weights |= _of_part(f"{prefix}attention.self.{name}", weight_DD, bias_D)
    return weights


def _top(own: OwnModel) -> dict[str, Tensor]:
    """The norm above the last layer, and a masked-word head that gives back what it gets.

    That head is a dense layer, GELU, a norm, and the softmax. The dense layer undoes gain and shift of the norm below,
    which leaves vectors of mean 0 and variance 1, and adds a number that lifts them to where GELU is straight; the norm
    takes that number away again, and restores gain and shift.
    """
    norm = cast(nn.LayerNorm, own.model.encoder.top_norm)
    gain_D, shift_D = norm.weight.detach(), norm.bias.detach()
    # No vector of variance 1 has a number below minus the root of its width.
    lift = sqrt(len(gain_D)) + WHERE_GELU_IS_STRAIGHT
    bias_N = softmax_bias_N(own)
    return {
        **_of_part(f"{ENCODER}LayerNorm", gain_D, shift_D),
        **_of_part("lm_head.dense", torch.diag(1 / gain_D), lift - shift_D / gain_D),
        **_of_part("lm_head.layer_norm", gain_D, shift_D),
        **_of_part("lm_head.decoder", token_table_ND(own), bias_N),
        "lm_head.bias": bias_N,
    }


def _of_part(name: str, weight: Tensor, bias: Tensor) -> dict[str, Tensor]:
    return {f"{name}.weight": weight, f"{name}.bias": bias}
