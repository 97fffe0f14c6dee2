"""A reader from the store is the chosen model of its stage, with the merges and the table of its language."""

from pathlib import Path

import pytest
import torch

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.sentences import encoded_sentences
from isoglot.corpora.vocabulary import Vocabulary
from isoglot.pipeline.stages.models import chosen_model
from isoglot.pipeline.stages.readers import opened_reader
from isoglot.pipeline.stages.vocabulary import MERGES, VOCABULARY
from isoglot.store import Store, run_plan
from tests.pipeline.tiny_transfers import tiny_graph


@pytest.mark.parametrize("condition", ["default", "sep-emb-l1-6"])
def test_a_reader_from_the_store(condition: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGLOT_DEVICE", "cpu")
    stage = (graph := tiny_graph(condition=condition)).emergence(graph.untrained)
    store = Store(tmp_path)
    inputs = [stage.encoder, stage.vocabulary, *stage.bpe.values()]
    assert run_plan(inputs, store).failed == {}
    encoder = chosen_model(store.folder(stage.encoder)).encoder
    lines = ["Ba kalo", "mi"]
    for language in ("ela", "oru"):
        reader = opened_reader(
            store.folder,
            encoder=stage.encoder,
            vocabulary=stage.vocabulary,
            bpe=stage.bpe[language],
            language=language,
            splitting=stage.texts[language].splitting,
        )
        assert reader.most_tokens == stage.encoder.run.window
        assert reader.device == torch.device("cpu")
        sentences = encoded_sentences(
            [line.split() for line in lines],
            language=language,
            bpe=Bpe.read(store.folder(stage.bpe[language]) / MERGES),
            vocabulary=Vocabulary.read(store.folder(stage.vocabulary) / VOCABULARY),
        )
        assert reader.sentences(lines) == sentences
        token_BL = torch.tensor([sentences[0].ids])
        states = reader.states(token_BL, real_BL=torch.ones_like(token_BL).bool())
        expected = encoder.hidden_states(token_BL, language=language)
        assert all(found.equal(each) for found, each in zip(states, expected, strict=True))
