"""Links: their lines, their symmetrisation against pseudocode, and a program of the user's."""

import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry import word_alignment as links

LINKS = st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=14)


def by_matrix(forward: set[links.Link], backward: set[links.Link], size: int = 8) -> list[links.Link]:
    """The pseudocode of Koehn's manual, with the candidates in the order of atools."""
    union = [[(i, j) in forward | backward for j in range(size)] for i in range(size)]
    kept = [[(i, j) in forward & backward for j in range(size)] for i in range(size)]

    def free_words(i: int, j: int) -> int:
        return (not any(kept[i])) + (not any(row[j] for row in kept))

    def is_beside(i: int, j: int) -> bool:
        around = [(a, b) for a in (i - 1, i, i + 1) for b in (j - 1, j, j + 1) if (a, b) != (i, j)]
        return any(kept[a][b] for a, b in around if 0 <= a < size and 0 <= b < size)

    has_grown = True
    while has_grown:
        has_grown = False
        for i in range(size):
            for j in range(size):
                if union[i][j] and not kept[i][j] and free_words(i, j) and is_beside(i, j):
                    kept[i][j] = has_grown = True
    for direction in (forward, backward):
        for i in range(size):
            for j in range(size):
                if (i, j) in direction and free_words(i, j) == 2:
                    kept[i][j] = True
    return [(i, j) for i in range(size) for j in range(size) if kept[i][j]]


@given(LINKS, LINKS)
def test_links_against_the_pseudocode(forward: set[links.Link], backward: set[links.Link]) -> None:
    assert links.grow_diag_final_and(forward, backward) == by_matrix(forward, backward)
    assert links.grow_diag_final_and(forward, forward) == sorted(forward)


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6))))
def test_links_come_back_from_their_line_and_as_programs_write_them(drawn: list[links.Link]) -> None:
    assert links.pharaoh_links(links.pharaoh_line(drawn)) == drawn
    assert links.pharaoh_line([(0, 0), (1, 2)]) == "0-0 1-2"
    assert links.pharaoh_links(" 0-0  12-3 \r") == [(0, 0), (12, 3)]


@pytest.mark.parametrize("line", ["0", "0-", "-1-2", "0-1-2", "a-b", "0-0,1-1", "\u0660-\u0660", "0-0 1-", "0--1"])
def test_other_lines_are_refused(line: str) -> None:
    with pytest.raises(ValueError, match="is no line such as"):
        links.pharaoh_links(line)


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
PAIRS: list[links.SentencePair] = [(["a", "b"], ["b", "a", "c"]), (["x"], ["x"])]


def python(program: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-X", "utf8", "-c", program, *arguments)


def printing(text: str) -> tuple[str, ...]:
    return python(f"import sys; sys.stdin.read(); sys.stdout.write({text!r})")


def test_links_of_a_command() -> None:
    pairs = [([], ["a"]), *PAIRS, (["a"], []), (["ж"], ["д", "ж"])]
    assert links.externally_aligned(pairs, command=python(SAME_WORDS)) == [[], [(0, 1), (1, 0)], [(0, 0)], [], [(0, 1)]]
    assert links.externally_aligned(PAIRS, command=printing("1-2 0-0 1-2\n\n")) == [[(0, 0), (1, 2)], []]
    assert links.externally_aligned([([], ["a"]), ([], [])], command=("no-such-aligner",)) == [[], []]


def test_the_command_sees_as_many_words_whatever_they_are() -> None:
    pairs = [(["a b", "|||", " ", "", "c\nd"], ["x", "|||", "y"]), (["\u2028\x1e", "\x00"], ["\u00a0"])]
    expected = [[(len(source) - 1, len(target) - 1)] for source, target in pairs]
    assert links.externally_aligned(pairs, command=python(COUNT_WORDS)) == expected


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        (("no-such-aligner",), "the aligner 'no-such-aligner' was not found"),
        (printing("0-0\n0-0\n0-0\n"), "got 2 lines and gave 3; each sentence pair"),
        (printing("0-0\n0-0 x\n"), r"line 2 of its output: '0-0 x' is no line such as \"0-0 1-2\""),
        (printing("0-0 2-0\n0-0\n"), "line 1 of its output: link 2-0 is out of range, .* 2 and 3 words"),
        (printing("0-0\n0-1\n"), "line 2 of its output: link 0-1 is out of range, .* 1 and 1 words"),
    ],
)
def test_what_goes_wrong_is_reported_in_one_line(command: tuple[str, ...], complaint: str) -> None:
    with pytest.raises(IsoglotError, match=complaint) as failure:
        links.externally_aligned(PAIRS, command=command)
    assert "\n" not in str(failure.value)
    assert not command or Path(command[0]).name in str(failure.value)


def test_another_build_of_a_program_or_its_script_is_another_version(tmp_path: Path) -> None:
    script = tmp_path / "align.py"
    script.write_text("print(1)\n")
    versions = [links.aligner_version((sys.executable, str(script))), links.aligner_version((sys.executable,))]
    script.write_text("print(2)\n")
    versions.append(links.aligner_version((sys.executable, str(script))))
    assert len(set(versions)) == 3
    assert re.fullmatch("[0-9a-f]{16}", versions[0])
