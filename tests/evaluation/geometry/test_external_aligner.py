"""A program of the user's aligns words, and whatever it does wrong is said in one line."""

import re
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.external_aligner import aligner_version, externally_aligned
from isoglot.evaluation.geometry.word_alignment import SentencePair

# Links every word to the one that is spelled alike.
SAME_WORDS = """
import sys
for line in sys.stdin:
    source, target = (side.split() for side in line.split(" ||| "))
    print(*[f"{i}-{j}" for i, a in enumerate(source) for j, b in enumerate(target) if a == b])
"""
COUNT_WORDS = """
import sys
for line in sys.stdin:
    source, target = (side.split(" ") for side in line.removesuffix("\\n").split(" ||| "))
    print(f"{len(source) - 1}-{len(target) - 1}")
"""
PAIRS: list[SentencePair] = [(["a", "b"], ["b", "a", "c"]), (["x"], ["x"])]


def python(program: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-X", "utf8", "-c", program, *arguments)


def printing(text: str) -> tuple[str, ...]:
    return python(f"import sys; sys.stdin.read(); sys.stdout.write({text!r})")


def test_links_of_a_command() -> None:
    pairs = [([], ["a"]), *PAIRS, (["a"], []), (["ж"], ["д", "ж"])]
    assert externally_aligned(pairs, command=python(SAME_WORDS)) == [[], [(0, 1), (1, 0)], [(0, 0)], [], [(0, 1)]]


def test_links_are_put_in_order_and_come_once() -> None:
    assert externally_aligned(PAIRS, command=printing("1-2 0-0 1-2\n\n")) == [[(0, 0), (1, 2)], []]


@settings(max_examples=15)
@given(st.lists(st.tuples(*[st.lists(st.text(), min_size=1, max_size=4)] * 2), max_size=4))
def test_the_command_sees_as_many_words_whatever_they_are(pairs: list[SentencePair]) -> None:
    pairs = [*pairs, (["a b", "|||", " ", "", "c\nd"], ["x", "|||", "y"])]
    expected = [[(len(source) - 1, len(target) - 1)] for source, target in pairs]
    assert externally_aligned(pairs, command=python(COUNT_WORDS)) == expected


def test_pairs_without_words_never_start_the_command() -> None:
    assert externally_aligned([([], ["a"]), ([], [])], command=("no-such-aligner",)) == [[], []]


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        ((), "the aligner is an empty command"),
        (("no-such-aligner",), "the aligner 'no-such-aligner' was not found"),
        (python("import sys; print('1\\n2\\n3\\n4', file=sys.stderr); sys.exit(7)"), r"status 7, saying: 2 \| 3 \| 4$"),
        (python("import sys; sys.exit(7)"), "exit status 7, saying: nothing"),
        (printing(""), "got 2 lines and gave 0; each sentence pair"),
        (printing("0-0\n"), "got 2 lines and gave 1; each sentence pair"),
        (printing("0-0\n0-0\n0-0\n"), "got 2 lines and gave 3; each sentence pair"),
        (printing("0-0\n0-0 x\n"), r"line 2 of its output: '0-0 x' is no line such as \"0-0 1-2\""),
        (printing("0-0\n0-0 ||| -3.5\n"), "line 2 of its output: "),
        (printing("0-0 2-0\n0-0\n"), "line 1 of its output: link 2-0 is out of range, .* 2 and 3 words"),
        (printing("0-3\n0-0\n"), "line 1 of its output: link 0-3 is out of range"),
        (printing("0-0\n0-1\n"), "line 2 of its output: link 0-1 is out of range, .* 1 and 1 words"),
        (python("import sys; sys.stdout.buffer.write(b'0-0\\n\\xff\\n')"), "gave a line 2 that is not UTF-8"),
    ],
)
def test_what_goes_wrong_is_said_in_one_line(command: tuple[str, ...], complaint: str) -> None:
    with pytest.raises(IsoglotError, match=complaint) as failure:
        externally_aligned(PAIRS, command=command)
    assert "\n" not in str(failure.value)
    assert not command or Path(command[0]).name in str(failure.value)


def test_a_file_that_is_no_program(tmp_path: Path) -> None:
    path = tmp_path / "align"
    path.write_text("\0\0\0")
    with pytest.raises(IsoglotError, match="was not found, or may not be run"):
        externally_aligned(PAIRS, command=(str(path),))
    path.chmod(0o755)
    with pytest.raises(IsoglotError, match="did not start"):
        externally_aligned(PAIRS, command=(str(path),))


def test_another_build_of_a_program_or_its_script_is_another_version(tmp_path: Path) -> None:
    script = tmp_path / "align.py"
    script.write_text("print(1)\n")
    versions = [aligner_version((sys.executable, str(script))), aligner_version((sys.executable,))]
    script.write_text("print(2)\n")
    versions.append(aligner_version((sys.executable, str(script))))
    assert len(set(versions)) == 3
    assert re.fullmatch("[0-9a-f]{16}", versions[0])
