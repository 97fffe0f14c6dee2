"""`isoglot report`: a page of whatever there is, and nothing else is made."""

import json
import re
import shutil
from pathlib import Path

import pytest
from commands import Workplace, answered
from study_texts import TINY_STUDY

from isoglot.pipeline.exhibits import cells


def report_path(text: str) -> Path:
    named = re.search(r"^Report(?: so far)?: (.*)$", text, flags=re.MULTILINE)
    assert named is not None, text
    return Path(named[1])


def test_a_finished_study_has_the_report_that_its_run_left(finished: Workplace) -> None:
    left = report_path(finished.first_output)
    names = sorted(path.name for path in left.parent.iterdir())
    assert {"measurements.jsonl", "provenance.json"} <= set(names)
    numbers = (left.parent / "measurements.jsonl").read_text()
    answer = answered("report", "tiny.toml", folder=finished.folder)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert report_path(answer.stdout) == left
    assert "pending" not in answer.stdout
    assert sorted(path.name for path in left.parent.iterdir()) == names
    assert (left.parent / "measurements.jsonl").read_text() == numbers
    provenance = json.loads((left.parent / "provenance.json").read_text())
    assert provenance["artifacts_done"] == provenance["artifacts"] == 61


def test_half_a_study_has_a_report_that_says_what_is_pending(copied: Workplace) -> None:
    for folder in [*copied.folder.glob("store/zero-shot-transfer-*"), *copied.folder.glob("store/fine-tuning-*")]:
        shutil.rmtree(folder)
    made = sorted(path.name for path in copied.store.root.iterdir())
    answer = answered("report", "tiny.toml", "--seeds", "1", folder=copied.folder)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert "3 cells are pending; make them with: isoglot run tiny.toml --seeds 1\n" in answer.stdout
    page = report_path(answer.stdout).read_text(encoding="utf-8")
    assert "pending" in page.lower()
    assert "Parsing transfer, sep-emb-l1-6, ela-oru, seed 1" in page
    assert sorted(path.name for path in copied.store.root.iterdir()) == made


def test_damage_is_reported_and_not_passed_off_as_pending(copied: Workplace) -> None:
    words = ("report", "tiny.toml", "--seeds", "0", "--conditions", "default,no-anchors", "--exhibits", "table-1")
    damaged = next(
        copied.store.folder(cell.stage)
        for cell in cells(copied.study)
        if (cell.exhibit, cell.condition, cell.seed) == ("table-1", "no-anchors", 0)
    )
    (damaged / "scores.json").write_text("[]")
    answer = answered(*words, folder=copied.folder)
    assert answer.returncode == 1
    assert damaged.name in answer.stderr
    assert "pending" not in answer.stdout, "a run would not make it again"
    page = report_path(answer.stdout).read_text(encoding="utf-8")
    assert re.search(f"delete the folder .*{damaged.name}", page)
    assert set(re.findall(r"<td[^>]*>(?:<[^>]*>)*(failed|pending)<", page)) == {"failed"}


def test_a_store_with_nothing_of_a_study_stays_as_it_is(tiny: Path) -> None:
    words = ("report", "tiny.toml", "--open", "--against", "demo", "--seeds", "1")
    answer = answered(*words, folder=tiny)
    assert (answer.returncode, answer.stdout) == (1, "")
    assert answer.stderr == (
        "isoglot: nothing of tiny.toml is in store yet; make it with: isoglot run tiny.toml --seeds 1\n"
    )
    assert [path.name for path in tiny.iterdir()] == ["tiny.toml"]


def test_no_report_is_written_into_a_store(copied: Workplace) -> None:
    before = sorted(copied.store.root.iterdir())
    answer = answered("report", "tiny.toml", "--seeds", "0", "--to", "store", folder=copied.folder)
    assert (
        answer.stderr
        == "isoglot: store: a store of artifacts, and no place for a report; name another folder with --to\n"
    )
    assert (answer.returncode, sorted(copied.store.root.iterdir())) == (1, before)


