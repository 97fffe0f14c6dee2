"""Files that bench/stretch.py carries to a machine without network, and the run that it keeps there."""

import os
import shutil
import subprocess
import sys
import tarfile
from io import BytesIO
from pathlib import Path
from types import ModuleType

import pytest
from bench_scripts import BENCH, bench_script
from real_studies import write_real_study
from stand_in_driver import write_mps
from study_texts import TINY_STUDY

from isoglot import hardware
from isoglot.cli.options import LISTS
from isoglot.pipeline.cells import EMERGENCE
from isoglot.pipeline.exhibits import cells
from isoglot.pipeline.stages.models import PretrainedEncoder
from isoglot.store import Store, inputs_first, run_plan
from isoglot.study.study_file import parse_study
from tests.pipeline.making import made

SCRIPT = BENCH / "stretch.py"


@pytest.fixture(scope="module")
def stretch() -> ModuleType:
    return bench_script("stretch")


@pytest.fixture(scope="module")
def loading() -> ModuleType:
    return bench_script("loading")


def files_below(folder: Path) -> set[str]:
    return {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}


def test_the_files_of_the_chosen_part_are_carried_text_first(
    loading: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = str(write_real_study(tmp_path / "data"))
    names = loading.data_files(study, data=tmp_path / "data", lists={"exhibits": "emergence", "conditions": "default"})
    assert {"text/en.txt.xz", "text/fr-1.txt.gz", "text/fr-2.txt", "parallel.en"} <= {*names}
    assert "train.en.bio" not in names
    files = {name: tmp_path / "data" / name for name in names}
    monkeypatch.setattr(loading, "MOST_BYTES_OF_PART", max(file.stat().st_size for file in files.values()))
    parts = loading.in_parts(files)
    assert [*parts] == names
    assert parts[names[0]] == "first"
    assert len({*parts.values()}) > 1
    for part in parts.values():
        carried = [name for name in names if parts[name] == part]
        assert sum(files[name].stat().st_size for name in carried) <= loading.MOST_BYTES_OF_PART
    monkeypatch.setattr(loading, "MOST_BYTES_OF_PART", files[names[0]].stat().st_size - 1)
    with pytest.raises(SystemExit, match=rf"{names[0]} has .* MB, more than is left in 8 parts"):
        loading.in_parts(files)


def test_a_file_that_cannot_be_carried_is_named(loading: ModuleType, tmp_path: Path) -> None:
    study = write_real_study(tmp_path / "data")
    outside = tmp_path / "elsewhere.txt"
    outside.write_bytes((tmp_path / "data/text/fr-2.txt").read_bytes())
    study.write_text(study.read_text().replace("text/fr-2.txt", str(outside)))
    with pytest.raises(SystemExit, match=r"elsewhere\.txt is no file under"):
        loading.data_files(str(study), data=tmp_path / "data", lists={"exhibits": "emergence"})


def test_data_that_comes_later_is_new_and_what_came_before_is_not(stretch: ModuleType, tmp_path: Path) -> None:
    def carry(part: str, content: str) -> bool:
        file = tmp_path / "carry" / part / "data" / "text" / f"{part}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        return bool(stretch.unpack_parts(tmp_path / "carry", to=tmp_path / "there"))

    assert carry("first", "one")
    assert not carry("first", "one")
    assert carry("second", "two")
    assert carry("first", "another text")
    assert (tmp_path / "there/data/text/first.txt").read_text() == "another text"


def test_packages_are_there_whole_or_not_at_all(stretch: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages/one.py").write_text("name = 1\n")
    (tmp_path / "carry/first").mkdir(parents=True)
    shutil.make_archive(str(tmp_path / "carry/first/site"), "xztar", tmp_path / "packages")
    # As a call leaves it that was killed while it unpacked.
    (tmp_path / "there/site.partial").mkdir(parents=True)
    assert stretch.unpack_parts(tmp_path / "carry", to=tmp_path / "there")
    assert files_below(tmp_path / "there") == {"site/one.py"}
    assert not stretch.unpack_parts(tmp_path / "carry", to=tmp_path / "there")


def test_a_process_that_has_ended_does_not_run(stretch: ModuleType, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    assert not stretch.is_running(pid)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True) as process:
        pid.write_text(str(process.pid))
        assert stretch.is_running(pid)
        stretch.stop(process.pid)
        # Nobody has waited for it yet.
        assert not stretch.is_running(pid)


def test_runs_of_two_studies_share_one_service_of_the_gpu(
    stretch: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, calls = tmp_path / "mps", tmp_path / "calls"
    monkeypatch.setattr(hardware, "MPS_DEFAULT", folder)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    write_mps(tmp_path, does=f'echo "$@" >> {calls}; mkdir {folder}')
    for _ in range(2):
        stretch.share_gpu()
    assert calls.read_text() == "-d\n"


def test_a_part_is_chosen_by_the_options_of_isoglot(stretch: ModuleType) -> None:
    assert {*stretch.LISTS} == {*LISTS}
    for words in (["work", "--targets=de"], ["load", "demo"]):
        done = subprocess.run([sys.executable, SCRIPT, *words], capture_output=True, text=True)
        assert done.returncode == 2, "nothing was begun"
        assert "the following arguments are required" in done.stderr


def test_weights_come_home_in_turn_and_more_can_be_made_from_them(
    stretch: ModuleType, loading: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = TINY_STUDY.replace("updates = 80", "updates = 8\nmoments = 3").replace("[0, 1]", "[0]")
    scored = [cell.stage for cell in cells(parse_study(text, origin="tiny.toml")) if cell.exhibit == EMERGENCE]
    models = [each for each in inputs_first(scored).values() if isinstance(each, PretrainedEncoder)]
    there = made(*models, folder=tmp_path / "there")
    (there.root / "pretrained-encoder-0.partial").mkdir()
    weights = (there.folder(models[0]) / "best/model.safetensors").stat().st_size
    monkeypatch.setattr(stretch, "MOST_PARTS", 8)
    monkeypatch.setattr(stretch, "BYTES_OF_A_PART", weights // 3)

    def call() -> bytes:
        (tmp_path / "out").mkdir()
        stretch.leave_weights(there.root, to=tmp_path / "out", sent=tmp_path / "sent")
        parts = [part.read_bytes() for part in sorted((tmp_path / "out").iterdir())]
        shutil.rmtree(tmp_path / "out")
        assert all(len(part) == weights // 3 for part in parts[:-1])
        return b"".join(parts)

    home = tmp_path / "home"
    shutil.copytree(there.root, home, ignore=shutil.ignore_patterns("pretrained-encoder-*", "*emergence*"))
    for _ in range(2):
        with tarfile.open(fileobj=BytesIO(call())) as tar:
            assert {Path(name).parts[0] for name in tar.getnames()} < {
                folder.name for folder in map(there.folder, models)
            }
            tar.extractall(home, filter="data")
    assert call() == b"", "all have been left before"
    for model in models:
        record, kept = Store(home).record(model), files_below(Store(home).folder(model))
        assert record.digest == model.digest
        assert kept == {*record.files, "record.json"}
        assert not any("intermediate" in name for name in kept)
        assert Store(home).verified_folder(model).is_dir()
    # They can be carried to another machine, too. Nothing is trained again.
    (tmp_path / "tiny.toml").write_text(text)
    lists = {"exhibits": "emergence", "conditions": "default"}
    (folder,) = loading.model_folders(str(tmp_path / "tiny.toml"), data=tmp_path, store=home, lists=lists)
    loading.copy(folder, tmp_path / "carry/first/store" / folder.name)
    assert stretch.unpack_parts(tmp_path / "carry", to=tmp_path / "next")
    assert files_below(tmp_path / "next/store" / folder.name) == files_below(folder)
    assert Store(tmp_path / "next/store").verified_folder(models[0]).is_dir()
    outcome = run_plan(scored, Store(home))
    assert {each.digest for each in scored} <= {each.digest for each in outcome.made}
    assert not any(isinstance(each, PretrainedEncoder) for each in outcome.made)
