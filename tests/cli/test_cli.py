"""The command as a newcomer meets it: quick, plain, and clear about mistakes. What it makes is in end_to_end."""

import csv
import json
import re
import shutil
from io import StringIO
from pathlib import Path

import pytest
from commands import Workplace, answered
from study_texts import TINY_STUDY

from isoglot.machine import PROCESSES_VARIABLE
from isoglot.pretraining.footprint import MICRO_BATCH_VARIABLE
from isoglot.study.conditions import TABLE_1
from isoglot.study.exhibit_names import EXHIBITS
from isoglot.study.real_text import task_names
from isoglot.study.scales import SCALES
from isoglot.study.study_file import builtin_study_names


def rows(text: str) -> dict[str, list[str]]:
    """Lines of a plan by their stage."""
    lines = [re.split(r" {2,}", line.strip()) for line in text.splitlines() if re.match(r" \S", line)]
    return {stage: cells for stage, *cells in lines[1:]}


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_list_names_everything_built_in(tmp_path: Path) -> None:
    answer = answered("list", folder=tmp_path)
    assert (answer.returncode, answer.stderr) == (0, "")
    first_words = {line.split()[0] for line in answer.stdout.splitlines()}
    assert first_words >= {condition.name for condition in TABLE_1} | {*SCALES, *builtin_study_names(), "ela", "oru"}
    assert first_words >= {*EXHIBITS, *task_names()}
    said = {words[0]: " ".join(words[1:]) for line in answer.stdout.splitlines() if (words := line.split())}
    for condition in TABLE_1:
        assert re.fullmatch(rf"[A-Z][^.]+ \({re.escape(condition.label)}, section 4(\.\d)?\)\.", said[condition.name])
    assert said["sep-emb-l1-3"].startswith("Each language has its own embeddings, softmax and layers 1 to 3 of 8 ")
    assert names_in(tmp_path) == []


def test_plan_before_anything_is_made(tiny: Path) -> None:
    answer = answered("plan", "tiny.toml", folder=tiny)
    assert (answer.returncode, answer.stderr) == (0, "")
    planned = rows(answer.stdout)
    state, size, guess = planned["pretraining, sep-emb-l1-6, ela-oru, seed 1"]
    assert (state, size) == ("to do", "10k tokens")
    assert re.fullmatch(r"\? \d+ s", guess)
    assert planned["text of oru, main domain"] == ["next", "400 sentences", "unknown"]
    assert planned["words of oru, oru, main domain"][0] == "to do", "its text comes first"
    assert answer.stdout.splitlines()[-1].startswith("tiny: 0 artifacts done, 61 to make, 61k tokens of training")
    assert names_in(tiny) == ["tiny.toml"]


def test_plan_says_what_is_done_and_what_the_rest_will_cost(finished: Workplace, tmp_path: Path) -> None:
    # The store may be named by the environment.
    study, store = f"{finished.folder}/tiny.toml", str(finished.store.root)
    done = answered("plan", study, folder=tmp_path, ISOGLOT_STORE=store).stdout
    *folded, last = done.splitlines()
    counts = {kind: number for number, kind in re.findall(r"(\d+) ([a-z-]+)", " ".join(folded))}
    assert counts["pretrained-encoder"] == counts["zero-shot-transfer"] == "6"
    assert sum(map(int, counts.values())) == 61
    assert last == "tiny: 61 artifacts done, 0 to make"

    more = answered("plan", "tiny.toml", "--seeds", "1,2", "--conditions", "default", folder=finished.folder).stdout
    planned = rows(more)
    assert {stage for stage, cells in planned.items() if cells[0] == "next"} == {
        "untrained model, default, ela-oru, seed 2",
        "pretraining, default, ela-oru, seed 2",
    }
    assert {stage for stage, cells in planned.items() if cells[0] == "to do"} == {
        "retrieval, untrained model, default, ela-oru, seed 2",
        "retrieval, pretraining, default, ela-oru, seed 2",
        "Parsing, default, ela-oru, seed 2, batch 32, rate 0.004",
        "Parsing transfer, default, ela-oru, seed 2",
    }
    assert re.fullmatch(r"\d+ s", planned["pretraining, default, ela-oru, seed 2"][-1])
    assert "6 to make, 10k tokens of training, about " in more
    assert not any("seed 0" in stage or "seed 1" in stage for stage in planned)
    assert "1 pretrained-encoder" in more


def test_a_plan_with_a_calibration_shows_times_and_leaves_nothing(tiny: Path) -> None:
    answer = answered("plan", "tiny.toml", "--conditions", "default", "--calibrate", folder=tiny)
    assert (answer.returncode, answer.stderr) == (0, "")
    lines = answer.stdout.splitlines()
    assert lines[0].startswith("timing 1 size of model here (")
    # A machine with other work to do may need minutes.
    time = r"\d+ (s|min)"
    model = rf"^ pretraining, default, ela-oru, seed 1 +to do +10k tokens +{time} *$"
    assert re.search(model, answer.stdout, re.MULTILINE)
    block = " ".join(line.strip() for line in lines[lines.index("2 models: default") :])
    assert re.search(rf"10k tokens in 80 updates, .* {time} here \(\d\S* tokens/s\)", block)
    assert re.search(rf"about {time} one after the other, {time} of it guessed for two CPU cores", block)
    assert [path.name for path in tiny.iterdir()] == ["tiny.toml"]