def test_open_shows_the_page_in_the_browser(finished: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr("webbrowser.open", shown.append)
    answer = answered("report", "tiny.toml", "--open", folder=finished.folder)
    assert shown == [report_path(answer.stdout).as_uri()]


def test_another_study_of_the_store_is_held_against_it(copied: Workplace) -> None:
    text = TINY_STUDY.replace("evaluations = 4", "evaluations = 5").replace('name = "tiny"', 'name = "other"')
    (copied.folder / "other.toml").write_text(text, encoding="utf-8")
    words = ("report", "tiny.toml", "--against", "other.toml", "--exhibits", "emergence")
    nothing = answered(*words, folder=copied.folder)
    assert nothing.returncode == 0, "vocabularies are the same, and there"
    assert "\n  scale.evaluations: 5 -> 4\n" in nothing.stdout
    assert re.search(
        r"^emergence: 0 numbers of both differ, 0 by more than noise; \d+ are", nothing.stdout, re.MULTILINE
    )
    assert "nothing ->" not in nothing.stdout, "what one report has alone is counted, not listed"
    assert re.search(r"^other.toml: (\d+) of its \d+ cells are not in \S+ yet$", nothing.stdout, re.MULTILINE)


def test_a_report_elsewhere_is_held_against_it(copied: Workplace, tmp_path: Path) -> None:
    first = answered("report", "tiny.toml", "--seeds", "0", folder=copied.folder)
    kept = Path(shutil.copytree(report_path(first.stdout).parent, tmp_path / "kept"))
    for name in (kept, kept / "report.html"):
        answer = answered("report", "tiny.toml", "--seeds", "0", "--against", str(name), folder=copied.folder)
        assert (answer.returncode, answer.stderr) == (0, "")
        assert "No setting differs.\nNo number differs.\n" in answer.stdout
    lines = (kept / "measurements.jsonl").read_text().splitlines()
    place, content = next(
        (place, json.loads(line)) for place, line in enumerate(lines) if '"metric": "retrieval_p1"' in line
    )
    lines[place] = json.dumps(content | {"value": content["value"] + 50})
    (kept / "measurements.jsonl").write_text("".join(f"{line}\n" for line in lines))
    answer = answered("report", "tiny.toml", "--seeds", "0", "--against", str(kept), folder=copied.folder)
    assert f"{content['value'] + 50:.1f} -> {content['value']:.1f} (-50.0)\n" in answer.stdout


@pytest.mark.parametrize(
    ("against", "message"),
    [
        ("nosuch", "--against nosuch: no such study; give the path of a .toml file"),
        ("nosuch", "; or give the folder of a report\n"),
        ("tinny.toml", "did you mean 'tiny.toml'?"),
        ("empty", "empty: no measurements.jsonl in it; give the folder of a report"),
        ("far.toml", "--against far.toml: nothing of it is in "),
    ],
)
def test_what_is_no_report_is_told_before_one_is_written(against: str, message: str, copied: Workplace) -> None:
    (copied.folder / "empty").mkdir()
    (copied.folder / "far.toml").write_text(TINY_STUDY.replace("merges = 200", "merges = 210"), encoding="utf-8")
    shutil.rmtree(copied.store.root / "reports")
    answer = answered("report", "tiny.toml", "--against", against, folder=copied.folder)
    assert answer.returncode == 1
    assert message in answer.stderr
    assert not (copied.store.root / "reports").exists()


def test_a_published_report_is_made_again_without_its_store_and_its_study(finished: Workplace, tmp_path: Path) -> None:
    public = tmp_path / "results" / "mine"
    answer = answered("report", "tiny.toml", "--to", str(public), folder=finished.folder)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert report_path(answer.stdout) == public / "report.html"
    before = (public / "report.html").read_text(encoding="utf-8")
    assert "Learning curves" in before
    (public / "report.html").unlink()
    answer = answered("report", "results/mine/measurements.jsonl", folder=tmp_path)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert tmp_path / report_path(answer.stdout) == public / "report.html"
    assert (public / "report.html").read_text(encoding="utf-8") == before
    assert [path.name for path in tmp_path.iterdir()] == ["results"], "no store is made"
    (tmp_path / "store").touch()
    provenance = Path(shutil.copytree(public, tmp_path / "a")) / "provenance.json"
    provenance.write_text(provenance.read_text().replace('"updates": 80', '"updates": 90'), encoding="utf-8")
    answer = answered("report", "results/mine", "--against", "a/report.html", folder=tmp_path)
    assert (answer.returncode, answer.stderr) == (0, ""), "nor looked for"
    differences = "From a/report.html to results/mine:\nSettings that differ (1):\n  scale.updates: 90 -> 80\n"
    assert answer.stdout.startswith(differences)
    assert "Compared with a/report.html" in (public / "report.html").read_text(encoding="utf-8")
    assert "store is a file" in answered("report", "results/mine", "--against", "demo", folder=tmp_path).stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("kept", "--seeds", "0"), "--seeds chooses from a study, and kept is a report"),
        (("kept", "--to", " "), "--to names no folder"),
        (("empty",), "empty: no measurements.jsonl in it; give the folder of a report"),
        (("old",), "old: no provenance.json in it, without which no page can be made; write the report again"),
        (("demo",), "nothing of demo is in store yet; make it with: isoglot run demo\n"),
    ],
)
def test_what_cannot_be_made_again_is_named(words: tuple[str, ...], message: str, tmp_path: Path) -> None:
    for name in ("kept", "old", "empty", "demo"):
        (tmp_path / name).mkdir()
        if name != "empty":
            (tmp_path / name / "measurements.jsonl").touch()
    answer = answered("report", *words, folder=tmp_path)
    assert (answer.returncode, answer.stdout) == (1, "")
    assert message in answer.stderr
    assert not list(tmp_path.rglob("report.html"))


@pytest.mark.parametrize("command", ["plan", "run", "pack"])
def test_what_makes_something_asks_for_a_study(command: str, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    to = ("--to", "mine.tar.xz") if command == "pack" else ()
    answer = answered(command, "mine", *to, folder=tmp_path)
    assert answer.returncode == 1
    assert "mine: is a folder, and a study is a .toml file; of a report's folder ask isoglot results" in answer.stderr
