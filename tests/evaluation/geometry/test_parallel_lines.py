"""Files that are parallel are read; lines out of place are refused, by their lengths; and tests are held out."""

import gzip
import random
from pathlib import Path

import pytest

from isoglot.errors import IsoglotError
from isoglot.evaluation.geometry.parallel_lines import HeldOutLines, mismatch, read_parallel_lines


def sentences(count: int) -> list[tuple[str, str]]:
    draw = random.Random(0)
    sizes = [draw.randint(1, 30) for _ in range(count)]
    return [(f"{place}" + " a" * size, f"{place}" + " bc" * size) for place, size in enumerate(sizes)]


def written(folder: Path, pairs: list[tuple[str, str]]) -> tuple[Path, Path]:
    paths = folder / "a.txt", folder / "b.txt"
    for side, path in enumerate(paths):
        path.write_text("".join(f"{pair[side]}\n" for pair in pairs), encoding="utf-8")
    return paths


def test_plain_and_compressed_lines_and_blank_ones_at_the_end(tmp_path: Path) -> None:
    pairs = sentences(60)
    pairs[3] = ("with\ta tab", "mit\tTab")
    a, b = written(tmp_path, pairs)
    read = read_parallel_lines(a, b)
    assert list(zip(read.a, read.b, strict=True)) == pairs
    assert read.notes == ()
    packed = tmp_path / "a.txt.gz"
    packed.write_bytes(gzip.compress(a.read_bytes() + b"\n \n"))
    assert read_parallel_lines(packed, a).a == read_parallel_lines(a, packed).b == read.a


