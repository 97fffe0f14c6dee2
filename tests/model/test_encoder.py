"""Properties of hidden states whatever the weights are, and of tables at the start."""

from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from isoglot.corpora.vocabulary import PAD
from isoglot.errors import IsoglotError
from isoglot.model.encoder import Embeddings, Encoder
from isoglot.study.scales import EncoderShape, NormPlacement
from isoglot.study.separate import Separate
from tests.model.tiny_models import EVERYTHING, padded_tokens, random_tokens, tiny_model, tiny_shape

NORMS = pytest.mark.parametrize("norm", NormPlacement)
SEPARATIONS = [Separate(embeddings=True), Separate(layers=frozenset({2})), EVERYTHING]


@NORMS
@given(lengths=st.lists(st.integers(1, 20), min_size=1, max_size=5))
@torch.no_grad()
def test_padding_and_batch_size_change_no_value(norm: NormPlacement, lengths: list[int]) -> None:
    encoder = tiny_model(tiny_shape(norm)).encoder
    token_BL = padded_tokens(lengths)
    together = encoder.hidden_states(token_BL)
    for row, length in enumerate(lengths):
        alone = encoder.hidden_states(token_BL[row : row + 1, :length])
        for together_BLD, alone_1LD in zip(together, alone, strict=True):
            torch.testing.assert_close(together_BLD[row, :length], alone_1LD[0], rtol=0, atol=1e-5)
            assert together_BLD[row, length:].eq(0).all()


@NORMS
@torch.no_grad()
def test_what_stands_at_padding_never_matters(norm: NormPlacement) -> None:
    """Even a huge vector: it is masked out, not merely small."""
    encoder = tiny_model(tiny_shape(norm)).encoder
    token_BL = padded_tokens([9, 4])
    before = encoder.hidden_states(token_BL)
    encoder.embeddings.of(None).token.weight[PAD] = torch.linspace(-1e4, 1e4, 24)
    for before_BLD, after_BLD in zip(before, encoder.hidden_states(token_BL), strict=True):
        assert before_BLD.equal(after_BLD)


@NORMS
@given(lengths=st.lists(st.integers(1, 20), min_size=1, max_size=5))
@torch.no_grad()
def test_a_pass_that_knows_of_padding_is_the_last_hidden_state(norm: NormPlacement, lengths: list[int]) -> None:
    encoder, token_BL = tiny_model(tiny_shape(norm)).encoder, padded_tokens(lengths)
    hidden_BLD = encoder(token_BL, padded=True)
    torch.testing.assert_close(hidden_BLD, encoder.hidden_states(token_BL)[-1], rtol=0, atol=1e-5)
    assert hidden_BLD[token_BL.eq(PAD)].eq(0).all()


@NORMS
@pytest.mark.parametrize("padded", [False, True])
@torch.no_grad()
def test_one_state_is_that_of_all_states_and_needs_nothing_above_it(norm: NormPlacement, padded: bool) -> None:
    token_BL = padded_tokens([9, 4] if padded else [9, 9])
    for layer in range(4):
        encoder = tiny_model(tiny_shape(norm)).encoder
        expected_BLD = encoder.hidden_states(token_BL)[layer]
        for block in encoder.blocks[layer:]:
            for parameter in block.parameters():
                parameter.fill_(torch.nan)
        assert encoder.state(token_BL, layer=layer, padded=padded).equal(expected_BLD)


@torch.no_grad()
def test_padding_symbols_among_random_words_are_words_to_the_training_pass() -> None:
    """Random words may be any symbol, and every position of a full window is read."""
    encoder, token_BL = tiny_model().encoder, random_tokens(1, 6)
    token_BL[0, 3] = PAD
    assert encoder(token_BL)[0, 3].ne(0).any()
    assert not torch.allclose(encoder(token_BL)[0, 0], encoder.hidden_states(token_BL)[-1][0, 0], atol=1e-3)


@pytest.mark.parametrize("separate", SEPARATIONS, ids=str)
@pytest.mark.parametrize("language", [None, "de", "shared", ""])
def test_a_model_with_separate_parts_refuses_input_of_no_known_language(separate: Separate, language: str) -> None:
    model, token_BL = tiny_model(separate=separate), random_tokens(2, 5)
    for use in (model.encoder, model.encoder.hidden_states, partial(model.masked_logits, masked_M=torch.tensor([1]))):
        with pytest.raises(IsoglotError, match=rf"parts of its own for en, fr: say which .*\(got {language!r}\)"):
            use(token_BL, language=language)


