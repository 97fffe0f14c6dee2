"""Vectors as artifacts: those of a file, and those that are trained on a text."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from real_studies import write_real_study

from isoglot.corpora.numbered_text import NumberedText, Split
from isoglot.pipeline.model_graph import ModelGraph
from isoglot.pipeline.stages.source_files import source_file
from isoglot.pipeline.stages.word_vectors import FastTextVectors, WordVectorFile, word_vectors
from isoglot.store import Store, run_plan
from isoglot.study.conditions import CONDITIONS
from isoglot.study.searches import FastText
from isoglot.study.study import read_study


def test_the_first_vectors_of_a_file_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "wiki.fr.vec.gz"
    path.write_bytes(gzip.compress("4 2\nLe 1 2\nle 3 4\nÉté\u2028! 5 6\nla 7 8\n".encode()))
    stage = WordVectorFile(file=source_file(path, wanted_by="test"), most_words=2)
    store = Store(tmp_path / "store")
    assert run_plan([stage], store).failed == {}
    words, vector_WD = word_vectors(store.folder(stage))
    assert words == ["le", "été\u2028!"]
    assert vector_WD.tolist() == [[1, 2], [5, 6]]
    assert vector_WD.dtype == np.float32


def test_a_damaged_file_makes_no_artifact(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("a 1 2\nb 3 nan\n")
    stage = WordVectorFile(file=source_file(path, wanted_by="test"), most_words=2)
    (failure,) = run_plan([stage], Store(tmp_path / "store")).failed.values()
    assert f"{path}:2: the vector of 'b' is not of finite numbers" in str(failure)


def test_trained_vectors_are_of_the_training_lines(tmp_path: Path) -> None:
    pytest.importorskip("floret")
    study = read_study(write_real_study(tmp_path))
    graph = ModelGraph(study=study, condition=CONDITIONS["default"], languages=("en", "fr"), seed=0)
    training = FastText(dimensions=8, epochs=1, least_count=2, buckets=100)
    text, store = graph.texts["en"], Store(tmp_path / "store")
    stage = FastTextVectors(text=text, training=training, most_words=1000)
    assert run_plan([stage], store).failed == {}
    words, vector_WD = word_vectors(store.folder(stage))
    lower: dict[str, int] = {}
    for word, count in NumberedText.read(store.folder(text)).word_counts(Split.TRAIN).items():
        lower[word.lower()] = lower.get(word.lower(), 0) + count
    assert set(words) == {word for word, count in lower.items() if count > 1}
    assert [lower[word] for word in words] == sorted((lower[word] for word in words), reverse=True)
    assert vector_WD.shape == (len(words), 8)
    assert "text.txt" not in {path.name for path in store.folder(stage).iterdir()}
