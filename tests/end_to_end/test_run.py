"""One command makes a study and its report; the next one finds it all there."""

import json
import time
from pathlib import Path

import pytest
from commands import Workplace, answered, isoglot, processor_seconds

from tests.report.html_pages import parsed_page

FIELDS = ("study", "exhibit", "condition", "languages", "language", "task", "metric", "variant", "layer", "seed")
CONDITIONS = {"default": "Default", "no-anchors": "No anchors", "sep-emb-l1-6": "Sep Emb + L1-6"}


def test_the_output_is_plain_and_names_the_report(finished: Workplace) -> None:
    output = finished.first_output
    assert not {"\x1b", "\r", "…"} & set(output)
    assert "  pretraining, sep-emb-l1-6, ela-oru, seed 1: " in output
    assert "Made 61 artifacts in " in output
    *_, headline, named = output.splitlines()
    assert named.startswith("Report: ")
    page = Path(named.removeprefix("Report: "))
    assert page.is_relative_to(finished.folder / "store")
    text = page.read_text(encoding="utf-8")
    assert all(f">{label}<" in text for label in CONDITIONS.values())
    assert (page.parent / "provenance.json").is_file()
    # The sentence before it is the page's own.
    (shown,) = parsed_page(text).find_all("p", class_="headline")
    assert shown.text
    assert "".join(headline.split()).startswith("".join(shown.text.split()))


def test_every_measurement_is_a_line_of_json_and_tables_are_those_of_the_run(finished: Workplace) -> None:
    as_json, shown = (answered("results", "tiny.toml", *words, folder=finished.folder) for words in (["--json"], []))
    assert (as_json.returncode, as_json.stderr) == (0, "")
    lines = [json.loads(line) for line in as_json.stdout.splitlines()]
    for line in lines:
        assert set(FIELDS) <= set(line)
        assert (line["study"], line["languages"]) == ("tiny", ["ela", "oru"])
        assert line["exhibit"] in ("vocabulary", "emergence", "table-1")
        assert isinstance(line["value"], int | float)
    identities = [tuple(str(line[field]) for field in FIELDS) for line in lines]
    assert len(set(identities)) == len(lines)
    tables = finished.first_output[finished.first_output.index("What the languages") :]
    assert tables.startswith(shown.stdout.rstrip())
    # So few updates teach nothing.
    assert "No verdict, as a model knows no more of a language than how frequent its words are: " in shown.stdout


def test_a_second_run_does_nothing_and_says_so_at_once(finished: Workplace) -> None:
    before = {path: path.stat().st_mtime_ns for path in finished.store.root.glob("*-*/**/*")}
    start = processor_seconds()
    answer = isoglot("run", "tiny.toml", folder=finished.folder)
    assert processor_seconds() - start < finished.first_seconds / 3
    assert (answer.returncode, answer.stderr) == (0, "")
    assert answer.stdout.startswith("tiny: 61 artifacts done, 0 to make\n")
    assert "Nothing to do: all 61 artifacts are in store.\n" in answer.stdout
    assert {path: path.stat().st_mtime_ns for path in finished.store.root.glob("*-*/**/*")} == before


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_in_the_demo_structure_emerges_and_goes_with_the_shared_parts(seed: int, tmp_path: Path) -> None:
    start = time.monotonic()
    run = isoglot("run", "demo", "--seeds", str(seed), folder=tmp_path)
    assert run.returncode == 0, run.stderr
    assert time.monotonic() - start < 360
    best: dict[tuple[str, str | None], float] = {}
    for line in isoglot("results", "demo", "--seeds", str(seed), "--json", folder=tmp_path).stdout.splitlines():
        each = json.loads(line)
        if each["update"] is not None or each["metric"] != "retrieval_p1":
            continue
        key = each["condition"], each["variant"]
        best[key] = max(best.get(key, 0.0), each["value"])
    # Not of Sep Emb, which is a matter of luck.
    assert min(best["default", None], best["no-anchors", None]) >= 60
    assert 30 <= best["sep-l1-3", None] < min(best["default", None], best["no-anchors", None])
    gain = best["sep-emb-l1-6", None] - best["sep-emb-l1-6", "untrained"]
    assert abs(gain) <= 6
