"""`isoglot probe` as people use it, and `compare`, its older name: tiny models, two files, a folder of results."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
import torch
import typer
from click.testing import Result
from commands import Workplace
from transformers import BertConfig, BertModel
from typer.testing import CliRunner

from isoglot.cli.probe import probe
from isoglot.corpora.synthetic import draw_meanings, realise
from isoglot.errors import IsoglotError
from isoglot.study.synthetic_languages import Synthetic
from tests.evaluation.geometry.tiny_readers import MOST_TOKENS, WORDS
from tests.evaluation.geometry.tiny_transformers import SMALL, word_piece

app = typer.Typer()
app.command()(probe)


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # The variable HF_HUB_OFFLINE is read once, perhaps before this test.
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    for variable in ("ISOGLOT_STORE", "ISOGLOT_DATA"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models alike but for their seed, and a wider, deeper one, each with its tokenizer."""
    folder = tmp_path_factory.mktemp("models")
    large = {"hidden_size": 32, "num_hidden_layers": 6}
    for seed, (name, shape) in enumerate({"one": {}, "two": {}, "large": large}.items()):
        torch.manual_seed(seed)
        config = BertConfig(**SMALL | {"initializer_range": 0.2} | shape)
        BertModel(config).save_pretrained(folder / name)
        word_piece().save_pretrained(folder / name)
    return folder


def text(path: Path, *, seed: int = 0) -> str:
    draw = random.Random(seed)
    lines = [" ".join(draw.choices(WORDS, k=draw.randint(3, 15))) for _ in range(200)]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def by_layer(content: dict[str, Any], metric: str) -> list[float]:
    """Scores of the trained models."""
    rows = [row for row in content["numbers"] if (row["metric"], row["variant"]) == (metric, None)]
    return [row["value"] for row in sorted(rows, key=lambda row: row["layer"])]


def run(*words: str) -> Result:
    result = CliRunner().invoke(app, words)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_the_report_of_a_study_is_not_overwritten(models: Path, tmp_path: Path) -> None:
    lines = text(tmp_path / "lines.txt")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "provenance.json").write_text("{}")
    with pytest.raises(IsoglotError, match="mine: holds the report of a study; choose another folder"):
        run(str(models / "one"), "--parallel", lines, lines, "--to", "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["provenance.json"]


def test_a_model_is_like_itself(models: Path, tmp_path: Path) -> None:
    lines = text(tmp_path / "lines.txt")
    result = run(str(models / "one"), str(models / "one"), "--parallel", lines, lines)
    assert result.exit_code == 0
    (folder,) = tmp_path.glob("probe-*-one-*-one")
    content = json.loads((folder / "probe.json").read_text())
    assert by_layer(content, "cka") == pytest.approx([1] * 4)
    assert by_layer(content, "retrieval_p1_uncentred") == [100] * 4
    assert "100.0% of 40 test sentences find their translation" in result.stdout
    (cut,) = {round(row["value"] * 2) for row in content["numbers"] if row["metric"] == "sentences_cut"}
    assert 0 < cut < 200
    for language, line in zip("AB", result.stderr.splitlines()[:2], strict=True):
        longer = f"{cut} of 200 lines of {language} are longer than the {MOST_TOKENS} tokens that its model reads"
        assert line.startswith(f"isoglot: {longer}; their ends were not")
    assert result.stdout.splitlines()[-1] == f"Page: {folder.name}/report.html"
    title, header, raw, centred, *_ = result.stdout.splitlines()
    assert title == "Sentences without a map (A-B), precision at 1 (%)"
    assert (header.split(), raw.split()[0]) == ([*(f"L{layer}" for layer in range(4)), "best"], "centred")
    assert raw.split()[1:] == centred.split()[1:] == ["100.0"] * 5


def test_json_is_all_that_is_printed_and_the_same_is_written(models: Path, tmp_path: Path) -> None:
    lines = text(tmp_path / "lines.txt")
    Path(lines).write_text("\n".join(" ".join(line.split()[:4]) for line in Path(lines).read_text().splitlines()))
    words = (str(models / "one"), str(models / "large"), "--parallel", lines, lines)
    result = run(*words, "--json", "--to", "here/there", "--new-vectors", "normalized")
    content = json.loads(result.stdout)
    assert result.stderr == ""
    assert (tmp_path / "here/there/probe.json").read_text() == result.stdout
    assert content["new_vectors"] == "normalized"
    assert len(by_layer(content, "cka")) == 4
    assert by_layer(content, "retrieval_p1_uncentred") == []
    notes = " ".join(content["notes"])
    assert "equal relative height are compared (0 with 0, 1 with 2, 2 with 4, 3 with 6)" in notes
    assert "Vectors of A have 24 numbers and of B 32" in notes


def test_lines_that_are_no_translations_are_refused_before_a_model_is_read(models: Path, tmp_path: Path) -> None:
    a, other = text(tmp_path / "a.txt"), text(tmp_path / "other.txt", seed=5)
    with pytest.raises(IsoglotError, match="do not look like translations"):
        run("no-such-model", "no-such-model", "--parallel", a, other)
    assert not list(tmp_path.glob("probe-*"))
    result = run(str(models / "one"), str(models / "two"), "--parallel", a, other, "--anyway")
    assert "The lines do not look like translations: over 200 lines" in result.stderr


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("a/b/c", r"a/b/c: there is no such folder, it has no colon, and it is no hub name; a model is a folder"),
        ("studies/x.toml", r"studies/x\.toml: there is no such folder, .*demo:monolingual:oru"),
        (".", r"\.: a folder without config\.json; a model is a folder"),
        ("no-such-model", r"no-such-model: .*isoglot's own has colons in its name, as in demo:monolingual:oru"),
        ("demo:monolingual:oru", r"demo:monolingual:oru: this model is not in .*store yet; make it with: isoglot run"),
        ("demo:what:oru", r"'what' is no condition; demo has default"),
    ],
)
def test_names_that_name_no_model_are_refused(name: str, complaint: str, tmp_path: Path) -> None:
    lines = text(tmp_path / "lines.txt")
    with pytest.raises(IsoglotError, match=complaint):
        run(name, name, "--parallel", lines, lines)
    assert not list(tmp_path.glob("probe-*"))


