"""A study of real languages, from its files to every vocabulary of Table 1; what is missing is named."""

import json
import os
import re
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from commands import ISOGLOT, environment, isoglot, processor_seconds, started
from real_studies import write_real_study

from isoglot.corpora.numbered_text import NumberedText, Split
from isoglot.corpora.streams import TokenStream
from isoglot.corpora.vocabulary import SPECIALS, Vocabulary
from isoglot.pipeline.model_graph import ModelGraph
from isoglot.pipeline.stages.vocabulary import VOCABULARY
from isoglot.store import Store
from isoglot.study.conditions import TABLE_1
from isoglot.study.study import read_study
from tests.end_to_end.artifact_files import artifact_files

NAMES = [condition.name for condition in TABLE_1]
SPECIAL_IDS = set(range(len(SPECIALS)))


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("prepared")
    write_real_study(folder)
    start = processor_seconds()
    run = isoglot("run", "real.toml", folder=folder)
    assert (run.returncode, run.stderr) == (0, ""), run.stdout
    (folder / "output.txt").write_text(run.stdout)
    (folder / "seconds.txt").write_text(str(processor_seconds() - start))
    return folder


def values(folder: Path) -> dict[tuple[str, str, str], float]:
    answer = isoglot("results", "real.toml", "--json", folder=folder)
    assert answer.stderr == ""
    lines = [json.loads(line) for line in answer.stdout.splitlines()]
    return {(line["condition"], line["metric"], line["language"]): line["value"] for line in lines}


def test_every_vocabulary_of_table_1_is_prepared(prepared: Path) -> None:
    found = values(prepared)
    assert list(dict.fromkeys(condition for condition, _, _ in found)) == NAMES
    for name in NAMES:
        apart = name == "no-anchors" or name.startswith("sep-emb")
        assert (found[name, "anchor_types", "fr"] == 0) is apart
        assert (found[name, "anchor_token_share", "en"] == 0) is apart
        assert found[name, "unknown_share_held_out", "fr"] == 0
    assert found["extra-anchors", "dictionary_word_share", "en"] > 10
    assert found["extra-anchors", "dictionary_word_share", "fr"] > 10


def test_a_second_domain_is_cut_to_the_size_of_the_first(prepared: Path) -> None:
    found = values(prepared)
    main, other = (found[name, "training_words", "fr"] for name in ("default", "wiki-cc"))
    assert main - 150 < other <= main
    assert found["default", "training_words", "en"] == found["wiki-cc", "training_words", "en"]


def test_languages_share_ids_as_their_condition_says(prepared: Path) -> None:
    store, study = Store(prepared / "store"), read_study(prepared / "real.toml")
    for condition in TABLE_1:
        graph = ModelGraph(study=study, condition=condition, languages=("en", "fr"), seed=0)
        ours, theirs = (
            set(TokenStream.open(store.folder(graph.streams[language])).ids(Split.TRAIN).tolist()) - SPECIAL_IDS
            for language in ("en", "fr")
        )
        tables = Vocabulary.read(store.folder(graph.vocabulary) / VOCABULARY).tables
        assert (tables["en"] != tables["fr"]) is condition.separate.embeddings
        if not condition.separate.embeddings:
            assert (ours & theirs == set()) is (condition.name == "no-anchors")
        assert min(len(ours), len(theirs)) > 10


def test_the_run_says_how_words_are_found_and_shows_the_vocabularies(prepared: Path) -> None:
    output = (prepared / "output.txt").read_text()
    assert "  words of en: moses (sacremoses " in output
    assert "Vocabularies (en-fr)" in output
    assert "Report: " in output
    words = [NumberedText.read(path.parent).types for path in prepared.glob("store/split-text-*/text.json")]
    assert any("Smith" in types and "'s" in types for types in words), "Moses was here"
    assert any("l'" in types and "homme" in types for types in words)


def test_a_second_run_does_nothing_and_says_so(prepared: Path) -> None:
    start = processor_seconds()
    again = isoglot("run", "real.toml", folder=prepared)
    assert processor_seconds() - start < 0.75 * float((prepared / "seconds.txt").read_text())
    assert "Nothing to do: all" in again.stdout
    assert again.returncode == 0


