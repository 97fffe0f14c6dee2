"""`isoglot export` as people use it: what it writes, what it says, and how it refuses."""

import os
import shutil
import sys
from pathlib import Path

import pytest
import torch
from commands import Workplace, answered

from isoglot.corpora.bpe import Bpe
from isoglot.corpora.sentences import encoded_sentences
from isoglot.corpora.vocabulary import Vocabulary
from isoglot.pipeline.model_names import named_side
from isoglot.pipeline.stages.models import chosen_model
from isoglot.pipeline.stages.vocabulary import MERGES, VOCABULARY

os.environ["HF_HUB_OFFLINE"] = "1"
from transformers import AutoModel, AutoTokenizer


@torch.no_grad()
def test_a_model_of_the_store(finished: Workplace, tmp_path: Path) -> None:
    """One with embeddings and layers of its own for each language."""
    to = tmp_path / "out"
    words = ["tiny.toml:sep-emb-l1-6:1", "--language", "oru", "--to", str(to)]
    answer = answered("export", *words, folder=finished.folder)
    assert (answer.returncode, answer.stderr) == (0, "")
    first, second, *rest = answer.stdout.splitlines()
    assert first == f"Wrote oru of pretraining, sep-emb-l1-6, ela-oru, seed 1 to {to} (RobertaPreLayerNormForMaskedLM)."
    assert second.startswith("Read back, hidden states of all layers differ from ours by at most ")
    assert any("not in half precision" in line for line in rest)
    assert "| Seed | 1 |" in (to / "README.md").read_text()

    side = named_side(str(finished.folder / "tiny.toml") + ":sep-emb-l1-6:oru:1", store=finished.store)
    bpe = Bpe.read(finished.store.folder(side.stream.bpe) / MERGES)
    vocabulary = Vocabulary.read(finished.store.folder(side.stream.vocabulary) / VOCABULARY)
    whole = [subword.removesuffix("</w>") for subword in vocabulary.ids("oru") if subword.endswith("</w>")]
    (sentence,) = encoded_sentences([whole[:10]], language="oru", bpe=bpe, vocabulary=vocabulary)
    batch = AutoTokenizer.from_pretrained(to)(" ".join(whole[:10]), return_tensors="pt")
    assert batch["input_ids"][0].tolist() == list(sentence.ids)
    ours = chosen_model(finished.store.folder(side.encoder)).encoder.hidden_states(batch["input_ids"], language="oru")
    theirs = AutoModel.from_pretrained(to)(**batch, output_hidden_states=True).hidden_states
    for our_BLD, their_BLD in zip(ours, theirs, strict=True):
        torch.testing.assert_close(our_BLD, their_BLD, rtol=0, atol=1e-5)


def test_without_transformers(finished: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    answer = answered("export", "tiny.toml:default:ela", "--to", "out", folder=finished.folder)
    assert "get it with: pip install transformers" in answer.stderr
    assert not (finished.folder / "out").exists()


def test_a_store_that_has_lost_its_vocabulary(copied: Workplace) -> None:
    side = named_side(f"{copied.folder}/tiny.toml:default:ela", store=copied.store)
    shutil.rmtree(copied.store.folder(side.stream.vocabulary))
    answer = answered("export", "tiny.toml:default:ela", "--to", "out", folder=copied.folder)
    assert answer.stderr.endswith("is not there any more; make it with: isoglot run tiny.toml\n")
