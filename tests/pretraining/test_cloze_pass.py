"""The pass that is written out by hand against autograd of the model, in double precision."""

# B = windows, L = positions, C = masked positions

from dataclasses import dataclass, replace

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from isoglot.corpora.vocabulary import PAD
from isoglot.errors import IsoglotError
from isoglot.machine import Machine
from isoglot.model.cloze import ClozeModel
from isoglot.pretraining.cloze_pass import ClozePass
from isoglot.pretraining.flat_weights import FlatWeights
from isoglot.pretraining.kernels.torch_kernels import TorchKernels
from isoglot.study.conditions import TABLE_1
from isoglot.study.scales import EncoderShape, NormPlacement
from isoglot.study.separate import Separate
from tests.model.tiny_models import TABLE_SIZE, random_tokens, tiny_model, tiny_shape

CPU = Machine(device=torch.device("cpu"))
BATCH, LENGTH = 3, 8
"""Less than the model's positions."""
SHARED, OWN = {"en": TABLE_SIZE, "fr": TABLE_SIZE}, {"en": TABLE_SIZE, "fr": 43}


@dataclass(frozen=True, kw_only=True)
class Cloze:
    """Windows with hidden words."""

    token_BL: Tensor
    seen_BL: Tensor
    masked_C: Tensor


def cloze_of(*, seed: int = 0, table_size: int = TABLE_SIZE) -> Cloze:
    token_BL = random_tokens(BATCH, LENGTH, seed=seed) % table_size
    seen_BL = torch.where(random_tokens(BATCH, LENGTH, seed=seed + 1) < 20, token_BL.flip(1), token_BL)
    return Cloze(token_BL=token_BL, seen_BL=seen_BL, masked_C=torch.tensor([1, 5, 9, 20, BATCH * LENGTH - 1]))


def double_model(
    shape: EncoderShape, *, separate: Separate | None = None, table_sizes: dict[str, int] | None = None
) -> ClozeModel:
    return tiny_model(shape, separate=separate, table_sizes=table_sizes or SHARED).double()


class Hand:
    """A model with a pass over it."""

    def __init__(self, model: ClozeModel, *, language: str = "en", length: int = LENGTH):
        self.model, shape = model, model.encoder.shape
        self.weights = FlatWeights(model, compute_dtype=torch.float64)
        self.kernels = TorchKernels(CPU, dropout=shape.dropout, attention_dropout=shape.attention_dropout)
        self.cloze_pass = ClozePass(model, self.weights, language=language, window=length, kernels=self.kernels)

    def learn(self, cloze: Cloze, *, scale: float = 1.0) -> Tensor:
        return self.cloze_pass(
            cloze.token_BL,
            seen_BL=cloze.seen_BL,
            masked_C=cloze.masked_C,
            scale=torch.tensor(scale, dtype=torch.float64),
        )

    def gradients(self) -> dict[str, Tensor]:
        return {name: weight.grad.clone() for name, weight in self.model.named_parameters()}


class AtMasked(nn.Module):
    """Draws for masked positions alone, as the pass does above the last attention; no other matters there."""

    def __init__(self, dropout: float, masked_C: Tensor):
        super().__init__()
        self.dropout, self.masked_C = dropout, masked_C

    def forward(self, hidden_BLD: Tensor) -> Tensor:
        ones_TD = torch.ones_like(hidden_BLD).flatten(0, 1)
        kept_CD = F.dropout(ones_TD[self.masked_C], self.dropout)
        return hidden_BLD * ones_TD.index_copy(0, self.masked_C, kept_CD).view_as(hidden_BLD)


def learn_by_autograd(model: ClozeModel, cloze: Cloze, *, language: str = "en", scale: float = 1.0) -> Tensor:
    masked_M = cloze.masked_C[cloze.masked_C < cloze.token_BL.numel()]
    logits_MV = model.masked_logits(cloze.seen_BL, masked_M=masked_M, language=language)
    loss = F.cross_entropy(logits_MV, cloze.token_BL.flatten()[masked_M], reduction="sum")
    (scale * loss).backward()
    return loss.detach()


def check_against_autograd(
    shape: EncoderShape,
    cloze: Cloze,
    *,
    language: str = "en",
    separate: Separate | None = None,
    table_sizes: dict[str, int] | None = None,
) -> None:
    models = [double_model(shape, separate=separate, table_sizes=table_sizes) for _ in range(2)]
    hand, (_, model) = Hand(models[0], language=language, length=cloze.token_BL.shape[1]), models
    model.train()
    model.encoder.blocks[-1].of(language).dropout = AtMasked(shape.dropout, cloze.masked_C)
    torch.manual_seed(3)
    expected = learn_by_autograd(model, cloze, language=language, scale=0.37)
    hand.kernels.seed(3)
    torch.testing.assert_close(hand.learn(cloze, scale=0.37), expected, rtol=1e-12, atol=0)
    found = hand.gradients()
    for name, weight in model.named_parameters():
        by_autograd = torch.zeros_like(weight) if weight.grad is None else weight.grad
        torch.testing.assert_close(found[name], by_autograd, rtol=1e-9, atol=1e-11, msg=name)