def test_a_folder_that_cannot_be_made_is_refused(models: Path, tmp_path: Path) -> None:
    lines = text(tmp_path / "lines.txt")
    with pytest.raises(IsoglotError, match=r"--to .*lines\.txt/x: .*lines\.txt is no folder that can be written to"):
        run(str(models / "one"), str(models / "one"), "--parallel", lines, lines, "--to", f"{lines}/x")
    with pytest.raises(IsoglotError, match="--to names no folder"):
        run(str(models / "one"), str(models / "one"), "--parallel", lines, lines, "--to", " ")


def test_models_of_the_store_are_probed_by_name(finished: Workplace, tmp_path: Path) -> None:
    made_up = finished.study.text
    assert isinstance(made_up, Synthetic)
    meanings = draw_meanings(made_up.world, count=400, seed=1)
    names, files = [], []
    for language in made_up.languages:
        files.append(tmp_path / f"{language.name}.txt")
        files[-1].write_text("\n".join(realise(meanings, language, world=made_up.world)))
        names.append(f"{finished.folder}/tiny.toml:default:{language.name}")
    where = ("--store", f"{finished.folder}/store", "--to", str(tmp_path / "to"))
    content = json.loads(run(*names, "--parallel", *map(str, files), *where, "--json").stdout)
    assert content["model"] == " and ".join(names)
    assert len(by_layer(content, "cka")) == finished.study.scale.shape.layers + 1
    assert all(0 < value < 1 for value in by_layer(content, "cka"))
    # One name and the languages are the same models.
    model = names[0].removesuffix(":ela")
    once = run(model, "--languages", "ela,oru", "--parallel", *map(str, files), *where, "--json")
    assert by_layer(json.loads(once.stdout), "cka") == by_layer(content, "cka")


def test_a_model_of_the_store_has_the_sentences_and_the_dictionary_of_its_study(finished: Workplace) -> None:
    model = f"{finished.folder}/tiny.toml:default"
    content = json.loads(run(model, "--languages", "oru,ela", "--store", f"{finished.folder}/store", "--json").stdout)
    (facts,) = content["texts"].values()
    assert facts == f"the sentences and the dictionary of tiny in {finished.folder}/store"
    values = {row["metric"]: row["value"] for row in content["numbers"] if row["layer"] is None}
    assert values["sentences"] == 20
    assert values["contextual_asked"] > 0
    with pytest.raises(IsoglotError, match="has no sentences of tiny in ela and xx; its pairs are ela-oru; for others"):
        run(model, "--languages", "ela,xx", "--store", f"{finished.folder}/store")
