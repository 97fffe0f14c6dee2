"""Models of a few thousand weights, every one of them random, so that no norm or bias goes unnoticed."""

from collections.abc import Mapping

import torch
from torch import Tensor

from isoglot.corpora.vocabulary import PAD
from isoglot.model.cloze import ClozeModel
from isoglot.study.scales import EncoderShape, NormPlacement
from isoglot.study.separate import Separate

TABLE_SIZE = 50
EVERYTHING = Separate(embeddings=True, layers=frozenset({1, 2, 3}))


def tiny_shape(norm: NormPlacement = NormPlacement.POST, *, dropout: float = 0.0) -> EncoderShape:
    return EncoderShape(
        layers=3,
        width=24,
        heads=4,
        feed_forward=96,
        positions=20,
        dropout=dropout,
        attention_dropout=dropout,
        norm=norm,
    )


def tiny_model(
    shape: EncoderShape | None = None,
    *,
    separate: Separate | None = None,
    table_sizes: Mapping[str, int] | None = None,
) -> ClozeModel:
    """In evaluation mode."""
    model = ClozeModel(
        shape or tiny_shape(),
        table_sizes=table_sizes or {"en": TABLE_SIZE, "fr": TABLE_SIZE},
        separate=separate or Separate(),
        pad_id=PAD,
    )
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.3, generator=generator)
    return model.eval()


def random_tokens(*shape: int, seed: int = 0) -> Tensor:
    """No padding among them."""
    return torch.randint(PAD + 1, TABLE_SIZE, shape, generator=torch.Generator().manual_seed(seed))


def padded_tokens(lengths: list[int], *, seed: int = 0) -> Tensor:
    token_BL = random_tokens(len(lengths), max(lengths), seed=seed)
    for row, length in enumerate(lengths):
        token_BL[row, length:] = PAD
    return token_BL
