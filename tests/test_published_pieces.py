"""Nothing published breaks: today's digests of the studies are those of the artifacts under results/*/pieces."""

import json
import tarfile
from pathlib import Path

import pytest

from isoglot.pipeline.exhibits import gaps, targets
from isoglot.pipeline.stages.source_files import SourceFile
from isoglot.store import State, Store, inputs_first
from isoglot.store import plan as plan_of
from isoglot.store.unpacking import unpack
from isoglot.study.real_text import RealText
from isoglot.study.study import Study, read_study

ROOT = Path(__file__).parents[1]
STUDIES = sorted(folder.parent.name for folder in ROOT.glob("results/*/pieces"))


def published_study(name: str) -> Study:
    """The study with the files it was published with: their hashes are in its provenance, so no data is needed."""
    study = read_study(ROOT / "studies" / f"{name}.toml", data=Path("data"))
    assert isinstance(study.text, RealText)
    provenance = json.loads((ROOT / "results" / name / "provenance.json").read_text(encoding="utf-8"))
    for each in provenance["data_files"]:
        path = Path("data", each["name"])
        file = SourceFile(sha256=each["digest"].removeprefix("sha256:"), path=path, num_bytes=each["num_bytes"])
        # Studies may name a file without the ending of its compression.
        study.text.known_files[path] = study.text.known_files[path.with_suffix("")] = file
    return study


def digests_in(name: str) -> set[str]:
    found = set()
    for piece in (ROOT / "results" / name / "pieces").glob("*.tar.xz"):
        with tarfile.open(piece) as archive:
            for member in archive:
                if member.name.endswith("record.json"):
                    record = archive.extractfile(member)
                    assert record is not None
                    found.add(json.load(record)["digest"])
    return found


@pytest.mark.parametrize("name", STUDIES)
def test_every_stage_of_a_published_study_has_the_digest_it_was_published_with(name: str) -> None:
    study, published = published_study(name), digests_in(name)
    stages = inputs_first(targets(study))
    assert gaps(study) == []
    assert len(stages) > 40
    assert [stage.title for digest, stage in stages.items() if digest not in published] == []


def test_pieces_that_are_unpacked_are_found_by_a_plan(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    unpack(ROOT / "results/control-width/pieces/1.tar.xz", store)
    planned = plan_of(targets(published_study("control-width")), store)
    assert planned
    assert {each.state for each in planned} == {State.DONE}
