"""The tied token table and the softmax bias, with rows for the ids that only an exported tokenizer has."""

# V = ids of our table, N = ids of the exported tokenizer, D = width

import torch
from torch import Tensor

from isoglot.corpora.vocabulary import UNK
from isoglot.interchange.own_model import OwnModel

LESS_LIKELY = 30.0
"""So far below the unknown symbol itself that no probability of another token changes in float32."""


def token_table_ND(own: OwnModel) -> Tensor:
    """What is unknown to the model is read as the unknown symbol, whatever its id."""
    table_VD: Tensor = own.model.encoder.embeddings.of(own.language).token.weight.detach()
    return torch.cat([table_VD, table_VD[UNK].expand(own.num_unknown, -1)])


def softmax_bias_N(own: OwnModel) -> Tensor:
    """The tied table gives each copy of the unknown symbol its score; the bias takes it away again."""
    bias_V: Tensor = own.model.output_bias.of(own.language).bias.detach()
    return torch.cat([bias_V, (bias_V[UNK] - LESS_LIKELY).expand(own.num_unknown)])
