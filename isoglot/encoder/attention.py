"""Multi-head self-attention over whole windows."""

# B = sentences or windows, L = positions, D = width, H = heads, K = width of one head

import torch.nn.functional as F
from torch import Tensor, nn


class SelfAttention(nn.Module):
    """Queries, keys and values come from one matrix, initialised as three would be, since the inputs are as many."""

    def __init__(self, *, width: int, heads: int, dropout: float):
        super().__init__()
        self.heads = heads
        self.dropout = dropout
        self.query_key_value = nn.Linear(width, 3 * width)
        self.output = nn.Linear(width, width)

    def forward(self, hidden_BLD: Tensor, *, attend_B11L: Tensor | None) -> Tensor:
        batch, length, width = hidden_BLD.shape
        joint_BL3HK = self.query_key_value(hidden_BLD).view(batch, length, 3, self.heads, width // self.heads)
        query_BHLK, key_BHLK, value_BHLK = joint_BL3HK.permute(2, 0, 3, 1, 4).unbind(0)
        mixed_BHLK = F.scaled_dot_product_attention(
            query_BHLK,
            key_BHLK,
            value_BHLK,
            attn_mask=attend_B11L,
            dropout_p=self.dropout if self.training else 0.0,
        )
        mixed_BLD = mixed_BHLK.transpose(1, 2).reshape(batch, length, width)
        output_BLD: Tensor = self.output(mixed_BLD)
        return output_BLD
