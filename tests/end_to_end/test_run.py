"""One command makes a study and its report; the next one finds it all there."""

import json
import re
from pathlib import Path
from statistics import fmean

import pytest
from commands import Workplace, isoglot, processor_seconds

FIELDS = ("study", "exhibit", "condition", "languages", "language", "task", "metric", "layer", "seed", "value")
CONDITIONS = {"default": "Default", "no-anchors": "No anchors", "sep-emb-l1-6": "Sep Emb + L1-6"}
Line = dict[str, object]


@pytest.fixture(scope="module")
def lines(finished: Workplace) -> list[Line]:
    answer = isoglot("results", "tiny.toml", "--json", folder=finished.folder)
    assert (answer.returncode, answer.stderr) == (0, "")
    return [json.loads(line) for line in answer.stdout.splitlines()]


def scores(lines: list[Line], condition: str, metric: str, *, seed: int) -> dict[int | None, float]:
    """By layer."""
    return {
        line["layer"]: line["value"]
        for line in lines
        if (line["condition"], line["metric"], line["seed"]) == (condition, metric, seed)
    }


def row(text: str, label: str, *, after: str) -> list[str]:
    rest = text[text.index(after) :].splitlines()
    return next(line for line in rest if line.startswith(f" {label} ")).removeprefix(f" {label}").split()


def row_labels(text: str) -> set[str]:
    """Of all tables."""
    return {label for label in CONDITIONS.values() if re.search(f"^ {re.escape(label)} ", text, flags=re.MULTILINE)}


def test_the_run_names_its_report(finished: Workplace) -> None:
    named = re.search(r"^Report: (.*)$", finished.first_output, flags=re.MULTILINE)
    assert named is not None
    page = Path(named[1])
    assert page.is_relative_to(finished.folder / "store")
    text = page.read_text(encoding="utf-8")
    assert all(f">{label}<" in text for label in CONDITIONS.values())
    assert (page.parent / "provenance.json").is_file()
    assert "Made 61 artifacts in " in finished.first_output


def test_output_into_a_pipe_is_plain(finished: Workplace) -> None:
    assert "\x1b" not in finished.first_output
    assert "\r" not in finished.first_output
    assert "…" not in finished.first_output
    assert "  pretraining, sep-emb-l1-6, ela-oru, seed 1: " in finished.first_output


def test_every_measurement_is_a_line_of_json(lines: list[Line]) -> None:
    for line in lines:
        assert set(FIELDS) <= set(line)
        assert (line["study"], line["languages"]) == ("tiny", ["ela", "oru"])
        assert line["exhibit"] in ("vocabulary", "emergence", "table-1")
        assert isinstance(line["value"], int | float)
    identities = [tuple(str(line[field]) for field in FIELDS[:-1]) for line in lines]
    assert len(set(identities)) == len(lines)


@pytest.mark.parametrize("metric", ["retrieval_p1", "word_translation_p1"])
def test_retrieval_is_in_percent_at_every_layer_before_and_after_training(lines: list[Line], metric: str) -> None:
    for condition in CONDITIONS:
        for seed in (0, 1):
            for of_model in (metric, f"{metric}_untrained"):
                by_layer = scores(lines, condition, of_model, seed=seed)
                assert list(by_layer) == [0, 1, 2, 3, 4]
                assert all(0 <= value <= 100 for value in by_layer.values())
            (chance,) = scores(lines, condition, f"{metric}_chance", seed=seed).values()
            assert 0 < chance <= 20
    # In percent, not in parts of one.
    assert max(line["value"] for line in lines if line["metric"] == metric) > 1
    assert scores(lines, "default", "retrieval_p1_chance", seed=0) == {None: 5.0}


def test_training_is_seen_in_the_scores(lines: list[Line]) -> None:
    for seed in (0, 1):
        before = scores(lines, "default", "retrieval_p1_untrained", seed=seed)
        assert scores(lines, "default", "retrieval_p1", seed=seed) != before
    first, second = (scores(lines, "default", "retrieval_p1", seed=seed) for seed in (0, 1))
    assert first != second


def test_tables_show_mean_and_range_over_seeds(finished: Workplace, lines: list[Line]) -> None:
    answer = isoglot("results", "tiny.toml", folder=finished.folder)
    tables = finished.first_output[finished.first_output.index("What the languages") :]
    assert tables.startswith(answer.stdout.rstrip())
    default = fmean(max(scores(lines, "default", "retrieval_p1", seed=seed).values()) for seed in (0, 1))
    for condition, label in CONDITIONS.items():
        of_seeds = [scores(lines, condition, "retrieval_p1", seed=seed) for seed in (0, 1)]
        best = [max(each.values()) for each in of_seeds]
        untrained = [max(scores(lines, condition, "retrieval_p1_untrained", seed=seed).values()) for seed in (0, 1)]
        assert row(answer.stdout, label, after="Parallel sentences") == [
            *(f"{fmean(each[layer] for each in of_seeds):.1f}" for layer in range(5)),
            f"{fmean(best):.1f}",
            f"({min(best):.0f}-{max(best):.0f})",
            f"{fmean(untrained):.1f}",
            f"{fmean(best) - default:+.1f}",
        ]


def test_one_seed_and_one_condition_can_be_asked_for(finished: Workplace, lines: list[Line]) -> None:
    asked = ("--seeds", "1", "--conditions", "no-anchors")
    answer = isoglot("results", "tiny.toml", *asked, "--json", folder=finished.folder)
    expected = [line for line in lines if line["condition"] == "no-anchors" and line["seed"] in (1, None)]
    assert [json.loads(line) for line in answer.stdout.splitlines()] == expected
    table = isoglot("results", "tiny.toml", *asked, folder=finished.folder).stdout
    best = max(scores(lines, "no-anchors", "retrieval_p1", seed=1).values())
    assert row(table, "No anchors", after="Parallel sentences")[5] == f"{best:.1f}"
    assert row_labels(table) == {"No anchors"}


def test_a_second_run_does_nothing_and_says_so_at_once(finished: Workplace) -> None:
    before = {path: path.stat().st_mtime_ns for path in finished.store.root.glob("*-*/**/*")}
    seconds = []
    for _ in range(2):
        start = processor_seconds()
        answer = isoglot("run", "tiny.toml", folder=finished.folder)
        seconds.append(processor_seconds() - start)
        assert (answer.returncode, answer.stderr) == (0, "")
        assert answer.stdout.startswith("tiny: 61 artifacts done, 0 to make\n")
        assert "Nothing to do: all 61 artifacts are in store.\n" in answer.stdout
    assert min(seconds) < finished.first_seconds / 4
    assert {path: path.stat().st_mtime_ns for path in finished.store.root.glob("*-*/**/*")} == before
