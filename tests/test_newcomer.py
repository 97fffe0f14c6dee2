"""A newcomer's path, command by command: install, demo, the tutorial, Python, transformers, a probe."""

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from commands import environment
from real_studies import made_up_text
from study_texts import TINY_STUDY
from test_readme import README, shown_commands
from test_wheel import command, wheel  # noqa: F401

ROOT = Path(__file__).parents[1]
TUTORIAL = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
# Nothing is learned within seconds: only sizes are changed in the study that the tutorial writes.
SECONDS = """[change]
merges = 60
window = 16
batch = 8
updates = 20
evaluations = 2
dev_lines = 20
test_lines = 60
shape.layers = 4
shape.width = 16
shape.heads = 2
shape.feed_forward = 32
shape.positions = 64
optimization.warmup_updates = 2

[text]
"""
WORDS = [("cat", "Katze"), ("dog", "Hund"), ("house", "Haus"), ("man", "Mann"), ("old", "alte"), ("big", "große")]


def write_data(folder: Path) -> None:
    """Made-up text under the names that the tutorial gives to real text."""
    files = {
        "text/wiki.en.txt": made_up_text("en", lines=300, seed=0),
        "text/wiki.de.txt": made_up_text("de", lines=300, seed=1),
        "eval/muse/en-de.5000-6500.txt": "".join(f"{a} {b}\n" for a, b in WORDS).encode(),
    }
    # Of many lengths, by which isoglot sees that lines belong together.
    random = np.random.default_rng(0)
    drawn = [random.integers(len(WORDS), size=size) for size in random.integers(1, 12, 150)]
    for side, code in enumerate(("eng", "deu")):
        lines = (" ".join(WORDS[word][side] for word in line) + "\n" for line in drawn)
        files[f"eval/tatoeba/tatoeba.deu-eng.{code}"] = "".join(lines).encode()
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def python_block(page: str) -> str:
    [block] = re.findall(r"^```python\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)
    return block


@pytest.mark.campaign
def test_the_path_of_a_newcomer(command: Path, tmp_path: Path) -> None:  # noqa: F811
    variables = {name: value for name, value in environment().items() if name != "PYTHONPATH"}
    variables["PATH"] = f"{command.parent}{os.pathsep}{variables['PATH']}"

    def answer(*words: str) -> str:
        done = subprocess.run(words, cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    (tmp_path / "tiny.toml").write_text(TINY_STUDY, encoding="utf-8")
    answer("isoglot", "run", "tiny.toml")

    write_data(tmp_path / "DATA")
    lines = shown_commands(TUTORIAL)
    # Which the environment of this test stands for.
    assert lines[:2] == ["make setup", ". .venv/bin/activate"]
    for line in lines[2:]:
        assert answer("bash", "-c", line) != "", line
        if line.startswith("isoglot init"):
            study = tmp_path / "en-de.toml"
            text = study.read_text(encoding="utf-8")
            assert text.count("\n[text]\n") == 1
            study.write_text(text.replace("\n[text]\n", f"\n{SECONDS}"), encoding="utf-8")
    for made in ("my-report/figures/retrieval.en-de.svg", "my-report/measurements.jsonl", "my-probe/report.html"):
        assert (tmp_path / made).is_file(), made
    assert "'token_str'" in answer("python", "-c", python_block(TUTORIAL))

    printed = answer("python", "-c", python_block(README).replace('"demo', '"tiny.toml'))
    assert "sep-l4" in printed
    look = "import isoglot as ig; print(ig.load_model('my-model').hidden_states(['die Katze'], layer=1).shape)"
    assert answer("python", "-c", look) == "(1, 16)\n"
