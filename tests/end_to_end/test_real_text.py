"""A study of real languages, from its files to every vocabulary of Table 1; missing data is named."""

import json
import os
import shutil
from functools import partial
from pathlib import Path

import pytest
from commands import answered
from real_studies import write_real_study

import isoglot as ig
from isoglot.corpora.numbered_text import NumberedText
from isoglot.study.conditions import TABLE_1


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("prepared")
    write_real_study(folder)
    run = answered("run", "real.toml", "--workers", "1", folder=folder)
    assert (run.returncode, run.stderr) == (0, ""), run.stdout
    (folder / "output.txt").write_text(run.stdout)
    return folder


def test_every_vocabulary_of_table_1_is_prepared(prepared: Path) -> None:
    answer = answered("results", "real.toml", "--json", folder=prepared)
    assert answer.stderr == ""
    lines = [json.loads(line) for line in answer.stdout.splitlines()]
    found = {(line["condition"], line["metric"], line["language"]): line["value"] for line in lines}
    names = [condition.name for condition in TABLE_1]
    assert list(dict.fromkeys(condition for condition, _, _ in found)) == names
    for name in names:
        apart = name == "no-anchors" or name.startswith("sep-emb")
        assert (found[name, "anchor_types", "fr"] == 0) is apart
        assert (found[name, "anchor_token_share", "en"] == 0) is apart
        assert found[name, "unknown_share_held_out", "fr"] == 0
    for language in ("en", "fr"):
        assert found["extra-anchors", "dictionary_word_share", language] > 10
    main, other = (found[name, "training_words", "fr"] for name in ("default", "wiki-cc"))
    assert main - 150 < other <= main, "a second domain is cut to the size of the first"
    assert found["default", "training_words", "en"] == found["wiki-cc", "training_words", "en"]


def test_the_run_names_its_splitters_and_shows_the_vocabularies(prepared: Path) -> None:
    output = (prepared / "output.txt").read_text()
    for part in ("  words of en: moses (sacremoses ", "Vocabularies (en-fr)", "Report: "):
        assert part in output
    words = [NumberedText.read(path.parent).types for path in prepared.glob("store/split-text-*/text.json")]
    assert any("Smith" in types and "'s" in types for types in words), "Moses was here"
    assert any("l'" in types and "homme" in types for types in words)


def test_a_second_run_on_files_that_were_moved_does_nothing(prepared: Path, tmp_path: Path) -> None:
    write_real_study(tmp_path / "moved")
    os.utime(tmp_path / "moved/text/fr-2.txt", (1e9, 1e9))
    answer = answered("run", "real.toml", "--data", str(tmp_path / "moved"), folder=prepared)
    assert "Nothing to do: all" in answer.stdout, answer.stdout + answer.stderr
    assert answer.returncode == 0


def test_models_are_trained_and_scored(prepared: Path) -> None:
    words = ("--exhibits", "emergence", "--conditions", "extra-anchors", "--workers", "1")
    run = answered("run", "real.toml", *words, folder=prepared)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "Parallel sentences: precision at 1 (%) by layer" in run.stdout
    assert "Word translation" in run.stdout


def test_missing_data_is_named_and_the_rest_is_made(tmp_path: Path) -> None:
    write_real_study(tmp_path)
    (tmp_path / "en-fr.tsv").unlink()
    (tmp_path / "text/fr-other.txt").unlink()
    run = answered("run", "real.toml", "--conditions", "default,wiki-cc,extra-anchors", folder=tmp_path)
    assert run.returncode == 0, run.stderr
    lacking = [line.strip() for line in run.stdout.splitlines() if line.startswith("  no data for ")]
    assert lacking == [
        "no data for wiki-cc, en-fr (vocabulary): real.toml: text/fr-other.txt: No such file or directory; "
        "did you mean fr-2.txt?",
        "no data for extra-anchors, en-fr (vocabulary): real.toml: en-fr.tsv: No such file or directory",
    ]
    report = next(tmp_path.glob("store/reports/*/report.html")).read_text()
    assert "<li>no data for wiki-cc, en-fr (vocabulary)" in report
    assert len(list(tmp_path.glob("store/vocabulary-statistics-*"))) == 1
    found = ig.Results(tmp_path / "real.toml", store=tmp_path / "store")
    with pytest.warns(UserWarning, match=r"^no data for wiki-cc, en-fr \(vocabulary\)"):
        assert {row["condition"] for row in found.to_dicts()} == {"default"}
    # What rests on that data may be damaged, and nobody looks.
    verified = answered("verify", "real.toml", folder=tmp_path)
    assert verified.returncode == 1
    assert "no data for extra-anchors, en-fr" in verified.stdout
    assert "are as their records say, but those of the parts above cannot be told without their data" in verified.stderr
    for path in (tmp_path / "text").iterdir():
        path.unlink()
    nothing = answered("run", "real.toml", folder=tmp_path)
    assert nothing.returncode == 1
    assert "without the data it lacks; is --data right?" in nothing.stderr
    assert (
        "nothing of real.toml is in store; is --data right?" in answered("verify", "real.toml", folder=tmp_path).stderr
    )


def test_a_store_is_sound_without_data_that_the_study_does_not_name(tmp_path: Path) -> None:
    """Nothing in it can rest on a file that no key names."""
    study = write_real_study(tmp_path)
    text = study.read_text(encoding="utf-8").replace('exhibits = ["vocabulary"]', 'exhibits = ["vocabulary", "growth"]')
    study.write_text(text, encoding="utf-8")
    run = answered("run", "real.toml", "--conditions", "default", "--exhibits", "vocabulary", folder=tmp_path)
    assert run.returncode == 0, run.stderr
    verified = answered("verify", "real.toml", folder=tmp_path)
    assert "(growth CKA): resources.mapping.en-fr is missing" in verified.stdout
    assert (verified.returncode, verified.stderr) == (0, "")


def test_data_is_found_from_python_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = write_real_study(tmp_path / "data").parent
    study = shutil.move(data / "real.toml", tmp_path / "real.toml")
    ours = partial(ig.Results, study, store=tmp_path / "store")
    monkeypatch.delenv("ISOGLOT_DATA", raising=False)
    for wrong in (
        partial(ig.run, study, store=tmp_path / "store"),
        ours().to_dicts,
        partial(getattr, ours(), "pending"),
    ):
        with pytest.raises(ig.IsoglotError, match=r"^real: nothing of it can be made: no data for .*en\.txt\.xz"):
            wrong()
    made = ig.run(study, data=data, store=tmp_path / "store", progress=False).to_dicts()
    assert made == ours(data=data).to_dicts() != []
    with pytest.raises(ig.IsoglotError, match=r"^data=: goes with the file of a study; load it with"):
        ig.Results(ig.Study.load(study), data=data)
    with pytest.raises(ig.IsoglotError, match=r"this model is not in .*store yet; make it with: .* --data "):
        ig.load_model(f"{study}:default:en", data=data, store=tmp_path / "store")
    monkeypatch.setenv("ISOGLOT_DATA", str(data))
    assert ours().to_dicts() == made
