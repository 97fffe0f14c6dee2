"""Our models as classes of transformers: a post-LN model as XLM, a pre-LN model as RoBERTa-PreLayerNorm."""

# F = feed-forward width, D = width, N = ids of the exported tokenizer

from math import sqrt
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from isoglot.corpora.vocabulary import END, MASK, PAD, SPECIALS, UNK
from isoglot.errors import IsoglotError
from isoglot.model.block import NORM_EPSILON, Block
from isoglot.model.interchange.own_model import OwnModel, softmax_bias_N, token_table_ND

if TYPE_CHECKING:
    from transformers import PreTrainedModel

FEED_FORWARD_TO_WIDTH = 4  # a fixed ratio in transformers' XLM
ENCODER = "roberta_prelayernorm."
POSITIONS_BEFORE = PAD + 1  # RoBERTa counts positions from the one after the padding's id
WHERE_GELU_IS_STRAIGHT = 6.0  # from here on GELU returns its input, in float32


def xlm_model(own: OwnModel) -> "PreTrainedModel":
    """XLMWithLMHeadModel with the weights of one language; it has a place for every weight, the softmax included."""
    from transformers import XLMConfig, XLMWithLMHeadModel

    shape = own.model.encoder.shape
    if shape.feed_forward > FEED_FORWARD_TO_WIDTH * shape.width:
        raise IsoglotError(
            f"the feed-forward layers are {shape.feed_forward} wide, more than {FEED_FORWARD_TO_WIDTH} times the "
            f"model's {shape.width}; transformers' XLM, the only class for post-LN models, has no room for them"
        )
    config = XLMConfig(
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
    embeddings, table_ND = own.model.encoder.embeddings.of(own.language), token_table_ND(own)
    weights = {
        "transformer.embeddings.weight": table_ND,
        "transformer.position_embeddings.weight": embeddings.position.weight,
        **_weights_of("transformer.layer_norm_emb", embeddings.norm),
        **_affine("pred_layer.proj", table_ND, softmax_bias_N(own)),
    }
    for layer, block in enumerate(own.blocks):
        weights |= _xlm_layer(block, layer)
    return _loaded(XLMWithLMHeadModel, config, weights)


def _xlm_layer(block: Block, layer: int) -> dict[str, Tensor]:
    inner, outer = block.feed_forward.inner, block.feed_forward.outer
    # A narrower layer is filled up with units that always give 0, and stay so however the model is trained.
    idle = FEED_FORWARD_TO_WIDTH * inner.in_features - inner.out_features
    prefix = "transformer."
    return {
        **_affine(f"{prefix}ffns.{layer}.lin1", pad(inner.weight, (0, 0, 0, idle)), pad(inner.bias, (0, idle))),
        **_affine(f"{prefix}ffns.{layer}.lin2", pad(outer.weight, (0, idle)), outer.bias),
        **_weights_of(f"{prefix}attentions.{layer}.out_lin", block.attention.output),
        **_weights_of(f"{prefix}layer_norm1.{layer}", block.attention_norm),
        **_weights_of(f"{prefix}layer_norm2.{layer}", block.feed_forward_norm),
        **_attention_inputs(block, [f"{prefix}attentions.{layer}.{name}_lin" for name in "qkv"]),
    }


def roberta_model(own: OwnModel) -> "PreTrainedModel":
    """RobertaPreLayerNormForMaskedLM with the weights of one language, its masked-word head made to do nothing."""
    from transformers import RobertaPreLayerNormConfig, RobertaPreLayerNormForMaskedLM

    shape = own.model.encoder.shape
    config = RobertaPreLayerNormConfig(
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
    embeddings = own.model.encoder.embeddings.of(own.language)
    position_LD = embeddings.position.weight
    weights = {
        f"{ENCODER}embeddings.word_embeddings.weight": token_table_ND(own),
        f"{ENCODER}embeddings.position_embeddings.weight": pad(position_LD, (0, 0, POSITIONS_BEFORE, 0)),
        # We have no segments.
        f"{ENCODER}embeddings.token_type_embeddings.weight": torch.zeros(1, position_LD.shape[1]),
        **_weights_of(f"{ENCODER}embeddings.LayerNorm", embeddings.norm),
    }
    for layer, block in enumerate(own.blocks):
        prefix = f"{ENCODER}encoder.layer.{layer}."
        weights |= {
            **_weights_of(f"{prefix}attention.output.dense", block.attention.output),
            **_weights_of(f"{prefix}attention.LayerNorm", block.attention_norm),
            **_weights_of(f"{prefix}intermediate.dense", block.feed_forward.inner),
            **_weights_of(f"{prefix}intermediate.LayerNorm", block.feed_forward_norm),
            **_weights_of(f"{prefix}output.dense", block.feed_forward.outer),
            **_attention_inputs(block, [f"{prefix}attention.self.{name}" for name in ("query", "key", "value")]),
        }
    return _loaded(RobertaPreLayerNormForMaskedLM, config, weights | _roberta_top(own))


def _roberta_top(own: OwnModel) -> dict[str, Tensor]:
    """The norm above the last layer, and a masked-word head that returns its input."""
    # The head is a dense layer, GELU, a norm, and the softmax. The dense layer undoes gain and shift of the norm below,
    # which leaves vectors of mean 0 and variance 1, and adds a number that lifts them to where GELU is straight. The
    # norm takes that number away again, and restores gain and shift.
    norm = cast(nn.LayerNorm, own.model.encoder.top_norm)
    gain_D, shift_D = norm.weight.detach(), norm.bias.detach()
    # No vector of variance 1 has a number below minus the root of its width.
    lift = sqrt(len(gain_D)) + WHERE_GELU_IS_STRAIGHT
    bias_N = softmax_bias_N(own)
    return {
        **_affine(f"{ENCODER}LayerNorm", gain_D, shift_D),
        **_affine("lm_head.dense", torch.diag(1 / gain_D), lift - shift_D / gain_D),
        **_affine("lm_head.layer_norm", gain_D, shift_D),
        **_affine("lm_head.decoder", token_table_ND(own), bias_N),
        "lm_head.bias": bias_N,
    }


def _loaded(build: Any, config: object, weights: dict[str, Tensor]) -> "PreTrainedModel":
    model: PreTrainedModel = build(config).eval()
    model.load_state_dict(weights)
    return model


def _attention_inputs(block: Block, names: list[str]) -> dict[str, Tensor]:
    """Queries, keys and values, which are one matrix of ours."""
    joint, weights = block.attention.query_key_value, dict[str, Tensor]()
    for name, weight_DD, bias_D in zip(names, joint.weight.chunk(3), joint.bias.chunk(3), strict=True):
        weights |= _affine(name, weight_DD, bias_D)
    return weights


def _weights_of(name: str, part: nn.Linear | nn.LayerNorm) -> dict[str, Tensor]:
    return _affine(name, part.weight, part.bias)


def _affine(name: str, weight: Tensor, bias: Tensor) -> dict[str, Tensor]:
    return {f"{name}.weight": weight, f"{name}.bias": bias}
