"""`isoglot explain` tells cells apart as well as models."""

import json

from commands import Workplace, isoglot

from isoglot.pipeline.exhibits import cells
from isoglot.pipeline.stages.fine_tuning import ZeroShotTransfer


def test_two_cells_differ_by_the_settings_of_their_models_and_by_their_scores(finished: Workplace) -> None:
    words = ("explain", "tiny.toml", "no-anchors:ela-oru:1 parsing", "default:ela-oru:1 parsing")
    answer = isoglot(*words, folder=finished.folder)
    assert (answer.returncode, answer.stderr) == (0, "")
    settings, _, scores = answer.stdout.partition("Score")
    assert "vocabulary > tables" in settings
    assert "merges" in settings
    stages = {
        cell.condition: cell.stage
        for cell in cells(finished.study)
        if cell.seed == 1 and isinstance(cell.stage, ZeroShotTransfer)
    }
    ours, theirs = (
        {
            (score["metric"], score["language"]): score["value"]
            for score in json.loads((finished.store.folder(stages[name]) / "scores.json").read_text())
        }
        for name in ("no-anchors", "default")
    )
    key = next(key for key in ours if key[1] and ours[key] != theirs[key])
    (line,) = (line.split() for line in scores.splitlines() if line.split()[:2] == list(key))
    assert line[2:] == [f"{ours[key]:g}", f"{theirs[key]:g}"]
    told = {tuple(line.split()[:2]) for line in scores.splitlines()}
    equal = {key for key in ours if key[1] and ours[key] == theirs[key]}
    assert equal
    assert equal.isdisjoint(told), "what is the same explains nothing"


def test_cells_of_two_seeds_differ_by_the_seed(finished: Workplace) -> None:
    answer = isoglot("explain", "tiny.toml", "default:1 emergence", "default:0 emergence", folder=finished.folder)
    first = [line.split() for line in answer.stdout.splitlines()][1]
    assert first == ["encoder", ">", "run.seed", "1", "0"]
    assert "retrieval_p1 L0" in answer.stdout


def test_a_cell_that_is_not_made_is_explained_without_scores(finished: Workplace) -> None:
    words = ("explain", "tiny.toml", "default:1 parsing", "default:0 parsing", "--store", "elsewhere")
    answer = isoglot(*words, folder=finished.folder)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert "run.seed" in answer.stdout
    assert "Score" not in answer.stdout


def test_a_cell_alone_is_held_against_that_of_default(finished: Workplace) -> None:
    short = isoglot("explain", "tiny.toml", "no-anchors:1 parsing", folder=finished.folder)
    words = ("explain", "tiny.toml", "no-anchors:1 parsing", "default:ela-oru:1 table-1 parsing")
    assert short.stdout == isoglot(*words, folder=finished.folder).stdout
    assert "Score" in short.stdout
