"""Layer 0: token and position vectors, normalised."""

# B = sentences or windows, L = positions, D = width

from torch import Tensor, nn

from isoglot.encoder.block import NORM_EPSILON
from isoglot.errors import IsoglotError
from isoglot.study.scales import EncoderShape


class Embeddings(nn.Module):
    """A token table and a table of learned positions; no segments."""

    def __init__(self, shape: EncoderShape, *, table_size: int, pad_id: int):
        super().__init__()
        # Departure: no language vectors; the paper names none, and XLM can do with or without.
        xlm_std = shape.width**-0.5
        self.token = nn.Embedding(table_size, shape.width, padding_idx=pad_id)
        self.position = nn.Embedding(shape.positions, shape.width)
        self.norm = nn.LayerNorm(shape.width, eps=NORM_EPSILON)
        self.dropout = nn.Dropout(shape.dropout)
        nn.init.normal_(self.token.weight, std=shape.token_init_std or xlm_std)
        nn.init.zeros_(self.token.weight[pad_id])
        nn.init.normal_(self.position.weight, std=shape.position_init_std or xlm_std)

    def forward(self, token_BL: Tensor) -> Tensor:
        length = token_BL.shape[1]
        self.check_length(length)
        hidden_BLD: Tensor = self.dropout(self.norm(self.token(token_BL) + self.position.weight[:length]))
        return hidden_BLD

    def check_length(self, length: int) -> None:
        """Refuse sequences of more tokens than there are positions."""
        if length > self.position.num_embeddings:
            raise IsoglotError(
                f"a sequence of {length} tokens is longer than the model's {self.position.num_embeddings} positions; "
                "raise shape.positions, or split it"
            )
