"""New Transformer layers on a frozen layer of an encoder: what a task learns in section 5.1.2."""

# B = sequences, L = positions, N = tokens of all sequences, D = width

from collections.abc import Callable

import torch
from torch import Tensor, nn

from isoglot.errors import IsoglotError
from isoglot.model.block import NORM_EPSILON, Block
from isoglot.model.encoder import Encoder
from isoglot.randomness import derived_seed
from isoglot.study.scales import EncoderShape, NormPlacement

Mapped = Callable[[Tensor], Tensor]
"""Vectors [N, D] of one model as vectors of another."""


class NewLayers(nn.Module):
    """Read and fine-tuned as an encoder is; layers 0 to `layer` of the one below never learn.

    Where `mapped` is given, every token's state passes through it on its way up, those of special symbols as well.
    """

    def __init__(self, encoder: Encoder, *, layer: int, count: int, mapped: Mapped | None = None):
        super().__init__()
        shape = encoder.shape
        if not 0 <= layer <= shape.layers:
            raise IsoglotError(f"a model with layers 0 to {shape.layers} has no layer {layer}; name one of these")
        self.below, self.layer, self.mapped = encoder, layer, mapped
        # Departure: these are layers like the encoder's own; the paper says only that they are four.
        self.blocks = nn.ModuleList(Block(shape) for _ in range(count))
        closes = count > 0 and shape.norm is NormPlacement.PRE
        self.top_norm = nn.LayerNorm(shape.width, eps=NORM_EPSILON) if closes else nn.Identity()

    @property
    def shape(self) -> EncoderShape:
        return self.below.shape

    @property
    def pad_id(self) -> int:
        return self.below.pad_id

    def freeze_separate(self) -> None:
        """What languages own is below, and all that is below stays as it is."""
        self.below.requires_grad_(False)

    def train(self, mode: bool = True) -> "NewLayers":
        super().train(mode)
        # Departure: nothing drops in frozen layers, so that what is learned on is what is met in tests, and what maps
        # are fitted on.
        self.below.eval()
        return self

    def forward(self, token_BL: Tensor, *, language: str | None = None, padded: bool = False) -> Tensor:
        """The last layer, as of an encoder: 0 at padding, of which it must be told."""
        real_BL = token_BL.ne(self.pad_id) if padded else torch.ones_like(token_BL, dtype=torch.bool)
        hidden_BLD = self._state_below(token_BL, language=language, padded=padded, real_BL=real_BL)
        for block in self.blocks:
            hidden_BLD = block(hidden_BLD, attend_B11L=real_BL[:, None, None, :])
        output_BLD: Tensor = self.top_norm(hidden_BLD) * real_BL.unsqueeze(-1)
        return output_BLD

    @torch.no_grad()
    def _state_below(self, token_BL: Tensor, *, language: str | None, padded: bool, real_BL: Tensor) -> Tensor:
        state_BLD = self.below.state(token_BL, layer=self.layer, language=language, padded=padded)
        if self.mapped is None:
            return state_BLD
        mapped_BLD = torch.zeros_like(state_BLD)
        # In full precision, as maps are fitted.
        with torch.autocast(state_BLD.device.type, enabled=False):
            mapped_BLD[real_BL] = self.mapped(state_BLD[real_BL].float()).to(state_BLD.dtype)
        return mapped_BLD


def drawn_layers(encoder: Encoder, *, layer: int, count: int, seed: int) -> NewLayers:
    """New layers as they are before they learn."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derived_seed(seed, "new layers"))
        return NewLayers(encoder, layer=layer, count=count)
