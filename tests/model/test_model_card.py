"""The card of an exported model says what it is, and its code runs."""

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from isoglot.corpora.sentences import encoded_sentences
from isoglot.corpora.vocabulary import UNK
from isoglot.corpora.words import split_lines
from isoglot.model.interchange.exporting import Export, write_export
from isoglot.model.interchange.model_card import Origin, limits, model_card
from isoglot.model.interchange.own_model import OwnModel
from isoglot.study.languages import Splitter, WordSplitting, default_splitting
from isoglot.study.scales import NormPlacement
from isoglot.study.separate import ALL_SHARED, Separate
from tests.model.tiny_exports import own_model
from tests.model.tiny_models import EVERYTHING

os.environ["HF_HUB_OFFLINE"] = "1"
ORIGIN = Origin(
    study="mine", condition="sep-emb: Sep Emb (section 4.3)", languages=("en", "fr"), seed=3, trained_tokens=1_234_567
)
EXPORT = Export(architecture="XLMWithLMHeadModel", hidden_states=2e-7, softmax=3e-6, num_texts=1234)


@pytest.mark.parametrize(
    "splitting",
    [
        WordSplitting(splitter=Splitter.WHITESPACE, language="fr"),
        default_splitting("fr"),
        WordSplitting(splitter=Splitter.CHARACTERS, language="fr"),
        WordSplitting(splitter=Splitter.JIEBA, language="fr"),
        WordSplitting(splitter=Splitter.COMMAND, language="fr", lowercase=True, command=("tr", "'", " ")),
    ],
    ids=lambda splitting: splitting.splitter,
)
@pytest.mark.usefixtures("jieba")  # quiet from then on
def test_its_code_loads_the_model_and_finds_words_as_in_training(
    splitting: WordSplitting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = replace(own_model(NormPlacement.PRE, splitting=splitting), window=20)
    write_export(own, tmp_path / "out", card=lambda export: model_card(own, origin=ORIGIN, export=export))
    card = (tmp_path / "out/README.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", card, flags=re.DOTALL)
    line = "L'été, 中国人 thème."
    monkeypatch.chdir(tmp_path / "out")
    names: dict[str, Any] = {}
    for block in blocks:
        exec(block.replace("A line of text.", line), names)
    assert len(names["output"].hidden_states) == 4
    words = split_lines([line], splitting)
    (sentence,) = encoded_sentences(words, language="fr", bpe=own.bpe, vocabulary=own.vocabulary)
    ids = names["batch"]["input_ids"][0].tolist()
    assert [id if id < own.table_size else UNK for id in ids] == list(sentence.ids)
    assert len({guess["token"] for guess in names["guesses"]}) == 5
    assert all(guess["token"] < own.table_size for guess in names["guesses"])


@pytest.mark.parametrize(
    ("separate", "parts"),
    [
        (ALL_SHARED, "none, all is shared"),
        (EVERYTHING, "embeddings, softmax, layer 1, layer 2, layer 3"),
        (Separate(output_bias=True, layers=frozenset({1})), "bias of the softmax, layer 1"),
    ],
)
def test_it_names_the_parts_of_the_language(separate: Separate, parts: str) -> None:
    card = model_card(own_model(NormPlacement.POST, separate=separate), origin=ORIGIN, export=EXPORT)
    assert f"| Parts of its own | {parts} |" in card


def test_it_counts_the_texts_with_other_words() -> None:
    export = replace(EXPORT, otherwise=("DOTMULTI",))
    card = model_card(own_model(NormPlacement.POST), origin=ORIGIN, export=export)
    assert "gave 1,233 of 1,234 texts the ids of isoglot; others, such as 'DOTMULTI', it cuts into other words." in card
    assert "gave 1,234 of 1,234 texts the ids of isoglot." in model_card(
        own_model(NormPlacement.POST), origin=ORIGIN, export=EXPORT
    )


@pytest.mark.parametrize(
    ("own", "export", "limit"),
    [
        (own_model(NormPlacement.POST, splitting=default_splitting("fr")), EXPORT, "the rules of Moses to all text"),
        (own_model(NormPlacement.POST), EXPORT, "There are 20 positions; those beyond the window were never learned."),
        (
            own_model(NormPlacement.POST, splitting=default_splitting("zh")),
            EXPORT,
            "found by jieba, which a tokenizer.json cannot hold: put spaces between the words",
        ),
        (own_model(NormPlacement.PRE), EXPORT, "not in half precision"),
        (own_model(NormPlacement.PRE), replace(EXPORT, softmax=None), "Only the encoder is here"),
    ],
)
def test_it_says_its_limits_where_they_hold(own: OwnModel, export: Export, limit: str) -> None:
    assert limit in " ".join(limits(own, export=export))
    plain = replace(own_model(NormPlacement.POST, separate=EVERYTHING, language="en"), window=20)
    assert limit not in " ".join(limits(plain, export=EXPORT))
