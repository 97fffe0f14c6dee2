"""The softmax, how many weights a model has, and models on disk."""

from pathlib import Path

import pytest
import torch

from isoglot.corpora.vocabulary import PAD
from isoglot.model.cloze import ClozeModel, read_model, write_model
from isoglot.study.conditions import CONDITIONS
from isoglot.study.scales import PAPER, NormPlacement
from isoglot.study.separate import Separate
from tests.killed_processes import files_of
from tests.model.tiny_models import EVERYTHING, random_tokens, tiny_model, tiny_shape

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


def test_the_papers_models_have_as_many_weights_as_the_arithmetic_says() -> None:
    expected = embedding_weights(80_000) + LAYERS * LAYER
    assert expected == 118_617_728
    assert num_weights("default", {"en": 80_000, "fr": 80_000}) == expected
    expected = embedding_weights(41_000) + embedding_weights(43_000) + (2 * 6 + 2) * LAYER
    assert num_weights("sep-emb-l1-6", {"en": 41_000, "fr": 43_000}) == expected


@torch.no_grad()
def test_the_softmax_is_tied_to_the_token_table() -> None:
    model = tiny_model()
    hidden_MD = torch.randn(4, 24, generator=torch.Generator().manual_seed(0))
    table_VD, bias_V = model.encoder.embeddings.of(None).token.weight, model.output_bias.of(None).bias
    expected_MV = torch.tensor(
        [[hidden_D @ row_D + bias for row_D, bias in zip(table_VD, bias_V, strict=True)] for hidden_D in hidden_MD]
    )
    torch.testing.assert_close(model.logits(hidden_MD), expected_MV, rtol=0, atol=1e-5)


@torch.no_grad()
def test_masked_positions_count_row_by_row() -> None:
    model, token_BL = tiny_model(), random_tokens(4, 7)
    masked_M = torch.tensor([6, 2, 2, 27])
    every_BLV = model.logits(model.encoder.hidden_states(token_BL)[-1])
    expected_MV = torch.stack([every_BLV[index // 7, index % 7] for index in masked_M.tolist()])
    torch.testing.assert_close(model.masked_logits(token_BL, masked_M=masked_M), expected_MV, rtol=0, atol=1e-5)


@pytest.mark.parametrize("norm", NormPlacement)
@pytest.mark.parametrize(
    "separate", [Separate(), Separate(layers=frozenset({1, 3}), output_bias=True), EVERYTHING], ids=str
)
@torch.no_grad()
def test_a_written_model_is_read_as_it_was(norm: NormPlacement, separate: Separate, tmp_path: Path) -> None:
    sizes = {"to": 50, "en": 60} if separate.embeddings else {"to": 50, "en": 50}
    model = tiny_model(tiny_shape(norm, dropout=0.2), separate=separate, table_sizes=sizes)
    write_model(model.train(), tmp_path / "new" / "folder")
    again = read_model(tmp_path / "new" / "folder")
    assert not any(module.training for module in again.modules())
    assert (again.encoder.shape, again.encoder.separate) == (model.encoder.shape, separate)
    assert list(again.encoder.table_sizes.items()) == list(sizes.items())
    assert again.encoder.pad_id == model.encoder.pad_id
    assert list(again.state_dict()) == list(model.state_dict())
    for name, tensor in model.state_dict().items():
        assert again.state_dict()[name].equal(tensor), name
    token_BL, masked_M = random_tokens(2, 8), torch.tensor([3, 9])
    expected_MV = model.eval().masked_logits(token_BL, masked_M=masked_M, language="en")
    assert again.masked_logits(token_BL, masked_M=masked_M, language="en").equal(expected_MV)
    write_model(again, tmp_path / "again")
    assert files_of(tmp_path / "again") == files_of(tmp_path / "new" / "folder")