def test_a_run_shows_the_cost_of_models_it_will_make_and_of_no_others(finished: Workplace) -> None:
    assert re.search(r"^  6 models of 16k to \d+k parameters, 10k tokens each: ", finished.first_output, re.MULTILINE)
    again = answered("run", "tiny.toml", folder=finished.folder)
    assert "tokens each" not in again.stdout
    assert "subwords" not in answered("plan", "tiny.toml", folder=finished.folder).stdout


def test_a_plan_for_the_paper_needs_no_large_machine(tmp_path: Path) -> None:
    top, _, rest = TINY_STUDY.replace('scale = "demo"', 'scale = "paper"').partition("[change]")
    change = "[change]\ndev_lines = 20\ntest_lines = 20\n\n"
    (tmp_path / "large.toml").write_text(top + change + rest[rest.index("[synthetic]") :], encoding="utf-8")
    answer = answered("plan", "large.toml", folder=tmp_path)
    assert (answer.returncode, answer.stderr) == (0, "")
    lines = answer.stdout.splitlines()
    size = lines[lines.index("4 models: default, no-anchors") + 1]
    assert size.startswith("  each about 80k subwords, 119M parameters, 82G tokens in 417k updates, ")


@pytest.mark.parametrize(
    ("command", "variable", "problem"),
    [
        ("plan", MICRO_BATCH_VARIABLE, "is no number of "),
        ("plan", PROCESSES_VARIABLE, "is no number of "),
        ("run", "ISOGLOT_TENSORBOARD", "says neither yes nor no"),
    ],
)
def test_a_mistake_in_the_environment_is_reported_first(command: str, variable: str, problem: str, tiny: Path) -> None:
    answer = answered(command, "tiny.toml", folder=tiny, **{variable: "abc"})
    assert (answer.returncode, answer.stdout) == (1, "")
    assert answer.stderr.startswith(f"isoglot: {variable}='abc' {problem}")
    assert names_in(tiny) == ["tiny.toml"]


MISTAKES = [
    (["run", "nosuch"], "nosuch: no such study; give the path of a .toml file"),
    (["plan", "tiny.toml", "--conditions", "defualt"], "--conditions: 'defualt' is not one of"),
    (["run", "tiny.toml", "--conditions", ""], "--conditions: '' is not one of"),
    (["run", "tiny.toml", "--seeds", "0,one"], "--seeds takes whole numbers with commas between them"),
    (["results", "tiny.toml"], "make them with: isoglot run tiny.toml"),
    (["results", "tiny.toml", "--store", ""], "--store names no folder"),
    (["plan", "tiny.toml", "--data", ""], "--data names no folder"),
    (["results", "tiny.toml", "--json", "--csv"], "--json and --csv print the same in two ways; give one of them"),
    (["run", "tiny.toml", "--exhibits", "figure-3"], "--exhibits: 'figure-3' is drawn by 'table-1'; ask for that"),
    (["explain", "tiny.toml", "sep-em"], "'sep-em' is no condition; tiny has default, no-anchors, sep-emb-l1-6, mono"),
    (["breakdown", "tiny.toml", "parse"], "'parse' is no task of tiny (parsing); did you mean 'parsing'?"),
    (
        ["breakdown", "tiny.toml", "parsing", "--store", "my store", "--data", ".", "--seed", "1"],
        "make it with: isoglot run tiny.toml --store 'my store' --data . --exhibits table-1 --tasks parsing",
    ),
    (["run", "broken.toml"], "broken.toml: sedes: unknown key"),
    (["data", "get", "xlni"], "no data set is called 'xlni'; did you mean 'xnli'?"),
    (["data", "get", "cc100"], "say which languages you want, as in --languages fr"),
    (["data", "get", "ud", "--languages", "fr,../x"], "--languages: '../x' is not the code of a language"),
    (["data", "check"], "there is no data folder data: name it with --data or ISOGLOT_DATA"),
    (["data", "check", "ud"], "none of these files is in data"),
    (["data", "list", "--data", ""], "--data names no folder"),
    (["export", "tiny.toml:default", "--language", "fr", "--to", "x"], "'fr' is no language, pair or seed of tiny"),
    (["export", "tiny.toml:default:ela", "--to", ""], "--to names no folder"),
    (["export", "tiny.toml:default:ela", "--to", "x", "--store", " "], "--store names no folder"),
    (["pack", "tiny.toml", "--to", "tiny.toml"], "--to tiny.toml: that is there and is no archive of isoglot; name"),
    (["pack", "tiny.toml", "--to", " "], "--to names no file"),
    (["pack", "tiny.toml", "--to", "a.tar.gz"], "--to a.tar.gz: an archive is a .tar.xz, which .gz does not say"),
    (["pack", "tiny.toml", "--to", "."], "--to .: that is a folder; name a file in it, as in demo.tar.xz"),
    (["pack", "tiny.toml", "--to", "no/x.tar.xz"], "--to no/x.tar.xz: there is no folder no; make it first"),
    (["pack", "tiny.toml", "--to", "x", "--store", "none"], "nothing of tiny.toml is in none yet; is --store right?"),
    *(
        (["pack", "tiny.toml", "--to", "x", "--largest-file", size], f"1MB or 2.5GB; not '{size}'")
        for size in ("much", "1K", "-1MB", "")
    ),
    (["unpack", "tiny.toml", "--store", "none"], "tiny.toml: not an archive of `isoglot pack`"),
    (["unpack", "none.tar.xz"], "none.tar.xz: cannot be read (No such file or directory)"),
    (["unpack", "tiny.tar.xz", "--store", ""], "--store names no folder"),
    (["run", "tiny.toml", "--store", "tiny.toml"], "is a file: choose a folder with --store"),
    (["run", "tiny.toml", "--workers", "0"], "Invalid value for '--workers'"),
    (["run", "tiny.toml", "--bogus"], "No such option: --bogus"),
    (["run"], "Missing argument 'STUDY'"),
    (["fly"], "No such command 'fly'"),
]


