"""The encoder against the XLM of transformers, which others wrote, with the same weights."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from isoglot.corpora.vocabulary import PAD
from isoglot.model.interchange.transformers_models import xlm_model
from isoglot.study.scales import NormPlacement
from tests.model.tiny_exports import own_model
from tests.model.tiny_models import padded_tokens, random_tokens

TOKENS = {
    "full": random_tokens(3, 20),
    "padded": padded_tokens([20, 1, 7, 13]),
    "one token": random_tokens(1, 1),
}


@pytest.mark.parametrize("token_BL", TOKENS.values(), ids=TOKENS)
@torch.no_grad()
def test_hidden_states_and_logits_are_those_of_xlm(token_BL: Tensor) -> None:
    own = own_model(NormPlacement.POST)
    token_BL = token_BL.clamp(max=own.table_size - 1)
    theirs = xlm_model(own)(token_BL, output_hidden_states=True)
    states = own.model.encoder.hidden_states(token_BL)
    assert len(states) == len(theirs.hidden_states) == 4
    for ours_BLD, theirs_BLD in zip(states, theirs.hidden_states, strict=True):
        torch.testing.assert_close(ours_BLD, theirs_BLD, rtol=0, atol=1e-5)
    logits_BLV = theirs.logits[..., : own.table_size]
    torch.testing.assert_close(own.model.logits(states[-1]), logits_BLV, rtol=0, atol=2e-5)
    masked_M = torch.tensor([0, token_BL.numel() - 1])
    if token_BL.ne(PAD).all():
        ours_MV = own.model.masked_logits(token_BL, masked_M=masked_M)
        torch.testing.assert_close(ours_MV, logits_BLV.flatten(0, 1)[masked_M], rtol=0, atol=2e-5)


def test_gradients_are_those_of_xlm() -> None:
    own = own_model(NormPlacement.POST)
    token_BL, target_BL = (random_tokens(2, 9, seed=seed).clamp(max=own.table_size - 1) for seed in (0, 1))
    model, xlm = own.model, xlm_model(own)
    logits_BLV = model.logits(model.encoder(token_BL))
    F.cross_entropy(logits_BLV.flatten(0, 1), target_BL.flatten()).backward()
    theirs_BLV = xlm(token_BL).logits[..., : own.table_size]
    F.cross_entropy(theirs_BLV.flatten(0, 1), target_BL.flatten()).backward()
    ours, theirs = model.encoder.embeddings.of(None), dict(xlm.named_parameters())
    for name, gradient in (
        ("transformer.position_embeddings.weight", ours.position.weight.grad),
        ("transformer.layer_norm_emb.weight", ours.norm.weight.grad),
    ):
        torch.testing.assert_close(gradient, theirs[name].grad, rtol=0, atol=1e-5)
    # The token table learns from both its ends.
    table_VD = theirs["transformer.embeddings.weight"].grad[: own.table_size]
    torch.testing.assert_close(ours.token.weight.grad, table_VD, rtol=0, atol=1e-5)
