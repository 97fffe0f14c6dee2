"""Readers of Hugging Face models, against the models themselves one sentence at a time, and what cannot be read."""

import re
import sys
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from isoglot.corpora.sentences import NO_WORD, Encoding
from isoglot.corpora.words import split_lines
from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.hidden_states import sentence_vectors
from isoglot.evaluation.geometry.reader import EncoderReader
from isoglot.evaluation.geometry.transformers_reader import read_transformers
from isoglot.model.interchange.exporting import write_export
from isoglot.study.languages import default_splitting
from isoglot.study.scales import NormPlacement
from tests.evaluation.geometry.tiny_readers import CPU, LINES, MOST_TOKENS, WORDS
from tests.evaluation.geometry.tiny_transformers import (
    SMALL,
    tiny_transformers_reader,
    transformers,
    word_piece,
    write_tiny_transformers,
)
from tests.model.tiny_exports import own_model

KINDS = ("BERT", "BERT with a head", "RoBERTa", "pre-norm RoBERTa", "XLM", "T5", "GPT")
LONG_LINE = " ".join(WORDS * 4)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {kind: write_tiny_transformers(tmp_path_factory.mktemp("model"), kind) for kind in KINDS}


@torch.no_grad()
def last_states(folder: Path, line: str) -> torch.Tensor:
    """As a user of the library gets them."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    model = model.encoder if hasattr(model, "decoder") else model
    return model(**tokenizer(line, return_tensors="pt", return_token_type_ids=False)).last_hidden_state[0]


@pytest.mark.parametrize("kind", KINDS)
@torch.no_grad()
def test_the_last_state_is_what_the_model_gives(kind: str, folders: dict[str, Path]) -> None:
    reader = read_transformers(folders[kind], device=CPU)
    lines = [line for line in LINES if 0 < len(line.split()) < 8]
    expected_ND = torch.stack([last_states(folders[kind], line)[1:-1].mean(0) for line in lines])
    vector_SND = sentence_vectors(reader, reader.sentences(lines))
    torch.testing.assert_close(vector_SND[-1], expected_ND, rtol=0, atol=1e-5)
    assert vector_SND.shape == (4, 5, 24)
    assert (reader.num_states, reader.width, reader.device, reader.pad_id) == (4, 24, CPU, 0)
    token_BL = torch.tensor([reader.sentences(LINES)[0].ids])
    theirs = reader.network(token_BL, output_hidden_states=True).hidden_states[:-1]
    ours = reader.states(token_BL, real_BL=torch.ones_like(token_BL).bool())[:-1]
    assert all(a.equal(b) for a, b in zip(ours, theirs, strict=True))


@pytest.mark.parametrize("code", ["fr", "zh"])
def test_an_export_of_ours_reads_raw_lines_as_our_own_model_does(code: str, tmp_path: Path) -> None:
    lines = ["«\u00a0L'eau d'Évian\u00a0», aujourd'hui.", "“他说”北京清华大学1990年。", "", "10\u00a0000 fois"]
    splitting = default_splitting(code)
    words = [word for line in split_lines(lines, splitting) for word in line]
    own = own_model(NormPlacement.POST, splitting=splitting, texts={"en": ["a"], "fr": words})
    write_export(own, tmp_path / "out", card=lambda _: "")
    reader = read_transformers(tmp_path / "out", device=CPU)
    encoding = Encoding(language="fr", bpe=own.bpe, vocabulary=own.vocabulary)
    ours = EncoderReader(own.model.encoder, encoding=encoding, splitting=splitting, most_tokens=own.window)
    assert reader.most_tokens == ours.most_tokens
    theirs, expected = reader.sentences(lines), ours.sentences(lines)
    assert [(sentence.ids, sentence.word_of) for sentence in theirs] == [(each.ids, each.word_of) for each in expected]
    torch.testing.assert_close(sentence_vectors(reader, theirs), sentence_vectors(ours, expected), rtol=0, atol=1e-5)


@pytest.mark.parametrize(("kind", "most_tokens"), [("BERT", 20), ("RoBERTa", 19), ("GPT", 20), ("T5", 512)])
def test_no_sentence_is_longer_than_the_positions(kind: str, most_tokens: int, folders: dict[str, Path]) -> None:
    reader = read_transformers(folders[kind], device=CPU)
    lines = [LONG_LINE, "the cat", " ".join(WORDS * 100)]
    whole = reader.whole_sentences(lines)
    cut, num_cut = reader.cut(whole)
    assert (reader.most_tokens, num_cut) == (most_tokens, 1 if most_tokens == 512 else 2)
    assert cut == [next(reader.pieces(each)) for each in whole] == reader.sentences(lines)
    assert cut[1] == whole[1]
    assert most_tokens - 1 <= len(cut[2].ids) <= most_tokens
    assert sentence_vectors(reader, cut).isfinite().all()


@pytest.mark.parametrize("template", ["[CLS] $A [SEP]", "[CLS] [CLS] $A", None])
def test_pieces_have_every_word_once_between_the_same_special_symbols(template: str | None, tmp_path: Path) -> None:
    reader = tiny_transformers_reader(tmp_path, "BERT", template=template)
    sentence = reader.whole_sentences([LONG_LINE])[0]
    pieces = list(reader.pieces(sentence))
    assert [word for piece in pieces for word in piece.words] == LONG_LINE.split()
    for piece, after in pairwise(pieces):
        assert len(piece.ids) + after.word_of.count(0) > MOST_TOKENS, "the next word would have fitted"
    assert max(len(piece.ids) for piece in pieces) <= MOST_TOKENS
    assert pieces == reader.whole_sentences([" ".join(piece.words) for piece in pieces])
    assert sentence_vectors(reader, reader.sentences([""])).eq(0).all()


def test_words_are_those_of_the_tokenizer(folders: dict[str, Path]) -> None:
    reader = read_transformers(folders["BERT"], device=CPU)
    sentence, blank = reader.whole_sentences([" the  dogs.\t[SEP] ", " "])
    assert sentence.words == ("the", "dogs", ".", "[", "SEP", "]")
    assert sentence.word_of == (NO_WORD, 0, 0, 1, 1, 2, 3, 4, 5, NO_WORD)
    assert sentence.ids.count(reader.tokenizer.convert_tokens_to_ids("[SEP]")) == 1, "a line has no special symbols"
    assert (blank.words, blank.word_of) == ((), (NO_WORD, NO_WORD))
    assert reader.whole_sentences([]) == []


@pytest.mark.parametrize("keeps_words_apart", [True, False])
def test_words_end_at_white_space_even_where_the_tokenizer_goes_on(keeps_words_apart: bool, tmp_path: Path) -> None:
    """As SentencePiece has it: a mark in the place of a space, and pieces that may hold nothing else."""
    pieces = [("<unk>", 0.0), ("▁", -3.0), *((letter, -4.0) for letter in "abcdogst"), ("▁do", -2.0), ("ca", -2.0)]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=0))
    if keeps_words_apart:
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    else:
        tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    transformers.BertModel(transformers.BertConfig(**SMALL)).save_pretrained(tmp_path)
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>").save_pretrained(tmp_path)
    reader = read_transformers(tmp_path, device=CPU)
    (sentence,) = reader.whole_sentences(["dogs  cat d"])
    assert sentence.words == ("dogs", "cat", "d")
    assert sentence.word_of == (0, 0, 0, 1, 1, 1, 2, 2)


def test_dropout_is_off_weights_are_in_full_precision_and_a_tokenizer_may_have_a_lower_limit(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    transformers.AutoModel.from_pretrained(folders["BERT"], dtype=torch.bfloat16).save_pretrained(tmp_path)
    tokenizer = word_piece()
    tokenizer.model_max_length = 9
    tokenizer.save_pretrained(tmp_path)
    reader = read_transformers(tmp_path, device=CPU)
    assert reader.most_tokens == 9
    assert {weight.dtype for weight in reader.network.parameters()} == {torch.float32}
    assert not any(module.training for module in reader.network.modules())


def refusal(name: str | Path) -> str:
    with pytest.raises(IsoglotError) as caught:
        read_transformers(name, device=CPU)
    message = str(caught.value)
    assert message.startswith(f"{name}: ")
    return message


@pytest.mark.parametrize("kind", KINDS)
def test_random_weights_are_those_of_a_model_of_the_library_before_training(
    kind: str, folders: dict[str, Path]
) -> None:
    reader = read_transformers(folders[kind], device=CPU)
    before = torch.random.get_rng_state()
    one, again, other = (reader.untrained(seed=seed) for seed in (3, 3, 4))
    assert torch.random.get_rng_state().equal(before)
    assert (one.num_states, one.width, one.most_tokens) == (reader.num_states, reader.width, reader.most_tokens)
    weights, trained = one.network.state_dict(), reader.network.state_dict()
    assert weights.keys() == trained.keys()
    assert all(weight.equal(again.network.state_dict()[name]) for name, weight in weights.items())
    assert one.token_table_VD is not None
    assert reader.token_table_VD is not None
    assert not one.token_table_VD.equal(other.network.get_input_embeddings().weight)
    assert not one.token_table_VD.equal(reader.token_table_VD)
    torch.manual_seed(3)
    fresh = type(reader.network)(reader.network.config)
    assert one.token_table_VD.equal(fresh.get_input_embeddings().weight)


@pytest.mark.parametrize("name", ["no/such-model", "x" * 300, "/no/such/folder"])
def test_a_name_that_cannot_be_found_is_refused(name: str) -> None:
    assert re.search("no Hugging Face model can be read.*config.json.*HF_HUB_OFFLINE", refusal(name))


def test_folders_that_lack_something_are_refused(folders: dict[str, Path], tmp_path: Path) -> None:
    assert "no Hugging Face model can be read" in refusal(tmp_path)
    model = transformers.AutoModel.from_pretrained(folders["BERT"])
    model.save_pretrained(tmp_path)
    assert "no tokenizer beside the model" in refusal(tmp_path)
    word_piece().save_pretrained(tmp_path)
    weights = model.state_dict()
    del weights["encoder.layer.1.attention.self.query.weight"]
    model.save_pretrained(tmp_path, state_dict=weights)
    assert "no weights for 1 parts of BertModel, such as encoder.layer.1" in refusal(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"damaged")
    assert "no Hugging Face model can be read" in refusal(tmp_path)
    model.save_pretrained(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{")
    assert "no tokenizer can be read" in refusal(tmp_path)


def test_a_tokenizer_that_does_not_fit_is_refused(folders: dict[str, Path], tmp_path: Path) -> None:
    transformers.BertModel(transformers.BertConfig(**SMALL | {"vocab_size": 10})).save_pretrained(tmp_path)
    word_piece().save_pretrained(tmp_path)
    assert f"its tokenizer has {len(word_piece())} tokens and the model's table 10" in refusal(tmp_path)
    (tmp_path / "bytes").mkdir()
    transformers.AutoModel.from_pretrained(folders["BERT"]).save_pretrained(tmp_path / "bytes")
    transformers.ByT5Tokenizer().save_pretrained(tmp_path / "bytes")
    assert "a fast tokenizer is needed" in refusal(tmp_path / "bytes")


def test_models_whose_states_would_mean_nothing_are_refused(tmp_path: Path) -> None:
    word_piece().save_pretrained(tmp_path)
    sizes = {key: SMALL[key] for key in ("hidden_size", "num_hidden_layers", "intermediate_size")}
    without_attention = transformers.FNetConfig(**sizes, **{key: SMALL[key] for key in ("vocab_size", "pad_token_id")})
    transformers.FNetModel(without_attention).save_pretrained(tmp_path)
    assert "padding changes" in refusal(tmp_path)
    of_images = transformers.ViTConfig(**sizes, num_attention_heads=4, image_size=8, patch_size=4)
    transformers.ViTModel(of_images).save_pretrained(tmp_path)
    assert "does not give hidden states of text" in refusal(tmp_path)


def test_without_transformers_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(IsoglotError, match="pip install transformers"):
        read_transformers("bert-base-cased", device=CPU)
