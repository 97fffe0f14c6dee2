"""Every language gets the splitter that suits it, and every switch is heard."""

import os
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from isoglot.corpora import words
from isoglot.corpora.words import split_lines, whole_words
from isoglot.errors import IsoglotError
from isoglot.study.languages import Splitter, WordSplitting, default_splitting


@pytest.mark.parametrize(
    ("language", "line", "words"),
    [
        ("en", "Mr. Smith's dog isn't here.", ["Mr.", "Smith", "'s", "dog", "isn", "'t", "here", "."]),
        ("fr", "L\u2019ami d'Anne, aujourd'hui.", ["L'", "ami", "d'", "Anne", ",", "aujourd'", "hui", "."]),
        ("de", "Das ist z. B. gut.", ["Das", "ist", "z.", "B.", "gut", "."]),
        ("ru", "Да, это «кот».", ["Да", ",", "это", '"', "кот", '"', "."]),
        ("zh", "我来到北京清华大学", ["我", "来到", "北京", "清华大学"]),
        ("sw", "Habari, dunia!", ["Habari", ",", "dunia", "!"]),
        ("th", "ไทย", ["ไท", "ย"]),
    ],
)
def test_words_of_a_language(language: str, line: str, words: list[str]) -> None:
    splitting = default_splitting(language)
    assert split_lines([line, " \t\u3000"], splitting) == [words, []]
    assert split_lines([line], replace(splitting, lowercase=True)) == [[word.lower() for word in words]]


@pytest.mark.parametrize(
    ("splitter", "written"),
    [
        (Splitter.MOSES, ('"', "l'", "ABC", "\u200b")),
        (Splitter.JIEBA, ('"', "l'", "ABC", "\u200b")),
        (Splitter.WHITESPACE, ("«", "l’", "A\u200bBC", "\u200b")),  # noqa: RUF001
    ],
)
def test_words_of_others_are_written_as_a_splitter_writes_its_own(splitter: Splitter, written: tuple[str, ...]) -> None:
    """As many as before: what is nothing but a mark that is not printed stays."""
    words = ("«", "l’", "A\u200bBC", "\u200b")  # noqa: RUF001
    splitting = WordSplitting(splitter=splitter, language="en")
    assert whole_words(words, splitting) == written
    assert whole_words(words, replace(splitting, lowercase=True)) == tuple(word.lower() for word in written)


CHARACTERS = "import sys\nfor line in sys.stdin.buffer:\n    print(*line.decode().strip(), flush=True)"


def by(command: list[str]) -> WordSplitting:
    return WordSplitting(splitter=Splitter.COMMAND, language="zh", command=tuple(command))


def python(program: str, *arguments: str) -> list[str]:
    return [sys.executable, "-X", "utf8", "-c", program, *arguments]


def executable(path: Path, content: str) -> Path:
    path.write_text(content, encoding="utf-8")
    path.chmod(0o755)
    return path


def test_words_of_a_command() -> None:
    lines = ["", "中国 人", " \u3000", "a\nb\r\u2028c\tde", "语"]
    assert words.split_lines(lines, by(python(CHARACTERS))) == [[], [*"中国人"], [], [*"abcde"], ["语"]]


def test_much_text_and_many_complaints_do_not_block_each_other() -> None:
    program = (
        "import sys\nfor line in sys.stdin:\n    print(line.strip())\n    print(line, file=sys.stderr, flush=True)"
    )
    lines = ["word " * 200] * 4000
    assert words.split_lines(lines, by(python(program))) == [["word"] * 200] * 4000


def test_the_command_starts_once_for_many_lines_and_never_for_blank_ones(tmp_path: Path) -> None:
    log = tmp_path / "starts"
    command = python(f"open({str(log)!r}, 'a').write('x')\n{CHARACTERS}")
    words.split_lines(["a"] * 50, by(command))
    words.split_lines(["", " "], by(command))
    words.split_lines([], by(command))
    assert log.read_text() == "x"


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        (["no-such-segmenter"], r"'no-such-segmenter' of the study's \[words\] was not found"),
        (
            python("import sys; print('1\\n2\\n3\\n4\\n5', file=sys.stderr); sys.exit(7)"),
            r"exit status 7, saying: 3 \| 4 \| 5$",
        ),
        (python("import os; os.kill(os.getpid(), 9)"), "exit status -9, saying: nothing"),
        (python("pass"), "got 2 lines and gave 0"),
        (python("print('a\\nb\\n')"), "got 2 lines and gave 3"),
        (python("import sys; sys.stdout.buffer.write(b'a\\n\\xff\\n')"), "line 2 that is not UTF-8"),
    ],
)
def test_what_goes_wrong_is_said_in_one_line(command: list[str], complaint: str) -> None:
    # So much text that a program that does not read leaves some of it in the pipe.
    with pytest.raises(IsoglotError, match=complaint) as failure:
        words.split_lines(["a" * 200_000, "b" * 200_000], by(command))
    assert "\n" not in str(failure.value)


def test_a_file_that_is_no_program(tmp_path: Path) -> None:
    path = executable(tmp_path / "segment", "\0\0\0")
    with pytest.raises(IsoglotError, match="did not start"):
        words.split_lines(["a"], by([str(path)]))
    path.chmod(0o644)
    with pytest.raises(IsoglotError, match="was not found, or may not be run"):
        words.split_lines(["a"], by([str(path)]))


def test_another_build_of_a_program_is_another_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = executable(tmp_path / "segment", "#!/bin/sh\ncat\n")
    version = words.splitter_version(by([str(path), "pku"]))
    assert re.fullmatch("[0-9a-f]{16}", version)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert words.splitter_version(by(["segment"])) == version
    assert words.split_lines(["a b"], by(["segment"])) == [["a", "b"]]
    executable(path, "#!/bin/sh\ncat -u\n")
    assert words.splitter_version(by(["segment"])) != version
    with pytest.raises(IsoglotError, match="'no-such-segmenter'"):
        words.splitter_version(by(["no-such-segmenter"]))
