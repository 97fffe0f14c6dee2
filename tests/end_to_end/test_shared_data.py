"""The studies that come with isoglot, on the real files they name: minutes of work, for whoever has the data."""

import time
from pathlib import Path

import numpy as np
import pytest
from commands import isoglot
from real_data import DATA

from isoglot.corpora.numbered_text import Split
from isoglot.corpora.streams import TokenStream
from isoglot.corpora.vocabulary import SPECIALS, Vocabulary
from isoglot.pipeline.model_graph import ModelGraph
from isoglot.pipeline.stages.vocabulary import VOCABULARY
from isoglot.store import Store
from isoglot.study.conditions import CONDITIONS
from isoglot.study.study import read_study

ROOT = Path(__file__).parents[2]

pytestmark = [
    pytest.mark.real_data,
    pytest.mark.skipif(not (DATA / "text").is_dir(), reason=f"no text of real languages in {DATA}: set ISOGLOT_DATA"),
]


def ids_met(stream: TokenStream) -> set[int]:
    """In every part of the text, special symbols left out."""
    met = {id for split in Split for id in np.unique(stream.ids(split)).tolist()}
    return met - set(range(len(SPECIALS)))


@pytest.mark.parametrize("target", ["fr", "ru", "zh"])
def test_every_vocabulary_of_table_1_from_real_files(target: str, tmp_path: Path) -> None:
    path = ROOT / f"studies/en-{target}.toml"
    words = ("run", str(path), "--data", str(DATA), "--exhibits", "vocabulary")
    first = isoglot(*words, folder=tmp_path)
    assert (first.returncode, first.stderr) == (0, "")
    assert "no data" not in first.stdout
    start = time.monotonic()
    second = isoglot(*words, folder=tmp_path)
    assert time.monotonic() - start < 3
    assert "Nothing to do" in second.stdout

    store, study = Store(tmp_path / "store"), read_study(path, data=DATA)
    for name, condition in CONDITIONS.items():
        graph = ModelGraph(study=study, condition=condition, languages=("en", target), seed=0)
        ours, theirs = (TokenStream.open(store.folder(graph.streams[language])) for language in ("en", target))
        vocabulary = Vocabulary.read(store.folder(graph.vocabulary) / VOCABULARY)
        if condition.separate.embeddings:
            # One table each: an id of one language is a row that the other does not have.
            assert set(vocabulary.tables) == {"en", target}
            assert (ours.table_size, theirs.table_size) == (vocabulary.size("en"), vocabulary.size(target))
        elif name == "no-anchors":
            assert ids_met(ours) & ids_met(theirs) == set()
        else:
            assert len(ids_met(ours) & ids_met(theirs)) > 1000
        assert min(len(ids_met(ours)), len(ids_met(theirs))) > 10_000
