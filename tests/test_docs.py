"""The site, its links, the page of keys that is written from the settings, and the notebooks."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commands import environment

from isoglot.study.study_file import KEYS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
NOTEBOOKS = sorted(DOCS.glob("notebooks/*.ipynb"))
assert [notebook.stem for notebook in NOTEBOOKS] == ["demo", "hugging_face"]
QUIET = {"NO_MKDOCS_2_WARNING": "1"}


def python(*words: str, folder: Path, script: str = "") -> subprocess.CompletedProcess[str]:
    variables = environment() | {"PYTHONPATH": str(ROOT)} | QUIET
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=variables, input=script, capture_output=True, text=True, timeout=600
    )


def test_the_site_has_its_pages_loads_nothing_from_elsewhere_and_names_dead_links(tmp_path: Path) -> None:
    for name in ("README.md", "CONTRIBUTING.md", "CITATION.cff", "LICENSE", "mkdocs.yml"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(DOCS, tmp_path / "docs")
    (tmp_path / "results").symlink_to(ROOT / "results")
    dead = {
        "README.md": "docs/no_such_page.md",
        "docs/api.md": "keys.md#no-such-heading",
        "docs/demo.md": "../isoglot/no_such_file.py",
    }
    for page, link in dead.items():
        with (tmp_path / page).open("a", encoding="utf-8") as file:
            file.write(f"\n[dead]({link})\n")
    site = tmp_path / "site"
    build = python("-m", "mkdocs", "build", "--strict", "--site-dir", str(site), folder=tmp_path)
    assert build.returncode != 0
    warnings = [line for line in build.stderr.splitlines() if line.startswith("WARNING")]
    assert len(warnings) == len(dead), build.stderr
    for name in ("no_such_page.md", "no-such-heading", "no_such_file.py"):
        assert any(name in line for line in warnings)
    pages = {str(page.relative_to(site)): page.read_text(encoding="utf-8") for page in site.rglob("*.html")}
    assert {"index.html", "tutorial.html", "keys.html", "notebooks/demo.html", "CONTRIBUTING.html"} <= pages.keys()
    assert "results/replication/report.html" in pages
    for name, page in pages.items():
        if name.endswith("report.html") or name == "404.html":
            continue
        # What a page loads by itself; links that a reader follows may lead anywhere.
        for loaded in re.findall(r'<(?:img|script|source)[^>]* src(?:set)?="([^"]+)"', page):
            assert (site / name).parent.joinpath(loaded.split("?")[0]).is_file(), (name, loaded)
        assert "fonts.googleapis" not in page


def test_the_page_of_keys_is_that_of_the_settings(tmp_path: Path) -> None:
    page = (DOCS / "keys.md").read_text(encoding="utf-8")
    written = python("docs/hooks/study_keys.py", str(tmp_path / "keys.md"), folder=ROOT)
    assert written.returncode == 0, written.stderr
    assert (tmp_path / "keys.md").read_text(encoding="utf-8") == page, "write it again: make docs"
    rows = re.findall(r"^\| `([a-z_.]+)` \| (.*?) \| ", page, flags=re.MULTILINE)
    assert {"updates", "shape.width", "alignment.layer_tasks.epochs", "order", "zipf_exponent"} <= {
        key for key, _ in rows
    }
    assert [key for key, text in rows if len(text) < 5] == [], "each field of the settings has a comment"
    # Its comment has two lines.
    assert (
        "| `moments` | Models to score growth by: after updates/2^(moments-1), ..., updates/2 and updates. None keeps "
        "one at every halving down to the first update, in full precision | a whole number, at least 1 | "
        '`"none"` | `"none"` | `"none"` | `"none"` |\n'
    ) in page


def test_the_page_of_studies_has_every_key_of_a_file() -> None:
    table = (DOCS / "studies.md").read_text(encoding="utf-8").split("| key | what |")[1].split("\n\n")[0]
    first_cells = re.findall(r"^\| (.*?) \|", table, flags=re.MULTILINE)
    assert {key for cell in first_cells for key in re.findall(r"`\[?([a-z]+)", cell)} == {*KEYS}


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_its_first_cell_to_its_last(notebook: Path, tmp_path: Path) -> None:
    content = json.loads(notebook.read_text(encoding="utf-8"))
    assert (content["nbformat"], content["nbformat_minor"]) == (4, 5)
    cells = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] for cell in cells), "outputs are not kept: numbers depend on the machine"
    # As in Jupyter, the code is in no file that worker processes could import.
    # isoglot itself warns of models that learned nothing, as these.
    words = ("-W", "error", "-W", "default::UserWarning", "-")
    run = python(*words, folder=tmp_path, script="\n\n".join("".join(cell["source"]) for cell in cells))
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("layer 0") in (1, 2, 3)
    links = re.findall(r"\]\(([^)#:]+)", "".join("".join(cell["source"]) for cell in content["cells"]))
    assert [link for link in links if not (notebook.parent / link).exists()] == []
