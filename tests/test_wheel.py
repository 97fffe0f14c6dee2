"""The wheel, installed as anyone would: it holds every file of the package, and its command runs a study."""

import re
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from commands import environment
from study_texts import TINY_STUDY

import isoglot

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    # Without a network: the tools that build it are those of this environment.
    words = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir"]
    subprocess.run([sys.executable, "-m", "pip", *words, str(folder), str(ROOT)], check=True)
    (built,) = folder.glob("isoglot-*.whl")
    return built


@pytest.fixture(scope="module")
def command(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command in an environment of its own, which borrows all but isoglot from this one."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    words = ["install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", "--python", str(python), *words], check=True)
    (own,) = folder.glob("lib/*/site-packages")
    # A folder named in a .pth file comes last, and .pth files in it, such as that of an editable isoglot, are not read.
    (own / "borrowed.pth").write_text(sysconfig.get_paths()["purelib"] + "\n", encoding="utf-8")
    return folder / "bin" / "isoglot"


def test_every_file_of_the_package_is_in_the_wheel(wheel: Path) -> None:
    package = ROOT / "isoglot"
    ours = {
        path.relative_to(ROOT).as_posix()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert packed == ours
    assert {Path(name).suffix for name in packed} > {".py", ".toml", ".css"}


def test_its_command_is_not_that_of_the_checkout_and_runs_a_study(command: Path, tmp_path: Path) -> None:
    variables = {name: value for name, value in environment().items() if name != "PYTHONPATH"}

    def answer(*words: str) -> str:
        done = subprocess.run(words, cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout

    python = str(command.with_name("python"))
    at = answer(python, "-c", "import isoglot; print(isoglot.__file__)").strip()
    assert Path(at).is_relative_to(command.parents[1])
    assert answer(str(command), "--version") == f"isoglot {isoglot.__version__}\n"
    assert "demo" in answer(str(command), "list")
    assert "tatoeba" in answer(str(command), "data", "list")
    (tmp_path / "tiny.toml").write_text(TINY_STUDY, encoding="utf-8")
    # Trains nothing, and still reads templates and style sheets from the wheel.
    made = answer(str(command), "run", "tiny.toml", "--exhibits", "vocabulary", "--workers", "1")
    (page,) = re.findall(r"^Report: (.*)$", made, flags=re.MULTILINE)
    assert "</html>" in (tmp_path / page).read_text(encoding="utf-8")
