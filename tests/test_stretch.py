"""Files that bench/stretch.py carries to a machine without network, and the run that it keeps there."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from real_studies import write_real_study

from isoglot.cli.options import LISTS

SCRIPT = Path(__file__).parents[1] / "bench" / "stretch.py"


@pytest.fixture(scope="module")
def stretch() -> ModuleType:
    spec = importlib.util.spec_from_file_location("stretch", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def files_below(folder: Path) -> set[str]:
    return {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}


def test_the_files_of_the_chosen_part_are_carried_text_first(stretch: ModuleType, tmp_path: Path) -> None:
    study = str(write_real_study(tmp_path / "data"))
    names = stretch.data_files(study, data=tmp_path / "data", lists={"exhibits": "emergence", "conditions": "default"})
    assert {"text/en.txt.xz", "text/fr-1.txt.gz", "text/fr-2.txt", "parallel.en"} <= {*names}
    assert "train.en.bio" not in names
    sizes = {name: (tmp_path / "data" / name).stat().st_size for name in names}
    stretch.copy_parts(names, data=tmp_path / "data", to=tmp_path / "carry", room=sizes[names[0]])
    assert files_below(tmp_path / "carry/first") == {f"data/{names[0]}"}
    assert files_below(tmp_path / "carry/second") == {f"data/{name}" for name in names[1:]}


def test_a_file_that_cannot_be_carried_is_named(stretch: ModuleType, tmp_path: Path) -> None:
    study = write_real_study(tmp_path / "data")
    outside = tmp_path / "elsewhere.txt"
    outside.write_bytes((tmp_path / "data/text/fr-2.txt").read_bytes())
    study.write_text(study.read_text().replace("text/fr-2.txt", str(outside)))
    with pytest.raises(SystemExit, match=r"elsewhere\.txt is no file under"):
        stretch.data_files(str(study), data=tmp_path / "data", lists={"exhibits": "emergence"})


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


def test_a_part_is_chosen_by_the_options_of_isoglot(stretch: ModuleType) -> None:
    assert {*stretch.LISTS} == {*LISTS}
    for words in (["work", "--targets=de"], ["load", "demo"]):
        done = subprocess.run([sys.executable, SCRIPT, *words], capture_output=True, text=True)
        assert done.returncode == 2, "nothing was begun"
        assert "the following arguments are required" in done.stderr
