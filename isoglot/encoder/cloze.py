"""Masked-word prediction: the softmax tied to the token table, with a bias and no further layers."""

# B = windows, L = positions, D = width, M = masked positions, V = tokens of a table

from collections.abc import Mapping

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from isoglot.encoder.encoder import Encoder
from isoglot.encoder.per_language import SHARED, PerLanguage
from isoglot.study.conditions import Separate
from isoglot.study.scales import EncoderShape


class OutputBias(nn.Module):
    """The part of the softmax that is not the token table."""

    def __init__(self, *, table_size: int, width: int):
        super().__init__()
        # XLM's output layer is an nn.Linear, and this is the initial bias of one.
        self.bias = nn.Parameter(torch.empty(table_size).uniform_(-(width**-0.5), width**-0.5))


class ClozeModel(nn.Module):
    """An encoder with its softmax: shared, or one for each language where embeddings are separate (section 4.3)."""

    def __init__(self, shape: EncoderShape, *, table_sizes: Mapping[str, int], separate: Separate, pad_id: int):
        super().__init__()
        languages = list(table_sizes)
        self.encoder = Encoder(shape, table_sizes=table_sizes, separate=separate, pad_id=pad_id)
        # Departure: own embeddings bring an own bias; the paper says only that the softmax is language-specific.
        self.output_bias = PerLanguage(
            lambda owner: OutputBias(
                table_size=table_sizes[languages[0] if owner == SHARED else owner], width=shape.width
            ),
            languages,
            separate=separate.embeddings,
        )

    def logits(self, hidden_MD: Tensor, *, language: str | None = None) -> Tensor:
        """Scores of every token of the language's table."""
        table_VD = self.encoder.embeddings.of(language).token.weight
        return F.linear(hidden_MD, table_VD, self.output_bias.of(language).bias)

    def masked_logits(self, token_BL: Tensor, *, masked_M: Tensor, language: str | None = None) -> Tensor:
        """Scores at the masked positions alone, flat indices into B x L: a softmax is most of a small model's work."""
        hidden_BLD = self.encoder(token_BL, language=language)
        return self.logits(hidden_BLD.flatten(0, 1).index_select(0, masked_M), language=language)
