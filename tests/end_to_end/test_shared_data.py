"""The studies that come with isoglot, on the real files they name: minutes of work, for whoever has the data."""

import time
from pathlib import Path

import numpy as np
import pytest
from commands import isoglot
from real_data import DATA

from isoglot.corpora.numbered_text import Split
from isoglot.corpora.streams import TokenStream
from isoglot.corpora.vocabulary import SPECIALS
from isoglot.pipeline.model_graph import ModelGraph
from isoglot.store import Store
from isoglot.study.conditions import CONDITIONS
from isoglot.study.study_file import read_study

STUDIES = Path(__file__).parents[2] / "studies"


@pytest.mark.real_data
@pytest.mark.skipif(not (DATA / "text").is_dir(), reason=f"no text of real languages in {DATA}: set ISOGLOT_DATA")
@pytest.mark.parametrize("target", ["fr", "ru", "zh"])
def test_every_vocabulary_of_table_1_from_real_files(target: str, tmp_path: Path) -> None:
    path = STUDIES / f"en-{target}.toml"
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
        streams = [TokenStream.open(store.folder(graph.streams[language])) for language in ("en", target)]
        ours, theirs = (
            {id for split in Split for id in np.unique(stream.ids(split)).tolist()} - set(range(len(SPECIALS)))
            for stream in streams
        )
        assert min(len(ours), len(theirs)) > 10_000
        # With separate tables the same id stands for two subwords.
        if not condition.separate.embeddings:
            assert ours.isdisjoint(theirs) if name == "no-anchors" else len(ours & theirs) > 1000
