"""How the tables start, and how long a sequence may be."""

from dataclasses import replace

import pytest
import torch

from isoglot.corpora.vocabulary import PAD
from isoglot.errors import IsoglotError
from isoglot.model.encoder import Embeddings
from isoglot.study.scales import EncoderShape
from tests.model.tiny_models import random_tokens, tiny_shape

WIDE = EncoderShape(layers=1, width=64, heads=1, feed_forward=64, positions=300)


def test_tables_start_with_the_spread_of_xlm() -> None:
    torch.manual_seed(0)
    embeddings = Embeddings(WIDE, table_size=1000, pad_id=PAD)
    words = torch.arange(1000) != PAD
    assert embeddings.token.weight[words].std().item() == pytest.approx(64**-0.5, rel=0.02)
    assert embeddings.token.weight[words].mean().item() == pytest.approx(0, abs=0.002)
    assert embeddings.position.weight.std().item() == pytest.approx(64**-0.5, rel=0.03)
    assert embeddings.position.weight.mean().item() == pytest.approx(0, abs=0.004)


def test_a_scale_may_set_each_spread_by_itself() -> None:
    torch.manual_seed(0)
    shape = replace(WIDE, token_init_std=0.05, position_init_std=0.3)
    embeddings = Embeddings(shape, table_size=1000, pad_id=PAD)
    assert embeddings.token.weight.std().item() == pytest.approx(0.05, rel=0.02)
    assert embeddings.position.weight.std().item() == pytest.approx(0.3, rel=0.03)


def test_only_the_padding_row_starts_at_zero() -> None:
    embeddings = Embeddings(WIDE, table_size=1000, pad_id=PAD)
    assert embeddings.token.weight.eq(0).all(1).nonzero().flatten().tolist() == [PAD]
    assert not embeddings.position.weight.eq(0).all(1).any()


def test_a_sequence_longer_than_the_position_table_is_refused() -> None:
    embeddings = Embeddings(tiny_shape(), table_size=50, pad_id=PAD)
    assert embeddings(random_tokens(1, 20)).shape == (1, 20, 24)
    with pytest.raises(IsoglotError, match="21 tokens is longer than the model's 20 positions"):
        embeddings(random_tokens(1, 21))
