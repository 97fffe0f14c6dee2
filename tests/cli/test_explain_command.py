"""`isoglot explain` shows what makes cells and models differ."""

from pathlib import Path

from commands import Workplace, answered
from study_texts import TINY_STUDY

from isoglot.pipeline.exhibits import cells
from isoglot.pipeline.model_names import named_artifact
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


def test_explain_needs_nothing_to_be_made(tmp_path: Path, finished: Workplace) -> None:
    (tmp_path / "tiny.toml").write_text(TINY_STUDY, encoding="utf-8")
    before = answered("explain", "tiny.toml", "sep-emb-l1-6", "no-anchors", folder=tmp_path)
    assert (before.returncode, before.stderr) == (0, "")
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.toml"]
    after = answered("explain", "tiny.toml", "sep-emb-l1-6", "no-anchors", folder=finished.folder)
    assert after.stdout == before.stdout
    differing = [line.split("  ")[0].strip() for line in after.stdout.splitlines()[1:]]
    assert differing == [
        "run.separate.embeddings",
        *(f"run.separate.layers.{place}" for place in range(3)),
        "streams.ela > vocabulary > tables",
    ]


def test_explain_knows_conditions_that_the_study_does_not_list(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(TINY_STUDY, encoding="utf-8")
    answer = answered("explain", "tiny.toml", "no-anchors", "--store", "none", folder=tmp_path).stdout
    (tmp_path / "tiny.toml").write_text(TINY_STUDY.replace('"no-anchors", ', ""), encoding="utf-8")
    assert answered("explain", "tiny.toml", "no-anchors", "--store", "none", folder=tmp_path).stdout == answer
    assert "streams.ela > bpe > merges" in answer


def test_explain_compares_with_default_seeds_and_artifacts(finished: Workplace) -> None:
    seeds = answered("explain", "tiny.toml", "default:1", folder=finished.folder).stdout
    assert [line.split() for line in seeds.splitlines()] == [
        ["Setting", "default:1", "default"],
        ["run.seed", "1", "0"],
    ]
    artifact = named_artifact("default:0", study=finished.study, store=finished.store)
    named = answered("explain", "tiny.toml", "default:1", artifact.digest[:16], folder=finished.folder).stdout
    assert named.splitlines()[1].split() == ["run.seed", "1", "0"]
    same = answered("explain", "tiny.toml", "default", "default:0", folder=finished.folder).stdout
    assert same.startswith("default and default:0 are one and the same artifact: pretrained-encoder-")
