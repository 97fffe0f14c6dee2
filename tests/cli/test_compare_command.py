"""`isoglot compare` as people use it: tiny models of Hugging Face's kind, two files, a folder of results."""

import json
import random
from pathlib import Path

import pytest
import torch
import typer
from click.testing import Result
from commands import Workplace
from transformers import BertConfig, BertModel
from typer.testing import CliRunner

from isoglot.cli.compare import compare
from isoglot.corpora.synthetic import draw_meanings, realise
from isoglot.errors import IsoglotError
from isoglot.study.study import Synthetic
from tests.evaluation.geometry.tiny_readers import MOST_TOKENS, WORDS
from tests.evaluation.geometry.tiny_transformers import SMALL, word_piece

app = typer.Typer()
app.command()(compare)


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


def text(path: Path, *, count: int = 200, seed: int = 0) -> str:
    draw = random.Random(seed)
    lines = [" ".join(draw.choices(WORDS, k=draw.randint(3, 15))) for _ in range(count)]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def run(*words: str) -> Result:
    result = CliRunner().invoke(app, words)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_a_model_is_like_itself(models: Path, tmp_path: Path) -> None:
    lines = text(tmp_path / "lines.txt")
    result = run(str(models / "one"), str(models / "one"), "--parallel", lines, lines)
    assert result.exit_code == 0
    (folder,) = tmp_path.glob("compare-*-one-*-one")
    content = json.loads((folder / "comparison.json").read_text())
    assert [layer["layer_a"] for layer in content["layers"]] == [0, 1, 2, 3]
    for layer in content["layers"]:
        assert layer["cka"] == pytest.approx(1)
        assert layer["retrieval_raw"] == {"a_to_b": 100, "b_to_a": 100, "mean": 100}
    assert "100.0% of 40 test sentences find their translation" in result.stdout
    assert f"are longer than the {MOST_TOKENS} tokens that A reads, and were cut." in result.stdout
    cut = content["cut_lines"]["a"]
    warning = f"isoglot: {cut} of 200 lines are longer than the {MOST_TOKENS} tokens that A reads; their ends were not"
    assert 0 < cut < 200
    assert result.stderr.startswith(warning)
    assert len(result.stderr.splitlines()) == 2
    assert result.stdout.splitlines()[-1] == f"Picture: {folder.name}/comparison.svg"
    assert (folder / "comparison.svg").read_text().startswith("<svg")


def test_json_is_all_that_is_printed_and_the_same_is_written(models: Path, tmp_path: Path) -> None:
    lines = text(tmp_path / "lines.txt")
    Path(lines).write_text("\n".join(" ".join(line.split()[:4]) for line in Path(lines).read_text().splitlines()))
    words = (str(models / "one"), str(models / "large"), "--parallel", lines, lines)
    result = run(*words, "--json", "--to", "here/there", "--new-vectors", "normalized")
    content = json.loads(result.stdout)
    assert result.stderr == ""
    assert (tmp_path / "here/there/comparison.json").read_text() == result.stdout
    assert content["new_vectors"] == "normalized"
    assert [(layer["layer_a"], layer["layer_b"]) for layer in content["layers"]] == [(0, 0), (1, 2), (2, 4), (3, 6)]
    assert all(layer["retrieval_raw"] is None for layer in content["layers"])
    assert content["widths"] == {"a": 24, "b": 32}
    assert any("relative height" in note for note in content["notes"])
    # Two seeds are less alike than one.
    lines = text(tmp_path / "lines.txt", count=400)
    result = run(str(models / "one"), str(models / "two"), "--parallel", lines, lines, "--json")
    for layer in json.loads(result.stdout)["layers"]:
        assert layer["cka"] < 0.9
        assert layer["retrieval_raw"]["mean"] < 30


def test_lines_that_are_no_translations_are_refused_before_a_model_is_read(models: Path, tmp_path: Path) -> None:
    a, other = text(tmp_path / "a.txt"), text(tmp_path / "other.txt", seed=5)
    with pytest.raises(IsoglotError, match="do not look like translations"):
        run("no-such-model", "no-such-model", "--parallel", a, other)
    assert not list(tmp_path.glob("compare-*"))
    result = run(str(models / "one"), str(models / "two"), "--parallel", a, other, "--anyway")
    assert "The lines do not look like translations: over 200 lines" in result.stdout


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
    assert not list(tmp_path.glob("compare-*"))


def test_a_folder_that_cannot_be_made_is_refused(models: Path, tmp_path: Path) -> None:
    lines = text(tmp_path / "lines.txt")
    with pytest.raises(IsoglotError, match=r"--to .*lines\.txt/x: cannot be made \(Not a directory\)"):
        run(str(models / "one"), str(models / "one"), "--parallel", lines, lines, "--to", f"{lines}/x")
    with pytest.raises(IsoglotError, match="--to names no folder"):
        run(str(models / "one"), str(models / "one"), "--parallel", lines, lines, "--to", " ")


def test_models_of_the_store_are_compared_by_name(finished: Workplace, tmp_path: Path) -> None:
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
    assert content["models"] == dict(zip("ab", names, strict=True))
    assert len(content["layers"]) == finished.study.scale.shape.layers + 1
    assert all(0 < layer["cka"] < 1 for layer in content["layers"])
