"""A program never ends with a raw traceback, and its messages are fit for a terminal."""

import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

from ctrl_c import hearing_ctrl_c
from hypothesis import given
from hypothesis import strategies as st
from killed_processes import until

from isoglot.corpora.readers.decompression import DamagedCompressionError
from isoglot.errors import LONGEST_MESSAGE, IsoglotError, MissingDataError, command_in_work, option, readable
from isoglot.store.file_sums import StrayError


@given(st.text(st.characters(), max_size=300))
def test_messages_hold_nothing_that_moves_the_cursor_or_turns_the_writing(text: str) -> None:
    shown = str(IsoglotError(text))
    assert all(char.isprintable() or char in "\t\n " or ord(char) > 0x9F for char in shown)
    assert not {*shown} & {*"\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"}
    shown.encode("utf-8")
    assert readable(shown) == shown


def test_a_setting_is_called_as_its_user_gives_it() -> None:
    assert option("largest-file", "1GB") == "largest_file=1GB"
    assert option("to", python="folder=") == "folder="
    with command_in_work():
        assert option("largest-file", "1GB") == "--largest-file 1GB"
        assert option("to", python="folder=") == "--to"
        worker = "from isoglot.errors import option; print(option('store'))"
        done = subprocess.run([sys.executable, "-c", worker], capture_output=True, text=True, check=True)
        assert done.stdout == "--store\n"
    assert option("store") == "store="


def test_an_error_comes_from_a_worker_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(b"")
    with (tmp_path / "a.gz").open("rb") as file:
        damage = DamagedCompressionError(file, "cut off")
    assert str(damage) == f"{tmp_path}/a.gz: cut off; fetch the file again"
    for error in (damage, StrayError(tmp_path / "b"), MissingDataError("c is missing")):
        arrived = pickle.loads(pickle.dumps(error))
        assert (type(arrived), str(arrived), vars(arrived)) == (type(error), str(error), vars(error))


def test_a_plain_message_is_left_alone_and_a_long_one_keeps_both_ends() -> None:
    plain = "données.txt, line 3: \N{CJK UNIFIED IDEOGRAPH-4E2D}\tno tab"
    assert str(IsoglotError(plain)) == plain
    assert "\\x1b]0;title\\x07" in str(IsoglotError("\x1b]0;title\x07"))
    long = str(IsoglotError("a" * 400_000 + "the fix"))
    assert len(long) < LONGEST_MESSAGE + 60
    assert long.startswith("aaa")
    assert long.endswith("the fix")
    assert "396,007 characters" in long


def test_an_error_that_nobody_foresaw_is_a_sentence_and_a_saved_traceback(tmp_path: Path) -> None:
    broken = (
        "import isoglot.cli, isoglot.__main__ as program; isoglot.cli.app = lambda *_, **__: 1 // 0; program.main([])"
    )
    variables = os.environ | {"TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", broken], env=variables, capture_output=True, text=True)
    (saved,) = tmp_path.iterdir()
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "isoglot: ZeroDivisionError: integer division or modulo by zero; an error of isoglot's own, or of a library: "
        f"its traceback is in {saved}\n"
    )
    assert saved.read_text().startswith("Traceback (most recent call last):\n")


def test_ctrl_c_is_quiet_while_modules_are_imported(tmp_path: Path) -> None:
    """The program's first import from outside sleeps until it is interrupted."""
    begun = tmp_path / "begun"
    (tmp_path / "typer.py").write_text(f"import pathlib, time\npathlib.Path({str(begun)!r}).touch()\ntime.sleep(60)\n")
    variables = os.environ | {"PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-m", "isoglot", "list"]
    with (
        hearing_ctrl_c(),
        subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process,
    ):
        until(lambda: begun.exists() or process.poll() is not None, seconds=60)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60) == (b"", b"")
    assert process.returncode == 130