@torch.no_grad()
def test_a_fully_shared_model_needs_no_language() -> None:
    model, token_BL = tiny_model(), random_tokens(2, 5)
    logits_MV = model.masked_logits(token_BL, masked_M=torch.tensor([1, 7]))
    for language in ("en", "fr"):
        assert model.masked_logits(token_BL, masked_M=torch.tensor([1, 7]), language=language).equal(logits_MV)


@pytest.mark.parametrize("separate", [Separate(), *SEPARATIONS], ids=str)
def test_what_languages_own_can_be_frozen(separate: Separate) -> None:
    encoder = tiny_model(tiny_shape(NormPlacement.PRE), separate=separate).encoder
    encoder.freeze_separate()
    frozen = {name for name, parameter in encoder.named_parameters() if not parameter.requires_grad}
    owned = {name for name, _ in encoder.named_parameters() if ".owned_by.en." in name or ".owned_by.fr." in name}
    assert frozen == owned
    assert (len(owned) > 0) == (separate != Separate())
    assert encoder.top_norm.weight.requires_grad


def test_tables_start_with_the_spread_of_xlm_and_padding_at_zero() -> None:
    torch.manual_seed(0)
    shape = EncoderShape(layers=1, width=64, heads=1, feed_forward=64, positions=300)
    embeddings = Embeddings(shape, table_size=1000, pad_id=PAD)
    words = torch.arange(1000) != PAD
    assert embeddings.token.weight[words].std().item() == pytest.approx(64**-0.5, rel=0.02)
    assert embeddings.token.weight[words].mean().item() == pytest.approx(0, abs=0.002)
    assert embeddings.position.weight.std().item() == pytest.approx(64**-0.5, rel=0.03)
    assert embeddings.position.weight.mean().item() == pytest.approx(0, abs=0.004)
    assert embeddings.token.weight.eq(0).all(1).nonzero().flatten().tolist() == [PAD]
    assert not embeddings.position.weight.eq(0).all(1).any()


@torch.no_grad()
def test_attention_that_starts_nearby_looks_at_neighbours_and_tables_of_languages_stay_apart() -> None:
    torch.manual_seed(0)
    shape = EncoderShape(
        layers=2, width=64, heads=4, feed_forward=64, positions=128, norm=NormPlacement.PRE, position_init_std=0.25
    )
    encoder = Encoder(shape, table_sizes={"en": 500, "fr": 400}, separate=Separate(embeddings=True), pad_id=PAD).eval()
    tokens = torch.randint(PAD + 1, 400, (200, 32))

    def share_by_distance(language: str) -> list[float]:
        block = encoder.blocks[0].of(language)
        hidden = block.attention_norm(encoder.embeddings.of(language)(tokens))
        query, key, _ = block.attention.query_key_value(hidden).view(200, 32, 3, 4, 16).unbind(2)
        shares = torch.einsum("blhk,bmhk->bhlm", query, key).div(16**0.5).softmax(-1)
        return [shares.diagonal(distance, -2, -1).mean().item() for distance in (1, 2, 4, 8, 16)]

    assert max(share_by_distance("en")) < 1.5 / 32
    encoder.attend_nearby()
    tables = {name: encoder.embeddings.of(name).position.weight for name in ("en", "fr")}
    for language, table in tables.items():
        shares = share_by_distance(language)
        assert shares == sorted(shares, reverse=True)
        assert shares[0] > 2 / 32 > 1 / 32 > shares[-1]
        assert table.std().item() == pytest.approx(0.25, rel=0.1)
    alike = torch.nn.functional.cosine_similarity(*tables.values()).abs().mean().item()
    assert alike < 0.3, "the position tables of two languages say nothing about each other"


def test_a_sequence_longer_than_the_position_table_is_refused() -> None:
    embeddings = Embeddings(tiny_shape(), table_size=50, pad_id=PAD)
    assert embeddings(random_tokens(1, 20)).shape == (1, 20, 24)
    with pytest.raises(IsoglotError, match="21 tokens is longer than the model's 20 positions"):
        embeddings(random_tokens(1, 21))
