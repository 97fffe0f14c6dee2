"""What a record says of the machine, and that nothing else depends on it."""

import json
import os

import pytest

from isoglot.errors import IsoglotError
from isoglot.hardware import Hardware, hardware, visible_gpus
from isoglot.store import Store
from tests.store.toy_stages import Joined, Text

LISTING = """GPU 0: NVIDIA H200 (UUID: GPU-5f1a)
GPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-77b2)
  MIG 1g.10gb     Device  0: (UUID: MIG-1234)
GPU 2: Tesla V100 (32 GB) (UUID: GPU-9c00)
"""


@pytest.mark.parametrize(
    ("visible", "names"),
    [
        (None, ("NVIDIA H200", "NVIDIA A100-SXM4-80GB", "Tesla V100 (32 GB)")),
        ("1", ("NVIDIA A100-SXM4-80GB",)),
        ("2, 0", ("Tesla V100 (32 GB)", "NVIDIA H200")),
        ("GPU-77", ("NVIDIA A100-SXM4-80GB",)),
        ("", ()),
        ("-1", ()),
        ("0,-1,1", ("NVIDIA H200",)),
    ],
)
def test_gpus_are_those_that_the_environment_lets_through(visible: str | None, names: tuple[str, ...]) -> None:
    assert visible_gpus(LISTING, visible=visible) == names
    assert visible_gpus("", visible=visible) == ()


def test_this_machine_is_told() -> None:
    here = hardware()
    assert here.processor
    assert 1 <= here.cores <= (os.cpu_count() or 1)
    assert here.memory_bytes > 1 << 28


def test_a_record_tells_the_machine_and_comes_back_as_it_was(store: Store) -> None:
    store.ensure(Text())
    assert store.record(Text()).hardware == hardware()


def test_records_without_it_are_read_and_built_upon(store: Store) -> None:
    text, joined = Text(), Joined(texts=(Text(),))
    store.ensure(text)
    path = store.folder(text) / "record.json"
    content = json.loads(path.read_text())
    digest = content["digest"]
    del content["hardware"]
    path.write_text(json.dumps(content | {"format": 1}))
    (store.root / "store.json").write_text(json.dumps({"format": 1}))
    older = Store(store.root)
    assert older.record(text).hardware is None
    assert not older.ensure(text), "it is not made again"
    assert older.ensure(joined)
    assert (older.record(text).digest, older.record(joined).inputs) == (digest, {"texts.0": digest})


def test_a_machine_that_is_none_is_damage(store: Store) -> None:
    store.ensure(Text())
    path = store.folder(Text()) / "record.json"
    content = json.loads(path.read_text())
    for wrong in ({"gpus": []}, "a large one", {**content["hardware"], "gpus": 3}):
        path.write_text(json.dumps(content | {"hardware": wrong}))
        with pytest.raises(IsoglotError, match="is not the record of an artifact"):
            store.record(Text())
    assert Hardware.of_json(None) is None
