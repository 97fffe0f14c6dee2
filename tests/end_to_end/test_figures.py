"""All five figures of a tiny study, from synthetic text to pictures, and killed on the way."""

import json
import random
import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from commands import answered, isoglot, started
from study_texts import TINY_STUDY

from tests.killed_processes import artifact_files

FIGURES = (
    TINY_STUDY.replace("seeds = [0, 1]", "seeds = [0]")
    .replace('conditions = ["default", "no-anchors", "sep-emb-l1-6"]', 'conditions = ["default"]')
    .replace('["emergence", "table-1"]', '["figure-4", "figure-5", "figure-6", "figure-7", "figure-8"]')
    .replace("updates = 80", "updates = 4\nalignment.has_fasttext = false\nalignment.layer_tasks.epoch_examples = 8")
    .replace("shape.layers = 4", "shape.layers = 2")
    .replace("sentences = 400", "sentences = 200")
    .replace("parallel_sentences = 20", "parallel_sentences = 20\nmapping_sentences = 60")
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a study that ran to its end, and its output."""
    folder = tmp_path_factory.mktemp("figures")
    (folder / "tiny.toml").write_text(FIGURES, encoding="utf-8")
    answer = answered("run", "tiny.toml", "--workers", "1", folder=folder)
    assert (answer.returncode, answer.stderr) == (0, "")
    return folder, answer.stdout


def test_every_figure_is_printed_and_has_its_picture_and_its_numbers(whole: tuple[Path, str]) -> None:
    folder, printed = whole
    (report,) = (folder / "store" / "reports").iterdir()
    page = (report / "report.html").read_text(encoding="utf-8")
    for name in (
        *("figure-4.ela-oru", "figure-5.parsing.ela-oru", "figure-6.ela-oru"),
        *("figure-7.ela-oru", "figure-7.ela-ela-prime", "figure-7", "figure-8.parsing.ela-oru"),
    ):
        assert f'<figure id="picture-{name}">' in page
        assert (report / f"figures/{name}.svg").read_text(encoding="utf-8").startswith("<svg")
    for number in ("4b", 5, 6, 7, 8):
        assert f"Figure {number}: " in printed
    assert "Figure 7: CKA similarity of parallel sentences (ela-ela')" in printed

    answer = answered("results", "tiny.toml", "--json", folder=folder)
    found = [json.loads(line) for line in answer.stdout.splitlines()]
    by_layer = Counter(
        (each["exhibit"], each["condition"], each["metric"], each["variant"])
        for each in found
        if each["layer"] is not None
    )
    for exhibit, condition, metric, variant in (
        ("figure-4", "monolingual", "contextual_p1", None),
        ("figure-6", "default", "aligned_retrieval_p1", None),
        ("figure-6", "monolingual", "aligned_retrieval_p1", "untrained"),
        ("figure-7", "default", "cka", None),
        ("figure-7", "sep-emb", "svcca", None),
    ):
        assert by_layer[exhibit, condition, metric, variant] == 3
    # Each of both languages.
    assert by_layer["figure-5", "monolingual", "las", "mapped"] == by_layer["figure-8", "default", "las", None] == 6
    assert by_layer["figure-5", "monolingual", "las", "untrained"] == 6
    perplexities = {each["language"] for each in found if each["metric"] == "dev_perplexity"}
    assert perplexities == {"ela", "oru", "ela-prime"}


@pytest.mark.campaign
def test_killed_at_random_moments_it_makes_the_same_bytes(whole: tuple[Path, str], tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(FIGURES, encoding="utf-8")
    moments = random.Random(0)
    for _ in range(3):
        with started("run", "tiny.toml", folder=tmp_path) as process:
            try:
                process.wait(timeout=moments.uniform(1.5, 4))
            except subprocess.TimeoutExpired:
                process.kill()
        # Partial results can be shown; on a fast machine a run may even come to its end.
        assert process.returncode in (0, -signal.SIGKILL)
        assert "Traceback" not in isoglot("results", "tiny.toml", folder=tmp_path).stderr
    answer = isoglot("run", "tiny.toml", folder=tmp_path)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert artifact_files(tmp_path / "store") == artifact_files(whole[0] / "store")
