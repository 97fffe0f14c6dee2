"""The card of an exported model says what it is, and its code runs."""

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from isoglot.corpora.sentences import encoded_sentences
from isoglot.corpora.words import split_lines
from isoglot.model.interchange.exporting import Export, write_export
from isoglot.model.interchange.model_card import Origin, limits, model_card
from isoglot.model.interchange.own_model import OwnModel
from isoglot.study.languages import Splitter, WordSplitting, default_splitting
from isoglot.study.scales import NormPlacement
from tests.model.tiny_exports import own_model

os.environ["HF_HUB_OFFLINE"] = "1"
ORIGIN = Origin(
    study="mine", condition="sep-emb: Sep Emb (section 4.3)", languages=("en", "fr"), seed=3, trained_tokens=1_234_567
)
EXPORT = Export(architecture="XLMWithLMHeadModel", hidden_states=2e-7, softmax=3e-6, num_words=1234)


@pytest.mark.parametrize(
    "splitting",
    [
        WordSplitting(splitter=Splitter.WHITESPACE, language="fr"),
        default_splitting("fr"),
        WordSplitting(splitter=Splitter.COMMAND, language="fr", lowercase=True, command=("tr", "'", " ")),
    ],
    ids=["whitespace", "moses", "command"],
)
def test_its_code_loads_the_model_and_finds_words_as_in_training(
    splitting: WordSplitting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = own_model(NormPlacement.PRE, splitting=splitting)
    write_export(own, tmp_path / "out", card=lambda export: model_card(own, origin=ORIGIN, export=export))
    card = (tmp_path / "out/README.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", card, flags=re.DOTALL)
    assert len(blocks) == 1 + (splitting.splitter is not Splitter.WHITESPACE)
    line = "L'été, le thème."
    monkeypatch.chdir(tmp_path / "out")
    names: dict[str, Any] = {}
    for block in blocks:
        exec(block.replace("A line of text.", line), names)
    assert len(names["output"].hidden_states) == 4
    if splitting.splitter is not Splitter.WHITESPACE:
        (sentence,) = encoded_sentences(
            split_lines([line], splitting), language="fr", bpe=own.bpe, vocabulary=own.vocabulary
        )
        ids = names["batch"]["input_ids"][0].tolist()
        assert [id if id < own.table_size else 3 for id in ids] == list(sentence.ids)


@pytest.mark.parametrize(
    ("own", "export", "limit"),
    [
        (own_model(NormPlacement.POST, splitting=default_splitting("fr")), EXPORT, "were found by moses"),
        (own_model(NormPlacement.POST), EXPORT, "There are 20 positions, but no window of training was longer than 8"),
        (own_model(NormPlacement.PRE), EXPORT, "not in half precision"),
        (own_model(NormPlacement.PRE), replace(EXPORT, softmax=None), "Only the encoder is here"),
    ],
)
def test_it_says_its_limits_where_they_hold(own: OwnModel, export: Export, limit: str) -> None:
    assert limit in " ".join(limits(own, export=export))
    plain = replace(own_model(NormPlacement.POST, is_separate=True, language="en"), window=20)
    assert limit not in " ".join(limits(plain, export=EXPORT))
