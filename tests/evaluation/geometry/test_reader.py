"""Our encoders as readers, against sentences made one word at a time and the encoder's own hidden states."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from isoglot.corpora.sentences import NO_WORD, EncodedSentence
from isoglot.corpora.vocabulary import END
from isoglot.evaluation.geometry.reader import EncoderReader
from tests.evaluation.geometry.tiny_readers import CPU, LINES, WORDS, tiny_encoder_reader

READERS = {language: tiny_encoder_reader(language) for language in ("en", "fr")}


def one_by_one(reader: EncoderReader, lines: list[list[str]]) -> list[EncodedSentence]:
    sentences = []
    for words in lines:
        ids, word_of = [END], [NO_WORD]
        for place, word in enumerate(words):
            subwords = reader.vocabulary.encode(reader.language, next(reader.bpe.segment_all([word])))
            ids += subwords
            word_of += [place] * len(subwords)
        sentences.append(EncodedSentence(words=tuple(words), ids=(*ids, END), word_of=(*word_of, NO_WORD)))
    return sentences


@pytest.mark.parametrize("language", READERS)
@given(lines=st.lists(st.lists(st.sampled_from([*WORDS, "unseen", "x"]), max_size=8), max_size=6))
def test_words_get_the_ids_that_they_get_one_by_one(language: str, lines: list[list[str]]) -> None:
    reader = READERS[language]
    assert list(reader.whole_sentences_of_words(lines)) == one_by_one(reader, lines)
    assert reader.whole_sentences([" ".join(line) for line in lines]) == one_by_one(reader, lines)


def test_raw_lines_are_split_as_the_model_was_trained() -> None:
    reader = tiny_encoder_reader(lowercase=True)
    assert [sentence.words for sentence in reader.sentences(["The CAT  sat", ""])] == [("the", "cat", "sat"), ()]


def test_a_language_is_read_with_its_own_table_and_parts() -> None:
    token_BL = torch.tensor([READERS["en"].sentences(LINES[:1])[0].ids])
    states = {
        name: reader.states(token_BL, real_BL=torch.ones_like(token_BL).bool()) for name, reader in READERS.items()
    }
    for name, reader in READERS.items():
        expected = reader.encoder.hidden_states(token_BL, language=name)
        assert all(found.equal(each) for found, each in zip(states[name], expected, strict=True))
        assert reader.token_table_VD.equal(reader.encoder.embeddings.of(name).token.weight)
        assert not reader.token_table_VD.requires_grad
    assert not torch.allclose(states["en"][0], states["fr"][0], atol=0.1)


def test_what_stands_in_padding_does_not_matter() -> None:
    reader = READERS["en"]
    short, long = (
        torch.tensor([sentence.ids]) for sentence in reader.sentences(["the dog", "cats and mats sat on dogs"])
    )
    length = short.shape[1]
    token_BL = torch.cat([torch.nn.functional.pad(short, (0, long.shape[1] - length), value=21), long])
    real_BL = torch.arange(long.shape[1]) < torch.tensor([[length], [long.shape[1]]])
    alone = reader.states(short, real_BL=torch.ones_like(short).bool())
    for together_BLD, alone_BLD in zip(reader.states(token_BL, real_BL=real_BL), alone, strict=True):
        torch.testing.assert_close(together_BLD[:1, :length], alone_BLD, rtol=0, atol=1e-5)


def test_sentences_longer_than_the_window_are_cut_at_words_and_counted() -> None:
    reader = tiny_encoder_reader(most_tokens=6)
    whole = reader.whole_sentences(LINES)
    cut = reader.sentences(LINES)
    for sentence, kept in zip(whole, cut, strict=True):
        assert len(kept.ids) <= 6
        assert kept.words == sentence.words[: len(kept.words)]
        inside = len(kept.ids) - 1
        assert kept.ids[:inside] == sentence.ids[:inside]
        # The next word would not have fitted.
        assert kept == sentence or sentence.word_of.count(len(kept.words)) + len(kept.ids) > 6
    num_cut = reader.cut(whole)[1]
    assert num_cut == sum(kept != sentence for kept, sentence in zip(cut, whole, strict=True)) > 1
    roomy = tiny_encoder_reader()
    assert roomy.cut(roomy.whole_sentences(LINES))[1] == 0


def test_dropout_is_off_and_nothing_is_learned() -> None:
    reader = READERS["en"]
    again = EncoderReader(
        reader.encoder.train(),
        language="en",
        bpe=reader.bpe,
        vocabulary=reader.vocabulary,
        splitting=reader.splitting,
        most_tokens=20,
    )
    assert not any(module.training for module in again.encoder.modules())
    token_BL = torch.tensor([[1, 20, 1]])
    assert not any(state.requires_grad for state in again.states(token_BL, real_BL=token_BL.ne(2)))
    shape = reader.encoder.shape
    assert (again.num_states, again.width, again.most_tokens) == (shape.layers + 1, shape.width, 20)
    assert (again.device, again.pad_id) == (CPU, reader.encoder.pad_id)
