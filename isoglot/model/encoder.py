"""The encoder: embeddings and layers, each shared by all languages or owned by one."""

from collections.abc import Mapping
from itertools import islice
from math import pi, sqrt
from typing import cast

import torch
from torch import Tensor, nn

from isoglot.errors import IsoglotError
from isoglot.model.block import NORM_EPSILON, Block, SelfAttention
from isoglot.model.per_language import SHARED, PerLanguage
from isoglot.study.scales import EncoderShape, NormPlacement
from isoglot.study.separate import Separate

# B = sentences or windows, L = positions, D = width
SHORTEST_WAVE = 4.0  # positions
NEARBY_GAIN = 1.5  # how much larger queries and keys are than XLM's where attention starts nearby
TOKEN_TABLE = "token.weight"  # name within Embeddings


class Embeddings(nn.Module):
    """A token table and a table of learned positions; no segments."""

    def __init__(self, shape: EncoderShape, *, table_size: int, pad_id: int):
        super().__init__()
        # Departure: no language vectors; the paper names none, and XLM can do with or without.
        self.token = nn.Embedding(table_size, shape.width, padding_idx=pad_id)
        self.position = nn.Embedding(shape.positions, shape.width)
        self.norm = nn.LayerNorm(shape.width, eps=NORM_EPSILON)
        self.dropout = nn.Dropout(shape.dropout)
        nn.init.normal_(self.token.weight, std=shape.token_init_std or shape.width**-0.5)
        nn.init.zeros_(self.token.weight[pad_id])
        nn.init.normal_(self.position.weight, std=_position_std(shape))

    def forward(self, token_BL: Tensor) -> Tensor:
        length = token_BL.shape[1]
        self.check_length(length)
        hidden_BLD: Tensor = self.dropout(self.norm(self.token(token_BL) + self.position.weight[:length]))
        return hidden_BLD

    def check_length(self, length: int) -> None:
        if length > self.position.num_embeddings:
            raise IsoglotError(
                f"a sequence of {length} tokens is longer than the model's {self.position.num_embeddings} positions; "
                "raise shape.positions, or split it"
            )