@pytest.mark.parametrize("norm", NormPlacement)
@pytest.mark.parametrize(("layers", "heads"), [(1, 1), (3, 6)])
def test_loss_and_gradients_are_those_of_autograd(layers: int, heads: int, norm: NormPlacement) -> None:
    check_against_autograd(replace(tiny_shape(norm), heads=heads, layers=layers), cloze_of())


@pytest.mark.parametrize(
    "separate", [*dict.fromkeys(each.separate.at_depth(3) for each in TABLE_1), Separate(output_bias=True)], ids=str
)
def test_every_sharing_map(separate: Separate) -> None:
    language, norm = "fr", NormPlacement.PRE
    table_sizes = OWN if separate.embeddings else SHARED
    cloze = cloze_of(table_size=table_sizes[language])
    check_against_autograd(tiny_shape(norm), cloze, language=language, separate=separate, table_sizes=table_sizes)


@pytest.mark.parametrize("norm", NormPlacement)
@pytest.mark.parametrize(("dropout", "attention_dropout"), [(0.3, 0.0), (0.1, 0.4)], ids=["outside", "both"])
def test_the_way_back_drops_what_the_way_forward_dropped(
    dropout: float, attention_dropout: float, norm: NormPlacement
) -> None:
    """The model draws in the same order from the same generator."""
    shape = replace(tiny_shape(norm), dropout=dropout, attention_dropout=attention_dropout)
    check_against_autograd(shape, cloze_of())


@pytest.mark.parametrize("length", [1, 20])
def test_windows_of_any_length(length: int) -> None:
    token_BL = random_tokens(2, length)
    cloze = Cloze(token_BL=token_BL, seen_BL=token_BL.flip(0), masked_C=torch.tensor([0, 2 * length - 1]))
    check_against_autograd(tiny_shape(NormPlacement.PRE), cloze)


def test_windows_longer_than_the_position_table_are_refused() -> None:
    """Not read with the first positions once more."""
    model = double_model(tiny_shape())
    with pytest.raises(IsoglotError, match="40 tokens is longer than the model's 20 positions"):
        Hand(model, length=40)


@pytest.mark.parametrize("norm", NormPlacement)
def test_padding_met_by_chance_is_a_word_without_a_gradient(norm: NormPlacement) -> None:
    """A random word may be any of the table; its row still learns as one that could have been the answer."""
    cloze = cloze_of()
    cloze.seen_BL[1, 2:5] = PAD
    check_against_autograd(tiny_shape(norm), cloze)
    hand = Hand(double_model(tiny_shape(norm)))
    table = hand.model.encoder.embeddings.of("en").token.weight
    hand.learn(cloze)
    first = table.grad[PAD].clone()
    assert first.abs().max() > 0, "of the softmax"
    hand.learn(cloze)
    torch.testing.assert_close(table.grad[PAD], 2 * first)


def test_indices_beyond_the_tokens_stand_for_none() -> None:
    """As many as there is room for, anywhere among the others."""
    cloze, none = cloze_of(), BATCH * LENGTH
    padded = replace(cloze, masked_C=torch.tensor([none, 1, 5, none, 9, 20, none - 1, none, none]))
    plain, roomy = (Hand(double_model(tiny_shape(NormPlacement.PRE))) for _ in range(2))
    torch.testing.assert_close(roomy.learn(padded), plain.learn(cloze), rtol=1e-12, atol=0)
    for (name, found), expected in zip(roomy.gradients().items(), plain.gradients().values(), strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-12, msg=name)


@pytest.mark.parametrize("room", [0, 4])
@pytest.mark.parametrize("norm", NormPlacement)
def test_where_all_are_none_there_is_neither_loss_nor_gradient(norm: NormPlacement, room: int) -> None:
    """A piece of one short window may have no word hidden, and on a CPU there is no room then."""
    hand = Hand(double_model(tiny_shape(norm, dropout=0.1)))
    nothing = replace(cloze_of(), masked_C=torch.full((room,), BATCH * LENGTH))
    assert hand.learn(nothing).item() == 0
    assert not any(gradient.any() for gradient in hand.gradients().values())
