"""Exported models, read back as anybody reads them, do what ours do; one that does not is never left behind."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from torch import Tensor, nn

from isoglot.corpora.sentences import encoded_sentences
from isoglot.corpora.vocabulary import MASK, PAD
from isoglot.errors import IsoglotError
from isoglot.model.interchange import exporting
from isoglot.model.interchange.exporting import Export, write_export
from isoglot.model.interchange.own_model import OwnModel
from isoglot.study.languages import Splitter, WordSplitting, default_splitting
from isoglot.study.scales import NormPlacement
from isoglot.study.separate import ALL_SHARED, Separate
from tests.model.tiny_exports import own_model
from tests.model.tiny_models import EVERYTHING, tiny_model, tiny_shape

os.environ["HF_HUB_OFFLINE"] = "1"
from transformers import AutoModel, AutoModelForMaskedLM, AutoTokenizer, pipeline

CLASSES = {NormPlacement.POST: "XLMWithLMHeadModel", NormPlacement.PRE: "RobertaPreLayerNormForMaskedLM"}
LINES = ["le thème", "les", "", "thèse the là"]


def written(own: OwnModel, folder: Path) -> Export:
    return write_export(own, folder, card=lambda export: f"{export.architecture}\n")


def our_batch(own: OwnModel) -> Tensor:
    """Ids by our own code, padded."""
    lines = [line.split() for line in LINES]
    sentences = encoded_sentences(lines, language=own.language, bpe=own.bpe, vocabulary=own.vocabulary)
    rows = [torch.tensor(sentence.ids) for sentence in sentences]
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)


@pytest.mark.parametrize(
    ("separate", "language"),
    [(ALL_SHARED, "fr"), (EVERYTHING, "en"), (Separate(output_bias=True), "en")],
    ids=["shared", "separate", "own bias"],
)
@pytest.mark.parametrize("norm", NormPlacement)
@torch.no_grad()
def test_every_layer_and_the_softmax_come_back(
    norm: NormPlacement, separate: Separate, language: str, tmp_path: Path
) -> None:
    own = own_model(norm, language=language, separate=separate)
    export = written(own, tmp_path / "out")
    assert export.architecture == CLASSES[norm]
    tokenizer, folder = AutoTokenizer.from_pretrained(tmp_path / "out"), tmp_path / "out"
    batch = tokenizer(LINES, padding=True, return_tensors="pt")
    token_BL, real_BL = our_batch(own), batch["attention_mask"].bool()
    assert not real_BL.all()
    theirs: Any = AutoModel.from_pretrained(folder)(**batch, output_hidden_states=True)
    ours = own.model.encoder.hidden_states(token_BL, language=language)
    assert len(ours) == len(theirs.hidden_states) == 4
    for our_BLD, their_BLD in zip(ours, theirs.hidden_states, strict=True):
        torch.testing.assert_close(our_BLD[real_BL], their_BLD[real_BL], rtol=0, atol=1e-5)
    logits_BLN = AutoModelForMaskedLM.from_pretrained(folder)(**batch).logits
    size = own.table_size
    our_logits_BLV = own.model.logits(ours[-1], language=language)
    torch.testing.assert_close(our_logits_BLV[real_BL], logits_BLN[..., :size][real_BL], rtol=0, atol=2e-5)
    if own.num_unknown:
        assert logits_BLN.softmax(-1)[..., size:].sum() < 1e-9


@pytest.mark.parametrize("norm", NormPlacement)
def test_dropout_falls_where_ours_does(norm: NormPlacement, tmp_path: Path) -> None:
    """Both draw from one generator, so numbers agree only if the same things are dropped in the same order."""
    own = own_model(norm)
    written(own, tmp_path / "out")
    theirs: Any = AutoModel.from_pretrained(tmp_path / "out", attn_implementation="eager").train()
    token_BL = our_batch(own)[-1:]
    assert token_BL.ne(PAD).all()
    torch.manual_seed(1)
    their_BLD = theirs(token_BL).last_hidden_state
    torch.manual_seed(1)
    our_BLD = own.model.train().encoder(token_BL, language="fr")
    torch.testing.assert_close(our_BLD, their_BLD, rtol=0, atol=1e-4)


@torch.no_grad()
def test_a_narrow_feed_forward_layer_is_filled_up_and_a_wide_one_refused(tmp_path: Path) -> None:
    own = own_model(NormPlacement.POST)
    for feed_forward in (40, 97):
        shape = replace(tiny_shape(), feed_forward=feed_forward)
        own = replace(own, model=tiny_model(shape, table_sizes=own.model.encoder.table_sizes))
        if feed_forward == 40:
            assert written(own, tmp_path / "narrow").hidden_states < 1e-5
        else:
            with pytest.raises(IsoglotError, match="97 wide, more than 4 times the model's 24"):
                written(own, tmp_path / "wide")
    assert [path.name for path in tmp_path.iterdir()] == ["narrow"]


def test_without_the_softmax_where_its_head_cannot_be_made_to_do_nothing(tmp_path: Path) -> None:
    own = own_model(NormPlacement.PRE)
    with torch.no_grad():
        cast(nn.LayerNorm, own.model.encoder.top_norm).weight[3] = 0
    export = written(own, tmp_path / "out")
    assert (export.architecture, export.softmax) == ("RobertaPreLayerNormModel", None)
    assert export.hidden_states < 1e-5
    assert type(AutoModel.from_pretrained(tmp_path / "out")).__name__ == "RobertaPreLayerNormModel"


@pytest.mark.parametrize("norm", NormPlacement)
def test_a_model_that_differs_is_not_written(
    norm: NormPlacement, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "xlm_model" if norm is NormPlacement.POST else "roberta_model"
    right = getattr(exporting, name)

    def wrong(own: OwnModel) -> Any:
        model = right(own)
        with torch.no_grad():
            next(model.base_model.parameters()).mul_(1.01)
        return model

    monkeypatch.setattr(exporting, name, wrong)
    with pytest.raises(IsoglotError, match="hidden states of the exported model differ from ours by"):
        written(own_model(norm), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


BY_CHARACTERS = WordSplitting(splitter=Splitter.CHARACTERS, language="fr")
FRENCH = {"splitting": default_splitting("fr"), "texts": {"en": ["a"], "fr": ["l'", "été", "x"]}}


@pytest.mark.parametrize(
    ("change", "own", "message"),
    [
        (lambda bpe: {"bpe": replace(bpe, merges=bpe.merges[:-1])}, {}, r"subwords than ours, such as '.+'"),
        # The rules of French keep an apostrophe with the word before it.
        (lambda _: {"splitting": BY_CHARACTERS}, FRENCH, r"words than ours, such as \"l'\""),
    ],
    ids=["subwords", "words"],
)
def test_a_tokenizer_that_differs_is_not_written(
    change: Any, own: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = exporting.write_tokenizer

    def wrong(folder: Path, **settings: Any) -> None:
        right(folder, **(settings | change(settings["bpe"])))

    monkeypatch.setattr(exporting, "write_tokenizer", wrong)
    with pytest.raises(IsoglotError, match=rf"cuts \d+ of \d+ texts into other {message}"):
        written(own_model(NormPlacement.PRE, **own), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("norm", NormPlacement)
@torch.no_grad()
def test_masked_words_are_filled_in_as_by_our_model(norm: NormPlacement, tmp_path: Path) -> None:
    own = own_model(norm, splitting=default_splitting("fr"))
    written(own, tmp_path / "out")
    fill = pipeline("fill-mask", model=str(tmp_path / "out"), top_k=3)
    guesses = fill(f"le {fill.tokenizer.mask_token}, thème.")
    words = [*encoded_sentences([["le"], [",", "thème", "."]], language="fr", bpe=own.bpe, vocabulary=own.vocabulary)]
    token_BL = torch.tensor([[*words[0].ids[:-1], MASK, *words[1].ids[1:]]])
    logits_BLV = own.model.logits(own.model.encoder(token_BL, language="fr"), language="fr")
    best = logits_BLV[0, len(words[0].ids) - 1].softmax(-1).topk(3)
    assert [guess["token"] for guess in guesses] == best.indices.tolist()
    assert [guess["score"] for guess in guesses] == pytest.approx(best.values.tolist(), abs=1e-5)


def test_all_may_read_what_the_umask_lets_them(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        written(own_model(NormPlacement.PRE), tmp_path / "out")
    finally:
        os.umask(before)
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o750
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "out").iterdir()} == {0o640}


def test_what_is_there_is_left_alone(tmp_path: Path) -> None:
    own = own_model(NormPlacement.PRE)
    (tmp_path / "full").mkdir()
    (tmp_path / "full/mine.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    with pytest.raises(IsoglotError, match="full has files in it"):
        written(own, tmp_path / "full")
    with pytest.raises(IsoglotError, match="file is a file"):
        written(own, tmp_path / "file")
    with pytest.raises(IsoglotError, match="cannot be written"):
        written(own, tmp_path / "file/below")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "full", "mine.txt"]
    (tmp_path / "empty").mkdir()
    written(own, tmp_path / "empty")
    written(own, tmp_path / "new/deep")
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["deep"]
    names = {"README.md", "config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"}
    assert {path.name for path in (tmp_path / "empty").iterdir()} == names
