"""`isoglot pack` and `isoglot unpack` as people use them: the same reports elsewhere, and clear refusals."""

import json
import os
import re
import shutil
from hashlib import sha256
from pathlib import Path

import pytest
from commands import Workplace, answered
from real_studies import write_real_study

from isoglot.errors import IsoglotError
from isoglot.pipeline.exhibits import cells
from isoglot.pipeline.measurements import measurements, pending_cells
from isoglot.pipeline.model_names import named_side
from isoglot.pipeline.probe_texts import study_text
from isoglot.pipeline.stages.fine_tuning import ZeroShotTransfer
from isoglot.report.writing import PAGE, write_current_report
from isoglot.store import Store
from tests.killed_processes import files_of
from tests.oracles import sealed

LIMIT = "1KB"
"""Below all weights, texts and token streams of the tiny study, and below some of its scores."""


def ran(*words: str, folder: Path) -> str:
    answer = answered(*words, folder=folder)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


@pytest.fixture(scope="module")
def origin(finished: Workplace, tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """A copy of what was run, with its report written again as `isoglot report` does, and an archive of it."""
    folder = Path(shutil.copytree(finished.folder, tmp_path_factory.mktemp("origin") / "copy"))
    ran("report", "tiny.toml", folder=folder)
    ran("pack", "tiny.toml", "--to", "tiny.tar.xz", "--largest-file", LIMIT, folder=folder)
    return Workplace(folder=folder, first_output="")


@pytest.fixture(scope="module")
def elsewhere(origin: Workplace, tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """Another machine, with the study and the archive alone. Tests that change its store change a copy."""
    folder = tmp_path_factory.mktemp("elsewhere")
    for name in ("tiny.toml", "tiny.tar.xz"):
        shutil.copy(origin.folder / name, folder / name)
    return Workplace(folder=folder, first_output=ran("unpack", "tiny.tar.xz", folder=folder))


def test_no_weights_travel(origin: Workplace, elsewhere: Workplace) -> None:
    assert list(elsewhere.store.root.rglob("*.safetensors")) == []
    assert list(origin.store.root.rglob("*.safetensors")) != []
    with pytest.raises(IsoglotError, match=r"has only a summary of this model; .*--largest-file 1GB"):
        named_side(f"{elsewhere.folder}/tiny.toml:default:oru", store=elsewhere.store)
    with pytest.raises(IsoglotError, match=r"only a summary of 'dictionary of ela and oru'; .*--largest-file 1GB"):
        study_text(f"{elsewhere.folder}/tiny.toml:default", ("ela", "oru"), store=elsewhere.store, data=None)


@pytest.mark.parametrize(
    "words",
    [
        ("results", "tiny.toml", "--json"),
        ("plan", "tiny.toml", "--conditions", "default,no-anchors", "--seeds", "1"),
        ("explain", "tiny.toml", "sep-emb-l1-6:1 parsing"),
        ("explain", "tiny.toml", "pretrained-encoder", "vocabulary-statistics"),
    ],
    ids=" ".join,
)
def test_commands_say_the_same(origin: Workplace, elsewhere: Workplace, words: tuple[str, ...]) -> None:
    here, there = (answered(*words, folder=place.folder) for place in (origin, elsewhere))
    assert (there.returncode, there.stdout) == (here.returncode, here.stdout)
    # What cannot be distinguished by its name is an error, and names the store.
    assert there.stderr == here.stderr.replace(str(origin.folder), str(elsewhere.folder))


def test_the_report_is_the_same_to_the_byte(origin: Workplace, elsewhere: Workplace) -> None:
    ran("report", "tiny.toml", folder=elsewhere.folder)
    here, there = (files_of(place.store.root / "reports") for place in (origin, elsewhere))
    assert here.keys() == there.keys()
    assert [name for name in here if here[name] != there[name]] == []
    (page,) = elsewhere.store.root.glob(f"reports/*/{PAGE}")
    assert "Logs (6)" in page.read_text()
    addresses = re.findall(r'href="(\.\./[^"]+)"', page.read_text())
    assert len(addresses) > 6
    assert [address for address in addresses if not (page.parent / address).exists()] == []


def test_a_run_has_nothing_to_do(elsewhere: Workplace) -> None:
    before = files_of(elsewhere.store.root)
    output = ran("run", "tiny.toml", "--within", "60", folder=elsewhere.folder)
    assert re.search(r"^Nothing to do: all \d+ artifacts are in store\.$", output, flags=re.MULTILINE)
    after = files_of(elsewhere.store.root)
    assert {name for name in after.keys() ^ before.keys() if not name.startswith("reports/")} == set()


def test_two_archives_make_one_study(origin: Workplace, tmp_path: Path) -> None:
    """As made on two machines: by condition, and by seed, with something in both."""
    shutil.copy(origin.folder / "tiny.toml", tmp_path)
    pieces = {"a": ("--conditions", "default,no-anchors"), "b": ("--conditions", "sep-emb-l1-6,default")}
    for name, words in pieces.items():
        output = ran("pack", "tiny.toml", *words, "--to", f"{tmp_path}/{name}.tar.xz", folder=origin.folder)
        assert "are not in" not in output
    ran("unpack", "b.tar.xz", folder=tmp_path)
    assert {each.condition for each in pending_cells(origin.study, Store(tmp_path / "store"))} == {"no-anchors"}
    assert re.search(r"a\.tar\.xz: .*; \d+ of them were in store already", ran("unpack", "a.tar.xz", folder=tmp_path))
    ran("report", "tiny.toml", folder=tmp_path)
    assert files_of(tmp_path / "store" / "reports") == files_of(origin.store.root / "reports")


def test_a_summary_fills_its_cell(origin: Workplace, tmp_path: Path) -> None:
    """As that of a map between two models, which is heavy and has scores beside it."""
    copy = Store(Path(shutil.copytree(origin.store.root, tmp_path / "store")))
    study = origin.study
    before = write_current_report(study, copy)
    stage = cells(study)[-1].stage
    moved = copy.summary_folder(stage)
    moved.parent.mkdir()
    copy.folder(stage).rename(moved)
    (moved / "isoglot-summary.json").write_text(json.dumps({"files": ["scores.json"]}))
    old_page = before.page.read_text()
    after = write_current_report(study, copy)
    assert (after.pending, after.damage) == ([], [])
    name = moved.name
    assert after.page.read_text() == old_page.replace(f"../../{name}/", f"../../summaries/{name}/")
    assert f"../../summaries/{name}/record.json" in after.page.read_text()

    (moved / "scores.json").write_text("[]")
    found, damage = measurements(study, copy)
    assert stage.digest not in {each.stage for each in found}
    assert str(moved / "scores.json") in str(damage[0].error)
    damaged = write_current_report(study, copy)
    assert damaged.pending == []
    assert str(moved / "scores.json") in damaged.page.read_text()


def test_what_was_made_twice_is_counted_with_what_rests_on_it(
    origin: Workplace, elsewhere: Workplace, tmp_path: Path
) -> None:
    """Models were fine-tuned and scored otherwise on another machine, and one score comes from there alone."""
    copy = Path(shutil.copytree(origin.folder, tmp_path / "copy"))
    there = Path(shutil.copytree(elsewhere.folder, tmp_path / "there"))
    first, *others = [cell.stage for cell in cells(origin.study) if isinstance(cell.stage, ZeroShotTransfer)][:5]
    for stage in (first.runs[0], *others):
        folder = Store(copy / "store").folder(stage)
        scores = folder / "scores.json"
        scores.write_text(scores.read_text() + "\n")
        record = json.loads((folder / "record.json").read_text())
        digest = sha256(scores.read_bytes()).hexdigest()
        record["files"]["scores.json"] = {"bytes": scores.stat().st_size, "sha256": digest}
        (folder / "record.json").write_text(sealed(record))
    shutil.rmtree(Store(there / "store").folder(first))
    ran("pack", "tiny.toml", "--to", f"{there}/other.tar.xz", folder=copy)
    (line,) = answered("unpack", "other.tar.xz", folder=there).stderr.splitlines()
    assert line.startswith("isoglot: other.tar.xz: 5 artifacts differ from those in store, which stay: ")
    assert sum(stage.title in line for stage in (first.runs[0], *others)) == 3
    assert line.endswith(
        "; and 2 more. 1 artifact that came rests on the archive's own: results of different makings now stand side "
        "by side"
    )
    assert answered("unpack", "other.tar.xz", folder=there).stderr.endswith("; and 2 more\n")


def test_what_a_study_lacks_data_for_is_named(tmp_path: Path) -> None:
    write_real_study(tmp_path)
    (tmp_path / "text" / "fr-other.txt").unlink()
    ran("run", "real.toml", "--conditions", "default,wiki-cc", folder=tmp_path)
    output = ran("pack", "real.toml", "--to", "a.tar.xz", "--largest-file", "0", folder=tmp_path)
    assert "no data for wiki-cc, en-fr (vocabulary): real.toml: text/fr-other.txt: No such file" in output
    assert " as a summary (files above 0 bytes stay here, but for what reports read)." in output
    for path in (tmp_path / "text").iterdir():
        path.unlink()
    nothing = answered("pack", "real.toml", "--to", "b.tar.xz", folder=tmp_path)
    assert (nothing.returncode, nothing.stdout) == (1, "")
    assert "nothing of it can be packed without the data it lacks; is --data right?" in nothing.stderr


def test_a_pipe_is_neither_read_nor_replaced_and_a_file_is_no_store(elsewhere: Workplace, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    answer = answered("pack", "tiny.toml", "--to", str(pipe), folder=elsewhere.folder)
    assert f"--to {pipe}: that is there and is no archive of isoglot" in answer.stderr
    assert pipe.is_fifo()
    answer = answered("unpack", "tiny.tar.xz", "--store", "tiny.toml", folder=elsewhere.folder)
    assert re.search(r"the store .*tiny\.toml is a file", answer.stderr)
