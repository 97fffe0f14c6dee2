"""`isoglot explain` shows what makes cells and models differ."""

from pathlib import Path

from commands import Workplace, answered
from study_texts import TINY_STUDY

from isoglot.pipeline.exhibits import cells
from isoglot.pipeline.stages.scores import read_scores


def test_two_cells_differ_by_the_settings_of_their_models_and_by_their_scores(finished: Workplace) -> None:
    words = ("explain", "tiny.toml", "no-anchors:ela-oru:1 parsing", "default:ela-oru:1 parsing")
    answer = answered(*words, folder=finished.folder)
    assert (answer.returncode, answer.stderr) == (0, "")
    # A cell alone is held against that of Default.
    alone = answered("explain", "tiny.toml", "no-anchors:1 parsing", folder=finished.folder).stdout
    assert [line.split() for line in alone.splitlines()[1:4]] == [
        line.split() for line in answer.stdout.splitlines()[1:4]
    ]
    settings, _, scores = answer.stdout.partition("Score")
    assert "vocabulary > tables" in settings
    assert "merges" in settings
    ours, theirs = (
        {(score.metric, score.language): f"{score.value:g}" for score in read_scores(finished.store.folder(cell.stage))}
        for name in ("no-anchors", "default")
        for cell in cells(finished.study)
        if (cell.condition, cell.seed, cell.task) == (name, 1, "parsing")
    )
    shown = {tuple(line.split()[:2]): line.split()[2:] for line in scores.splitlines()}
    for key in (key for key in ours if key[1]):
        # Scores that are the same explain nothing.
        assert shown.get(key) == (None if ours[key] == theirs[key] else [ours[key], theirs[key]])
    assert shown


def test_cells_of_two_seeds_differ_by_the_seed_and_have_scores_only_where_made(finished: Workplace) -> None:
    words = ("explain", "tiny.toml", "default:1 emergence", "default:0 emergence")
    made, elsewhere = (answered(*words, "--store", store, folder=finished.folder) for store in ("store", "elsewhere"))
    for answer in (made, elsewhere):
        assert (answer.returncode, answer.stderr) == (0, "")
        assert answer.stdout.splitlines()[1].split() == ["encoder", ">", "run.seed", "1", "0"]
    assert "retrieval_p1 L0" in made.stdout
    assert "Score" not in elsewhere.stdout
    same = answered("explain", "tiny.toml", "default", "default:0", folder=finished.folder).stdout
    assert same.startswith("default and default:0 are one and the same artifact: pretrained-encoder-")
    digest = same.rpartition("-")[2].strip()
    named = answered("explain", "tiny.toml", "default:1", digest, folder=finished.folder).stdout
    assert named.splitlines()[1].split() == ["run.seed", "1", "0"]


def test_explain_needs_nothing_to_be_made(tiny: Path, finished: Workplace) -> None:
    before = answered("explain", "tiny.toml", "sep-emb-l1-6", "no-anchors", folder=tiny)
    assert (before.returncode, before.stderr) == (0, "")
    assert [path.name for path in tiny.iterdir()] == ["tiny.toml"]
    after = answered("explain", "tiny.toml", "sep-emb-l1-6", "no-anchors", folder=finished.folder)
    assert after.stdout == before.stdout
    differing = [line.split("  ")[0].strip() for line in after.stdout.splitlines()[1:]]
    assert differing == [
        "run.separate.embeddings",
        *(f"run.separate.layers.{place}" for place in range(3)),
        "streams.ela > vocabulary > tables",
    ]


def test_explain_knows_conditions_that_the_study_does_not_list(tiny: Path) -> None:
    answer = answered("explain", "tiny.toml", "no-anchors", "--store", "none", folder=tiny).stdout
    (tiny / "tiny.toml").write_text(TINY_STUDY.replace('"no-anchors", ', ""), encoding="utf-8")
    assert answered("explain", "tiny.toml", "no-anchors", "--store", "none", folder=tiny).stdout == answer
    assert "streams.ela > bpe > merges" in answer