class Encoder(nn.Module):
    """Reads tokens of one language at a time; `separate` counts layers from 1, at this model's own depth."""

    def __init__(self, shape: EncoderShape, *, table_sizes: Mapping[str, int], separate: Separate, pad_id: int):
        super().__init__()
        languages = list(table_sizes)
        self.shape, self.separate, self.pad_id = shape, separate, pad_id
        self.table_sizes = dict(table_sizes)
        self.sizes_by_owner = {SHARED: table_sizes[languages[0]], **table_sizes}

        def make_embeddings(owner: str) -> Embeddings:
            return Embeddings(shape, table_size=self.sizes_by_owner[owner], pad_id=pad_id)

        # Departure: own embeddings include their LayerNorm; the paper names tokens and positions.
        self.embeddings = PerLanguage(make_embeddings, languages, separate=separate.embeddings)
        self.blocks = nn.ModuleList(
            PerLanguage(lambda _: Block(shape), languages, separate=layer in separate.layers)
            for layer in range(1, shape.layers + 1)
        )
        # Pre-norm blocks leave their sum unnormalised; the top, which all languages share, closes with one norm.
        closes = shape.norm is NormPlacement.PRE
        self.top_norm = nn.LayerNorm(shape.width, eps=NORM_EPSILON) if closes else nn.Identity()

    def hidden_states(self, token_BL: Tensor, *, language: str | None = None) -> list[Tensor]:
        """Layer 0 (embeddings) to the last layer. Padding is found by its id, and cannot change any other position."""
        real_BL = token_BL.ne(self.pad_id)
        padded = not bool(real_BL.all())
        return self._states(token_BL, language=language, real_BL=real_BL if padded else None)

    def forward(self, token_BL: Tensor, *, language: str | None = None, padded: bool = False) -> Tensor:
        """The last layer. The caller says whether there is padding: a look at the tokens would wait for the device."""
        return self.state(token_BL, layer=self.shape.layers, language=language, padded=padded)

    def state(self, token_BL: Tensor, *, layer: int, language: str | None = None, padded: bool = False) -> Tensor:
        """One of the hidden states; the layers above it are not computed."""
        real_BL = token_BL.ne(self.pad_id) if padded else None
        return self._states(token_BL, language=language, real_BL=real_BL, last=layer)[-1]

    def freeze_separate(self) -> None:
        """Freeze the parts that languages own: fine-tuning sees one language alone (section 4.3)."""
        for part in self.modules():
            if isinstance(part, PerLanguage) and part.separate:
                part.requires_grad_(False)

    @torch.no_grad()
    def copy_first_own_parts(self) -> None:
        """Let every language's own parts start as copies of the first language's, all but its table of tokens."""
        # All parts were drawn before, copies too, so that nothing else gets other random numbers than without copies.
        # Departure: token tables are never copied, even of one size: a row stands for another word in each of them.
        for part in self.modules():
            if isinstance(part, PerLanguage) and part.separate:
                first, *others = part.owned_by.values()
                for name, weight in first.named_parameters():
                    for other in others if name != TOKEN_TABLE else ():
                        other.get_parameter(name).copy_(weight)

    @torch.no_grad()
    def attend_nearby(self) -> None:
        """Let attention start at words nearby, by position: waves as positions, and keys that equal their queries."""
        # A new model spreads its attention over a whole window, where a neighbour's voice is lost, and little can be
        # learned from it. Here two positions are the more alike the nearer they are, and so are a query and a key.
        for part in self.modules():
            if isinstance(part, Embeddings):
                part.position.weight.copy_(_waves(self.shape))
            if isinstance(part, SelfAttention):
                query_DD, key_DD, _ = part.query_key_value.weight.chunk(3)
                query_DD.mul_(NEARBY_GAIN)
                key_DD.copy_(query_DD)
                # The same for every word, so they would only blur what is near.
                part.query_key_value.bias[: 2 * self.shape.width].zero_()

    def _states(
        self, token_BL: Tensor, *, language: str | None, real_BL: Tensor | None, last: int | None = None
    ) -> list[Tensor]:
        """Hidden states up to layer `last`; padding is set to 0 after each."""
        attend_B11L = None if real_BL is None else real_BL[:, None, None, :]

        def without_padding(hidden_BLD: Tensor) -> Tensor:
            return hidden_BLD if real_BL is None else hidden_BLD * real_BL.unsqueeze(-1)

        states = [without_padding(self.embeddings.of(language)(token_BL))]
        for layer in islice(self.blocks, last):
            block = cast(PerLanguage[Block], layer).of(language)
            states.append(without_padding(block(states[-1], attend_B11L=attend_B11L)))
        if len(states) > self.shape.layers:
            states[-1] = without_padding(self.top_norm(states[-1]))
        return states


def _position_std(shape: EncoderShape) -> float:
    return shape.position_init_std or shape.width**-0.5


def _waves(shape: EncoderShape) -> Tensor:
    """A position table of waves, from one of 4 positions to one as long as the table, in random order and sign."""
    count = (shape.width + 1) // 2
    length_W = SHORTEST_WAVE * (shape.positions / SHORTEST_WAVE) ** torch.linspace(0, 1, count)
    angle_LW = 2 * pi * torch.arange(shape.positions).unsqueeze(1) / length_W
    wave_LD = torch.cat([angle_LW.sin(), angle_LW.cos()], dim=1)[:, : shape.width]
    # Near positions are alike in any order; but tables of two languages should have no more in common than random ones.
    sign_D = 1 - 2 * torch.randint(2, (shape.width,))
    return sqrt(2) * _position_std(shape) * sign_D * wave_LD[:, torch.randperm(shape.width)]