def test_unequal_numbers_of_lines_are_both_named(tmp_path: Path) -> None:
    a, b = written(tmp_path, sentences(1060))
    b.write_text("".join(b.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(IsoglotError, match=r"a\.txt has 1,060 lines and .*b\.txt has 1,059; they should have as many"):
        read_parallel_lines(a, b, anyway=True)


def test_a_blank_line_is_named(tmp_path: Path) -> None:
    pairs = sentences(60)
    pairs[7] = (pairs[7][0], "  ")
    with pytest.raises(IsoglotError, match=r"b\.txt:8: a blank line; drop it"):
        read_parallel_lines(*written(tmp_path, pairs))
    pairs[7] = ("", "")
    with pytest.raises(IsoglotError, match=r"a\.txt:8: a blank line"):
        read_parallel_lines(*written(tmp_path, pairs))


def test_too_few_lines_are_refused(tmp_path: Path) -> None:
    with pytest.raises(IsoglotError, match="49 different lines; give at least 50"):
        read_parallel_lines(*written(tmp_path, sentences(49)), anyway=True)
    with pytest.raises(IsoglotError, match="49 different lines"):
        read_parallel_lines(*written(tmp_path, sentences(49) * 2))


def test_blank_and_missing_files(tmp_path: Path) -> None:
    a, b = written(tmp_path, sentences(60))
    b.write_text("\n\n")
    with pytest.raises(IsoglotError, match=r"b\.txt: all lines are blank"):
        read_parallel_lines(a, b)
    with pytest.raises(IsoglotError, match="no such file"):
        read_parallel_lines(a, tmp_path / "c.txt")


def test_repeated_lines_are_left_out_and_counted(tmp_path: Path) -> None:
    read = read_parallel_lines(*written(tmp_path, [*sentences(60), *sentences(5)]))
    assert len(read.a) == 60
    assert read.notes == ("5 repeated lines are left out.",)


def test_lines_out_of_order_are_refused_and_only_noted_if_the_user_insists(tmp_path: Path) -> None:
    pairs = sentences(500)
    turned = [(a, b) for (a, _), (_, b) in zip(pairs, reversed(pairs), strict=True)]
    a, b = written(tmp_path, turned)
    with pytest.raises(IsoglotError, match=r"do not look like translations line by line: .*correlation.*--anyway"):
        read_parallel_lines(a, b)
    read = read_parallel_lines(a, b, anyway=True)
    assert len(read.a) == 500
    assert "The lines do not look like translations: " in read.notes[0]


def test_treebanks_are_paired_by_their_ids(tmp_path: Path) -> None:
    def treebank(side: int, rows: list[int], pairs: list[tuple[str, str]]) -> str:
        word = "\t".join(["1", "w", *"_" * 4, "0", *"_" * 3])
        return "".join(f"# sent_id = {row}\n# text = {pairs[row][side]}\n{word}\n\n" for row in rows)

    pairs = sentences(61)
    a, b = tmp_path / "a.conllu", tmp_path / "b.conllu"
    a.write_text(treebank(0, list(range(61)), pairs))
    b.write_text(treebank(1, list(range(59, -1, -1)), pairs))
    read = read_parallel_lines(a, b)
    assert list(zip(read.a, read.b, strict=True)) == pairs[:60]
    assert read.notes == ("Sentences that only one file has, left out: 1.",)
    with pytest.raises(IsoglotError, match="both should hold the same"):
        read_parallel_lines(a, written(tmp_path, pairs)[1])


def test_every_fifth_line_is_a_test() -> None:
    lines = HeldOutLines.of([f"a{row}" for row in range(23)], [f"b{row}" for row in range(23)], test_share=0.2)
    assert lines.tests == [4, 9, 14, 19]
    assert lines.fitted == [row for row in range(23) if row not in (4, 9, 14, 19)]
    assert lines.pairs == [(0, 0), (1, 1), (2, 2), (3, 3)]
    halves = HeldOutLines.of([f"a{row}" for row in range(8)], [f"b{row}" for row in range(8)], test_share=0.5)
    assert halves.tests == [1, 3, 5, 7]


def test_a_sentence_of_the_test_is_fitted_on_in_no_language() -> None:
    lines_a, lines_b = [f"a{row}" for row in range(20)], [f"b{row}" for row in range(20)]
    lines_a[0], lines_b[1] = lines_a[4], lines_b[9]
    lines = HeldOutLines.of(lines_a, lines_b, test_share=0.2)
    assert lines.tests == [4, 9, 14, 19]
    assert {0, 1}.isdisjoint(lines.fitted)
    assert len(lines.fitted) == 14


def test_two_lines_that_say_the_same_are_both_right() -> None:
    lines_a, lines_b = [f"a{row}" for row in range(20)], [f"b{row}" for row in range(20)]
    lines_b[14] = lines_b[4]
    assert HeldOutLines.of(lines_a, lines_b, test_share=0.2).pairs == [(0, 0), (0, 2), (1, 1), (2, 0), (2, 2), (3, 3)]


@pytest.mark.parametrize("share", [0.0, 0.6])
def test_shares_that_leave_nothing_are_refused(share: float) -> None:
    with pytest.raises(IsoglotError, match="test_share"):
        HeldOutLines.of(["a"] * 20, ["b"] * 20, test_share=share)


def test_too_few_lines_to_hold_some_out_are_refused() -> None:
    with pytest.raises(IsoglotError, match=r"5 lines leave 1 to test and 4 others"):
        HeldOutLines.of(list("abcde"), list("abcde"), test_share=0.2)
    with pytest.raises(IsoglotError, match=r"50 lines leave 10 to test and 0 others"):
        HeldOutLines.of(["same"] * 50, [str(row) for row in range(50)], test_share=0.2)


def translations(count: int, *, seed: int = 0) -> tuple[list[str], list[str]]:
    """Lengths of translations differ by a fifth or so."""
    draw = random.Random(seed)
    sizes = [round(draw.lognormvariate(3.5, 0.6)) + 1 for _ in range(count)]
    return ["a" * size for size in sizes], ["b" * round(size * draw.lognormvariate(0.1, 0.2) + 1) for size in sizes]


@pytest.mark.parametrize("count", [50, 399, 2500])
def test_translations_pass(count: int) -> None:
    assert mismatch(*translations(count)) is None


@pytest.mark.parametrize("count", [50, 200])
def test_shuffled_lines_do_not(count: int) -> None:
    passed = 0
    for seed in range(20):
        lines_a, lines_b = translations(count, seed=seed)
        random.Random(seed + 100).shuffle(lines_b)
        complaint = mismatch(lines_a, lines_b)
        passed += complaint is None
        if complaint is not None:
            assert "a correlation of" in complaint or "lengths fit far better" in complaint
    assert passed <= 1


def test_one_missing_line_is_found_with_its_place() -> None:
    lines_a, lines_b = translations(1001)
    del lines_b[500], lines_a[-1]
    assert mismatch(lines_a, lines_b) == (
        "in lines 601 to 800, lengths fit far better with the lines that stand 1 line earlier in the second"
    )
    lines_a, lines_b = translations(1003)
    del lines_a[:3], lines_b[-3:]
    assert mismatch(lines_a, lines_b) == (
        "in lines 1 to 200, lengths fit far better with the lines that stand 3 lines later in the second"
    )


def test_lines_in_order_of_length_pass() -> None:
    lines_a, lines_b = translations(1000)
    order = sorted(range(1000), key=lambda row: len(lines_a[row]))
    assert mismatch([lines_a[row] for row in order], [lines_b[row] for row in order]) is None


def test_a_text_passes_for_itself_and_lines_of_one_length_say_nothing() -> None:
    lines, _ = translations(300)
    assert mismatch(lines, lines) is None
    assert mismatch(["same"] * 60, lines[:60]) is None
