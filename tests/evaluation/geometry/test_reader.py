"""Our encoders as readers, against sentences made one word at a time and the encoder's own hidden states."""

import torch

from isoglot.corpora.sentences import encoded_sentences
from isoglot.evaluation.geometry.reader import EncoderReader
from tests.evaluation.geometry.tiny_readers import CPU, LINES, tiny_encoder_reader

READERS = {language: tiny_encoder_reader(language) for language in ("en", "fr")}


def test_raw_lines_are_split_as_the_model_was_trained() -> None:
    reader = tiny_encoder_reader(lowercase=True)
    assert [sentence.words for sentence in reader.sentences(["The CAT  sat", ""])] == [("the", "cat", "sat"), ()]
    for language, each in READERS.items():
        words = [line.split() for line in LINES]
        encoding = {"language": language, "bpe": each.encoding.bpe, "vocabulary": each.encoding.vocabulary}
        assert each.whole_sentences(LINES) == encoded_sentences(words, **encoding)
        assert list(each.whole_sentences_of_words(words)) == each.whole_sentences(LINES)


def test_a_language_is_read_with_its_own_table_and_parts() -> None:
    token_BL = torch.tensor([READERS["en"].sentences(LINES[:1])[0].ids])
    english, french = (reader.states(token_BL, real_BL=torch.ones_like(token_BL).bool()) for reader in READERS.values())
    for (name, reader), found in zip(READERS.items(), (english, french), strict=True):
        torch.testing.assert_close(found, reader.network.hidden_states(token_BL, language=name), rtol=0, atol=0)
        assert reader.token_table_VD.equal(reader.network.embeddings.of(name).token.weight)
        assert not reader.token_table_VD.requires_grad
    assert not torch.allclose(english[0], french[0], atol=0.1)


def test_sentences_longer_than_the_window_are_cut_at_words_and_counted() -> None:
    reader = tiny_encoder_reader(most_tokens=6)
    whole = reader.whole_sentences(LINES)
    cut, num_cut = reader.cut(whole)
    assert cut == reader.sentences(LINES) == [next(each.pieces(most_tokens=6)) for each in whole]
    assert num_cut == sum(len(each.ids) > 6 for each in whole) > 1
    assert tiny_encoder_reader().cut(whole) == (whole, 0)


def test_dropout_is_off_and_nothing_is_learned() -> None:
    reader = READERS["en"]
    encoder, encoding = reader.network.train(), reader.encoding
    again = EncoderReader(encoder, encoding=encoding, splitting=reader.splitting, most_tokens=20)
    assert not any(module.training for module in again.network.modules())
    token_BL = torch.tensor([[1, 20, 1]])
    assert not any(state.requires_grad for state in again.states(token_BL, real_BL=token_BL.ne(2)))
    shape = reader.network.shape
    assert (again.num_states, again.width, again.most_tokens) == (shape.layers + 1, shape.width, 20)
    assert (again.device, again.pad_id) == (CPU, reader.network.pad_id)


def test_random_weights_are_drawn_by_the_seed_alone_for_all_languages_of_a_model() -> None:
    before = torch.random.get_rng_state()
    one, again, other = (READERS["en"].untrained(seed=seed) for seed in (0, 0, 1))
    assert torch.random.get_rng_state().equal(before)
    assert READERS["en"].whole_sentences(LINES) == one.whole_sentences(LINES)
    french = READERS["fr"].untrained(seed=0)
    for name, weight in one.network.state_dict().items():
        assert weight.equal(again.network.state_dict()[name])
        assert weight.equal(french.network.state_dict()[name])
    assert not one.token_table_VD.equal(other.token_table_VD)
    assert not one.token_table_VD.equal(READERS["en"].token_table_VD)
