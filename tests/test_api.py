"""The public names: what docs/api.md and the docstrings promise, run with a study that is small enough."""

import doctest
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir
from functools import partial
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch
from commands import answered, environment
from study_texts import TINY_STUDY

import isoglot as ig
from isoglot.report.report_files import read_report_data

ROOT = Path(__file__).parents[1]
# As the demo has it, where examples print it: its name, its widths, one task, and conditions that the session trains.
SMALL = (
    TINY_STUDY.replace('"tiny"', '"demo"')
    .replace('["default", "no-anchors", "sep-emb-l1-6"]', '["default"]')
    .replace('"parsing"', '"ner"')
    .replace("shape.width = 16", "shape.width = 32")
    .replace("updates = 80", "updates = 12")
)


def with_small_study(text: str) -> str:
    return text.replace('"demo', '"small.toml').replace("'demo:", "'small.toml:")


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the session of docs/api.md was run, as a script of its own without a main guard."""
    folder = tmp_path_factory.mktemp("api")
    (folder / "small.toml").write_text(SMALL, encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/api.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    (folder / "session.py").write_text(with_small_study("\n".join(blocks)), encoding="utf-8")
    # isoglot itself warns of models that learned nothing, as these.
    command = [sys.executable, "-W", "error", "-W", "default::UserWarning", "session.py"]
    variables = environment() | {"PYTHONPATH": str(ROOT)}
    run = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.count("without shared subwords") == 1, "the script runs once, and not again in each worker"
    assert "0 cells pending) 0\n" in run.stdout
    return folder


def own_study() -> ig.Study:
    mine = ig.conditions.DEFAULT.replace(name="sep-l4", label="Sep L4", separate=ig.Separate(layers={4}))
    study = ig.Study.load("small.toml").replace(seeds=[0, 1], tasks=["ner"], exhibits=["table-1", "emergence"])
    return study.with_conditions("default", mine)


@pytest.fixture
def _there(workplace: Path) -> Iterator[None]:
    with chdir(workplace):
        yield


def examples_of(name: str) -> list[doctest.DocTest]:
    value = getattr(ig, name)
    given = {"ig": ig, "np": np}
    finder = doctest.DocTestFinder(recurse=not isinstance(value, ModuleType), exclude_empty=True)
    # Methods that a class inherits from another one of isoglot are found there.
    owners = [value, *(each for each in getattr(value, "__mro__", ())[1:] if each.__module__.startswith("isoglot."))]
    return [test for each in owners for test in finder.find(each, name, module=False, globs=given) if test.examples]


@pytest.mark.usefixtures("_there")
@pytest.mark.parametrize("name", ig.__all__)
def test_examples_of_every_name_hold(name: str) -> None:
    tests = examples_of(name)
    assert name in {test.name for test in tests}, "each public name has an example"
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    for test in tests:
        for example in test.examples:
            example.source, example.want = with_small_study(example.source), with_small_study(example.want)
        report: list[str] = []
        runner.run(test, out=report.append)
        assert report == []


def test_the_page_names_every_name() -> None:
    page = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    assert [name for name in ig.__all__ if not re.search(rf"\b{name}\b", page)] == []


def test_importing_loads_nothing_heavy_and_wrong_names_are_refused() -> None:
    heavy = "{*sys.modules} & {'torch', 'numpy', 'pydantic', 'rich', 'pandas', 'typer'}"
    code = f"import sys, isoglot; print(dir(isoglot), hasattr(isoglot, 'Stduy'), {heavy} or 'light')"
    command, variables = [sys.executable, "-c", code], environment() | {"PYTHONPATH": str(ROOT)}
    printed = subprocess.run(command, env=variables, capture_output=True, text=True, check=True).stdout
    assert all(repr(name) in printed for name in ig.__all__)
    assert printed.endswith("False light\n")


@pytest.mark.usefixtures("_there")
def test_a_condition_of_ones_own_is_reported_under_its_label() -> None:
    page = Path("out/report.html").read_text(encoding="utf-8")
    assert "Sep L2" in page, "its layer in a model of four layers"
    for name in ("table-1.md", "table-1.csv", "table-1.tex", "figures/retrieval.ela-oru.svg"):
        text = Path("out", name).read_text(encoding="utf-8")
        assert "Sep L4" in text, name
    data = read_report_data(Path("out"))
    assert data.study.conditions == own_study().conditions
    assert {each.condition for each in data.measurements} == {"default", "sep-l4"}
    # From its files alone, in a process that never heard of the condition, and on the terminal.
    before = Path("out/table-1.md").read_bytes()
    assert answered("report", "out", folder=Path()).returncode == 0
    assert Path("out/table-1.md").read_bytes() == before
    assert "Sep L4" in answered("results", "out", folder=Path()).stdout


@pytest.mark.usefixtures("_there")
def test_two_studies_may_call_different_conditions_by_one_name() -> None:
    other = ig.conditions.DEFAULT.replace(name="sep-l4", label="Another", separate=ig.Separate(layers={4}))
    study = own_study().with_conditions("default", other)
    # Labels are no part of what is trained, so everything is there.
    results = ig.Results(study, store="store")
    assert results.pending == 0
    assert "Another" in (results.report("other").parent / "table-1.md").read_text(encoding="utf-8")
    table = (ig.Results(own_study(), store="store").report("again").parent / "table-1.md").read_text(encoding="utf-8")
    assert "Sep L4" in table
    assert "Another" not in table


@pytest.mark.usefixtures("_there")
def test_a_pack_brings_it_to_another_store() -> None:
    assert answered("unpack", "mine.tar.xz", "--store", "elsewhere", folder=Path()).returncode == 0
    here, there = (ig.Results(own_study(), store=store) for store in ("store", "elsewhere"))
    assert there.to_dicts() == here.to_dicts() != []
    assert {row["condition"] for row in there.to_dicts()} == {"default", "sep-l4"}
    model = ig.load_model("sep-l4:oru", study=own_study(), store="elsewhere")
    assert sorted(model.reader.network.separate.layers) == [2]  # type: ignore[attr-defined]


@pytest.mark.usefixtures("_there")
def test_a_condition_of_a_study_made_in_python_is_probed_by_the_sentences_of_that_study() -> None:
    def numbers(model: str, study: ig.Study | None) -> list[float]:
        found = ig.probe(model, languages=["ela", "oru"], study=study, store="store")
        return [row["value"] for row in found.to_dicts()]

    own = numbers("sep-l4", own_study())
    assert numbers("default", own_study()) == numbers("small.toml:default", None) != own
    with pytest.raises(ig.IsoglotError, match=r"'sep-l5' is no condition; .* has default, sep-l4"):
        numbers("sep-l5", own_study())


@pytest.mark.usefixtures("_there")
def test_rows_and_the_frame_are_the_measurements(monkeypatch: pytest.MonkeyPatch) -> None:
    results = ig.Results(own_study(), store="store")
    rows = results.to_dicts()
    lines = Path("out/measurements.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(json.dumps(rows)) == [json.loads(line) for line in lines]
    frame = results.to_pandas()
    of_ner = [row["value"] for row in rows if (row["task"], row["condition"]) == ("ner", "sep-l4")]
    means = frame.query("task == 'ner'").groupby("condition").value.mean()
    assert means["sep-l4"] == pytest.approx(sum(of_ner) / len(of_ner))
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ig.IsoglotError, match="needs pandas: pip install pandas; to_dicts does without"):
        results.to_pandas()


@pytest.mark.usefixtures("_there")
def test_hidden_states_are_of_one_layer_or_all_and_long_sentences_are_cut_with_a_warning() -> None:
    model = ig.load_model("small.toml:default:oru", store="store")
    lines = ["lenlun kefin", "", "darna"]
    every = model.hidden_states(lines)
    assert (every.shape, every.dtype) == ((5, 3, 32), np.float32)
    assert np.array_equal(every[3], model.hidden_states(lines, layer=3))
    assert not every[:, 1].any()
    assert not np.array_equal(every[3, 0], every[3, 2])
    with pytest.warns(UserWarning, match=r"1 of 2 sentences are longer than the 16 tokens that small.toml:default:oru"):
        model.hidden_states(["lenlun " * 40, "darna"], layer=1)
    for wrong in (5, -1, "3", 2.0):
        with pytest.raises(ig.IsoglotError, match=rf"layer: is {wrong!r}, and .* has layers 0, the embeddings, to 4"):
            model.hidden_states(lines, layer=wrong)  # type: ignore[arg-type]
    assert np.array_equal(every[3], model.hidden_states(iter(lines), layer=np.int64(3)))
    with pytest.warns(UserWarning, match="100% of the text is unknown to small.toml:default:oru"):
        model.hidden_states(["Ω Ψ", "Φ"], layer=1)
    with pytest.raises(ig.IsoglotError, match="sentences: give a list of strings"):
        model.hidden_states("one sentence", layer=1)


@pytest.mark.usefixtures("_there")
def test_mistakes_are_named() -> None:
    for wrong, message in (
        (lambda: ig.run(own_study(), workers=0), "workers: is 0; give a whole number from 1 on"),
        (lambda: ig.run(own_study(), workers="2"), "workers: is '2'; give a whole number from 1 on"),  # type: ignore[arg-type]
        (lambda: ig.Study.load(7), "Study.load: 7 is no name of a study, and no path"),  # type: ignore[arg-type]
        (lambda: ig.Separate(layers=4), "layers: is 4; give a set of numbers, as in"),  # type: ignore[arg-type]
        (lambda: ig.conditions.DEFAULT.replace(label=3), "^Condition.replace: label: Input should be a valid string"),  # type: ignore[typeddict-item]
        (lambda: ig.load_model(""), "'' names no model; write a model as"),
        (lambda: ig.load_model("demo"), "'demo' names no model; write a model as"),
        (
            lambda: ig.load_model("demo:sep-l4:oru", study=own_study()),
            "leave the study out of the name.*: 'sep-l4:oru'",
        ),
        (lambda: ig.csls(np.eye(9), np.eye(9), neighbours=0), "neighbours: is 0; give 1 or more"),
        (lambda: ig.Results(own_study()).pack("a.tar.xz", largest_file="1MB"), "largest_file: is '1MB'; give a number"),  # type: ignore[arg-type]
        (lambda: ig.Results(own_study(), store="small.toml"), "small.toml is a file: choose a folder with store="),
        (
            lambda: ig.probe("small.toml:default", languages=["ela", "oru"], store="store", dictionary="small.toml"),
            "dictionary= goes with parallel= or data=",
        ),
        (
            lambda: ig.load_model("sep-l4:oru", study=own_study(), data="data"),
            "knows its files already; leave out data=",
        ),
        (lambda: ig.load_model("sep-l5:oru", study=own_study()), "'sep-l5' is no condition; demo has default, sep-l4"),
        (lambda: ig.load_model("sep-l4:oru:7", study=own_study()), r"not in \S+store yet; make it with: isoglot\.run"),
        (lambda: ig.load_model("small.toml:sep-l4:oru"), "'sep-l4' is no condition"),
        (
            lambda: ig.Results(own_study(), store="no").report("new"),
            r"nothing of demo is in \S+no yet; make it",
        ),
        (
            lambda: ig.Results(own_study()).pack("small.toml"),
            "pack small.toml: that is there and is no archive of isoglot",
        ),
    ):
        with pytest.raises(ig.IsoglotError, match=message):
            wrong()


def test_a_run_that_fails_says_what_failed_and_keeps_the_rest(tmp_path: Path) -> None:
    (tmp_path / "en.txt").write_text("a b c\n" * 3)
    study = 'name = "real"\nscale = "demo"\nlanguages = ["en", "fr"]\nexhibits = ["vocabulary"]\n'
    (tmp_path / "real.toml").write_text(study + '[text]\nen = "en.txt"\nfr = "fr.txt"\n')
    run = partial(ig.run, tmp_path / "real.toml", store=tmp_path / "store", workers=1, progress=False)
    with pytest.raises(ig.IsoglotError, match=r"^real: nothing of it can be made: no data for default.*fr\.txt"):
        run()
    (tmp_path / "fr.txt").write_text("a b c\n" * 3)
    with pytest.raises(ig.IsoglotError, match=r"(?s)^\d+ failed, \d+ skipped.*isoglot\.Results\(study, store="):
        run()
    assert ig.Results(tmp_path / "real.toml", store=tmp_path / "store").pending > 0


def test_arrays_and_tensors_give_the_same_and_arrays_come_out() -> None:
    x, y = (np.random.default_rng(seed).normal(size=(40, 6)) for seed in (0, 1))
    both = torch.from_numpy(x), torch.from_numpy(y)
    for function in (ig.linear_cka, ig.procrustes, ig.retrieval, ig.csls):
        ours, of_tensors = function(x, y), function(*both)  # type: ignore[operator]
        assert isinstance(ours, float | np.ndarray)
        assert type(ours) is type(of_tensors)
        assert np.array_equal(ours, of_tensors)
    rotation = ig.procrustes(x, y)
    assert np.allclose(rotation @ rotation.T, np.eye(6))
    assert ig.csls(x, y[:7]).shape == (40, 7)
    for wrong, message in (
        ([["a", "b"]], "x: no matrix of numbers"),
        ([[1.0], [2.0, 3.0]], "x: no matrix of numbers"),
    ):
        with pytest.raises(ig.IsoglotError, match=message):
            ig.linear_cka(wrong, y)  # type: ignore[arg-type]


USER = """
import numpy as np
import isoglot as ig

study: ig.Study = ig.Study.load("demo").replace(seeds=range(2))
mine: ig.Condition = ig.conditions.DEFAULT.replace(name="mine", separate=ig.Separate(layers={4}))
results: ig.Results = ig.run(study.with_conditions("default", mine), store="store", workers=2)
model: ig.Model = ig.load_model("demo:default:oru")
states = model.hidden_states(["a sentence"], layer=3)
similarity: float = ig.linear_cka(states, np.zeros((1, 4)))
width: int = ig.procrustes(states, states).shape[0]
rows: list[dict[str, object]] = list(results.to_dicts())
# What is wrong is seen by the types: an ignore that nothing needs would be an error.
ig.run(3)  # type: ignore[arg-type]
ig.conditions.DEFAULT.replace(nme="mine")  # type: ignore[call-arg]
ig.Stduy  # type: ignore[attr-defined]
wrong: str = ig.retrieval(states, states)  # type: ignore[assignment]
"""


def test_types_reach_a_users_own_file(tmp_path: Path) -> None:
    assert (ROOT / "isoglot/py.typed").is_file()
    (tmp_path / "user.py").write_text(USER, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "pyproject.toml", str(tmp_path / "user.py")]
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert checked.returncode == 0, checked.stdout