@pytest.mark.parametrize(("words", "message"), MISTAKES, ids=[" ".join(words) for words, _ in MISTAKES])
def test_mistakes_are_reported_in_a_line_and_leave_nothing_behind(words: list[str], message: str, tiny: Path) -> None:
    (tiny / "broken.toml").write_text(TINY_STUDY.replace("seeds", "sedes"), encoding="utf-8")
    answer = answered(*words, folder=tiny)
    assert answer.returncode != 0
    assert answer.stdout == ""
    assert message in answer.stderr
    assert "Traceback" not in answer.stderr
    assert names_in(tiny) == ["broken.toml", "tiny.toml"]


def test_a_report_that_cannot_be_written_hides_no_result(copied: Workplace) -> None:
    store = copied.store.root
    shutil.rmtree(store / "reports")
    (store / "reports").write_text("in the way")
    weights = sorted(store.glob("pretrained-encoder-*/best/model.safetensors"))[0]
    weights.write_bytes(weights.read_bytes()[:-1] + b"?")
    for score in store.glob("emergence-*"):
        shutil.rmtree(score)
    answer = answered("run", "tiny.toml", "--workers", "1", folder=copied.folder)
    assert answer.returncode == 1
    first, *causes, last = answer.stderr.splitlines()
    assert re.fullmatch(r"isoglot: \d+ failed, \d+ skipped because of that:", first)
    assert any(str(weights) in cause for cause in causes)
    assert last.startswith("the report could not be written: ")
    assert "Report: " not in answer.stdout


def test_results_say_what_is_not_made_yet(finished: Workplace) -> None:
    words = ("results", "tiny.toml", "--conditions", "default,extra-anchors", "--seeds", "0", "--json")
    answer = answered(*words, folder=finished.folder)
    # Both conditions start from one and the same untrained model, which is there.
    assert answer.stderr == (
        "3 of 7 results are not in store yet; make them with: "
        "isoglot run tiny.toml --seeds 0 --conditions default,extra-anchors\n"
    )
    assert answer.returncode == 0
    assert {json.loads(line)["condition"] for line in answer.stdout.splitlines()} == {"default", "extra-anchors"}
    assert answered("results", "tiny.toml", folder=finished.folder).stderr == ""


def test_results_as_csv_are_those_of_json(finished: Workplace) -> None:
    as_json, as_csv = (answered("results", "tiny.toml", form, folder=finished.folder) for form in ("--json", "--csv"))
    objects = [json.loads(line) for line in as_json.stdout.splitlines()]
    rows = list(csv.DictReader(StringIO(as_csv.stdout)))
    assert len(rows) == len(objects) > 0
    for row, each in zip(rows, objects, strict=True):
        assert row.keys() == each.keys()
        assert row.pop("languages") == "-".join(each.pop("languages"))
        assert float(row.pop("value")) == each.pop("value")
        assert row == {name: "" if value is None else str(value) for name, value in each.items()}


def test_results_of_a_report_need_neither_study_nor_store(finished: Workplace, tmp_path: Path) -> None:
    answered("report", "tiny.toml", "--to", str(tmp_path / "published"), folder=finished.folder)
    for words in ((), ("--json",)):
        of_study = answered("results", "tiny.toml", *words, folder=finished.folder)
        of_report = answered("results", "published", *words, folder=tmp_path)
        assert of_report.stdout == of_study.stdout != ""
        assert of_report.stderr == ""
    assert answered("results", "published/report.html", "--json", folder=tmp_path).stdout == of_study.stdout
    for command in ("results", "report"):
        refused = answered(command, "published", "--seeds", "0", folder=tmp_path)
        assert refused.returncode != 0
        assert refused.stderr == (
            "isoglot: --seeds chooses from a study, and published is a report, which has what it has\n"
        )
    (tmp_path / "empty").mkdir()
    assert "empty: no measurements.jsonl in it" in answered("results", "empty", folder=tmp_path).stderr
