"""Every stage lists the files it may leave, and lists all of those that published artifacts have."""

import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import pytest
from commands import Workplace
from published_records import RESULTS, packed_records

from isoglot.pipeline import exhibits, model_graph, sources  # noqa: F401  all stages are subclasses once these are here
from isoglot.store import Stage, Store
from isoglot.store.file_sums import fits
from tests.store.toy_stages import Text


def stages(of: type[Stage] = Stage) -> dict[str, type[Stage]]:
    found = {} if "kind" not in vars(of) else {of.kind: of}
    for each in of.__subclasses__():
        found |= stages(each)
    return {kind: stage for kind, stage in found.items() if stage.__module__.startswith("isoglot.")}


def files_by_kind(root: Path) -> dict[str, set[str]]:
    """The names of files that artifacts have, as records say; of every pack that this repository publishes, too."""
    records = [json.loads(path.read_text()) for path in root.glob("*/record.json")]
    records += [record for piece in RESULTS.glob("*/pieces/*.tar.xz") for record in packed_records(piece)]
    found = defaultdict(set)
    for record in records:
        found[record["kind"]] |= record["files"].keys()
    return found


def test_every_stage_lists_its_files_and_published_artifacts_have_no_others(finished: Workplace) -> None:
    known = stages()
    assert {kind for kind, stage in known.items() if stage.leaves == ("*",)} == set(), "give it `leaves`"
    found = files_by_kind(finished.store.root)
    assert len(found) > 20
    for kind, names in found.items():
        assert {name for name in names if not fits(name, known[kind].leaves)} == set(), kind


@pytest.mark.parametrize("name", ["deep/down/x", "scores.json", "lines", ".isoglot-sums"])
def test_what_lies_in_the_work_folder_is_not_in_the_artifact(tmp_path: Path, name: str) -> None:
    @dataclass(frozen=True, kw_only=True)
    class Listed(Text):
        kind = "toy-listed"
        leaves = ("lines/*.txt",)

    stage, store = Listed(), Store(tmp_path / "store")
    partial = store.partial_folder(stage)
    partial.mkdir(parents=True)
    (partial / name).parent.mkdir(parents=True, exist_ok=True)
    (partial / name).write_text("planted")
    store.ensure(stage)
    folder = store.verified_folder(stage)
    left = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    assert left == ["lines/0.txt", "lines/1.txt", "record.json"]
