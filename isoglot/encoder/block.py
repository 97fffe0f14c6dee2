"""One Transformer layer, normalised after each sublayer as in the paper, or before."""

# B = sentences or windows, L = positions, D = width

import torch.nn.functional as F
from torch import Tensor, nn

from isoglot.encoder.attention import SelfAttention
from isoglot.study.scales import EncoderShape, NormPlacement

NORM_EPSILON = 1e-12


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