def test_where_files_lie_is_no_part_of_what_is_made(prepared: Path, tmp_path: Path) -> None:
    write_real_study(tmp_path / "moved")
    os.utime(tmp_path / "moved/text/fr-2.txt", (1e9, 1e9))
    answer = subprocess.run(
        [str(ISOGLOT), "run", "real.toml"],
        cwd=prepared,
        env=environment() | {"ISOGLOT_DATA": str(tmp_path / "moved")},
        capture_output=True,
        text=True,
    )
    assert "Nothing to do" in answer.stdout, answer.stdout + answer.stderr


def test_models_are_trained_and_scored(prepared: Path) -> None:
    words = ("--exhibits", "emergence", "--conditions", "default,extra-anchors")
    run = isoglot("run", "real.toml", *words, folder=prepared)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "Parallel sentences: precision at 1 (%) by layer" in run.stdout
    assert "Word translation" in run.stdout


def test_what_a_study_lacks_is_named_and_the_rest_is_made(tmp_path: Path) -> None:
    write_real_study(tmp_path)
    (tmp_path / "en-fr.tsv").unlink()
    (tmp_path / "text/fr-other.txt").unlink()
    words = ("--conditions", "default,wiki-cc,extra-anchors")
    run = isoglot("run", "real.toml", *words, folder=tmp_path)
    assert run.returncode == 0, run.stderr
    lacking = [line.strip() for line in run.stdout.splitlines() if line.startswith("  no data for ")]
    assert lacking == [
        "no data for wiki-cc, en-fr (vocabulary): real.toml: text/fr-other.txt: No such file or directory; "
        "did you mean fr-2.txt?",
        "no data for extra-anchors, en-fr (vocabulary): real.toml: en-fr.tsv: No such file or directory",
    ]
    report = next(tmp_path.glob("store/reports/*/report.html")).read_text()
    assert "<li>no data for wiki-cc, en-fr (vocabulary)" in report
    assert {condition for condition, _, _ in values_of(run_results(tmp_path, words))} == {"default"}
    for path in (tmp_path / "text").iterdir():
        path.unlink()
    for command in ("run", "results"):
        nothing = isoglot(command, "real.toml", folder=tmp_path)
        assert nothing.returncode == 1
        assert "without the data it lacks; is --data right?" in nothing.stderr


def run_results(folder: Path, words: tuple[str, ...]) -> list[dict[str, object]]:
    return [
        json.loads(line)
        for line in isoglot("results", "real.toml", *words, "--json", folder=folder).stdout.splitlines()
    ]


def values_of(lines: list[dict[str, object]]) -> set[tuple[object, object, object]]:
    return {(line["condition"], line["metric"], line["language"]) for line in lines}


DAMAGES = {
    "not UTF-8": (lambda path: path.write_bytes(b"good line\nb\xe9d line\n" * 90), r"fr-2\.txt:2: "),
    "empty": (lambda path: path.write_bytes(b""), r"fr-2\.txt"),
    "one giant line": (lambda path: path.write_bytes(b"word " * 300_000), r"fr-2\.txt:1: "),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_bad_text_is_named_by_file_and_line_and_leaves_nothing_half_made(tmp_path: Path, damage: str) -> None:
    spoil, message = DAMAGES[damage]
    write_real_study(tmp_path)
    spoil(tmp_path / "text/fr-2.txt")
    run = isoglot("run", "real.toml", "--conditions", "default", folder=tmp_path)
    assert run.returncode == 1
    assert "Traceback" not in run.stderr
    assert re.search(message, run.stderr), run.stderr
    made = [path.name for path in (tmp_path / "store").glob("split-text-*") if path.suffix == ""]
    assert len(made) == 1, "the sound language's"


def test_killed_at_any_moment_it_makes_the_same_bytes(prepared: Path, tmp_path: Path) -> None:
    write_real_study(tmp_path)
    words = ("run", "real.toml", "--exhibits", "vocabulary")
    for seconds in (0.6, 0.9, 1.2, 1.5, 2.0):
        process = started(*words, folder=tmp_path)
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        process.kill()
        process.communicate()
    finished = isoglot(*words, folder=tmp_path)
    assert (finished.returncode, finished.stderr) == (0, ""), finished.stdout
    left = artifact_files(tmp_path / "store")
    made = artifact_files(prepared / "store")
    assert len(left) > 50
    assert left == {name: made[name] for name in left}
