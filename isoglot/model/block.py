"""One Transformer layer, normalised after each sublayer as in the paper, or before."""

import torch.nn.functional as F
from torch import Tensor, nn

from isoglot.study.scales import EncoderShape, NormPlacement

# B = sentences or windows, L = positions, D = width, H = heads, K = width of one head
NORM_EPSILON = 1e-12


class SelfAttention(nn.Module):
    """One matrix makes queries, keys and values; it is initialised as three would be, since the inputs are as many."""

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
        dropout = self.dropout if self.training else 0.0
        mixed_BHLK = F.scaled_dot_product_attention(
            query_BHLK, key_BHLK, value_BHLK, attn_mask=attend_B11L, dropout_p=dropout
        )
        mixed_BLD = mixed_BHLK.transpose(1, 2).reshape(batch, length, width)
        output_BLD: Tensor = self.output(mixed_BLD)
        return output_BLD


class FeedForward(nn.Module):
    """Two matrices with the exact (erf) GELU between them; XLM has no dropout inside."""

    def __init__(self, shape: EncoderShape):
        super().__init__()
        self.inner = nn.Linear(shape.width, shape.feed_forward)
        self.outer = nn.Linear(shape.feed_forward, shape.width)

    def forward(self, hidden_BLD: Tensor) -> Tensor:
        output_BLD: Tensor = self.outer(F.gelu(self.inner(hidden_BLD)))
        return output_BLD


class Block(nn.Module):
    """Attention and feed-forward, each added to what came in."""

    def __init__(self, shape: EncoderShape):
        super().__init__()
        self.norm_placement = shape.norm
        self.attention = SelfAttention(width=shape.width, heads=shape.heads, dropout=shape.attention_dropout)
        self.attention_norm = nn.LayerNorm(shape.width, eps=NORM_EPSILON)
        self.feed_forward = FeedForward(shape)
        self.feed_forward_norm = nn.LayerNorm(shape.width, eps=NORM_EPSILON)
        self.dropout = nn.Dropout(shape.dropout)

    def forward(self, hidden_BLD: Tensor, *, attend_B11L: Tensor | None) -> Tensor:
        if self.norm_placement is NormPlacement.PRE:
            normed_BLD = self.attention_norm(hidden_BLD)
            hidden_BLD = hidden_BLD + self.dropout(self.attention(normed_BLD, attend_B11L=attend_B11L))
            output_BLD: Tensor = hidden_BLD + self.dropout(self.feed_forward(self.feed_forward_norm(hidden_BLD)))
        else:
            attended_BLD = self.dropout(self.attention(hidden_BLD, attend_B11L=attend_B11L))
            hidden_BLD = self.attention_norm(hidden_BLD + attended_BLD)
            output_BLD = self.feed_forward_norm(hidden_BLD + self.dropout(self.feed_forward(hidden_BLD)))
        return output_BLD
