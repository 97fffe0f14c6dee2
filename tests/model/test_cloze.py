"""The softmax, and how many weights a model has."""

import pytest
import torch

from isoglot.corpora.vocabulary import PAD
from isoglot.model.cloze import ClozeModel
from isoglot.study.conditions import CONDITIONS, Separate
from isoglot.study.scales import PAPER, NormPlacement
from tests.model.tiny_models import random_tokens, tiny_model, tiny_shape

WIDTH, FEED_FORWARD, LAYERS, POSITIONS = 768, 3072, 8, 512
ATTENTION = 4 * (WIDTH * WIDTH + WIDTH)
LAYER = ATTENTION + (WIDTH * FEED_FORWARD + FEED_FORWARD) + (FEED_FORWARD * WIDTH + WIDTH) + 2 * (WIDTH + WIDTH)


def embedding_weights(table_size: int) -> int:
    """Token and position tables, their norm, and the bias of the tied softmax."""
    return table_size * WIDTH + POSITIONS * WIDTH + 2 * WIDTH + table_size


def num_weights(condition: str, table_sizes: dict[str, int]) -> int:
    with torch.device("meta"):
        model = ClozeModel(PAPER.shape, table_sizes=table_sizes, separate=CONDITIONS[condition].separate, pad_id=PAD)
    return sum(parameter.numel() for parameter in model.parameters())


def test_the_papers_default_model_has_as_many_weights_as_the_arithmetic_says() -> None:
    expected = embedding_weights(80_000) + LAYERS * LAYER
    assert expected == 118_617_728
    assert num_weights("default", {"en": 80_000, "fr": 80_000}) == expected


def test_the_papers_most_separate_model_has_as_many_weights_as_the_arithmetic_says() -> None:
    expected = embedding_weights(41_000) + embedding_weights(43_000) + (2 * 6 + 2) * LAYER
    assert num_weights("sep-emb-l1-6", {"en": 41_000, "fr": 43_000}) == expected


def test_a_pre_norm_model_has_one_norm_more() -> None:
    pre, post = (
        sum(parameter.numel() for parameter in tiny_model(tiny_shape(norm)).parameters())
        for norm in (NormPlacement.PRE, NormPlacement.POST)
    )
    assert pre - post == 2 * 24


@torch.no_grad()
def test_the_softmax_is_tied_to_the_token_table() -> None:
    model = tiny_model()
    hidden_MD = torch.randn(4, 24, generator=torch.Generator().manual_seed(0))
    table_VD, bias_V = model.encoder.embeddings.of(None).token.weight, model.output_bias.of(None).bias
    expected_MV = torch.tensor(
        [[hidden_D @ row_D + bias for row_D, bias in zip(table_VD, bias_V, strict=True)] for hidden_D in hidden_MD]
    )
    torch.testing.assert_close(model.logits(hidden_MD), expected_MV, rtol=0, atol=1e-5)


def test_the_softmax_bias_starts_like_that_of_a_linear_layer() -> None:
    torch.manual_seed(0)
    model = ClozeModel(tiny_shape(), table_sizes={"en": 5000}, separate=Separate(), pad_id=PAD)
    bias_V, bound = model.output_bias.of(None).bias, 24**-0.5
    assert bias_V.abs().max().item() == pytest.approx(bound, rel=0.01)
    assert bias_V.std().item() == pytest.approx(bound / 3**0.5, rel=0.05)
    assert bias_V.mean().item() == pytest.approx(0, abs=0.02)


@pytest.mark.parametrize("batch", [1, 4])
@torch.no_grad()
def test_masked_positions_count_row_by_row(batch: int) -> None:
    model, token_BL = tiny_model(), random_tokens(batch, 7)
    masked_M = torch.tensor([6, 2, 2, batch * 7 - 1])
    every_BLV = model.logits(model.encoder.hidden_states(token_BL)[-1])
    expected_MV = torch.stack([every_BLV[index // 7, index % 7] for index in masked_M.tolist()])
    torch.testing.assert_close(model.masked_logits(token_BL, masked_M=masked_M), expected_MV, rtol=0, atol=1e-5)
