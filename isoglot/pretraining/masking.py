"""Which tokens are hidden, and what the model sees in their place (section 3.1)."""

# B = windows, L = positions, M = masked positions

from dataclasses import dataclass
from math import ceil, sqrt

import torch
from torch import Tensor

from isoglot.corpora.vocabulary import MASK

MASKED_SHARE = 0.8
KEPT_SHARE = 0.1  # the rest becomes a random word
LARGE_NUMBER = 1 << 62
DEVIATIONS = 5
ROUND_ROOM = 64  # matrix products are fastest with round numbers of rows


@dataclass(frozen=True, kw_only=True)
class Mask:
    """The random draw for an update's batch, made before any of its words are known."""

    # It is drawn for the whole batch, so any process that reads some of its rows hides the same words of them.

    chosen_BL: Tensor
    fate_BL: Tensor  # a number from 0 to 1 that decides between masked, kept and another word
    other_BL: Tensor  # numbers far above any table's size; modulo that size they are the other word

    @classmethod
    def drawn(cls, rows: int, window: int, *, rate: float, generator: torch.Generator) -> "Mask":
        """Choose each position by itself with probability `rate`, and never position 0."""
        shape, device = (rows, window), generator.device
        chosen_BL = torch.rand(shape, generator=generator, device=device) < rate
        chosen_BL[:, 0] = False
        chosen_BL[-1, -1] |= ~chosen_BL.any()  # a tiny batch may escape every draw; the loss needs one word
        return cls(
            chosen_BL=chosen_BL,
            fate_BL=torch.rand(shape, generator=generator, device=device),
            other_BL=torch.randint(LARGE_NUMBER, shape, generator=generator, device=device),
        )

    def of_rows(self, first: int, end: int) -> "Mask":
        """The part of the draw that belongs to some rows."""
        rows = slice(first, end)
        return Mask(chosen_BL=self.chosen_BL[rows], fate_BL=self.fate_BL[rows], other_BL=self.other_BL[rows])

    def hide(self, token_BL: Tensor, *, table_size: int) -> Tensor:
        """The windows as the model sees them."""
        # As in XLM, </s> and <unk> inside a window may be chosen, and a random word may be any of the table's ids. A
        # table that belongs to one language gives random words of that language alone.
        # Departure: Sep L1-3 and L1-6 keep one table, hence random words of both languages; section 4.3 may mean them
        # too.
        changed_BL = torch.where(self.fate_BL < MASKED_SHARE, MASK, self.other_BL % table_size)
        is_kept_BL = (self.fate_BL >= MASKED_SHARE) & (self.fate_BL < MASKED_SHARE + KEPT_SHARE)
        return torch.where(self.chosen_BL & ~is_kept_BL, changed_BL, token_BL)

    @property
    def masked_M(self) -> Tensor:
        """Flat indices of the chosen positions."""
        return self.chosen_BL.flatten().nonzero().squeeze(1)

    def first_masked_C(self, count: int) -> Tensor:
        """Flat indices of the first `count` chosen positions, filled up with B x L where there are fewer."""
        # `nonzero` would make the host wait for the device to learn how many there are; this has a fixed shape.
        chosen_T = self.chosen_BL.flatten()
        place_T = torch.where(chosen_T, chosen_T.cumsum(0) - 1, count).clamp(max=count)
        index_T = torch.arange(len(chosen_T), device=chosen_T.device)
        # One more place, into which all positions that are not chosen are written.
        return index_T.new_full((count + 1,), len(chosen_T)).scatter(0, place_T, index_T)[:count]


def room_for_masked(tokens: int, *, rate: float) -> int:
    """Room for the masked words among so many tokens; more are chosen once in some millions of draws."""
    # Departure: on a GPU, masked words beyond this room are hidden but not predicted, so that shapes are fixed.
    spread = DEVIATIONS * sqrt(rate * (1 - rate) * tokens)
    return min(tokens, ceil((rate * tokens + spread) / ROUND_ROOM) * ROUND_ROOM)
