"""The rotation that bench/rotated_transfer.py puts between two layers of a fine-tuned model."""

import pytest
import torch
from bench_scripts import bench_script

from isoglot.evaluation.geometry.vectors import Normalization, VectorMap
from isoglot.model.encoder import Encoder
from isoglot.study.scales import EncoderShape
from isoglot.study.separate import Separate

rotated_transfer = bench_script("rotated_transfer")
SHAPE = EncoderShape(layers=3, width=8, heads=2, feed_forward=16, positions=16, dropout=0.0, attention_dropout=0.0)
PAD = 0
TOKEN_BL = torch.tensor([[3, 4, 5, 6], [7, 8, PAD, PAD]])


def drawn(*layers: int) -> Encoder:
    torch.manual_seed(0)
    separate = Separate(embeddings=False, layers=frozenset(layers))
    return Encoder(SHAPE, table_sizes={"en": 12, "fr": 12}, separate=separate, pad_id=PAD).eval()


def turn(rotation_DD: torch.Tensor, *, origin_D: torch.Tensor, goal_D: torch.Tensor) -> VectorMap:
    no_rounds = torch.empty(0, SHAPE.width)
    sides = (Normalization(mean_D=mean_D, round_mean_RD=no_rounds) for mean_D in (origin_D, goal_D))
    return VectorMap(rotation_DD=rotation_DD, **dict(zip(("origin", "goal"), sides, strict=True)))


@pytest.mark.parametrize("layer", range(4))
def test_without_a_turn_it_is_the_encoder_itself(layer: int) -> None:
    encoder, nowhere_D = drawn(), torch.zeros(SHAPE.width)
    same = turn(torch.eye(SHAPE.width), origin_D=nowhere_D, goal_D=nowhere_D)
    mapped = rotated_transfer.rotated(encoder, layer=layer, turn=same, source="en")
    expected = encoder(TOKEN_BL, language="fr", padded=True)
    torch.testing.assert_close(mapped(TOKEN_BL, language="fr", padded=True), expected)


def test_states_are_turned_and_moved_and_the_sources_layers_read_on() -> None:
    encoder = drawn(1, 2)
    rotation_DD = torch.linalg.qr(torch.randn(SHAPE.width, SHAPE.width))[0]
    origin_D, goal_D = torch.randn(2, SHAPE.width)
    there = turn(rotation_DD, origin_D=origin_D, goal_D=goal_D)
    found_BLD = rotated_transfer.rotated(encoder, layer=1, turn=there, source="en")(
        TOKEN_BL, language="fr", padded=True
    )
    real_BL1 = TOKEN_BL.ne(PAD).unsqueeze(-1)
    state_BLD = encoder.state(TOKEN_BL, layer=1, language="fr", padded=True)
    state_BLD = ((state_BLD - origin_D) @ rotation_DD + goal_D) * real_BL1
    for block in list(encoder.blocks)[1:]:
        state_BLD = block.of("en")(state_BLD, attend_B11L=TOKEN_BL.ne(PAD)[:, None, None, :])
    torch.testing.assert_close(found_BLD, encoder.top_norm(state_BLD) * real_BL1)
