"""`isoglot data` as people use it: what it shows, and how it ends."""

import gzip
import json
import signal
import socket
from hashlib import sha256
from pathlib import Path

import pytest
from commands import answered, started
from real_data import DATA


def put(folder: Path, name: str, content: bytes) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def test_list(tmp_path: Path) -> None:
    put(tmp_path, "data/eval/tatoeba/tatoeba.fra-eng.fra.gz", gzip.compress(b"Oui.\n"))
    put(tmp_path, "data/eval/dict/en-zh.tsv", b"")
    put(tmp_path, "data/eval/xnli/nli.train.en.tsv.xz", b"")
    answer = answered("data", "list", folder=tmp_path)
    assert answer.returncode == 0
    assert answer.stderr == ""
    rows = {line.split("  ")[0]: line for line in answer.stdout.splitlines() if not line.startswith(" ")}
    assert len(rows) == 17
    assert " 1 of 8, unverified " in rows["tatoeba"], "its official file is another"
    assert " 1 of 4, unverified " in rows["panlex"]
    assert " 1 of 1, unverified " in rows["multinli"], "half of it may be missing"
    assert " no " in rows["xnli"]
    assert " 46 GB " in rows["wikipedia"]
    for word in ("CC BY-NC 4.0, https://github.com/facebookresearch/XNLI", "by hand", "Data folder: data."):
        assert word in answer.stdout


def test_only_what_is_known_to_be_official_counts_as_complete(tmp_path: Path) -> None:
    put(tmp_path, "data/eval/xnli/nli.train.en.tsv", b"a\tb\tneutral\n")
    put(tmp_path, "data/text/wiki.en.txt", b"text of one's own\n")
    digest = sha256(b"a\tb\tneutral\n").hexdigest()
    put(tmp_path, "data/isoglot.sha256", f"{digest}  eval/xnli/nli.train.en.tsv\n".encode())
    answer = answered("data", "list", folder=tmp_path)
    rows = {line.split("  ")[0]: line for line in answer.stdout.splitlines() if not line.startswith(" ")}
    assert " all " in rows["multinli"], "isoglot fetched it"
    assert " 1 of 10 " in rows["text"]
    assert "unverified" not in answer.stdout


def test_list_as_json(tmp_path: Path) -> None:
    put(tmp_path, "d/eval/dict/en-zh.tsv.gz", b"")
    answer = answered("data", "list", "--json", folder=tmp_path, ISOGLOT_DATA="d")
    sets = {each["name"]: each for each in map(json.loads, answer.stdout.splitlines())}
    assert {"path": "eval/dict/en-zh.tsv", "there": "d/eval/dict/en-zh.tsv.gz", "known": False} in sets["panlex"][
        "files"
    ]
    assert sets["xnli"]["licence"] == "CC BY-NC 4.0"
    assert all(each["there"] is None for each in sets["muse"]["files"])


def test_get_without_a_network_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    proxy = "http://127.0.0.1:9"
    answer = answered("data", "get", "xnli", "conll2003", folder=tmp_path, https_proxy=proxy, ISOGLOT_DATA="d")
    assert answer.returncode == 1
    first, *failures = answer.stderr.splitlines()
    assert first == "isoglot: 2 files could not be had:"
    assert failures[0].startswith("  https://dl.fbaipublicfiles.com/XNLI/XNLI-1.0.zip: no connection with ")
    assert failures[0].endswith(
        "or fetch it by hand from https://github.com/facebookresearch/XNLI "
        "and put it at d/downloads/XNLI-1.0.zip (and 9 more files)"
    )
    assert "conll2003.en.train.bio cannot be fetched: NIST gives the Reuters text" in failures[1]
    assert [path.name for path in (tmp_path / "d").rglob("*") if path.is_file()] == []


def test_get_of_what_is_there_and_check(tmp_path: Path) -> None:
    for side, text in (("fra", b"Oui.\n"), ("eng", b"Yes.\n")):
        put(tmp_path, f"data/eval/tatoeba/tatoeba.fra-eng.{side}", text)
    put(tmp_path, "data/eval/muse/en-fr.txt", b"the le\n")
    # Line 100 in a path is no emoji, as rich has it.
    put(tmp_path, "data/eval/ner/own.bio", b"Paris\tO\n" * 99 + b"Paris\n")
    answer = answered("data", "get", "tatoeba", "--languages", "fr", folder=tmp_path)
    assert answer.returncode == 1
    assert answer.stderr.count("it is not the official file") == 2
    assert answered("data", "check", "muse", folder=tmp_path).stdout == "eval/muse: 1 files in order\n"
    answer = answered("data", "check", folder=tmp_path)
    assert answer.returncode == 1
    assert answer.stderr == "isoglot: 3 of 4 files are not in order; see above\n"
    assert "data/eval/ner/own.bio:100: one column, 'Paris'; a word, a tab and its BIO tag expected\n" in answer.stdout
    assert "eval/muse: 1 files in order\n" in answer.stdout


def test_stopped(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        proxy = f"http://127.0.0.1:{silent.getsockname()[1]}"
        process = started("data", "get", "pud", "--languages", "fr,ru", folder=tmp_path, https_proxy=proxy)
        connection, _ = silent.accept()
        process.send_signal(signal.SIGINT)
        out, complaints = process.communicate(timeout=300)
        connection.close()
    assert process.returncode == 130
    assert out.endswith("Stopped; what was fetched is kept. Go on with: isoglot data get pud --languages fr,ru\n")
    assert complaints == ""
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.real_data
@pytest.mark.skipif(not DATA.is_dir(), reason=f"no data folder {DATA}")
def test_the_data_we_have_is_in_order(tmp_path: Path) -> None:
    answer = answered("data", "check", "--data", str(DATA), folder=tmp_path)
    assert answer.stderr == ""
    assert answer.returncode == 0
    assert "eval/ud: 19 files in order" in answer.stdout
