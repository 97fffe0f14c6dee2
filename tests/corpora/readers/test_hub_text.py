"""Text of Hugging Face data sets, here of folders on this machine, without a network."""

# The libraries are imported where they are used, as they are slow to load.

import json
import re
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from isoglot.corpora.readers.hub_text import dataset_lines
from isoglot.errors import IsoglotError
from isoglot.study.real_text import HubDataset

ROWS = [
    {"text": text, "id": number} for number, text in enumerate(["a\nb\r\n\n c", "", None, " \n", "é\u2028中\x85x", "a"])
]
COMMIT = "0" * 40
LINES = ["a", "b", " c", "", "é\u2028中\x85x", "", "a"]


@pytest.fixture(autouse=True, scope="module")
def offline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """As HF_HUB_OFFLINE=1 and HF_HOME would, had no test before this one imported the libraries."""
    import datasets
    import huggingface_hub.constants

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path_factory.mktemp("cache"))
        patch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
        patch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
        yield


def as_json(rows: list[dict[str, object]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def complaint_about(dataset: HubDataset) -> str:
    with pytest.raises(IsoglotError) as caught:
        list(dataset_lines(dataset))
    return str(caught.value)


def test_rows_of_json_and_parquet(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    (tmp_path / "json").mkdir()
    (tmp_path / "json/train.jsonl").write_text(as_json(ROWS), encoding="utf-8")
    (tmp_path / "parquet").mkdir()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(ROWS), tmp_path / "parquet/train-00000.parquet")
    for folder in ("json", "parquet"):
        assert list(dataset_lines(HubDataset(dataset=str(tmp_path / folder), revision=COMMIT))) == LINES


def test_config_split_and_column(tmp_path: Path) -> None:
    files = "[{split: train, path: fr.jsonl}, {split: dev, path: dev.jsonl}]"
    configs = f"[{{config_name: fr, data_files: {files}}}, {{config_name: en, data_files: en.jsonl}}]"
    (tmp_path / "README.md").write_text(f"---\nconfigs: {configs}\n---\n")
    for name in ("fr", "dev", "en"):
        (tmp_path / f"{name}.jsonl").write_text(as_json([{"body": f"{name} text", "title": f"{name} title"}]))
    named = partial(HubDataset, dataset=str(tmp_path), revision=COMMIT)
    assert list(dataset_lines(named(config="fr", column="body"))) == ["fr text"]
    assert list(dataset_lines(named(config="fr", split="dev", column="body"))) == ["dev text"]
    assert list(dataset_lines(named(config="en", column="title"))) == ["en title"]
    for config in (None, "de"):
        assert re.search(r"\bfr\b.*; check the config", complaint_about(named(config=config)))
    assert re.search(
        r"train.*; check the config 'fr', the split 'test'", complaint_about(named(config="fr", split="test"))
    )


def test_what_cannot_be_found_or_read_is_refused(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "no"):
        complaint = complaint_about(HubDataset(dataset=str(folder), revision=COMMIT))
        assert "name one of https://huggingface.co/datasets" in complaint
    complaint = complaint_about(HubDataset(dataset="no/such", revision="v1"))
    assert complaint.startswith("data set 'no/such': ")
    assert "check the name, the network and HF_HUB_OFFLINE" in complaint


@pytest.mark.parametrize(
    ("content", "column", "complaint"),
    [
        ("", "text", "no rows"),
        (as_json([{"text": " \n"}, {"text": None}]), "text", "the column 'text' of 'train' has no text"),
        ("{", "text", "check the config"),
        (as_json(ROWS), "body", "no column 'body'; it has 'text', 'id'"),
        (as_json(ROWS), "id", "row 1 of the column 'id' is int, not text"),
    ],
)
def test_data_sets_without_text_are_refused(tmp_path: Path, content: str, column: str, complaint: str) -> None:
    (tmp_path / "train.jsonl").write_text(content)
    assert complaint in complaint_about(HubDataset(dataset=str(tmp_path), column=column, revision=COMMIT))


def test_the_extra_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    assert "pip install datasets" in complaint_about(HubDataset(dataset="any", revision=COMMIT))
